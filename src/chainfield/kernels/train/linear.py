"""Sparse linear scores and their gradients.

Features are numbered so that three zones lie side by side (see :class:`chainfield.scorers.pairs.Pairs`):

* full features, with a weight for every row: vectors, whose place follows from the feature's number alone;
* single features, with one weight: most features of a text corpus, which touch one number;
* all others: short lists of rows and weights.

Random access to memory decides the speed: a full feature reads one place, a single one two, a listed one three. So do
branches that cannot be foreseen: training sorts the entries of a position by zone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Bytes, Float, Float2D, Int, Int32, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import inner, kernel, part
from chainfield.kernels.vector import LANES, add, fma, keep, load, load_part, mul, splat, store, store_part


@inner
def gather_position(
    lo: int, hi: int, indices: Any, values: Any, first: Any, row: Any, n_full: int, n_single: int, n_rows: int,
    weight: Any, scores: Any, o: int,
) -> None:  # fmt: skip
    """scores[o + r] += value · weight over entries lo:hi of a position and the pairs of their features.

    Entries are taken in runs of one zone, so that branches are foreseeable where entries are sorted by zone.
    """
    ones = len(values) == 0
    base = n_full * n_rows - n_full
    n_simple = n_full + n_single
    i = lo
    while i < hi:
        f = get(indices, i)
        end = i + 1
        if f < 0:
            i = end
        elif f < n_full:
            while end < hi and get(indices, end) < n_full and get(indices, end) >= 0:
                end += 1
            c = 0
            while c + 2 * LANES < n_rows:  # three vectors, the last one perhaps in part
                part = min(n_rows - c - 2 * LANES, LANES)
                a0 = load(scores, o + c)
                a1 = load(scores, o + c + LANES)
                a2 = load_part(scores, o + c + 2 * LANES, part, 0.0)
                for j in range(i, end):
                    w = get(indices, j) * n_rows + c
                    if ones:
                        a0 = add(a0, load(weight, w))
                        a1 = add(a1, load(weight, w + LANES))
                        a2 = add(a2, load_part(weight, w + 2 * LANES, part, 0.0))
                    else:
                        x = splat(get(values, j))
                        a0 = fma(x, load(weight, w), a0)
                        a1 = fma(x, load(weight, w + LANES), a1)
                        a2 = fma(x, load_part(weight, w + 2 * LANES, part, 0.0), a2)
                store(scores, o + c, a0)
                store(scores, o + c + LANES, a1)
                store_part(scores, o + c + 2 * LANES, part, a2)
                c += 3 * LANES
            while c < n_rows:
                part = min(n_rows - c, LANES)
                a0 = load_part(scores, o + c, part, 0.0)
                for j in range(i, end):
                    x = splat(1.0 if ones else get(values, j))
                    a0 = fma(x, load_part(weight, get(indices, j) * n_rows + c, part, 0.0), a0)
                store_part(scores, o + c, part, a0)
                c += LANES
            i = end
        elif f < n_simple:
            p = base + f
            r = o + get(row, p)
            put(scores, r, get(scores, r) + (1.0 if ones else get(values, i)) * get(weight, p))
            i = end
        else:
            value = 1.0 if ones else get(values, i)
            for p in range(get(first, f), get(first, f + 1)):
                r = o + get(row, p)
                put(scores, r, get(scores, r) + value * get(weight, p))
            i = end


@inner
def scatter_position(
    lo: int, hi: int, indices: Any, values: Any, first: Any, row: Any, n_full: int, n_single: int, n_rows: int,
    mask: Any, d_scores: Any, o: int, scale: float, d_weight: Any,
) -> None:  # fmt: skip
    """d_weight += scale · value · d_scores[o + r]: the way back of :func:`gather_position`.

    mask: for each vector of a full feature, the bits of the weights that exist (a pair that was never seen has none);
    empty if all exist, or if what is added to the others does not matter.
    """
    ones = len(values) == 0
    masked = len(mask) > 0
    n_vectors = (n_rows + LANES - 1) // LANES
    base = n_full * n_rows - n_full
    n_simple = n_full + n_single
    i = lo
    while i < hi:
        f = get(indices, i)
        end = i + 1
        if f < 0:
            i = end
        elif f < n_full:
            while end < hi and get(indices, end) < n_full and get(indices, end) >= 0:
                end += 1
            v = 0
            for c in range(0, n_rows - LANES + 1, LANES):
                d = mul(splat(scale), load(d_scores, o + c))
                for j in range(i, end):
                    f = get(indices, j)
                    w = f * n_rows + c
                    change = d if ones else mul(d, splat(get(values, j)))
                    if masked:
                        change = keep(change, get(mask, f * n_vectors + v))
                    store(d_weight, w, add(load(d_weight, w), change))
                v += 1
            c = v * LANES
            if c < n_rows:
                part = n_rows - c
                d = mul(splat(scale), load_part(d_scores, o + c, part, 0.0))
                for j in range(i, end):
                    f = get(indices, j)
                    w = f * n_rows + c
                    change = d if ones else mul(d, splat(get(values, j)))
                    if masked:
                        change = keep(change, get(mask, f * n_vectors + v))
                    store_part(d_weight, w, part, add(load_part(d_weight, w, part, 0.0), change))
            i = end
        elif f < n_simple:
            p = base + f
            value = scale if ones else scale * get(values, i)
            put(d_weight, p, get(d_weight, p) + value * get(d_scores, o + get(row, p)))
            i = end
        else:
            value = scale if ones else scale * get(values, i)
            for p in range(get(first, f), get(first, f + 1)):
                put(d_weight, p, get(d_weight, p) + value * get(d_scores, o + get(row, p)))
            i = end


@part
def gather_window(
    at: int, n: int, indptr: Any, indices: Any, values: Any, first: Any, row: Any, n_full: int, n_single: int,
    n_rows: int, weight: Any, scores: Any,
) -> None:  # fmt: skip
    """Scores of positions at:at+n, added to scores[0:n·R]."""
    for t in range(n):
        gather_position(
            indptr[at + t], indptr[at + t + 1], indices, values, first, row, n_full, n_single, n_rows, weight, scores,
            t * n_rows,
        )  # fmt: skip


@kernel
def gather_pairs(
    indptr: Int, indices: Int32, values: Float, first: Int, row: Int32, n_full: int, n_single: int, weight: Float,
    scores: Out[Float2D],
) -> None:  # fmt: skip
    """scores[t, row[p]] += value · weight[p] over the features of position t and their pairs p.

    indptr (N+1,), indices and values over entries (no values: all are 1), first (F+1,), row and weight (P,),
    scores (N, R). A negative index is a feature that training never saw: it has no weight.
    """
    n, n_rows = scores.shape
    gather_window(np.int64(0), n, indptr, indices, values, first, row, n_full, n_single, n_rows, weight, scores.ravel())


@kernel
def gather_cells(
    indptr: Int, indices: Int32, values: Float, first: Int, row: Int32, n_full: int, n_rows: int, weight: Float,
    begin: Int, rows: Int32, alone: bool, scores: Out[Float],
) -> None:  # fmt: skip
    """The same for the rows that positions may use: scores[c] for those of position t, rows[begin[t]:begin[t+1]].

    alone: whether a row that is the only one of its position is scored too; no other path goes by, so that no best path
    depends on it.
    """
    ones = len(values) == 0
    place = np.empty(n_rows, np.int64)
    for r in range(n_rows):
        put(place, r, -1)
    for t in range(len(indptr) - 1):
        lo = begin[t]
        hi = begin[t + 1]
        if hi - lo == 1 and not alone:
            continue
        for c in range(lo, hi):
            put(place, get(rows, c), c)
        for i in range(indptr[t], indptr[t + 1]):
            f = get(indices, i)
            if f < 0:
                continue
            value = 1.0 if ones else get(values, i)
            if f < n_full:
                for c in range(lo, hi):
                    put(scores, c, get(scores, c) + value * get(weight, f * n_rows + get(rows, c)))
                continue
            for p in range(get(first, f), get(first, f + 1)):
                c = get(place, get(row, p))
                if c >= 0:
                    put(scores, c, get(scores, c) + value * get(weight, p))
        for c in range(lo, hi):
            put(place, get(rows, c), -1)


@kernel
def scatter_pairs(
    indptr: Int, indices: Int32, values: Float, first: Int, row: Int32, n_full: int, n_single: int, mask: Bytes,
    d_scores: Float2D, scale: float, d_weight: Out[Float],
) -> None:  # fmt: skip
    """d_weight[p] += scale · value · d_scores[t, row[p]]: the way back of :func:`gather_pairs`."""
    n_rows = d_scores.shape[1]
    flat = d_scores.ravel()
    for t in range(d_scores.shape[0]):
        scatter_position(
            indptr[t], indptr[t + 1], indices, values, first, row, n_full, n_single, n_rows, mask, flat, t * n_rows,
            scale, d_weight,
        )  # fmt: skip


@kernel
def sort_zones(
    indptr: Int, indices: Int32, values: Float, n_full: int, n_single: int, out: Out[Int32], out_values: Out[Float]
) -> None:
    """Entries of each position with full features first, then single ones, then listed, then unknown ones."""
    n_simple = n_full + n_single
    for t in range(len(indptr) - 1):
        at = indptr[t]
        for zone in range(4):
            for i in range(indptr[t], indptr[t + 1]):
                f = indices[i]
                own = 3 if f < 0 else 0 if f < n_full else 1 if f < n_simple else 2
                if own == zone:
                    out[at] = f
                    if len(values) > 0:
                        out_values[at] = values[i]
                    at += 1
