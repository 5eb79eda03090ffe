"""The rows that each position may use, as lists: what labels, dictionaries and pruners leave of a state space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Bool, Int, Int32, Ragged

from .clamp import Clamp
from .potentials import Potentials


@dataclass(frozen=True, eq=False)
class Lattice:
    """Position t may use ``rows[first[t]:first[t+1]]``, in ascending order. N positions, C cells.

    A :class:`Clamp` says the same by a table of sets, of which labels make few. Here every position may have a set of
    its own, and costs as much as it has rows.
    """

    first: Int  # (N+1,)
    rows: Int32  # (C,)

    @property
    def width(self) -> float:
        """How many rows a position has on average."""
        return len(self.rows) / max(len(self.first) - 1, 1)

    def __getitem__(self, positions: slice | Int) -> Lattice:
        """The same for some of the positions."""
        cells = Ragged(self.first)
        if isinstance(positions, slice):
            lo, hi = positions.start, positions.stop
            return Lattice(self.first[lo : hi + 1] - self.first[lo], self.rows[self.first[lo] : self.first[hi]])
        return Lattice(cells.take(positions).offsets, self.rows[cells.positions(positions)])

    def position_of(self) -> Int:
        """(C,) the position of each cell."""
        return Ragged(self.first).sequence_of()

    def mask(self, n_rows: int) -> Bool:
        """(N, R) the same as a table."""
        found = np.zeros((len(self.first) - 1, n_rows), np.bool_)
        found[self.position_of(), self.rows] = True
        return found

    def apply(self, potentials: Potentials) -> Potentials:
        """The potentials with -inf wherever a row is not listed."""
        node = np.where(self.mask(potentials.node.shape[1]), potentials.node, -np.inf)
        return Potentials(node, potentials.edge, potentials.offsets)

    def agrees(self, clamp: Clamp) -> Bool:
        """(C,) which cells a clamp allows."""
        return clamp.table[clamp.index[self.position_of()], self.rows]


def lattice_of(kept: Bool) -> Lattice:
    """From a table (N, R) of what each position may use."""
    position, rows = np.nonzero(kept)
    return Lattice(Ragged.of(np.bincount(position, minlength=len(kept))).offsets, rows.astype(np.int32))
