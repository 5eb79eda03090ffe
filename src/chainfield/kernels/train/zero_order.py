"""A model of single positions: the softmax over rows, without transitions. It tells which rows are plausible.

    P(r | t) = exp(b(r) + x_t(r)) / Σ_q exp(b(q) + x_t(q))

b: how frequent a row is, as a logarithm. It is not learned: without it, a word without a known feature would have any
row.
It is trained by AdaGrad (Duchi, Hazan and Singer 2011), one position after the other. Before a position changes the
weights, its own probability is an honest one: the share of positions whose label would have been lost is counted on the
way ("progressive validation", Blum, Kalai and Langford 1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.chain.bundles import aligned, largest
from chainfield.kernels.declare import Bool, Bool2D, Float, Int, Int32, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import inner, kernel, part
from chainfield.kernels.layout import LANES
from chainfield.kernels.vector import add, exp, highest, load, splat, store, total

from .linear import gather_position

SMALL = 1e-4  # gradients of rows below this are left out (1e-3 costs accuracy)


@inner
def softmax(scores: Any, o: int, n_rows: int, out: Any) -> float:
    """out[:R] = exp(scores[o:o+R] - their largest); returns the sum. ``out`` is padded, and 0 behind the rows."""
    top = largest(scores, o, n_rows)
    for r in range(n_rows):
        put(out, r, get(scores, o + r))
    for r in range(n_rows, len(out)):
        put(out, r, -np.inf)
    minus = splat(-top)
    sums = splat(0.0)
    for r in range(0, len(out), LANES):
        x = exp(add(load(out, r), minus))
        store(out, r, x)
        sums = add(sums, x)
    return total(sums)


@kernel
def zero_order_pass(
    indptr: Int, indices: Int32, values: Float, first: Int, row: Int32, n_full: int, n_single: int, exists: Float,
    index: Int32, table: Bool2D, known: Bool, order: Int, rates: Float, penalty: Float, threshold: float,
    prior: Float, weight: Out[Float], squares: Out[Float],
) -> tuple[float, int, int]:  # fmt: skip
    """Steps on positions, in an order. The labels of a position are the rows table[index[t]]; ``known`` (M,) says
    which of these sets tell something.

    exists: 0 for weights of full features that are none, or empty; penalty (F,): 2 · l2 over a feature's count;
    prior (R,): b.
    Returns the loss, how many positions were known, and for how many of them no right row reached the threshold before
    they were learned from.
    """
    n_rows = table.shape[1]
    scores = aligned((n_rows + LANES - 1) // LANES * LANES)
    d = aligned((n_rows + LANES - 1) // LANES * LANES)
    hot = np.empty(n_rows, np.int32)
    loss = 0.0
    seen = 0
    lost = 0
    for step in range(len(order)):
        t = order[step]
        if not known[index[t]]:
            continue
        allowed = table[index[t]]
        for r in range(n_rows):
            put(scores, r, get(prior, r))
        gather_position(
            indptr[t], indptr[t + 1], indices, values, first, row, n_full, n_single, n_rows, weight, scores,
            np.int64(0),
        )  # fmt: skip
        z = softmax(scores, np.int64(0), n_rows, d)
        right = 0.0
        best = 0.0
        for r in range(n_rows):
            if allowed[r]:
                right += get(d, r)
                best = max(best, get(d, r))
        seen += 1
        lost += best < threshold * z
        right = max(right, 1e-300)
        loss += np.log(z) - np.log(right)
        m = 0
        for r in range(n_rows):
            g = get(d, r) / z
            if allowed[r]:
                g -= get(d, r) / right
            put(d, r, g)
            if abs(g) > SMALL:
                put(hot, m, r)
                m += 1
            else:
                put(d, r, 0.0)
        if m > 0:
            adapt(
                indptr[t], indptr[t + 1], indices, values, first, row, n_full, n_rows, exists, d, hot, m, rates[step],
                penalty, weight, squares,
            )  # fmt: skip
    return loss, seen, lost


@part
def adapt(
    lo: int, hi: int, indices: Any, values: Any, first: Any, row: Any, n_full: int, n_rows: int, exists: Any, d: Any,
    hot: Any, m: int, rate: float, penalty: Any, weight: Any, squares: Any,
) -> None:  # fmt: skip
    """One step of AdaGrad on the weights of a position's features; hot[:m]: the rows whose gradient is not 0."""
    ones = len(values) == 0
    masked = len(exists) > 0
    for i in range(lo, hi):
        f = get(indices, i)
        if f < 0:
            continue
        value = 1.0 if ones else get(values, i)
        keep = get(penalty, f)
        if f < n_full:
            for j in range(m):
                p = f * n_rows + get(hot, j)
                if not masked or get(exists, p) > 0.0:
                    g = value * get(d, get(hot, j)) + keep * get(weight, p)
                    square = get(squares, p) + g * g
                    put(squares, p, square)
                    put(weight, p, get(weight, p) - rate * g / np.sqrt(square))
        else:
            for p in range(get(first, f), get(first, f + 1)):
                x = get(d, get(row, p))
                if x != 0.0:
                    g = value * x + keep * get(weight, p)
                    square = get(squares, p) + g * g
                    put(squares, p, square)
                    put(weight, p, get(weight, p) - rate * g / np.sqrt(square))


@kernel
def list_plausible(
    indptr: Int, indices: Int32, values: Float, first: Int, row: Int32, n_full: int, n_single: int, weight: Float,
    prior: Float, threshold: float, most: int, index: Int32, table: Bool2D, keep_known: bool, begin: Out[Int],
    rows: Out[Int32],
) -> None:  # fmt: skip
    """rows[begin[t]:begin[t+1]]: the rows whose probability reaches the threshold; the best one always does.

    Where more than ``most`` do, the best of them stay, and of equal ones the first; 0: all stay. The labels of a
    position allow the rows table[index[t]]. ``keep_known``: what they allow is added, unless that is everything; else
    nothing but what they allow stays, and all of that where nothing plausible is among it.
    """
    n_rows = table.shape[1]
    n_padded = (n_rows + LANES - 1) // LANES * LANES
    scores = aligned(n_padded)
    out = aligned(n_padded)
    top = np.empty(max(most, 1))
    full = np.empty(len(table), np.bool_)
    for i in range(len(table)):
        full[i] = table[i].all()
    m = 0
    for t in range(len(indptr) - 1):
        begin[t] = m
        for r in range(n_rows):
            put(scores, r, get(prior, r))
        gather_position(
            indptr[t], indptr[t + 1], indices, values, first, row, n_full, n_single, n_rows, weight, scores,
            np.int64(0),
        )  # fmt: skip
        cut = min(threshold * softmax(scores, np.int64(0), n_rows, out), 1.0)
        spare = n_rows
        if most > 0 and count_from(out, n_rows, cut) > most:
            cut = lowest_of_best(out, n_rows, most, top)
            for i in range(most):
                spare -= top[i] > cut
            spare -= n_rows - most
        allowed = table[index[t]]
        free = full[index[t]]
        for v in range(0, n_padded, LANES):
            if free and highest(load(out, v)) < cut:
                continue
            for r in range(v, min(v + LANES, n_rows)):
                x = get(out, r)
                plausible = x > cut or (x == cut and spare > 0)
                if plausible and x == cut:
                    spare -= 1
                right = free or allowed[r]
                if (plausible and right) or (keep_known and (plausible or (right and not free))):
                    put(rows, m, r)
                    m += 1
        if m == begin[t]:
            for r in range(n_rows):
                if allowed[r]:
                    put(rows, m, r)
                    m += 1
    begin[len(indptr) - 1] = m


@inner
def count_from(values: Any, n: int, least: float) -> int:
    """How many of n values are not smaller than ``least``."""
    found = 0
    for i in range(n):
        found += get(values, i) >= least
    return found


@inner
def lowest_of_best(values: Any, n: int, most: int, top: Any) -> float:
    """The smallest of the ``most`` largest of n values; ``top`` holds them in ascending order."""
    for i in range(most):
        put(top, i, -np.inf)
    for j in range(n):
        x = get(values, j)
        if x > get(top, 0):
            i = 0
            while i + 1 < most and get(top, i + 1) < x:
                put(top, i, get(top, i + 1))
                i += 1
            put(top, i, x)
    return get(top, 0)
