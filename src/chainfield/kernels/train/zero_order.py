"""A model of single positions: the softmax over rows, without transitions. It tells which rows are plausible.

    P(r | t) = exp x_t(r) / Σ_q exp x_t(q)

It is trained by AdaGrad (Duchi, Hazan and Singer 2011), one position after the other. Before a position changes the
weights, its own probability is an honest one: the share of positions whose label would have been lost is counted on the
way ("progressive validation", Blum, Kalai and Langford 1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.chain.bundles import aligned, largest
from chainfield.kernels.declare import Bool, Bool2D, Float, Float2D, Int, Int32, Out
from chainfield.kernels.jit import inner, kernel, part
from chainfield.kernels.layout import LANES
from chainfield.kernels.vector import add, exp, get, load, put, splat, store, total

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
    weight: Out[Float], squares: Out[Float],
) -> tuple[float, int, int]:  # fmt: skip
    """Steps on positions, in an order. The labels of a position are the rows table[index[t]]; ``known`` (M,) says
    which of these sets tell something.

    exists: 0 for weights of full features that are none, or empty; penalty (F,): 2 · l2 over a feature's count.
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
        for r in range(len(scores)):
            put(scores, r, 0.0)
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
def mark_plausible(node: Float2D, threshold: float, kept: Out[Bool2D]) -> None:
    """kept[t, r] = whether row r has a probability of at least the threshold; the best row always is."""
    n, n_rows = node.shape
    flat = node.ravel()
    out = aligned((n_rows + LANES - 1) // LANES * LANES)
    for t in range(n):
        z = softmax(flat, t * n_rows, n_rows, out)
        least = min(threshold * z, 1.0)
        for r in range(n_rows):
            kept[t, r] = get(out, r) >= least
