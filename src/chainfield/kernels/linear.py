"""Sparse linear scores and their gradients.

The weights of a feature lie side by side; a feature that has a weight for every row (or for a run of rows) is read as
a vector, since ``row`` then counts up by one.
"""

from __future__ import annotations

from typing import Any

from .jit import kernel
from .vector import get, put


@kernel
def gather_pairs(indptr: Any, indices: Any, values: Any, first: Any, row: Any, weight: Any, scores: Any) -> None:
    """scores[t, row[p]] += value · weight[p] over the features of position t and their pairs p.

    indptr (N+1,), indices and values over entries (no values: all are 1), first (F+1,), row and weight (P,),
    scores (N, R). A negative index is a feature that training never saw: it has no weight.
    """
    n_rows = scores.shape[1]
    flat = scores.ravel()
    ones = len(values) == 0
    for t in range(scores.shape[0]):
        o = t * n_rows
        for i in range(indptr[t], indptr[t + 1]):
            f = get(indices, i)
            if f < 0:
                continue
            lo = get(first, f)
            hi = get(first, f + 1)
            value = 1.0 if ones else get(values, i)
            if hi - lo == n_rows:
                for r in range(n_rows):
                    put(flat, o + r, get(flat, o + r) + value * get(weight, lo + r))
            else:
                for p in range(lo, hi):
                    r = o + get(row, p)
                    put(flat, r, get(flat, r) + value * get(weight, p))


@kernel
def scatter_pairs(
    indptr: Any, indices: Any, values: Any, first: Any, row: Any, d_scores: Any, scale: float, d_weight: Any
) -> None:
    """d_weight[p] += scale · value · d_scores[t, row[p]]: the way back of :func:`gather_pairs`."""
    n_rows = d_scores.shape[1]
    flat = d_scores.ravel()
    ones = len(values) == 0
    for t in range(d_scores.shape[0]):
        o = t * n_rows
        for i in range(indptr[t], indptr[t + 1]):
            f = get(indices, i)
            if f < 0:
                continue
            lo = get(first, f)
            hi = get(first, f + 1)
            value = scale if ones else scale * get(values, i)
            if hi - lo == n_rows:
                for r in range(n_rows):
                    put(d_weight, lo + r, get(d_weight, lo + r) + value * get(flat, o + r))
            else:
                for p in range(lo, hi):
                    put(d_weight, p, get(d_weight, p) + value * get(flat, o + get(row, p)))
