"""The short way from numbers of features to labels, for the chains that have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float, Int, Int32, Ragged
from chainfield.features.batch import Batch
from chainfield.parallel import ordered_map
from chainfield.scorers import Boundary, SparseLinear, Transition

if TYPE_CHECKING:
    from .tagger import Tagger

BLOCK = 1 << 12  # positions that a thread takes at a time
NONE = np.empty(0)


@dataclass(frozen=True, eq=False)
class Straight:
    """Weights as the kernels read them, and nothing in between: one sentence takes a few microseconds."""

    graph: Any
    n_rows: int
    layout: tuple[Int, Int32, int, int, Float]  # of the pairs, with their weights
    ends: tuple[Float, Float] | None  # (R,) of the first and of the last row of a sequence
    edge: Float  # (1, E)
    label_of: Int32

    def labels(self, batch: Batch, n_jobs: int = 1) -> Int32 | None:
        """(N,) the labels of the best paths; None: something is wrong, which the single steps will name."""
        if batch.n_positions > BLOCK:
            windows = (batch.window(*bounds) for bounds in batch.ragged.blocks(BLOCK))
            parts = [part for part in ordered_map(self._labels, windows, n_jobs) if part is not None]
            found = np.concatenate(parts or [np.empty(0, np.int32)])
            return found if len(found) == batch.n_positions else None
        return self._labels(batch)

    def _labels(self, batch: Batch) -> Int32 | None:
        sparse = batch.sparse
        assert sparse is not None
        return self.of(sparse.indptr, sparse.indices, sparse.values, batch.offsets)

    def of(self, indptr: Int, indices: Int32, values: Float | None, offsets: Int) -> Int32 | None:
        """The same for the arrays of a batch: the scores and the best path, as the single steps find them."""
        from chainfield.kernels.chain.max import max_product
        from chainfield.kernels.train.linear import gather_pairs

        n = len(indptr) - 1
        node = np.zeros((n, self.n_rows))
        gather_pairs(indptr, indices, NONE if values is None else values, *self.layout, node)
        if self.ends is not None:
            first, last = Ragged(offsets).ends()
            node[first] += self.ends[0]
            node[last] += self.ends[1]
        states, edges, score = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(len(offsets) - 1)
        if not np.maximum.reduce(node, axis=None, initial=-np.inf) < np.inf:  # comparisons pass over a NaN
            return None
        max_product(self.graph, node, self.edge, offsets, states, edges, score)
        return self.label_of.take(states) if np.logical_and.reduce(np.isfinite(score)) else None


def straight_of(model: Tagger) -> Straight | None:
    """The short way of a tagger that has one: linear scores of named features, steps that all positions share."""
    chain, theta = model.chain, model.theta
    pairs, ends = chain.emissions[0] if chain.emissions else None, chain.emissions[1:]
    if not isinstance(pairs, SparseLinear) or len(pairs.group_of) or theta.dtype != np.float64:
        return None
    if not all(isinstance(scorer, Boundary) for scorer in ends) or len(ends) > 1:
        return None
    if not all(isinstance(scorer, Transition) for scorer in chain.transitions):
        return None
    if model.decoder != "viterbi" or chain.normalised or chain.relative or chain.pruner is not None:
        return None
    space, layout = chain.space, pairs.pairs
    edge = model.scoring.edges(Batch(np.zeros(1, np.int64)), np.empty((0, space.n_rows)))
    if not (edge < np.inf).all():
        return None
    own = model.own(ends[0]) if ends else None
    return Straight(
        space.graph,
        space.n_rows,
        (layout.first, layout.row, layout.n_full, layout.n_single, model.own(pairs)["weight"]),
        None if own is None else (own["start"], own["end"]),
        edge,
        space.label_of,
    )
