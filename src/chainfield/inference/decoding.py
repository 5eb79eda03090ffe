"""Decoders: from potentials to one label per position."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainfield.arrays import Int32
from chainfield.errors import ConfigError
from chainfield.potentials import Potentials
from chainfield.states import StateSpace

from .label_paths import best_label_paths
from .partition import label_marginals
from .viterbi import viterbi


def viterbi_decode(space: StateSpace, potentials: Potentials) -> Int32:
    """(N,) the labels of the best state path; the rules hold."""
    return space.label_of[viterbi(space, potentials).states]


def posterior_decode(space: StateSpace, potentials: Potentials) -> Int32:
    """(N,) the most probable label of each position by itself; the sequence as a whole may break the rules."""
    return label_marginals(space, potentials).argmax(1).astype(np.int32)


def latent_dynamic_decode(space: StateSpace, potentials: Potentials) -> Int32:
    """(N,) the most probable label sequences; the same as Viterbi's where a label sequence has one state path."""
    if space.one_path:
        return viterbi_decode(space, potentials)
    found = [paths.labels[0] for paths in best_label_paths(space, potentials)]
    return np.concatenate(found) if found else np.empty(0, np.int32)


#: Decoders by name.
DECODERS: dict[str, Callable[[StateSpace, Potentials], Int32]] = {
    "viterbi": viterbi_decode,
    "posterior": posterior_decode,
    "latent-dynamic": latent_dynamic_decode,
}


def decoder_named(name: str) -> Callable[[StateSpace, Potentials], Int32]:
    """One of the decoders."""
    if name not in DECODERS:
        raise ConfigError(f"Unknown decoder {name!r}; choose one of {', '.join(DECODERS)}.")
    return DECODERS[name]
