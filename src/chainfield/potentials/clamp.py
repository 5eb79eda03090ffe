"""What is known of the labels: the set of emission rows that each position may use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Bool, Float, Int, Int32, Integers
from chainfield.errors import DataError

from .potentials import Potentials

if TYPE_CHECKING:
    from chainfield.states.space import StateSpace

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Clamp:
    """Allowed rows at each position: ``table[index[t]]``. N positions, M distinct sets, R rows, L labels.

    A corpus has few distinct sets (one per label, one for "unknown", perhaps some for "either of these"), so a
    position costs one integer.
    """

    index: Int32  # (N,)
    table: Bool  # (M, R)
    added: Float | None = None  # (N, R) what is added to the scores of rows; only in prediction

    @cached_property
    def single_row(self) -> Int32:
        """(M,) the only row of a set, or -1 where a set has several (or none)."""
        return np.where(self.table.sum(1) == 1, self.table.argmax(1), -1).astype(np.int32)

    def only_label(self, space: StateSpace) -> Int32:
        """(M,) the label of a set whose rows all have the same one, else -1."""
        lowest = np.where(self.table, space.label_of_row, space.n_labels).min(axis=1)
        highest = np.where(self.table, space.label_of_row, -1).max(axis=1)
        return np.where(lowest == highest, highest, -1).astype(np.int32)

    def rows(self) -> Int32 | None:
        """(N,) the only row of every position, or None where some position is open."""
        rows = self.single_row[self.index]
        return None if len(rows) and rows.min() < 0 else rows

    def __getitem__(self, positions: slice | Int) -> Clamp:
        """The same for some of the positions."""
        part = Clamp(self.index[positions], self.table, None if self.added is None else self.added[positions])
        part.__dict__["single_row"] = self.single_row
        return part

    def apply(self, potentials: Potentials) -> Potentials:
        """The potentials with -inf wherever a row is not allowed."""
        return Potentials(self.nodes(potentials.node), potentials.edge, potentials.offsets)

    def nodes(self, node: Float) -> Float:
        """The same for node scores (N, R)."""
        node = np.where(self.table[self.index], node, -np.inf)
        return node if self.added is None else node + self.added


def clamp_labels(space: StateSpace, labels: Integers) -> Clamp:
    """Known labels (N,), ``UNKNOWN`` where a position is open."""
    table = np.ones((space.n_labels + 1, space.n_rows), np.bool_)
    table[:-1] = space.label_of_row == np.arange(space.n_labels)[:, None]
    index = np.asarray(labels, dtype=np.int32)
    if len(index) and not (index.min() >= UNKNOWN and index.max() < space.n_labels):
        raise DataError(f"Labels must be numbers from 0 to {space.n_labels - 1}, or {UNKNOWN} where one is unknown.")
    return Clamp(np.where(index == UNKNOWN, space.n_labels, index).astype(np.int32), table)


def clamp_sets(space: StateSpace, allowed: Sequence[Collection[int] | None]) -> Clamp:
    """A set of allowed labels for each position; None leaves it open."""
    keys = [None if a is None else frozenset(a) for a in allowed]
    distinct = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    table = np.zeros((max(len(distinct), 1), space.n_rows), np.bool_)
    for key, i in distinct.items():
        table[i] = True if key is None else np.isin(space.label_of_row, list(key))
    return Clamp(np.array([distinct[key] for key in keys], np.int32), table)
