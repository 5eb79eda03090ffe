"""Transitions that find the best path by themselves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.errors import NoPathError
from chainfield.features.batch import Batch
from chainfield.inference.viterbi import viterbi
from chainfield.parallel import ordered_map
from chainfield.potentials import Clamp
from chainfield.scorers import Chain, Scorer
from chainfield.scorers.scorer import Params
from chainfield.states import StateSpace

if TYPE_CHECKING:
    from .tagger import Tagger

BLOCK = 1 << 22  # bytes of node scores at a time


class PathFinder(Scorer):
    """A transition that knows a way to the best path without filling all edge scores."""

    @abstractmethod
    def best_rows(self, space: StateSpace, params: Params, batch: Batch, node: Float) -> tuple[Int32, Float]:
        """The best rows (N,) and the score of each sequence (S,), -inf where there is no path.

        Exactly those that Viterbi finds with this transition alone.
        """


def finder_of(chain: Chain) -> PathFinder | None:
    """The path finder of a chain, if it has one that decides alone."""
    finder = chain.transitions[0] if len(chain.transitions) == 1 else None
    if not isinstance(finder, PathFinder) or chain.space.n_states != chain.space.n_rows:
        return None
    return finder


def found_labels(model: Tagger, batch: Batch, given: Sequence[Any] | None = None) -> Int32 | None:
    """(N,) the labels of the best paths, as Viterbi finds them; None if the chain has no path finder."""
    finder, space = model.finder, model.chain.space
    if finder is None:
        return None
    clamp = None if given is None else model.task.known(space, given, batch.offsets)

    def block(bounds: tuple[int, int]) -> Int32:
        lo, hi = bounds
        window = batch.window(lo, hi)
        part = None if clamp is None else clamp[batch.ragged.slice_of(lo, hi)]
        node = model.scoring.nodes(window)
        if part is not None:
            node = part.nodes(node)
        rows, score = finder.best_rows(space, model.own(finder), window, node)
        for s in np.flatnonzero(score == -np.inf).tolist():
            at = window.ragged.slice_of(s, s + 1)
            own = None if part is None else part[at]
            rows[at] = _relaxed(model, window.window(s, s + 1), own, lo + s)
        return space.label_of_row[rows]

    bounds = list(batch.ragged.blocks(max(1, BLOCK // (8 * space.n_rows))))
    found = list(ordered_map(block, bounds, min(model.n_jobs, max(len(bounds), 1))))
    return np.concatenate(found or [np.empty(0, np.int32)])


def _relaxed(model: Tagger, batch: Batch, clamp: Clamp | None, number: int) -> Int32:
    """The best rows of one sequence that has no path as it is."""
    try:
        return model.chain.space.row_of[viterbi(model.chain.space, model.potentials(batch, clamp)).states]
    except NoPathError as error:
        raise NoPathError(number, error.known) from None
