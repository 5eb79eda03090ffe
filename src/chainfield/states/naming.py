"""What tells the states of a space apart, so that states can be named, and found again in another space."""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Int, Int32

from .space import StateSpace

ANY = -2  # the row before does not matter, or is not determined
NONE = -1  # a state that nothing leads into


def row_ranks(space: StateSpace) -> Int:
    """(R,) the number of a row among the rows of its label, from 0."""
    ranks = np.zeros(space.n_rows, np.int64)
    seen = np.zeros(space.n_labels, np.int64)
    for row, label in enumerate(space.label_of_row.tolist()):
        ranks[row] = seen[label]
        seen[label] += 1
    return ranks


def state_keys(space: StateSpace) -> Int:
    """(K, 3) a state's row, the row before it, and its number among states that have both in common.

    The row before counts where states share rows: in a second-order space, a state (i, j) is entered from states that
    emit i alone. Elsewhere it is ``ANY``.
    """
    keys = np.full((space.n_states, 3), ANY, np.int64)
    keys[:, 0], keys[:, 2] = space.row_of, 0
    if space.n_states > space.n_rows:
        before = np.full(space.n_states, NONE, np.int64)
        before[space.dst] = space.row_of[space.src]
        mixed = before[space.dst] != space.row_of[space.src]  # entered from several rows
        before[space.dst[mixed]] = ANY
        keys[:, 1] = before
        seen: dict[tuple[int, int], int] = {}
        for state, (row, earlier, _) in enumerate(keys.tolist()):
            keys[state, 2] = seen.get((row, earlier), 0)
            seen[row, earlier] = int(keys[state, 2]) + 1
    return keys


def label_codes(space: StateSpace) -> list[Int]:
    """(E,) numbers of edges by their label pairs; in a second-order space, by their label triples too."""
    n = space.n_labels + 1  # one more for "nothing before"
    labels = space.label_of[space.src].astype(np.int64) * n + space.label_of[space.dst]
    codes = [labels]
    if space.n_edges > space.n_edge_rows:
        before = state_keys(space)[space.src, 1]
        codes.append(labels + n * n * np.where(before >= 0, space.label_of_row[before], space.n_labels))
    return codes


def label_ties(space: StateSpace) -> list[Int32]:
    """The same as ties: all edges between the states of the same labels share a weight."""
    return [np.unique(code, return_inverse=True)[1].astype(np.int32) for code in label_codes(space)]


def shared_sides(space: StateSpace) -> tuple[Int, Int]:
    """(E,) the hidden states on both sides of an edge, where the n-th rows of all labels are one hidden state."""
    kind = row_ranks(space)
    return kind[space.row_of[space.src]], kind[space.row_of[space.dst]]


def shared_ties(space: StateSpace) -> Int32:
    """(E,) edges between the same hidden states share a weight, whatever their labels."""
    before, behind = shared_sides(space)
    return np.unique(before * space.n_rows + behind, return_inverse=True)[1].astype(np.int32)
