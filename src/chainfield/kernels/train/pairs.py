"""Which features occur with which sets of labels."""

from __future__ import annotations

import numpy as np

from chainfield.kernels.declare import Bool, Float, Int, Int32, Out
from chainfield.kernels.jit import kernel


@kernel
def feature_sets(indptr: Int, indices: Int32, index: Int32, n_features: int, n_sets: int, codes: Out[Int]) -> int:
    """Distinct codes feature · n_sets + set over all positions, ascending; index (N,), -1: leave a position out.

    codes (as many as there are indices) takes them; returns how many there are.
    Sorts by counting: occurrences are gathered a feature at a time, then a stamp a set tells repetitions.
    """
    first = np.zeros(n_features + 1, np.int64)
    for t in range(len(index)):
        if index[t] >= 0:
            for i in range(indptr[t], indptr[t + 1]):
                if indices[i] >= 0:
                    first[indices[i] + 1] += 1
    for f in range(n_features):
        first[f + 1] += first[f]
    total = first[n_features]
    sets = np.empty(total, np.int32)
    place = first[:-1].copy()
    for t in range(len(index)):
        if index[t] >= 0:
            for i in range(indptr[t], indptr[t + 1]):
                f = indices[i]
                if f >= 0:
                    sets[place[f]] = index[t]
                    place[f] += 1
    stamp = np.full(n_sets, -1, np.int64)
    n = 0
    for f in range(n_features):
        start = n
        for i in range(first[f], first[f + 1]):
            s = sets[i]
            if stamp[s] != f:
                stamp[s] = f
                codes[n] = f * n_sets + s
                n += 1
        # By insertion: few sets a feature, and a general sort takes seconds to compile.
        for i in range(start + 1, n):
            code = codes[i]
            j = i
            while j > start and codes[j - 1] > code:
                codes[j] = codes[j - 1]
                j -= 1
            codes[j] = code
    return n


@kernel
def fill_zones(
    first: Int, row: Int32, exists: Bool, number: Int32, n_full: int, n_rows: int, new_first: Int, new_row: Out[Int32],
    mask: Out[Float],
) -> None:  # fmt: skip
    """Pairs of features under their new numbers; full features have all rows, and a mask of those that exist."""
    for i in range(n_full):
        for r in range(n_rows):
            new_row[i * n_rows + r] = r
    for f in range(len(number)):
        at = new_first[number[f]]
        for p in range(first[f], first[f + 1]):
            if exists[p]:
                if number[f] < n_full:
                    mask[at + row[p]] = 1.0
                else:
                    new_row[at] = row[p]
                    at += 1
