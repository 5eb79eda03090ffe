"""Pseudo-likelihood (Besag 1975): the probability of each label, given all other labels.

    loss = - sum over t of log P(y_t | y_1 … y_{t-1}, y_{t+1} … y_n, x)

With one state per label that needs the two neighbours alone, and a position costs K, not K². In general each term is a
quotient of two partition sums: with all labels clamped, and with position t opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from chainfield.arrays import Bool, Float, Int32
from chainfield.errors import NoPathError
from chainfield.inference import Paths, add_posteriors
from chainfield.potentials import How, Potentials
from chainfield.potentials.grouping import log_sum, shares
from chainfield.states import StateSpace

from .objective import Objective, Targets


@final
@dataclass(frozen=True)
class PseudoLikelihood(Objective):
    """Each label given all others. A position whose label is not known has no term of its own."""

    how: How = field(default="sum", init=False)
    smooth: bool = field(default=True, init=False)
    uses_cost: bool = field(default=False, init=False)

    @property
    def usual_l2(self) -> tuple[float, float]:
        """Neighbours are known in training only: over arrays it should trust them less."""
        return 0.15, 5.0

    def __call__(self, space: StateSpace, potentials: Potentials, targets: Targets) -> tuple[float, Potentials]:
        """Loss and gradient in score space."""
        d = potentials.zeros()
        if targets.path is not None and np.array_equal(space.row_of, np.arange(space.n_states)):
            weight = potentials.ragged.spread(targets.weight)
            return _by_neighbours(space, potentials, targets.path, weight, d), d
        loss = 0.0
        allowed = targets.clamp.table[targets.clamp.index]
        for s, part in enumerate(potentials.split()):
            at = potentials.ragged.slice_of(s, s + 1)
            into = Potentials(d.node[at], d.edge if potentials.shared else d.edge[at], part.offsets)
            try:
                loss += _by_opening(space, part, allowed[at], float(targets.weight[s]), into)
            except NoPathError:
                raise NoPathError(s, "its training labels") from None
        return loss, d


def _by_neighbours(space: StateSpace, potentials: Potentials, path: Paths, weight: Float, d: Potentials) -> float:
    """One state per label, all labels known: scores of every state between two known neighbours."""
    assert space.steps is not None
    edge_of, n = space.steps[0], len(potentials.node)  # (K, K), -1: no edge
    if n == 0:
        return 0.0
    ragged, states = potentials.ragged, path.states
    first, last = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    firsts, lasts = ragged.ends()
    first[firsts], last[lasts] = True, True
    inner = np.flatnonzero(~first)  # positions with a step into them
    into_edges, from_edges = edge_of[states[inner - 1]], edge_of[:, states[inner]].T  # (steps, K) each
    row = np.zeros(len(inner), np.int64) if potentials.shared else inner

    def along(edges: Int32) -> Float:
        found = potentials.edge[row[:, None], np.maximum(edges, 0)]
        return np.where(edges >= 0, found, -np.inf)

    scores = potentials.node.copy()
    scores[first] = np.where(space.start, scores[first], -np.inf)
    scores[last] = np.where(space.end, scores[last], -np.inf)
    scores[inner] += along(into_edges)
    scores[inner - 1] += along(from_edges)
    totals = log_sum(scores)
    mass = shares(scores, totals[:, None]) * weight[:, None]
    truth = scores[np.arange(n), states]
    mass[np.arange(n), states] -= weight
    d.node[...] += mass
    for edges, at in ((into_edges, inner), (from_edges, inner - 1)):
        there = edges >= 0
        rows = np.broadcast_to(row[:, None], edges.shape)
        np.add.at(d.edge, (rows[there], edges[there]), mass[at][there])
    return float(weight @ (totals - truth))


def _by_opening(space: StateSpace, part: Potentials, allowed: Bool, weight: float, into: Potentials) -> float:
    """One sequence: a copy for each position whose label is known, with that position opened, and one with none."""
    length = len(part.node)
    known = np.flatnonzero(~allowed.all(axis=1))
    if not len(known):
        return 0.0
    n = len(known) + 1
    open_rows = np.repeat(allowed[None], n, axis=0)  # (copies, length, R)
    open_rows[np.arange(len(known)), known] = True
    node = np.where(open_rows, part.node[None], -np.inf).reshape(n * length, -1)
    edge = part.edge if part.shared and length > 1 else np.tile(part.edge, (n, 1))
    copies = Potentials(node, edge, np.arange(n + 1, dtype=np.int64) * length)
    weights = np.full(n, weight)
    weights[-1] = -weight * len(known)
    gathered = copies.zeros()
    log_z = add_posteriors(space, copies, weights, gathered)
    into.node[...] += gathered.node.reshape(n, length, -1).sum(axis=0)
    if len(gathered.edge) == 1:
        into.edge[...] += gathered.edge
    elif length > 1:
        into.edge[...] += gathered.edge.reshape(n, length, -1).sum(axis=0)
    return float(weight * (log_z[:-1] - log_z[-1]).sum())
