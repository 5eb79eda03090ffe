"""Local normalisation: from scores to the log-probabilities of each step, given the state before it.

    P(first state k) = exp x_1(r(k)) / sum over starts            P(j | i, t) ∝ exp(w_t(i, j) + x_t(r(j)))

That is a maximum-entropy Markov model (McCallum, Freitag and Pereira 2000): every step has its own sum, whatever comes
later. A state with one way out takes it with probability 1, whatever the input says: the label bias.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .grouping import add_groups, log_sum, log_sums, shares
from .potentials import Potentials

if TYPE_CHECKING:
    from chainfield.states.space import StateSpace


def normalise(space: StateSpace, raw: Potentials) -> tuple[Potentials, Callable[[Potentials], Potentials]]:
    """Normalised potentials (edges for every position), and the way back for a gradient."""
    n = len(raw.node)
    first = raw.ragged.firsts
    arrived = raw.node[:, space.row_of[space.dst]]  # (N, E) what an edge meets at its end
    joint = raw.edge + arrived
    totals = log_sums(joint, space.src, space.n_states)[:, space.src]
    with np.errstate(invalid="ignore"):
        edge = np.where(joint > -np.inf, joint - totals, -np.inf)
    edge[first] = 0.0
    starts = space.row_of[space.start]
    begin = log_sum(raw.node[first][:, starts])[:, None]
    node = np.zeros_like(raw.node)
    node[first] = raw.node[first] - np.where(np.isfinite(begin), begin, 0.0)

    def pullback(d: Potentials) -> Potentials:
        flow = d.edge.copy()
        flow[first] = 0.0
        out = add_groups(flow, space.src, space.n_states)[:, space.src]
        own = flow - shares(joint, totals) * out
        own[first] = 0.0
        d_node = add_groups(own, space.row_of[space.dst], space.n_rows)
        d_node = d_node if d_node is not own else own.copy()
        chosen = add_groups(shares(raw.node[first][:, starts], begin), starts, space.n_rows)
        d_node[first] = d.node[first] - chosen * d.node[first].sum(axis=1, keepdims=True)
        d_edge = own if not raw.shared or n == 1 else own.sum(axis=0, keepdims=True)
        return Potentials(d_node, d_edge, raw.offsets)

    return Potentials(node, edge, raw.offsets), pullback
