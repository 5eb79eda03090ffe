"""Labels of whole sequences, over class blocks: the paths of each block by themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import NoPathError
from chainfield.potentials import How, Potentials
from chainfield.states import Block, StateSpace

from .partition import log_partition
from .viterbi import best_paths

Float = NDArray[np.float64]


def class_scores(space: StateSpace, potentials: Potentials, how: How = "sum") -> Float:
    """(S, L) the log of the sum over the paths of each class ("sum"), or the score of its best path ("max").

    -inf where a class has no path: a sequence that is shorter than its shortest path, for example.
    """
    scores = np.full((potentials.n_sequences, space.n_labels), -np.inf)
    for block in space.blocks:
        own = block_potentials(block, potentials)
        if how == "sum":
            scores[:, block.label] = log_partition(block.space, own, strict=False)
        else:
            scores[:, block.label] = best_paths(block.space, own).score
    lost = np.flatnonzero(scores.max(axis=1) == -np.inf)
    if len(lost):
        raise NoPathError(int(lost[0]))
    return scores


def class_log_probabilities(space: StateSpace, potentials: Potentials) -> Float:
    """(S, L) log P(class): each block's share in the sum over all paths."""
    scores = class_scores(space, potentials)
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


def block_potentials(block: Block, potentials: Potentials) -> Potentials:
    """The scores of one class."""
    return Potentials(potentials.node[:, block.rows], potentials.edge[:, block.edges], potentials.offsets)
