"""Inputs of hidden units from features, and the way back: gathered rows of weights, or numbers times all of them.

    a(t, h) = Σ_f x(t, f) W(f, h)          d W(f, h) = Σ_t x(t, f) d_a(t, h)

Weights lie flat, a row of units a feature. Positions without a gradient cost nothing on the way back, and of sparse
features only those of the others are touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Float, Float2D, Int, Int32, Out, Real2D
from chainfield.kernels.elements import get
from chainfield.kernels.jit import inner, kernel, part
from chainfield.kernels.vector import LANES, any_of, fma, load, load_part, splat, store, store_part

# Vectors of weights that are worked on side by side.
BESIDE = 4


@inner
def add_row(weight: Any, o: int, value: float, n_units: int, out: Any, at: int) -> None:
    """out[at:at+H] += value · weight[o:o+H]; both flat."""
    many = splat(value)
    c = 0
    while c + LANES <= n_units:
        store(out, at + c, fma(load(weight, o + c), many, load(out, at + c)))
        c += LANES
    if c < n_units:
        m = n_units - c
        part_ = fma(load_part(weight, o + c, m, 0.0), many, load_part(out, at + c, m, 0.0))
        store_part(out, at + c, m, part_)


@part
def gather_units(
    indptr: Any, indices: Any, values: Any, first: int, n: int, weight: Any, n_units: int, out: Any, width: int
) -> None:  # fmt: skip
    """out(t, :) += Σ over features of value · weight(f, :), for n positions from ``first`` on; weight and out flat."""
    plain = len(values) == 0
    for t in range(n):
        for i in range(indptr[first + t], indptr[first + t + 1]):
            if indices[i] >= 0:
                value = 1.0 if plain else values[i]
                add_row(weight, np.int64(indices[i]) * n_units, value, n_units, out, t * width)


@part
def scatter_units(
    indptr: Any, indices: Any, values: Any, first: int, n: int, d_a: Any, width: int, scale: float, n_units: int,
    weight: Any,
) -> None:  # fmt: skip
    """weight(f, :) += scale · value · d_a(t, :) for every feature of every position that has a gradient."""
    plain = len(values) == 0
    for t in range(n):
        if not any_of(d_a, t * width, width):
            continue
        for i in range(indptr[first + t], indptr[first + t + 1]):
            if indices[i] >= 0:
                value = scale if plain else scale * values[i]
                add_row(d_a, t * width, value, n_units, weight, np.int64(indices[i]) * n_units)


@inner
def add_four(s0: Any, s1: Any, s2: Any, s3: Any, step: float, weight: Any, o: int) -> None:
    """weight[o:o+32] += step · four vectors."""
    many = splat(step)
    store(weight, o, fma(s0, many, load(weight, o)))
    store(weight, o + LANES, fma(s1, many, load(weight, o + LANES)))
    store(weight, o + 2 * LANES, fma(s2, many, load(weight, o + 2 * LANES)))
    store(weight, o + 3 * LANES, fma(s3, many, load(weight, o + 3 * LANES)))


@part
def move_dense(
    x: Any, first: int, n: int, d_a: Any, width: int, n_units: int, step: float, weight: Any, w: int, lag_step: float,
    lag: Any, which: Any, value: Any, chosen: Any,
) -> None:  # fmt: skip
    """weight += step · xᵀ d_a, and the same for the lag (if it is not empty); positions without a gradient are free."""
    m = 0
    for t in range(n):
        if any_of(d_a, t * width, width):
            which[m] = t
            m += 1
    for f in range(x.shape[1]):
        k = 0
        for i in range(m):
            number = x[first + which[i], f]
            if number != 0.0:
                value[k] = number
                chosen[k] = which[i]
                k += 1
        if k == 0:
            continue
        o = w + f * n_units
        c = 0
        while c + BESIDE * LANES <= n_units:
            s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            for i in range(k):
                number_i = splat(get(value, i))
                at = get(chosen, i) * width + c
                s0 = fma(number_i, load(d_a, at), s0)
                s1 = fma(number_i, load(d_a, at + LANES), s1)
                s2 = fma(number_i, load(d_a, at + 2 * LANES), s2)
                s3 = fma(number_i, load(d_a, at + 3 * LANES), s3)
            add_four(s0, s1, s2, s3, step, weight, o + c)
            if len(lag) > 0:
                add_four(s0, s1, s2, s3, lag_step, lag, o + c)
            c += BESIDE * LANES
        while c < n_units:
            s = splat(0.0)
            for i in range(k):
                s = fma(splat(get(value, i)), load(d_a, get(chosen, i) * width + c), s)
            here = min(LANES, n_units - c)
            store_part(weight, o + c, here, fma(s, splat(step), load_part(weight, o + c, here, 0.0)))
            if len(lag) > 0:
                store_part(lag, o + c, here, fma(s, splat(lag_step), load_part(lag, o + c, here, 0.0)))
            c += LANES


@kernel
def gather_inputs(
    indptr: Int, indices: Int32, values: Float, n: int, weight: Real2D, n_units: int, out: Out[Float], width: int
) -> None:
    """Inputs of units from sparse features; weight (F, H), out flat."""
    gather_units(indptr, indices, values, np.int64(0), n, weight.ravel(), n_units, out, width)


@kernel
def scatter_inputs(
    indptr: Int, indices: Int32, values: Float, n: int, d_a: Float, width: int, scale: float, n_units: int,
    weight: Out[Float2D],
) -> None:  # fmt: skip
    """The way back of :func:`gather_inputs`."""
    scatter_units(indptr, indices, values, np.int64(0), n, d_a, width, scale, n_units, weight.ravel())
