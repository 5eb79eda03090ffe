"""Kinds of settings that only models have: templates, rules, weights of labels, numbers of states, seeds."""

from __future__ import annotations

import json
import numbers
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from chainfield.checking import shown
from chainfield.errors import ConfigError
from chainfield.settings import Kind, Whole, is_whole

from .inputs import as_template


@final
@dataclass(frozen=True)
class Template(Kind):
    """Feature templates, in any of the three dialects."""

    metavar: ClassVar[str] = "FILE"
    noun: ClassVar[str] = "TemplateSet, str or path"
    expected: ClassVar[str] = "give a template set, the text of a template, or a path"

    def fits(self, value: Any) -> bool:
        """A template set, a text, or a path; what it says is read when the data are known."""
        return isinstance(value, str | os.PathLike) or hasattr(value, "check_columns")

    def parse(self, text: Any) -> Any:
        """The template of a file."""
        return as_template(text)

    def stored(self, value: Any) -> Any:
        """The template set itself."""
        return as_template(value)


@final
@dataclass(frozen=True)
class Forbidden(Kind):
    """Pairs of labels that must not follow each other."""

    metavar: ClassVar[str] = "FROM,TO"
    several: ClassVar[bool] = True
    noun: ClassVar[str] = "list of (label, label)"
    expected: ClassVar[str] = "give a list of pairs (from, to)"

    def fits(self, value: Any) -> bool:
        """A list of pairs."""
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            return False
        pairs = value if isinstance(value, list | tuple | set | frozenset) else ()
        return all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs)

    def parse(self, text: Any) -> Any:
        """``FROM,TO`` each; an empty side stands for the border of a sequence."""
        pairs = []
        for rule in text:
            sides = rule.split(",")
            if len(sides) != 2:
                raise ConfigError(f"--forbid {rule}: write FROM,TO; an empty side stands for the border.")
            pairs.append((sides[0] or None, sides[1] or None))
        return pairs or None

    def stored(self, value: Any) -> Any:
        """A list of tuples."""
        return [tuple(pair) for pair in value]


@final
@dataclass(frozen=True)
class LabelWeights(Kind):
    """How much labels are favoured."""

    metavar: ClassVar[str] = "JSON"
    noun: ClassVar[str] = 'dict or "balanced"'
    expected: ClassVar[str] = 'give a dict of weights, or "balanced"'

    def fits(self, value: Any) -> bool:
        """A dict with positive numbers."""
        return isinstance(value, dict) or (isinstance(value, str) and value == "balanced")

    def check(self, value: Any) -> None:
        """Name the label whose weight is wrong."""
        if isinstance(value, dict):
            for label, weight in value.items():
                try:
                    found = float(weight)
                except (TypeError, ValueError):
                    raise ConfigError(f"Class weights must be numbers, but that of {label!r} is {weight!r}.") from None
                if not (np.isfinite(found) and found > 0):
                    raise ConfigError(
                        f"Class weights must be finite and larger than 0, but that of {label!r} is {weight!r}."
                    )

    def parse(self, text: Any) -> Any:
        """ "balanced", or a JSON object."""
        if text == "balanced":
            return text
        try:
            return json.loads(text)
        except ValueError:
            raise ConfigError(f'--class-weight {text}: give "balanced" or a JSON object.') from None


@final
@dataclass(frozen=True)
class StateCounts(Kind):
    """Numbers of hidden states: one for all labels, or one for each of some."""

    by_label: bool = True
    metavar: ClassVar[str] = "N"

    @property
    def noun(self) -> str:
        """int or dict."""
        return "int or dict" if self.by_label else "int"

    @property
    def expected(self) -> str:
        """A number."""
        more = ", or a dict from labels to numbers" if self.by_label else ""
        return f"a whole number of at least 1{more} is expected"

    def fits(self, value: Any) -> bool:
        """Positive whole numbers."""
        if isinstance(value, Mapping):
            return self.by_label
        return Whole().fits(value)

    def check(self, value: Any) -> None:
        """Name the label whose number is wrong."""
        if self.by_label and isinstance(value, Mapping):
            for label, n in value.items():
                if not Whole().fits(n):
                    raise ConfigError(f"n_states of {label!r} is {n!r}; {Whole().expected}.")

    def parse(self, text: Any) -> Any:
        """A number, or a JSON object."""
        return json.loads(text)

    def stored(self, value: Any) -> Any:
        """A plain number or dict."""
        return dict(value) if isinstance(value, Mapping) else int(value)


@final
@dataclass(frozen=True)
class Seed(Kind):
    """A seed, or a generator of scikit-learn's or NumPy's."""

    metavar: ClassVar[str] = "N"
    noun: ClassVar[str] = "int, RandomState or Generator"
    expected: ClassVar[str] = "a whole number of at least 0 is expected"

    def fits(self, value: Any) -> bool:
        """Whatever scikit-learn takes for random_state."""
        return isinstance(value, np.random.RandomState | np.random.Generator) or Whole(0).fits(value)

    def parse(self, text: Any) -> int:
        """A number."""
        return int(text)

    def stored(self, value: Any) -> Any:
        """A number; of a generator, nothing."""
        return int(value) if isinstance(value, numbers.Integral) else None


@final
@dataclass(frozen=True)
class Jobs(Kind):
    """A number of threads."""

    metavar: ClassVar[str] = "N"
    noun: ClassVar[str] = "int"
    expected: ClassVar[str] = "give a number of threads, or -1 for all processors"

    def fits(self, value: Any) -> bool:
        """Not 0."""
        return is_whole(value) and value != 0

    def parse(self, text: Any) -> int:
        """A number."""
        return int(text)


def seed_of(state: Any) -> int:
    """A seed from anything that :class:`Seed` takes; None stands for 0."""
    if state is None:
        return 0
    if type(state) is int and state >= 0:
        return state
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31 - 1))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31 - 1))
    if not Seed().fits(state):
        raise ConfigError(f"random_state is {shown(state)}; {Seed.expected}.")
    return int(state)
