"""What counts leave of the rows: those that a word had in training, or those that counts make probable."""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Bool, Float, Int, Ragged
from chainfield.features.batch import Batch, Sparse
from chainfield.potentials import Clamp, Lattice, lattice_of

from .linear import SparseLinear


def counted_lattice(
    scorer: SparseLinear, shares: Float, word: Bool, open_rows: Bool, threshold: float, batch: Batch,
    clamp: Clamp | None, *, keep_known: bool,
) -> Lattice:  # fmt: skip
    """The rows whose share among a word's labels is larger than 0 and not below the threshold.

    shares (P,): of each pair's row among the labels of its feature; word (F,): which features are words that were seen
    often enough. Other words may have the open rows (R,); if there are none, the rows whose mean share over the
    features of the position reaches the threshold. The best row of a position always stays.
    """
    sparse, n_rows = batch.sparse, scorer.n_rows
    assert sparse is not None
    marks = np.zeros((batch.n_positions, n_rows), np.bool_)
    words = words_of(sparse, word)
    known, unknown = np.flatnonzero(words >= 0), np.flatnonzero(words < 0)
    cells = Ragged(scorer.pairs.first)
    pairs, lengths = cells.positions(words[known]), cells.lengths[words[known]]
    position, row, share = np.repeat(known, lengths), scorer.pairs.row[pairs], shares[pairs]
    kept = (share > 0.0) & (share >= threshold)
    marks[position[kept], row[kept]] = True
    order = np.argsort(share, kind="stable")  # the last one of a position is its largest
    best = np.zeros(batch.n_positions, np.int64)
    best[position[order]] = row[order]
    marks[known, best[known]] = True
    if len(unknown):
        marks[unknown] = open_rows if len(open_rows) else _probable(scorer, shares, sparse.take(unknown), threshold)
    return lattice_of(limited(marks, clamp, keep_known=keep_known))


def words_of(sparse: Sparse, word: Bool) -> Int:
    """(N,) the feature of each position that is a word, -1: none."""
    found = np.full(len(sparse.indptr) - 1, -1, np.int64)
    entries = sparse.indices[sparse.indptr[0] : sparse.indptr[-1]]
    position = np.repeat(np.arange(len(found)), np.diff(sparse.indptr))
    there = (entries >= 0) & word[np.maximum(entries, 0)] if len(word) else np.zeros(len(entries), np.bool_)
    found[position[there]] = entries[there]
    return found


def _probable(scorer: SparseLinear, shares: Float, sparse: Sparse, threshold: float) -> Bool:
    n = len(sparse.indptr) - 1
    sums = np.zeros((n, scorer.n_rows))
    plain = Sparse(sparse.indptr, sparse.indices, None, sparse.n_features)
    scorer.forward({"weight": shares}, Batch(np.array([0, n]), plain), "sum", sums)
    means = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300)
    return (means >= threshold) | (means == means.max(axis=1, keepdims=True))


def limited(marks: Bool, clamp: Clamp | None, *, keep_known: bool) -> Bool:
    """What is plausible and allowed, or all that is allowed where nothing is both; in training also what is known."""
    if clamp is None:
        return marks
    allowed = clamp.table[clamp.index]
    if keep_known:
        return marks | (allowed & ~allowed.all(axis=1, keepdims=True))
    both = marks & allowed
    return np.where(both.any(axis=1, keepdims=True), both, allowed)
