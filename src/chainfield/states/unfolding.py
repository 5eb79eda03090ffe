"""Second order where every position has few rows: the space of the pairs that occur next to each other."""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Int

from .space import StateSpace


def unfold(space: StateSpace, edges: Int) -> StateSpace:
    """Pairs (previous, current) for some edges of a first-order space with one state per row.

    edges: their numbers, ascending. The states are (none, r) for every row r, then the pairs; as in
    :func:`chainfield.states.second_order`, an edge remembers the pair that it leads to.
    """
    n = space.n_states
    src, dst = space.src[edges], space.dst[edges]
    current = np.concatenate([np.arange(n), dst])
    first, last = (np.searchsorted(src, np.arange(n), side=side) for side in ("left", "right"))
    fan = (last - first)[current]
    source = np.repeat(np.arange(len(current)), fan)
    pair = np.repeat(first[current], fan) + np.arange(len(source)) - np.repeat(np.cumsum(fan) - fan, fan)
    return StateSpace(
        n_labels=space.n_labels,
        label_of=space.label_of[current],
        row_of=space.row_of[current],
        src=source.astype(np.int32),
        dst=(n + pair).astype(np.int32),
        start=np.concatenate([space.start, np.zeros(len(edges), np.bool_)]),
        end=space.end[current],
        edge_row=pair.astype(np.int32),
    )
