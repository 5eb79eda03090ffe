"""Probabilities of stretches: that all labels from one position to another are given ones, whatever the others are.

Given the data, the states of a chain are a Markov chain themselves. Its steps follow from the posteriors of edges
p(s, s') and of states p(s):

    P(s_a … s_b) = p(s_a) · Π_t p(s_t, s_t+1) / p(s_t)

so that a stretch costs its own length, however long the sequence is. All stretches of a batch take their steps side by
side. Where sequences have few stretches, and for stretches that are whole sequences, it takes less time to sum over the
paths that agree with each of them:

    P(stretch) = Z(the paths through it) / Z

The result is exact both ways, also where labels have several states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.arrays import Float, Integers, Ragged, offsets_of
from chainfield.potentials import Clamp, Potentials
from chainfield.states import StateSpace

from .partition import log_partition, marginals

CELLS = 1 << 22  # posteriors of edges that are held at a time
FEW = 16  # sums over all sequences that take less time than posteriors of edges do


def stretch_probabilities(
    space: StateSpace, potentials: Potentials, starts: Integers, ends: Integers, clamp: Clamp
) -> Float:
    """(M,) the probability that the positions starts[i] to ends[i] have rows that the clamp allows.

    Stretches lie within sequences and are not empty; ``clamp`` holds their positions, one stretch after the other.
    """
    lengths = np.asarray(ends, np.int64) - starts
    found = np.ones(len(lengths))
    if not len(lengths):
        return found
    first = offsets_of(lengths)[:-1]  # where each stretch lies in the clamp
    of = np.searchsorted(potentials.offsets, starts, side="right") - 1  # the sequence of each
    starts = np.asarray(starts, np.int64)
    room = potentials.ragged.lengths[of]
    if potentials.shared and int(room.sum()) <= FEW * len(potentials.node):
        return _by_sums(space, potentials, of, starts, lengths, first, clamp)
    full = lengths == room
    if full.any():
        own = Ragged.of(lengths).positions(np.flatnonzero(full))
        moved = offsets_of(lengths[full])[:-1]
        found[full] = _by_sums(space, potentials, of[full], starts[full], lengths[full], moved, clamp[own])
    order = np.argsort(starts, kind="stable")
    order = order[~full[order]]
    ordered = starts[order]
    size = max(1, CELLS // max(space.n_edges, 1))
    for lo, hi in potentials.ragged.blocks(size):
        at = potentials.ragged.slice_of(lo, hi)
        own = order[slice(*np.searchsorted(ordered, [at.start, at.stop]).tolist())]
        if len(own):
            window = Potentials(
                potentials.node[at],
                potentials.edge if potentials.shared else potentials.edge[at],
                potentials.offsets[lo : hi + 1] - at.start,
            )
            found[own] = _within(space, window, starts[own] - at.start, lengths[own], first[own], clamp)
    return found


def _by_sums(
    space: StateSpace, potentials: Potentials, of: Any, starts: Any, lengths: Any, first: Any, clamp: Clamp
) -> Float:
    """A copy of the sequence for each stretch, without the paths that do not agree with it."""
    ragged = potentials.ragged
    copies = ragged.take(of)
    at = ragged.positions(of)
    node, edge = potentials.node[at], potentials.edge if potentials.shared else potentials.edge[at]
    moved = copies.offsets[:-1] + starts - ragged.offsets[of] - first
    rows = np.repeat(moved, lengths) + np.arange(int(lengths.sum()))
    node[rows] = np.where(clamp.table[clamp.index[: len(rows)]], node[rows], -np.inf)
    log_z = log_partition(space, potentials)[of]
    through = log_partition(space, Potentials(node, edge, copies.offsets), strict=False)
    return np.minimum(np.exp(through - log_z), 1.0)


def _within(space: StateSpace, potentials: Potentials, starts: Any, lengths: Any, first: Any, clamp: Clamp) -> Float:
    """The same for some sequences."""
    posterior = marginals(space, potentials, edges_per_position=bool(lengths.max() > 1)).expected
    allowed = clamp.table[:, space.row_of]  # (sets, K)
    result = np.empty(len(starts))
    alone = lengths == 1
    rows = clamp.table[clamp.index[first[alone]]]
    result[alone] = (posterior.node[starts[alone]] * rows).sum(1)
    several = np.flatnonzero(~alone)
    if not len(several):
        return np.clip(result, 0.0, 1.0)
    into = np.argsort(space.dst, kind="stable")  # edges by target
    targets, bounds = np.unique(space.dst[into], return_index=True)
    out = np.argsort(space.src, kind="stable")  # and by source
    sources, out_bounds = np.unique(space.src[out], return_index=True)
    live, at, place, left = several, starts[several] + 1, first[several] + 1, lengths[several] - 1
    ratio = allowed[clamp.index[place - 1]].astype(np.float64)  # P(the stretch so far, s) / p(s)
    while True:
        edge = posterior.edge[at]  # (live, E) p(s, s')
        flow = (edge * ratio[:, space.src])[:, into]
        mass = np.zeros_like(ratio)
        mass[:, targets] = np.add.reduceat(flow, bounds, axis=1)
        mass *= allowed[clamp.index[place]]
        ended = left == 1
        result[live[ended]] = mass[ended].sum(1)
        go = ~ended
        if not go.any():
            break
        live, at, place, mass, left = live[go], at[go] + 1, place[go] + 1, mass[go], left[go] - 1
        here = np.zeros_like(mass)
        here[:, sources] = np.add.reduceat(posterior.edge[at][:, out], out_bounds, axis=1)  # p(s)
        ratio = np.divide(mass, here, out=np.zeros_like(mass), where=here > 0)
    return np.clip(result, 0.0, 1.0)
