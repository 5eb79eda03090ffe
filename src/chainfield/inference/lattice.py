"""Inference over lattices: every position lists the rows that it may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Bool, Float, Int, Int32
from chainfield.potentials import Lattice, Potentials
from chainfield.states import StateSpace

from .checks import check_numbers

if TYPE_CHECKING:
    from chainfield.kernels.chain.lattice import Net

_NONE = np.empty(0, np.int32)


def make_net(space: StateSpace, after: Int32 = _NONE, third: Int32 = _NONE) -> Net:
    """A first-order space with one state per row, as the kernels see it; with triples, states are pairs of rows."""
    from chainfield.kernels.chain.lattice import Net

    order = 2 if len(after) else 1
    if order == 1:
        after = np.zeros(space.n_edges + space.n_rows + 1, np.int32)
    return Net(space.edge_of, space.start, space.end, order, after, third)


def lattice_paths(
    net: Net, lattice: Lattice, offsets: Int, cells: Float, edges: Float, triples: Float | None = None
) -> tuple[Int32, Float]:
    """(N,) the rows of the best path of every sequence, and (S,) its score; -inf: it has none.

    cells (C,): the scores of the lattice's rows; edges (E,), triples (T,): those of the space's.
    """
    from chainfield.kernels.chain.lattice import lattice_best

    check_numbers(Potentials(cells[:, None], edges[None, :], lattice.first[offsets]))
    rows, score = np.zeros(len(lattice.first) - 1, np.int32), np.empty(len(offsets) - 1)
    third = np.zeros(len(net.third)) if triples is None else triples
    lattice_best(net, lattice.first, lattice.rows, offsets, cells, edges, third, rows, score)
    return rows, score


def alive(net: Net, lattice: Lattice, offsets: Int, keep: Bool | None = None) -> Bool:
    """(S,) whether a sequence has a path through its lattice, or through the cells to ``keep``."""
    from chainfield.kernels.chain.lattice import lattice_alive

    found = np.empty(len(offsets) - 1, np.bool_)
    lattice_alive(net, lattice.first, lattice.rows, np.empty(0, np.bool_) if keep is None else keep, offsets, found)
    return found
