"""The nearest thing to an HMM after a free step: log-probabilities that add up to 1 again (Chou et al. 1992)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.potentials.grouping import log_sums
from chainfield.scorers import Chain

from .gaussians import Gaussians
from .hmm import find_parts
from .maximising import outgoing


def renormaliser(chain: Chain, anchor: Float, *, ends: bool) -> Callable[[Float], None]:
    """A function that normalises the log-probabilities in anchor + θ, by changing θ.

    Per class and start state, per state over its moves and its end, and per state over its components.
    """
    parts, space = find_parts(chain), chain.space
    if not isinstance(parts.emission, Gaussians):
        raise ConfigError("Only log weights of Gaussians can be normalised, not natural parameters.")
    numbers = {
        name: view.astype(np.int64)
        for name, view in chain.views(np.arange(chain.n_parameters, dtype=np.float64)).items()
    }
    edge_group, end_group = outgoing(space, ends)
    starts, lasts = np.flatnonzero(space.start), np.flatnonzero(end_group >= 0)
    m, k = parts.emission.n_components, space.n_states
    places = np.concatenate(
        [
            numbers[f"{parts.boundary.name}.start"][starts],
            numbers[f"{parts.boundary.name}.end"][lasts],
            numbers[f"{parts.transition.name}.weight"],
            numbers[f"{parts.emission.name}.log_weight"],
        ]
    )
    group = np.concatenate(
        [np.zeros(len(starts), np.int64), 1 + lasts, 1 + edge_group, 1 + k + np.repeat(np.arange(k), m)]
    ).astype(np.int32)
    fixed = anchor[places]

    def renormalise(theta: Float) -> None:
        sums = log_sums((fixed + theta[places])[None], group, 1 + 2 * k)[0]
        theta[places] -= sums[group]

    return renormalise
