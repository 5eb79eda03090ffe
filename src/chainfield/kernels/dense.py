"""Vector work of L-BFGS: inner products and combinations of all remembered vectors, each read once.

The textbook's two loops read every remembered vector twice and wait for a sum in between. Written in terms of inner
products (Chen, Wang and Zhou 2014), a direction needs one pass for the products and one for the combination, and both
can be cut into chunks for threads. Memory bandwidth is the limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import inner, kernel
from .vector import LANES, fma, get, load, splat, total


@inner
def dot(a: Any, b: Any, n: int) -> float:
    """Sum of products, always in the same order."""
    s0 = splat(0.0)
    s1 = splat(0.0)
    i = 0
    while i + 2 * LANES <= n:
        s0 = fma(load(a, i), load(b, i), s0)
        s1 = fma(load(a, i + LANES), load(b, i + LANES), s1)
        i += 2 * LANES
    value = total(s0) + total(s1)
    while i < n:
        value += get(a, i) * get(b, i)
        i += 1
    return value


@kernel
def difference(
    lo: int, hi: int, new: Any, old: Any, new_gradient: Any, old_gradient: Any, step: Any, change: Any
) -> tuple[float, float, float]:
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
    lo: int, hi: int, steps: Any, changes: Any, used: Any, newest: int, vector: Any, metric: Any, out: Any
) -> None:
    """Products of all remembered steps s and changes y over lo:hi, with the vector g and with the newest pair.

    out (n, 5): s·g, y·Dg, s·y', y·Dy', y·s'  (D: the metric, or 1 if it is empty; primes: the newest pair).
    """
    n = hi - lo
    g = vector[lo:hi]
    s_new = steps[newest, lo:hi]
    y_new = changes[newest, lo:hi]
    dg = np.empty(n)
    dy = np.empty(n)
    for i in range(n):
        scale = metric[lo + i] if len(metric) > 0 else 1.0
        dg[i] = scale * g[i]
        dy[i] = scale * y_new[i]
    for j in range(len(used)):
        s = steps[used[j], lo:hi]
        y = changes[used[j], lo:hi]
        out[j, 0] = dot(s, g, n)
        out[j, 1] = dot(y, dg, n)
        out[j, 2] = dot(s, y_new, n)
        out[j, 3] = dot(y, dy, n)
        out[j, 4] = dot(y, s_new, n)


@kernel
def combine(
    lo: int, hi: int, steps: Any, changes: Any, used: Any, of_steps: Any, of_changes: Any, of_vector: float,
    vector: Any, metric: Any, out: Any,
) -> float:  # fmt: skip
    """out = D (of_vector · g + sum of of_changes · y) + sum of of_steps · s over lo:hi; returns out·g there."""
    part = 512
    value = 0.0
    for a in range(lo, hi, part):
        b = min(a + part, hi)
        for i in range(a, b):
            out[i] = of_vector * vector[i]
        for j in range(len(used)):
            c = of_changes[j]
            y = changes[used[j]]
            for i in range(a, b):
                out[i] += c * y[i]
        if len(metric) > 0:
            for i in range(a, b):
                out[i] *= metric[i]
        for j in range(len(used)):
            c = of_steps[j]
            s = steps[used[j]]
            for i in range(a, b):
                out[i] += c * s[i]
        for i in range(a, b):
            value += out[i] * vector[i]
    return value
