"""Piecewise training (Sutton and McCallum 2005): every step of a chain by itself, normalised over all its edges.

A piece is the step into a position with that position's node score (the first position has no step):

    Z_t = sum over edges (i, j) of exp(w_t(i, j) + x_t(r(j)))        loss = sum over t of log Z_t - score of the labels

Neighbouring pieces need not agree on the state between them, so the product of all Z_t is at least Z: the loss is an
upper bound of that of the likelihood. Where positions share their edge scores, the sum over i is the same for all of
them, and a position costs K, not K².

Put together, the pieces of a chain count states twice. At the optimum, exp(w(i, j)) is as the share p(i | j) of the
steps to j that come from i, and a path multiplies it with what the piece before said of i already: frequent labels win.
``weighed`` pieces know how frequent i is by itself. p(i) stands beside every edge in training, not in the model:

    Z_t = sum over edges (i, j) of p(i) exp(w_t(i, j) + x_t(r(j)))

Then exp(w(i, j)) is as p(i | j) / p(i): 1 if labels know nothing of each other, and each label is counted once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from chainfield.arrays import Bool, Float
from chainfield.errors import NoPathError
from chainfield.inference import add_path
from chainfield.potentials import How, Potentials
from chainfield.potentials.grouping import add_groups, log_sum, log_sums, shares
from chainfield.states import StateSpace

from .objective import Objective, Targets


@final
@dataclass(frozen=True, eq=False)
class Piecewise(Objective):
    """Likelihood of all pieces, as if each were a sequence of its own. Unknown labels leave a piece open.

    ``weighed``: pieces know how frequent the states are that they leave, by the data: ``log_share`` (K,).
    """

    weighed: bool = False
    log_share: Float | None = None
    how: How = field(default="sum", init=False)
    smooth: bool = field(default=True, init=False)
    uses_cost: bool = field(default=False, init=False)

    @property
    def usual_l2(self) -> tuple[float, float]:
        """A piece knows less than a sequence: to be as sure of rare features, it needs larger weights."""
        return (0.05 if self.weighed else 0.005), 0.5

    def __call__(self, space: StateSpace, potentials: Potentials, targets: Targets) -> tuple[float, Potentials]:
        """Loss and gradient in score space."""
        if self.log_share is not None:
            beside = potentials.edge + self.log_share[space.src]
            potentials = Potentials(potentials.node, beside, potentials.offsets)
        d = potentials.zeros()
        above = add_pieces(space, potentials, targets.weight, d, "the rules")
        if targets.path is not None:
            below = add_path(space, potentials, targets.path, -targets.weight, d)
        else:
            below = np.zeros(potentials.n_sequences)
            allowed = targets.clamp.table[targets.clamp.index][:, space.row_of]
            for s, part in enumerate(potentials.split()):  # every position has edges of its own: one at a time
                at = potentials.ragged.slice_of(s, s + 1)
                closed = _closed(space, part, allowed[at])
                into = Potentials(d.node[at], d.edge if potentials.shared else d.edge[at], part.offsets)
                below[s] = _add_one(space, closed, -targets.weight[s : s + 1], into, s)
        return float(targets.weight @ (above - below)), d

    def knowing(self, departures: Callable[[], Float]) -> Piecewise:
        """With the shares of the states, each counted once more than it was seen."""
        if not self.weighed:
            return self
        often = departures() + 1.0
        return replace(self, log_share=np.log(often / often.sum()))


def add_pieces(space: StateSpace, potentials: Potentials, weight: Float, into: Potentials, known: str) -> Float:
    """Add weight[s] × the posteriors of all pieces to ``into``; return sums of log Z_t (S,)."""
    node, edge, ragged = potentials.node, potentials.edge, potentials.ragged
    first, last = ragged.ends()
    arriving = log_sums(edge, space.dst, space.n_states)  # (1 | N, K)
    scores = node[:, space.row_of] + arriving
    scores[first] = np.where(space.start, node[first][:, space.row_of], -np.inf)
    scores[last] = np.where(space.end, scores[last], -np.inf)
    totals = log_sum(scores)
    if not np.isfinite(totals).all():
        raise NoPathError(ragged.place(int(np.argmin(np.isfinite(totals))))[0], known)
    mass = shares(scores, totals[:, None]) * ragged.spread(weight)[:, None]
    into.node[...] += add_groups(mass, space.row_of, space.n_rows)
    mass[first] = 0.0  # no step leads there
    arrived = mass.sum(axis=0, keepdims=True) if potentials.shared else mass
    into.edge[...] += arrived[:, space.dst] * shares(edge, arriving[:, space.dst])
    sums = np.concatenate([[0.0], np.cumsum(totals)])
    return np.diff(sums[ragged.offsets])


def _closed(space: StateSpace, part: Potentials, allowed: Bool) -> Potentials:
    """One sequence with edges for every position, -inf where no path that agrees with the labels goes."""
    n = len(part.node)
    before, behind = allowed.copy(), allowed.copy()  # (n, K) reached from the start; reaching the end
    if n:
        before[0] &= space.start
        behind[-1] &= space.end
    for t in range(1, n):
        before[t] &= np.bincount(space.dst, before[t - 1][space.src], space.n_states) > 0
        behind[n - 1 - t] &= np.bincount(space.src, behind[n - t][space.dst], space.n_states) > 0
    edge = np.repeat(part.edge, n, axis=0) if part.shared else part.edge.copy()
    edge[1:][~(before[:-1][:, space.src] & behind[1:][:, space.dst])] = -np.inf
    rows = add_groups((before & behind).astype(np.float64), space.row_of, space.n_rows) > 0
    return Potentials(np.where(rows, part.node, -np.inf), edge, part.offsets)


def _add_one(space: StateSpace, closed: Potentials, weight: Float, into: Potentials, number: int) -> float:
    """The same for one sequence; its edges are added up if ``into`` shares them."""
    if not len(closed.node):
        return 0.0
    own = closed.zeros()
    try:
        value = add_pieces(space, closed, weight, own, "its training labels")[0]
    except NoPathError as error:
        raise NoPathError(number, error.known) from None
    into.node[...] += own.node
    into.edge[...] += own.edge.sum(axis=0, keepdims=True) if len(into.edge) == 1 else own.edge
    return float(value)
