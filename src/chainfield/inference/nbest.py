"""The n best state paths of each sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.checking import whole_number
from chainfield.kernels.chain.max import n_best_product
from chainfield.limits import N_BEST
from chainfield.potentials import Potentials
from chainfield.states import StateSpace

from .checks import check_scores, check_values


@dataclass(frozen=True, eq=False)
class NBest:
    """Up to n paths of one sequence, best first: states (B, length), score (B,)."""

    states: Int32
    score: Float


def n_best(space: StateSpace, potentials: Potentials, n: int) -> list[NBest]:
    """The n best paths of every sequence (fewer where fewer exist), best first."""
    n = whole_number(n, "n", most=N_BEST)
    check_scores(space, potentials)
    results, ragged = [], potentials.ragged
    for s in range(ragged.n_sequences):
        at, length = int(ragged.offsets[s]), int(ragged.lengths[s])
        states, score = np.empty((n, length), np.int32), np.zeros(n)
        if length:
            n_best_product(space.graph, potentials.node, potentials.edge, at, length, n, states, score)
            if not np.isfinite(score[0]):
                check_values(np.concatenate([np.zeros(s), score[:1]]))
            found = int(np.isfinite(score).sum())
        else:
            found = 1
        results.append(NBest(states[:found], score[:found]))
    return results
