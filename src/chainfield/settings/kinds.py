"""Kinds of settings: which values are possible, and how they are written in documentation, commands and files."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

from chainfield.errors import ConfigError


class Kind(ABC):
    """A kind of values. ``None`` is not its business: a setting says by itself whether it may be left open."""

    #: What the command line calls a value.
    metavar: ClassVar[str] = "VALUE"
    #: Whether the option may be repeated on the command line.
    several: ClassVar[bool] = False

    @property
    @abstractmethod
    def noun(self) -> str:
        """The type, as a docstring names it."""

    @property
    @abstractmethod
    def expected(self) -> str:
        """What a message asks for: "…; {expected}"."""

    @abstractmethod
    def fits(self, value: Any) -> bool:
        """Whether a value is possible."""

    @abstractmethod
    def parse(self, text: Any) -> Any:
        """A value from the command line; raises ValueError."""

    def check(self, value: Any) -> None:
        """Raise a ConfigError of its own, where that can say more than :attr:`expected`."""
        return

    def stored(self, value: Any) -> Any:
        """The value as model files keep it: plain numbers, strings, lists and dicts."""
        return value


@final
@dataclass(frozen=True)
class Whole(Kind):
    """Whole numbers from ``least`` on; ``words`` are possible besides."""

    least: int = 1
    words: tuple[str, ...] = ()
    metavar: ClassVar[str] = "N"

    @property
    def noun(self) -> str:
        """int, or a word."""
        return _with_words("int", self.words)

    @property
    def expected(self) -> str:
        """A whole number."""
        return f"a whole number of at least {self.least}{_or_words(self.words)} is expected"

    def fits(self, value: Any) -> bool:
        """No booleans, no floats."""
        if isinstance(value, str):
            return value in self.words
        return is_whole(value) and int(value) >= self.least

    def parse(self, text: Any) -> Any:
        """A number, or one of the words."""
        return text if text in self.words else int(text)


@final
@dataclass(frozen=True)
class Number(Kind):
    """Finite numbers from ``least`` on, or ``above`` it; up to ``most``, or ``below`` it; ``words`` besides."""

    least: float = 0.0
    above: bool = False
    most: float = math.inf
    below: bool = False
    words: tuple[str, ...] = ()
    metavar: ClassVar[str] = "X"

    @property
    def noun(self) -> str:
        """float, or a word."""
        return _with_words("float", self.words)

    @property
    def expected(self) -> str:
        """A number in a range."""
        bound = "above" if self.above else "of at least"
        top = f" and {'below' if self.below else 'at most'} {self.most:g}" if math.isfinite(self.most) else ""
        return f"a number {bound} {self.least:g}{top}{_or_words(self.words)} is expected"

    def fits(self, value: Any) -> bool:
        """Any real type but bool."""
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            x = float(value)
        except OverflowError:  # a whole number of hundreds of digits
            return False
        at_the_edge = (self.above and x == self.least) or (self.below and x == self.most)
        return math.isfinite(x) and self.least <= x <= self.most and not at_the_edge

    def parse(self, text: Any) -> Any:
        """A number, or one of the words."""
        return text if text in self.words else float(text)


@final
@dataclass(frozen=True)
class Choice(Kind):
    """One of a few values; of strings, in upper or lower case."""

    values: tuple[Any, ...]
    any_case: bool = False

    @property
    def noun(self) -> str:
        """The values."""
        shown = [f'"{value}"' if isinstance(value, str) else str(value) for value in self.values]
        return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)

    @property
    def expected(self) -> str:
        """The values."""
        return f"choose one of {', '.join(map(str, self.values))}"

    def fits(self, value: Any) -> bool:
        """Equal, and of the same type."""
        value = value.lower() if self.any_case and isinstance(value, str) else value
        return any(type(value) is type(own) and value == own for own in self.values) or (
            is_whole(value) and int(value) in self.values
        )

    def parse(self, text: Any) -> Any:
        """The value that is written so."""
        return next(value for value in self.values if str(value) == str(text))


@final
@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    @property
    def noun(self) -> str:
        """bool."""
        return "bool"

    @property
    def expected(self) -> str:
        """True or False."""
        return "True or False is expected"

    def fits(self, value: Any) -> bool:
        """A boolean, or 0 or 1."""
        return (isinstance(value, numbers.Integral) and value in (0, 1)) or str(type(value)) == "<class 'numpy.bool'>"

    def parse(self, text: Any) -> bool:
        """As it is: the command line has two options for it."""
        return bool(text)


@final
@dataclass(frozen=True)
class Name(Kind):
    """Any text."""

    metavar: ClassVar[str] = "NAME"
    noun: ClassVar[str] = "str"
    expected: ClassVar[str] = "a text is expected"

    def fits(self, value: Any) -> bool:
        """Not empty."""
        return isinstance(value, str) and bool(value)

    def parse(self, text: Any) -> str:
        """As it is."""
        return str(text)


def _with_words(noun: str, words: tuple[str, ...]) -> str:
    return " or ".join([noun, *(f'"{word}"' for word in words)])


def _or_words(words: tuple[str, ...]) -> str:
    return "".join(f', or "{word}",' for word in words)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of any type; True and False are not."""
    return type(value) is not bool and isinstance(value, numbers.Integral)


def refuse(name: str, value: Any, expected: str) -> ConfigError:
    """The error for a value that is not possible."""
    return ConfigError(f"{name} is {value!r}; {expected}.")
