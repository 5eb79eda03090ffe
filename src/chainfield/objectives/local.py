"""Local likelihood: what a maximum-entropy Markov model is trained by (McCallum, Freitag and Pereira 2000).

    loss = - log P(y_1 | x) - sum over t of log P(y_t | y_{t-1}, x)

Scores come as they are; the objective normalises every step (:mod:`chainfield.potentials.normalising`). A position
costs the ways out of one state, not K².
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import NoPathError
from chainfield.inference import Paths, add_path, add_posteriors
from chainfield.potentials import How, Potentials
from chainfield.potentials.grouping import add_groups, log_sum, shares
from chainfield.potentials.normalising import normalise
from chainfield.states import StateSpace

from .objective import Objective, Targets


@final
@dataclass(frozen=True)
class LocalLikelihood(Objective):
    """Log-probability of the labels under locally normalised steps; unknown labels are summed over."""

    how: How = field(default="sum", init=False)
    smooth: bool = field(default=True, init=False)
    uses_cost: bool = field(default=False, init=False)

    @property
    def usual_l2(self) -> tuple[float, float]:
        """Every step is judged beside the right label before it, and is surer of itself than it will be later."""
        return 0.05, 0.5

    def __call__(self, space: StateSpace, potentials: Potentials, targets: Targets) -> tuple[float, Potentials]:
        """Loss and gradient in score space."""
        d = potentials.zeros()
        if targets.path is not None:
            return _along(space, potentials, targets.path, targets.weight, d), d
        loss = 0.0
        for s, part in enumerate(potentials.split()):
            if not len(part.node):
                continue
            at = potentials.ragged.slice_of(s, s + 1)
            scores, pullback = normalise(space, part)
            into = scores.zeros()
            try:
                log_p = add_posteriors(space, targets.clamp[at].apply(scores), -targets.weight[s : s + 1], into)
            except NoPathError:
                raise NoPathError(s, "its training labels") from None
            loss -= float(targets.weight[s] * log_p[0])
            own = pullback(into)
            d.node[at] += own.node
            if not potentials.shared:
                d.edge[at] += own.edge
            elif len(part.node) > 1:
                d.edge[...] += own.edge
        return loss, d


def _along(space: StateSpace, potentials: Potentials, path: Paths, weight: Float, d: Potentials) -> float:
    """All labels known: at every position the ways out of the state before it."""
    node, edge, ragged = potentials.node, potentials.edge, potentials.ragged
    each, full, first = ragged.spread(weight), ragged.not_empty, ragged.firsts
    starts = space.row_of[space.start]
    begin = node[first][:, starts]
    top = log_sum(begin)
    loss = float(weight[full] @ top)
    d.node[first] += add_groups(shares(begin, top[:, None]) * weight[full][:, None], starts, space.n_rows)
    is_first = np.zeros(len(node), np.bool_)
    is_first[first] = True
    steps = np.flatnonzero(~is_first)
    if len(steps):
        out_first = np.searchsorted(space.src, np.arange(space.n_states + 1))  # edges are sorted by their source
        before = path.states[steps - 1]
        degree = (out_first[1:] - out_first[:-1])[before]
        run = np.cumsum(degree) - degree
        edges = np.arange(int(degree.sum())) + np.repeat(out_first[before] - run, degree)
        position = np.repeat(steps, degree)
        scores = edge[0 if potentials.shared else position, edges] + node[position, space.row_of[space.dst[edges]]]
        highest = np.maximum.reduceat(scores, run)
        sums = np.add.reduceat(np.exp(scores - np.repeat(highest, degree)), run)
        totals = highest + np.log(sums)
        loss += float(each[steps] @ totals)
        mass = np.exp(scores - np.repeat(totals, degree)) * each[position]
        rows = position * space.n_rows + space.row_of[space.dst[edges]]
        d.node[...] += np.bincount(rows, weights=mass, minlength=d.node.size).reshape(d.node.shape)
        place = edges if potentials.shared else position * space.n_edges + edges
        d.edge[...] += np.bincount(place, weights=mass, minlength=d.edge.size).reshape(d.edge.shape)
    return loss - float(weight @ add_path(space, potentials, path, -weight, d))
