"""Labels of whole sequences, over class blocks: the paths of each block by themselves."""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import NoPathError
from chainfield.kernels.chain.classes import class_sums
from chainfield.potentials import How, Potentials
from chainfield.states import StateSpace

from .checks import LARGE, check_scores, too_large

CLEAR = 50.0  # exp(-50) adds nothing to 1


def class_scores(space: StateSpace, potentials: Potentials, how: How = "sum") -> Float:
    """(S, L) the log of the sum over the paths of each class ("sum"), or the score of its best path ("max").

    -inf where a class has no path: a sequence that is shorter than its shortest path, for example.
    """
    space.blocks  # noqa: B018  refuses a space in which an edge leads from one label to another
    check_scores(space, potentials)
    scores = np.empty((potentials.n_sequences, space.n_labels))
    class_sums(space.graph, space.label_of, potentials.node, potentials.edge, potentials.offsets, how == "max", scores)
    lost = np.flatnonzero(scores.max(axis=1) == -np.inf)
    if len(lost):
        raise NoPathError(int(lost[0]))
    return scores


def class_log_probabilities(space: StateSpace, potentials: Potentials) -> Float:
    """(S, L) log P(class): each block's share in the sum over all paths."""
    scores = class_scores(space, potentials)
    # A class that is far behind has no share, however inexact its score is.
    largest, close = np.abs(scores.max(axis=1)), np.sort(scores, axis=1)[:, -2:]
    unclear = (largest > LARGE) & (close[:, -1] - close[:, 0] < CLEAR) & (scores.shape[1] > 1)
    if unclear.any():
        raise too_large(int(np.argmax(unclear)), float(largest[np.argmax(unclear)]))
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
