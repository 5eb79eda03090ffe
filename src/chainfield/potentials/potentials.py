"""The waist: node scores and edge scores of a batch of chains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from chainfield.arrays import Float, Int, Ragged
from chainfield.checking import SCORES
from chainfield.errors import DataError

if TYPE_CHECKING:
    from chainfield.states.space import StateSpace

#: How paths, and whatever hides inside a position, are gathered: summed over, or maximised.
How = Literal["sum", "max"]


@dataclass(frozen=True, eq=False)
class Potentials:
    """Log-scores of S chains laid end to end; N positions, R emission rows, E edges.

    Everything above makes them, everything below consumes them; posteriors and gradients have the same type.
    """

    node: Float  # (N, R)
    edge: Float  # (1, E): shared by all positions, or (N, E): row t scores the edges into position t
    offsets: Int  # (S+1,) sequence s covers positions offsets[s]:offsets[s+1]

    def __post_init__(self) -> None:
        # The kernels read these as they lie in memory.
        for name, dtype in (("node", np.float64), ("edge", np.float64), ("offsets", np.int64)):
            array = getattr(self, name)
            if array.dtype != dtype or not array.flags.c_contiguous:
                object.__setattr__(self, name, np.ascontiguousarray(array, dtype=dtype))

    @property
    def n_sequences(self) -> int:
        """S."""
        return len(self.offsets) - 1

    @cached_property
    def ragged(self) -> Ragged:
        """Where sequences lie."""
        return Ragged(self.offsets)

    @property
    def shared(self) -> bool:
        """Whether all positions share their edge scores."""
        return self.edge.shape[0] == 1

    def window(self, s: int) -> Potentials:
        """One sequence by itself: a view, so that writing to it writes here."""
        at = self.ragged.slice_of(s, s + 1)
        return Potentials(self.node[at], self.edge if self.shared else self.edge[at], np.array([0, at.stop - at.start]))

    def divided(self, temperature: float) -> Potentials:
        """Scores that say the same less surely, or with a temperature below 1 more surely."""
        return Potentials(self.node / temperature, self.edge / temperature, self.offsets)

    def split(self) -> Iterator[Potentials]:
        """Each sequence by itself."""
        return map(self.window, range(self.n_sequences))

    def zeros(self, *, per_position: bool = False) -> Potentials:
        """Zeros of the same shape, to gather posteriors in; ``per_position`` gives every position its edges."""
        edge = np.zeros((len(self.node), self.edge.shape[1])) if per_position else np.zeros_like(self.edge)
        return Potentials(np.zeros_like(self.node), edge, self.offsets)


def make_potentials(
    space: StateSpace, node: ArrayLike, edge: ArrayLike, offsets: ArrayLike | None = None
) -> Potentials:
    """Potentials from anything array-like, with shapes checked; ``edge`` may also be a (K, K) matrix.

    A matrix is read [from, to]; entries for edges that the space does not have are ignored.
    """
    nodes = SCORES.read(node, "node")
    if nodes.shape[1] != space.n_rows:
        raise DataError(f"node scores have shape {nodes.shape}; expected (positions, {space.n_rows}).")
    n = len(nodes)
    bounds = np.asarray([0, n] if offsets is None else offsets)
    whole = bounds.dtype.kind in "iu" and bounds.ndim == 1 and len(bounds) > 0
    if not whole or bounds[0] != 0 or bounds[-1] != n or np.any(np.diff(bounds.astype(np.int64)) < 0):
        raise DataError(f"offsets must rise from 0 to the number of positions ({n}).")
    edges = SCORES.read(np.atleast_2d(edge) if np.ndim(edge) == 1 else edge, "edge")
    if edges.shape == (space.n_states, space.n_states) and edges.shape != (1, space.n_edges):
        edges = edges[space.src, space.dst][None, :]
    if edges.shape[1] != space.n_edges or edges.shape[0] not in (1, n):
        raise DataError(
            f"edge scores have shape {edges.shape}; expected ({space.n_edges},) shared by all positions, "
            f"({n}, {space.n_edges}) with one row per position, or a ({space.n_states}, {space.n_states}) matrix."
        )
    for name, values in (("node", nodes), ("edge", edges)):
        bad = np.isnan(values) | (values == np.inf)
        if bad.any():
            where = tuple(int(i) for i in np.argwhere(bad)[0])
            raise DataError(f"{name} score {where} is {values[where]}; scores must be finite or -inf.")
    return Potentials(nodes, np.ascontiguousarray(edges), bounds.astype(np.int64))
