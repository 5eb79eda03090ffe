"""Best labels without filling all edge scores, for chains whose transition knows how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Int32
from chainfield.features.batch import Batch
from chainfield.inference import viterbi
from chainfield.parallel import ordered_map
from chainfield.potentials import Clamp
from chainfield.scorers import Scorer

if TYPE_CHECKING:
    from .model import FittedModel

BLOCK = 1 << 22  # bytes of node scores at a time


def quick_labels(model: FittedModel, batch: Batch, given: Sequence[Any] | None = None) -> Int32 | None:
    """(N,) the labels of the best paths, as Viterbi finds them; None if the chain knows no quicker way."""
    chain, space = model.chain, model.chain.space
    if len(chain.transitions) != 1 or space.n_states != space.n_rows:
        return None
    if type(chain.transitions[0]).best_rows is Scorer.best_rows:
        return None
    clamp = None if given is None else model.task.clamp(space, given, batch.offsets)
    transition = chain.transitions[0]

    def block(bounds: tuple[int, int]) -> Int32 | None:
        lo, hi = bounds
        window = batch.window(lo, hi)
        part = None if clamp is None else clamp[slice(batch.offsets[lo], batch.offsets[hi])]
        node = chain.nodes(model.params, window, model.how)
        if part is not None:
            node = np.where(part.table[part.index], node, -np.inf)
        found = transition.best_rows(space, window, node)
        if found is None:
            return None
        rows, score = found
        for s in np.flatnonzero(score == -np.inf).tolist():
            at = slice(int(window.offsets[s]), int(window.offsets[s + 1]))
            own = None if part is None else part[at]
            rows[at] = _relaxed(model, window.window(s, s + 1), own, lo + s)
        return space.label_of_row[rows]

    found: list[Int32] = []
    bounds = list(_blocks(batch, space.n_rows))
    for part in ordered_map(block, bounds, min(model.n_jobs, max(len(bounds), 1))):
        if part is None:
            return None
        found.append(part)
    return np.concatenate(found or [np.empty(0, np.int32)])


def _relaxed(model: FittedModel, batch: Batch, clamp: Clamp | None, number: int) -> Int32:
    """The best rows of one sequence that has no path as it is."""
    from chainfield.errors import NoPathError

    try:
        return model.chain.space.row_of[viterbi(model.chain.space, model.potentials(batch, clamp)).states]
    except NoPathError as error:
        raise NoPathError(number, error.known) from None


def _blocks(batch: Batch, n_rows: int) -> Iterator[tuple[int, int]]:
    """Runs of sequences whose node scores are not too large."""
    limit, at = max(1, BLOCK // (8 * n_rows)), 0
    while at < batch.n_sequences:
        end = int(np.searchsorted(batch.offsets, batch.offsets[at] + limit, side="right")) - 1
        end = min(max(end, at + 1), batch.n_sequences)
        yield at, end
        at = end
