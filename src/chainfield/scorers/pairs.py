"""Which (feature, row) pairs have a weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainfield.features.batch import Sparse

Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of feature f: first[f]:first[f+1], their rows ascending. F features, P pairs."""

    first: Int  # (F+1,)
    row: NDArray[np.int32]  # (P,)

    @property
    def n_features(self) -> int:
        """F."""
        return len(self.first) - 1

    @property
    def n_pairs(self) -> int:
        """P."""
        return len(self.row)

    def feature(self) -> Int:
        """(P,) the feature of each pair."""
        return np.repeat(np.arange(self.n_features), np.diff(self.first))


def all_pairs(n_features: int, n_rows: int) -> Pairs:
    """A weight for every feature with every row."""
    return Pairs(
        np.arange(n_features + 1, dtype=np.int64) * n_rows,
        np.tile(np.arange(n_rows, dtype=np.int32), n_features),
    )


def seen_pairs(sparse: Sparse, allowed: NDArray[np.bool_], index: NDArray[np.int32]) -> Pairs:
    """Only the pairs that occur together: feature f at a position whose set ``allowed[index[t]]`` has row r.

    allowed (M, R), index (N,); an index of -1 leaves a position out (nothing is known of it).
    """
    from chainfield.kernels.pairs import feature_sets

    n_sets, n_rows = allowed.shape
    codes = feature_sets(sparse.indptr, sparse.indices, index, sparse.n_features, n_sets)
    feature, which = codes // n_sets, codes % n_sets
    rows_of = [np.flatnonzero(a) for a in allowed]
    counts = np.array([len(rows) for rows in rows_of], np.int64)
    before = np.cumsum(counts) - counts
    lengths = counts[which]
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows = np.concatenate(rows_of)[np.repeat(before[which], lengths) + within]
    pairs = np.repeat(feature, lengths) * n_rows + rows
    if np.any(np.diff(pairs) <= 0):  # sets that overlap
        pairs = np.unique(pairs)
    first = np.searchsorted(pairs, np.arange(sparse.n_features + 1, dtype=np.int64) * n_rows)
    return Pairs(first.astype(np.int64), (pairs % n_rows).astype(np.int32))
