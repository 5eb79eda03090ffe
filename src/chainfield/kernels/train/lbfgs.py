"""Vector work of L-BFGS: inner products and combinations of all remembered vectors, each read once.

The textbook's two loops read every remembered vector twice and wait for a sum in between. Written in terms of inner
products (Chen, Wang and Zhou 2014), a direction needs one pass for the products and one for the combination, and both
can be cut into chunks for threads. Memory bandwidth is the limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Float, Float2D, Int, Out, Single, Single2D
from chainfield.kernels.elements import get, prefetch
from chainfield.kernels.jit import inner, kernel
from chainfield.kernels.vector import LANES, add, fma, load, mul, splat, store, total

PIECE = 2048  # elements at a time: what all remembered vectors are multiplied with stays in an inner cache
AHEAD = 256  # remembered numbers that are asked for before they are read: there are too many streams to be guessed


@inner
def five_products(s: Any, y: Any, g: Any, dg: Any, s_new: Any, y_new: Any, dy: Any, n: int, out: Any) -> None:
    """out += s·g, y·dg, s·y_new, y·dy, y·s_new, always in the same order."""
    a0 = splat(0.0)
    a1 = splat(0.0)
    a2 = splat(0.0)
    a3 = splat(0.0)
    a4 = splat(0.0)
    i = 0
    while i + LANES <= n:
        prefetch(s, i + AHEAD)
        prefetch(y, i + AHEAD)
        vs = load(s, i)
        vy = load(y, i)
        a0 = fma(vs, load(g, i), a0)
        a1 = fma(vy, load(dg, i), a1)
        a2 = fma(vs, load(y_new, i), a2)
        a3 = fma(vy, load(dy, i), a3)
        a4 = fma(vy, load(s_new, i), a4)
        i += LANES
    out[0] += total(a0)
    out[1] += total(a1)
    out[2] += total(a2)
    out[3] += total(a3)
    out[4] += total(a4)
    while i < n:
        out[0] += get(s, i) * get(g, i)
        out[1] += get(y, i) * get(dg, i)
        out[2] += get(s, i) * get(y_new, i)
        out[3] += get(y, i) * get(dy, i)
        out[4] += get(y, i) * get(s_new, i)
        i += 1


@kernel
def difference(
    lo: int, hi: int, new: Float, old: Float, new_gradient: Float, old_gradient: Float, step: Out[Single],
    change: Out[Single],
) -> tuple[float, float, float]:  # fmt: skip
    """step = new - old and change = the same of gradients over lo:hi; returns step·change, step·step, change·change.

    Steps and changes are remembered in single precision: they shape directions, never the gradient or the optimum.
    """
    products = 0.0
    steps = 0.0
    changes = 0.0
    for i in range(lo, hi):
        step[i] = new[i] - old[i]
        change[i] = new_gradient[i] - old_gradient[i]
        s = np.float64(step[i])
        y = np.float64(change[i])
        products += s * y
        steps += s * s
        changes += y * y
    return products, steps, changes


@kernel
def weighted_products(
    lo: int, hi: int, steps: Single2D, changes: Single2D, used: Int, newest: int, vector: Float, metric: Float,
    out: Out[Float2D],
) -> None:  # fmt: skip
    """Products of all remembered steps s and changes y over lo:hi, with the vector g and with the newest pair.

    out (n, 5): s·g, y·Dg, s·y', y·Dy', y·s'  (D: the metric, or 1 if it is empty; primes: the newest pair).
    """
    dg = np.empty(PIECE)
    dy = np.empty(PIECE)
    out[:] = 0.0
    for a in range(lo, hi, PIECE):
        b = min(a + PIECE, hi)
        g = vector[a:b]
        s_new = steps[newest, a:b]
        y_new = changes[newest, a:b]
        for i in range(b - a):
            scale = metric[a + i] if len(metric) > 0 else 1.0
            dg[i] = scale * g[i]
            dy[i] = scale * y_new[i]
        for j in range(len(used)):
            five_products(steps[used[j], a:b], changes[used[j], a:b], g, dg, s_new, y_new, dy, b - a, out[j])


@kernel
def combine(
    lo: int, hi: int, steps: Single2D, changes: Single2D, used: Int, of_steps: Float, of_changes: Float,
    of_vector: float, vector: Float, metric: Float, out: Out[Float],
) -> float:  # fmt: skip
    """out = D (of_vector · g + sum of of_changes · y) + sum of of_steps · s over lo:hi; returns out·g there."""
    n = steps.shape[1]
    s = steps.ravel()
    y = changes.ravel()
    sums = splat(0.0)
    i = lo
    while i + LANES <= hi:
        curved = mul(splat(of_vector), load(vector, i))
        straight = splat(0.0)
        for j in range(len(used)):
            at = used[j] * n + i
            prefetch(y, at + AHEAD)
            prefetch(s, at + AHEAD)
            curved = fma(splat(get(of_changes, j)), load(y, at), curved)
            straight = fma(splat(get(of_steps, j)), load(s, at), straight)
        if len(metric) > 0:
            curved = mul(curved, load(metric, i))
        found = add(curved, straight)
        store(out, i, found)
        sums = fma(found, load(vector, i), sums)
        i += LANES
    value = total(sums)
    while i < hi:
        curved_i = of_vector * vector[i]
        straight_i = 0.0
        for j in range(len(used)):
            curved_i += of_changes[j] * y[used[j] * n + i]
            straight_i += of_steps[j] * s[used[j] * n + i]
        out[i] = curved_i * (metric[i] if len(metric) > 0 else 1.0) + straight_i
        value += out[i] * vector[i]
        i += 1
    return value
