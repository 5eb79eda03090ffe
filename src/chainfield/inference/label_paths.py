"""The best label sequences, where a label sequence may have many state paths (latent-dynamic inference).

P(labels) sums over the state paths that project to them, so the best state path need not show the best labels, and no
recursion finds them. Sun and Tsujii (2009): walk down the list of the best state paths, and sum up the probability of
each label sequence that is met for the first time. No sequence that was not met can have more than the probability
that is left over. Once the n-th best found has as much, the answer is exact: the sum is its certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.potentials import Potentials, clamp_labels
from chainfield.states import StateSpace

from .checks import too_large
from .nbest import n_best
from .partition import log_partition

MOST_PATHS = 1024  # state paths to look at; the list of the best is kept for every state and position
MOST_ENTRIES = 1 << 24  # of all these lists together: fewer paths where states are many or sequences are long


@dataclass(frozen=True, eq=False)
class LabelPaths:
    """Label sequences of one sequence, best first: labels (B, length), log-probabilities (B,).

    ``exact``: whether it is certain that there are no better ones.
    """

    labels: Int32
    log_probability: Float
    exact: bool


def best_label_paths(
    space: StateSpace, potentials: Potentials, n: int = 1, *, most_paths: int = MOST_PATHS
) -> list[LabelPaths]:
    """The n best label sequences of each sequence (fewer where fewer exist) with their exact probabilities."""
    if space.one_path:
        log_z = log_partition(space, potentials)
        several = n_best(space, potentials, n)
        for s, (found, z) in enumerate(zip(several, log_z.tolist(), strict=True)):
            if found.score[0] - z > 1e-6:  # more probable than certain
                raise too_large(s, abs(z))
        return [
            LabelPaths(space.label_of[found.states], np.minimum(found.score - z, 0.0), True)
            for found, z in zip(several, log_z, strict=True)
        ]
    return [_search(space, one, n, most_paths) for one in potentials.split()]


def _search(space: StateSpace, potentials: Potentials, n: int, most_paths: int) -> LabelPaths:
    log_z = log_partition(space, potentials)[0]
    known: dict[bytes, tuple[Int32, float]] = {}
    asked = max(4, n)
    most_paths = min(most_paths, max(asked, MOST_ENTRIES // max(len(potentials.node) * space.n_states, 1)))
    while True:
        found = n_best(space, potentials, asked)[0]
        fresh: dict[bytes, Int32] = {}
        for labels in space.label_of[found.states]:
            fresh.setdefault(labels.tobytes(), labels)
        fresh = {key: labels for key, labels in fresh.items() if key not in known}
        masses = _masses(space, potentials, list(fresh.values())) - log_z
        known |= {key: (labels, mass) for (key, labels), mass in zip(fresh.items(), masses.tolist(), strict=True)}
        ranked = sorted(known.values(), key=lambda entry: -entry[1])
        left = 1.0 - sum(np.exp(mass) for _, mass in ranked)
        complete = len(found.score) < asked
        certain = complete or (len(ranked) >= n and np.exp(ranked[n - 1][1]) >= left)
        if certain or asked >= most_paths:
            best = ranked[:n]
            return LabelPaths(np.array([p for p, _ in best], np.int32), np.array([m for _, m in best]), certain)
        asked = min(4 * asked, most_paths)


def _masses(space: StateSpace, potentials: Potentials, paths: list[Int32]) -> Float:
    """(B,) the log-partition with each of some label sequences clamped."""
    if not paths:
        return np.empty(0)
    length, b = len(potentials.node), len(paths)
    node = np.tile(potentials.node, (b, 1))
    edge = potentials.edge if potentials.shared else np.tile(potentials.edge, (b, 1))
    copies = Potentials(node, edge, np.arange(b + 1, dtype=np.int64) * length)
    return log_partition(space, clamp_labels(space, np.concatenate(paths)).apply(copies))
