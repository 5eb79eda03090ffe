"""Tagging: a label for every position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Array, Float, Int, Int32, Ragged
from chainfield.errors import ConfigError, DataError
from chainfield.potentials import UNKNOWN, Clamp, clamp_labels, clamp_sets
from chainfield.states import StateSpace

from .task import Task, label_cost, ordered_labels, plain_label


@final
@dataclass(frozen=True)
class Tagging(Task):
    """Targets are sequences of labels; None is an unknown label, a set of labels is "one of these"."""

    kind: ClassVar[str] = "tagging"
    every_position: ClassVar[bool] = True

    @staticmethod
    def labels_in(targets: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
        """All labels that occur in targets, in order."""
        seen: dict[Any, None] = {}
        for s, sequence in enumerate(targets):
            if isinstance(sequence, str | bytes):
                raise DataError(
                    f"The targets of sequence {s} are the string {sequence!r}; a list of labels is expected."
                )
            for label in _distinct(sequence):
                if isinstance(label, set | frozenset):
                    seen.update(dict.fromkeys(map(plain_label, label)))
                elif label is not None:
                    seen.setdefault(plain_label(label))
        return ordered_labels(seen)

    def check(self, space: StateSpace) -> None:
        """Any space of as many labels serves."""
        if space.n_labels != len(self.labels):
            raise ConfigError(
                f"The state space has states for {space.n_labels} labels, but the data have {len(self.labels)}; make "
                "it for as many labels as it is asked for."
            )

    def clamp(self, space: StateSpace, targets: Sequence[Any], offsets: Int) -> Clamp:
        """Known labels, as sets of rows."""
        check_lengths(targets, offsets)
        flat = list(chain.from_iterable(targets))
        try:
            return clamp_labels(space, np.fromiter(map(self._numbers.__getitem__, flat), np.int32, len(flat)))
        except (KeyError, TypeError):
            ragged = Ragged(offsets)
            allowed = [self._allowed(label, i, ragged) for i, label in enumerate(flat)]
            return clamp_sets(space, allowed)

    def known(self, space: StateSpace, given: Sequence[Any], offsets: Int) -> Clamp:
        """Known labels, and dicts {label: number} at positions whose scores are changed: the numbers are added."""
        if not any(isinstance(label, Mapping) for labels in given for label in labels):
            return self.clamp(space, given, offsets)
        hard = [[None if isinstance(label, Mapping) else label for label in labels] for labels in given]
        clamp, ragged = self.clamp(space, hard, offsets), Ragged(offsets)
        added = np.zeros((len(clamp.index), space.n_labels))
        for at, label in enumerate(chain.from_iterable(given)):
            if isinstance(label, Mapping):
                place = "Sequence {}, position {}".format(*ragged.place(at))
                for name, score in label.items():
                    (number,) = self.numbers_of(frozenset((name,)), place)
                    added[at, number] = added_score(score, name, place)
        return replace(clamp, added=np.ascontiguousarray(added[:, space.label_of_row]))

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {**self.number, None: UNKNOWN}

    def _allowed(self, label: Any, at: int, ragged: Ragged) -> set[int] | None:
        if label is None:
            return None
        s, t = ragged.place(at)
        return self.numbers_of(label, f"Sequence {s}, position {t}")

    def cost(self, space: StateSpace, clamp: Clamp, margin: float) -> Float:
        """Hamming: ``margin`` for every wrong label."""
        return label_cost(space, clamp.table, margin)

    def count(self, space: StateSpace, clamp: Clamp, offsets: Int) -> Int:
        """Positions by label."""
        found = clamp.only_label(space)[clamp.index]
        return np.bincount(found[found >= 0], minlength=space.n_labels)

    def favour(
        self, space: StateSpace, clamp: Clamp, offsets: Int, weights: Float
    ) -> tuple[Float | None, Float | None]:
        """A shift of the label prior.

        Training with scores minus log w and predicting without it multiplies a label's odds by its weight w at every
        position, which is what repeating its tokens w times would do to a classifier (Menon et al. 2021).
        """
        return -np.log(weights)[space.label_of_row], None

    def decode(self, numbers: Int32, offsets: Int) -> list[list[Any]]:
        """Names of labels (N,), one list per sequence."""
        return Ragged(offsets).cut(self._names[numbers].tolist())

    @cached_property
    def _names(self) -> Array:
        names = np.empty(len(self.labels), object)
        names[:] = self.labels
        return names


def added_score(score: Any, label: Any, place: str) -> float:
    """A number that may be added to a score: finite, or -inf, which rules a label out."""
    number = float(score) if isinstance(score, int | float | np.integer | np.floating) else np.nan
    if not number < np.inf:
        raise DataError(f"{place}: {score!r:.40} cannot be added to the score of {label!r}; give a number.")
    return number


def _distinct(sequence: Sequence[Any]) -> Iterable[Any]:
    """Each label of a sequence once, where that is quickly told."""
    try:
        return dict.fromkeys(sequence)
    except TypeError:  # sets cannot be hashed
        return sequence


def check_lengths(targets: Sequence[Any], offsets: Int) -> None:
    """As many targets as sequences, and as many labels as positions."""
    lengths = Ragged(offsets).lengths
    if len(targets) != len(lengths):
        raise DataError(f"X has {len(lengths)} sequences, but there are labels for {len(targets)}.")
    for s, (target, length) in enumerate(zip(targets, lengths.tolist(), strict=True)):
        if len(target) != length:
            raise DataError(f"Sequence {s} has {length} positions but {len(target)} labels.")
