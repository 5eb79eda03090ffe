"""How often each state is left in training data: what steps that are judged by themselves must know."""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import NoPathError
from chainfield.inference import add_posteriors, clamped_path
from chainfield.potentials import Potentials
from chainfield.scorers import Chain

from .material import Examples


def departures(examples: Examples, chain: Chain) -> Float:
    """(K,) steps that leave each state. Where labels leave a choice, all paths that agree with them are alike."""
    space, ragged, clamp = chain.space, examples.batch.ragged, examples.clamp
    path = clamped_path(space, clamp, ragged.offsets)
    if path is not None:
        last = ragged.ends()[1]
        arrived = np.bincount(path.states, minlength=space.n_states)
        return (arrived - np.bincount(path.states[last], minlength=space.n_states)).astype(np.float64)
    edge = np.zeros((1, space.n_edges))
    steps = edge.copy()
    for lo, hi in chain.blocks(ragged):
        at, part = ragged.slice_of(lo, hi), ragged.window(lo, hi)
        even = Potentials(np.zeros((part.n_positions, space.n_rows)), edge, part.offsets)
        into = even.zeros()
        try:
            add_posteriors(space, clamp[at].apply(even), np.ones(hi - lo), into)
        except NoPathError as error:
            raise NoPathError(examples.first + lo + error.sequence, "its training labels") from None
        steps += into.edge
    return np.bincount(space.src, steps[0], space.n_states).astype(np.float64)
