"""The contract of tasks: what labels are, what targets mean, what mistakes cost, how answers are read off labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from chainfield.arrays import Array, Bool, Float, Int, Int32, in_order
from chainfield.errors import DataError
from chainfield.potentials import Clamp
from chainfield.states import StateSpace


@dataclass(frozen=True)
class Task(ABC):
    """Tagging gives every position a label; classification gives a label to a whole sequence.

    A target is a label, None (unknown) or a set of labels ("one of these").
    """

    labels: tuple[Any, ...]
    #: The name in model files.
    kind: ClassVar[str]
    #: Whether a target has a label for every position, or one for the sequence.
    every_position: ClassVar[bool]

    @cached_property
    def number(self) -> dict[Any, int]:
        """Label → number."""
        return {label: i for i, label in enumerate(self.labels)}

    @staticmethod
    @abstractmethod
    def labels_in(targets: Iterable[Any]) -> tuple[Any, ...]:
        """All labels that occur in targets, in order."""

    @abstractmethod
    def check(self, space: StateSpace) -> None:
        """Refuse a state space that cannot serve this task."""

    @abstractmethod
    def clamp(self, space: StateSpace, targets: Sequence[Any], offsets: Int) -> Clamp:
        """What the targets of a batch tell about its states."""

    def known(self, space: StateSpace, given: Sequence[Any], offsets: Int) -> Clamp:
        """What is given in prediction."""
        return self.clamp(space, given, offsets)

    @abstractmethod
    def cost(self, space: StateSpace, clamp: Clamp, margin: float) -> Float:
        """(M, R) what a row costs at a position with a set of the clamp, in margin objectives."""

    @abstractmethod
    def count(self, space: StateSpace, clamp: Clamp, offsets: Int) -> Int:
        """(L,) how often each label is known to occur."""

    @abstractmethod
    def favour(
        self, space: StateSpace, clamp: Clamp, offsets: Int, weights: Float
    ) -> tuple[Float | None, Float | None]:
        """How weights of labels (L,) enter training: a shift of all node scores (R,), one factor per sequence (S,)."""

    @abstractmethod
    def decode(self, numbers: Int32, offsets: Int) -> list[Any]:
        """The answers behind the numbers of labels."""

    def numbers_of(self, target: Any, place: str) -> set[int]:
        """The numbers of a label, or of a set of labels; ``place`` is for the message."""
        chosen = target if isinstance(target, set | frozenset) else {plain_label(target)}
        try:
            return {self.number[plain_label(one)] for one in chosen}
        except KeyError as error:
            raise DataError(
                f"{place}: the label {error.args[0]!r} is not the model's; "
                f"it knows {', '.join(map(repr, self.labels[:8]))}{' …' if len(self.labels) > 8 else ''}."
            ) from None


def label_cost(space: StateSpace, table: Bool, margin: float) -> Float:
    """(M, R): ``margin`` for every row whose label is none of the allowed ones; nothing where all are allowed."""
    labels = np.zeros((len(table), space.n_labels), np.bool_)
    for row, label in enumerate(space.label_of_row):
        labels[:, label] |= table[:, row]
    return np.ascontiguousarray(np.where(labels[:, space.label_of_row], 0.0, margin))


# ---- labels: any plain values, kept as they were given, in a definite order -------------------------------------


def ordered_labels(seen: Iterable[Any]) -> tuple[Any, ...]:
    """Distinct labels: sorted where they can be compared, else in order of first appearance."""
    return tuple(in_order(map(plain_label, seen)))


def label_array(labels: Sequence[Any]) -> Array:
    """Labels as a one-dimensional array: of strings or numbers where that changes none of them, else of objects."""
    for kinds in ((str,), (bool,), (int, float)):
        if labels and all(isinstance(label, kinds) for label in labels):
            found = np.array(labels)
            if found.tolist() == list(labels):  # no string lost a zero at its end, no number a digit
                return found
    found = np.empty(len(labels), object)
    found[:] = labels
    return found


def plain_label(label: Any) -> Any:
    """NumPy scalars as Python values, so that 1 and np.int64(1) are one label."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, float) and value != value:
        raise DataError("A label is NaN; use None where a label is unknown.")
    try:
        hash(value)
    except TypeError:
        raise DataError(f"A label is {value!r}; labels must be hashable (strings, numbers, tuples of these).") from None
    return value
