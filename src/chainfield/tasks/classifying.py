"""Classification: one label for a whole sequence, over class blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Float, Int, Int32, Ragged
from chainfield.errors import DataError
from chainfield.potentials import Clamp
from chainfield.states import StateSpace

from .task import Task, label_cost, ordered_labels, plain_label


@final
@dataclass(frozen=True)
class Classifying(Task):
    """Targets are labels, one per sequence; None is an unknown label, a set of labels is "one of these".

    No edge leaves a class, so the label of a sequence fixes the block of its states. A clamp has two sets for each
    target, of the same rows: one for first positions, which bear the cost of a mistake, and one for all others.
    """

    kind: ClassVar[str] = "classifying"
    every_position: ClassVar[bool] = False

    @staticmethod
    def labels_in(targets: Iterable[Any]) -> tuple[Any, ...]:
        """All labels that occur in targets, in order."""
        seen: dict[Any, None] = {}
        for target in targets:
            if isinstance(target, set | frozenset):
                seen.update(dict.fromkeys(map(plain_label, target)))
            elif target is not None:
                seen.setdefault(plain_label(target))
        return ordered_labels(seen)

    def check(self, space: StateSpace) -> None:
        """No edge may lead from one class to another, and every class needs a block."""
        if len(space.blocks) < len(self.labels):
            raise DataError(f"There are {len(self.labels)} labels, but only {len(space.blocks)} of them have states.")

    def clamp(self, space: StateSpace, targets: Sequence[Any], offsets: Int) -> Clamp:
        """The rows of the blocks that the labels allow."""
        ragged = Ragged(offsets)
        lengths = ragged.lengths
        if len(targets) != len(lengths):
            raise DataError(f"X has {len(lengths)} sequences, but there are labels for {len(targets)}.")
        check_not_empty(offsets)
        sets: dict[frozenset[int] | None, int] = {}
        chosen = np.zeros(len(lengths), np.int64)
        for s, target in enumerate(targets):
            key = None if target is None else frozenset(self.numbers_of(target, f"Sequence {s}"))
            chosen[s] = sets.setdefault(key, len(sets))
            self._check_length(space, s, int(lengths[s]), key)
        table = np.ones((len(sets), space.n_rows), np.bool_)
        for key, i in sets.items():
            if key is not None:
                table[i] = np.isin(space.label_of_row, list(key))
        index = ragged.spread(chosen + len(sets))
        index[ragged.firsts] = chosen  # no sequence is empty
        return Clamp(index.astype(np.int32), np.concatenate([table, table]))

    def _check_length(self, space: StateSpace, s: int, length: int, key: frozenset[int] | None) -> None:
        """Refuse a sequence that is too short for every class it may belong to."""
        least = space.shortest if key is None else space.shortest[list(key)]
        if len(least) and length < least.min():
            one = None if key is None or len(key) > 1 else self.labels[next(iter(key))]
            whose = "any class" if one is None else f"its class {one!r}"
            raise DataError(
                f"Sequence {s} has {length} positions, but the shortest path of {whose} has {int(least.min())} states; "
                "leave it out, lengthen it, or use fewer states."
            )

    def cost(self, space: StateSpace, clamp: Clamp, margin: float) -> Float:
        """0/1: ``margin`` for a wrong label, once a sequence."""
        cost = label_cost(space, clamp.table, margin)
        cost[len(cost) // 2 :] = 0.0
        return cost

    def count(self, space: StateSpace, clamp: Clamp, offsets: Int) -> Int:
        """Sequences by label."""
        found = clamp.only_label(space)[clamp.index[offsets[:-1]]]
        return np.bincount(found[found >= 0], minlength=space.n_labels)

    def favour(
        self, space: StateSpace, clamp: Clamp, offsets: Int, weights: Float
    ) -> tuple[Float | None, Float | None]:
        """A sequence counts as often as its label's weight says; an open one counts once."""
        found = clamp.only_label(space)[clamp.index[offsets[:-1]]]
        return None, np.where(found >= 0, weights[found], 1.0)

    def decode(self, numbers: Int32, offsets: Int) -> list[Any]:
        """Names of labels (S,)."""
        return [self.labels[i] for i in numbers.tolist()]


def check_long_enough(space: StateSpace, offsets: Int) -> None:
    """Refuse sequences that are shorter than the shortest path of every class."""
    check_not_empty(offsets)
    least = int(space.shortest.min())
    lengths = Ragged(offsets).lengths
    short = np.flatnonzero(lengths < least)
    if len(short):
        s = int(short[0])
        raise DataError(
            f"Sequence {s} has {int(lengths[s])} positions, but the shortest path of any class has "
            f"{least} states; leave it out, or lengthen it."
        )


def check_not_empty(offsets: Int) -> None:
    """Refuse sequences that have no position, and so no path of any class."""
    empty = np.flatnonzero(Ragged(offsets).lengths == 0)
    if len(empty):
        raise DataError(f"Sequence {int(empty[0])} is empty; a sequence needs a position to be classified by.")
