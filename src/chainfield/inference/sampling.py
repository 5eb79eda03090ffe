"""Exact samples of paths."""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Int32
from chainfield.checking import whole_number
from chainfield.kernels.chain.sample import sample_paths
from chainfield.potentials import Potentials
from chainfield.states import StateSpace

from .checks import check_scores, check_values


def sample(space: StateSpace, potentials: Potentials, n: int, rng: np.random.Generator) -> list[Int32]:
    """For every sequence n paths (n, length), drawn independently from the posterior."""
    check_scores(space, potentials)
    n = whole_number(n, "n")
    results, ragged = [], potentials.ragged
    for s in range(ragged.n_sequences):
        at, length = int(ragged.offsets[s]), int(ragged.lengths[s])
        states = np.empty((n, length), np.int32)
        if length:
            uniforms = rng.random((n, length))
            log_z = sample_paths(space.graph, potentials.node, potentials.edge, at, length, uniforms, states)
            check_values(np.concatenate([np.zeros(s), [log_z]]))
        results.append(states)
    return results
