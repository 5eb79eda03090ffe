"""Scores of hidden units, and the way back: H binary units between a position's input and its rows.

    o(t, h, r) = a(t, h) + v(r, h)                       a: input of a unit at a position, v: what a row adds
    sum:  score(t, r) = Σ_h log(1 + exp o)               d / d o = σ(o)
    max:  score(t, r) = Σ_h max(0, o)                    d / d o = [o > 0]

Lanes run over units, so that any number of rows is equally good; units are padded to a multiple of them, with inputs
that are never active. For sums, exp(o) = exp(a) · exp(v): no exponential is left in the triple loop. The terms of a
group of units are multiplied and only the exponent of their product is taken off from time to time, as often as the
largest possible term demands, so that a position and row needs one logarithm in all. On the way back σ = 1 - 1/(1 + e),
and four positions share one division: 1/q0 = q1 · (1 / q0 q1). Inputs too large for that go the slow and safe way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels import layout
from chainfield.kernels.chain.bundles import padded
from chainfield.kernels.declare import Float, Float2D, Out, Real, Real2D
from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import inner, kernel, part
from chainfield.kernels.layout import SIDE
from chainfield.kernels.vector import (
    LANES,
    add,
    divide,
    exp,
    exponent,
    fma,
    highest,
    load,
    mantissa,
    maximum,
    mul,
    product,
    splat,
    store,
    total,
    where_positive,
)

# Four terms of up to exp(LARGEST) have a product that a double holds.
LARGEST = 170.0
# A product of terms may reach exp(this) before its exponent is taken off.
ROOM = 680.0
LN2 = 0.6931471805599453

# How scores were made, for the way back.
MAXIMISED, SUMMED, SUMMED_SAFELY = 0, 1, 2


side_by_side = inner(layout.side_by_side)


@part
def pack(rows: Any, factor: float, out: Any) -> None:
    """factor · rows (R, H) into rows that are padded to the vector width, zeros behind; ``out`` is flat."""
    n_units = rows.shape[1]
    width = padded(n_units)
    for r in range(rows.shape[0]):
        for h in range(width):
            put(out, r * width + h, factor * rows[r, h] if h < n_units else 0.0)


@part
def prepare(a: Any, n: int, n_units: int, width: int, use_max: bool, n_rows: int, v: Any, ea: Any, ev: Any) -> int:
    """Close the padding, choose how to go on, and take exponentials where that is of use; returns the way.

    a: flat (side_by_side(n), width), of which the first n rows and n_units columns are filled.
    """
    for t in range(side_by_side(n)):
        for h in range(n_units if t < n else 0, width):
            put(a, t * width + h, -np.inf)
    if use_max:
        return MAXIMISED
    top = splat(-np.inf)
    for i in range(0, n * width, LANES):
        top = maximum(load(a, i), top)
    largest = highest(top)
    top = splat(0.0)
    for i in range(0, n_rows * width, LANES):
        top = maximum(load(v, i), top)
    above = highest(top)
    # Whatever is not finite fails this test too, and shows in the scores.
    if not (largest <= LARGEST and above <= LARGEST and largest + above <= LARGEST):
        return SUMMED_SAFELY
    for i in range(0, side_by_side(n) * width, LANES):
        store(ea, i, exp(load(a, i)))
    for i in range(0, n_rows * width, LANES):
        store(ev, i, exp(load(v, i)))
    return SUMMED


@inner
def room(ea: Any, n: int, ev: Any, n_rows: int, width: int) -> int:
    """How many terms may be multiplied before the product's exponent has to be taken off."""
    top = splat(0.0)
    for i in range(0, n * width, LANES):
        top = maximum(load(ea, i), top)
    high = splat(0.0)
    for i in range(0, n_rows * width, LANES):
        high = maximum(load(ev, i), high)
    return max(1, int(ROOM / np.log(2.0 + highest(top) * highest(high))))


@inner
def log_of(power: Any, rest: Any) -> float:
    """The logarithm of a product over the lanes, from its exponents and mantissas."""
    return LN2 * total(power) + np.log(product(rest))


@part
def add_sums(ea: Any, n: int, ev: Any, n_rows: int, width: int, scores: Any, stride: int) -> None:
    """scores[t · stride + r] += Σ_h log(1 + ea(t, h) ev(r, h))."""
    one = splat(1.0)
    several = LANES * room(ea, n, ev, n_rows, width)
    for t in range(0, n, SIDE):
        o = t * width
        for r in range(n_rows):
            p0, p1, p2, p3 = one, one, one, one
            n0, n1, n2, n3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            c = 0
            while c < width:
                stop = min(c + several, width)
                while c < stop:
                    e = load(ev, r * width + c)
                    p0 = mul(p0, fma(load(ea, o + c), e, one))
                    p1 = mul(p1, fma(load(ea, o + width + c), e, one))
                    p2 = mul(p2, fma(load(ea, o + 2 * width + c), e, one))
                    p3 = mul(p3, fma(load(ea, o + 3 * width + c), e, one))
                    c += LANES
                n0, p0 = add(n0, exponent(p0)), mantissa(p0)
                n1, p1 = add(n1, exponent(p1)), mantissa(p1)
                n2, p2 = add(n2, exponent(p2)), mantissa(p2)
                n3, p3 = add(n3, exponent(p3)), mantissa(p3)
            s = t * stride + r
            put(scores, s, get(scores, s) + log_of(n0, p0))
            if t + 1 < n:
                put(scores, s + stride, get(scores, s + stride) + log_of(n1, p1))
            if t + 2 < n:
                put(scores, s + 2 * stride, get(scores, s + 2 * stride) + log_of(n2, p2))
            if t + 3 < n:
                put(scores, s + 3 * stride, get(scores, s + 3 * stride) + log_of(n3, p3))


@part
def add_sums_safely(a: Any, n: int, v: Any, n_rows: int, n_units: int, width: int, scores: Any, stride: int) -> None:
    """The same for inputs of any size, one logarithm a unit."""
    for t in range(n):
        for r in range(n_rows):
            value = 0.0
            for h in range(n_units):
                o = a[t * width + h] + v[r * width + h]
                value += max(o, 0.0) + np.log1p(np.exp(-abs(o)))
            scores[t * stride + r] += value


@part
def add_maxima(a: Any, n: int, v: Any, n_rows: int, width: int, scores: Any, stride: int) -> None:
    """scores[t · stride + r] += Σ_h max(0, a(t, h) + v(r, h))."""
    zero = splat(0.0)
    for t in range(0, n, SIDE):
        o = t * width
        for r in range(n_rows):
            s0, s1, s2, s3 = zero, zero, zero, zero
            for c in range(0, width, LANES):
                e = load(v, r * width + c)
                s0 = add(s0, maximum(add(load(a, o + c), e), zero))
                s1 = add(s1, maximum(add(load(a, o + width + c), e), zero))
                s2 = add(s2, maximum(add(load(a, o + 2 * width + c), e), zero))
                s3 = add(s3, maximum(add(load(a, o + 3 * width + c), e), zero))
            s = t * stride + r
            put(scores, s, get(scores, s) + total(s0))
            if t + 1 < n:
                put(scores, s + stride, get(scores, s + stride) + total(s1))
            if t + 2 < n:
                put(scores, s + 2 * stride, get(scores, s + 2 * stride) + total(s2))
            if t + 3 < n:
                put(scores, s + 3 * stride, get(scores, s + 3 * stride) + total(s3))


@inner
def entry(d: Any, t: int, n: int, stride: int, r: int) -> Any:
    """d(t, r) in all lanes; 0 behind the last position."""
    return splat(get(d, t * stride + r) if t < n else 0.0)


@part
def pull_sums(
    ea: Any, n: int, ev: Any, n_rows: int, width: int, d: Any, stride: int, d_a: Any, d_v: Any
) -> None:  # fmt: skip
    """d_a(t, h) = Σ_r d(t, r) σ(o);  d_v(r, h) += Σ_t d(t, r) σ(o).  With σ = 1 - 1/q: sums of d, less those of d/q."""
    one, minus = splat(1.0), splat(-1.0)
    for t in range(0, n, SIDE):
        o = t * width
        w0, w1, w2, w3 = 0.0, 0.0, 0.0, 0.0
        for r in range(n_rows):
            w0 += get(d, t * stride + r)
            w1 += get(d, (t + 1) * stride + r) if t + 1 < n else 0.0
            w2 += get(d, (t + 2) * stride + r) if t + 2 < n else 0.0
            w3 += get(d, (t + 3) * stride + r) if t + 3 < n else 0.0
        for c in range(0, width, LANES):
            a0, a1 = load(ea, o + c), load(ea, o + width + c)
            a2, a3 = load(ea, o + 2 * width + c), load(ea, o + 3 * width + c)
            g0, g1, g2, g3 = splat(w0), splat(w1), splat(w2), splat(w3)
            for r in range(n_rows):
                e = load(ev, r * width + c)
                q0, q1 = fma(a0, e, one), fma(a1, e, one)
                q2, q3 = fma(a2, e, one), fma(a3, e, one)
                q01, q23 = mul(q0, q1), mul(q2, q3)
                inverse = divide(minus, mul(q01, q23))  # minus: everything below is subtracted
                i01, i23 = mul(inverse, q23), mul(inverse, q01)
                d0, d1 = entry(d, t, n, stride, r), entry(d, t + 1, n, stride, r)
                d2, d3 = entry(d, t + 2, n, stride, r), entry(d, t + 3, n, stride, r)
                f0, f1 = mul(mul(i01, q1), d0), mul(mul(i01, q0), d1)
                f2, f3 = mul(mul(i23, q3), d2), mul(mul(i23, q2), d3)
                g0, g1 = add(g0, f0), add(g1, f1)
                g2, g3 = add(g2, f2), add(g3, f3)
                whole = add(add(d0, d1), add(d2, d3))
                whole = add(whole, add(add(f0, f1), add(f2, f3)))
                store(d_v, r * width + c, add(load(d_v, r * width + c), whole))
            store(d_a, o + c, g0)
            if t + 1 < n:
                store(d_a, o + width + c, g1)
            if t + 2 < n:
                store(d_a, o + 2 * width + c, g2)
            if t + 3 < n:
                store(d_a, o + 3 * width + c, g3)


@part
def pull_sums_safely(
    a: Any, n: int, v: Any, n_rows: int, n_units: int, width: int, d: Any, stride: int, d_a: Any, d_v: Any
) -> None:  # fmt: skip
    """The same for inputs of any size."""
    for t in range(n):
        for h in range(width):
            d_a[t * width + h] = 0.0
        for r in range(n_rows):
            weight = d[t * stride + r]
            if weight != 0.0:
                for h in range(n_units):
                    o = a[t * width + h] + v[r * width + h]
                    small = np.exp(-abs(o))
                    value = weight * ((1.0 if o > 0.0 else small) / (1.0 + small))
                    d_a[t * width + h] += value
                    d_v[r * width + h] += value


@part
def pull_maxima(
    a: Any, n: int, v: Any, n_rows: int, width: int, d: Any, stride: int, d_a: Any, d_v: Any
) -> None:  # fmt: skip
    """d_a(t, h) = Σ_r d(t, r) [o > 0]; d_v(r, h) += Σ_t d(t, r) [o > 0]. Of d only what is not 0 costs anything."""
    zero = splat(0.0)
    for t in range(n):
        o = t * width
        first = True
        for r in range(n_rows):
            weight = get(d, t * stride + r)
            if weight == 0.0:
                continue
            some = splat(weight)
            for c in range(0, width, LANES):
                active = where_positive(add(load(a, o + c), load(v, r * width + c)), some)
                store(d_v, r * width + c, add(load(d_v, r * width + c), active))
                store(d_a, o + c, active if first else add(load(d_a, o + c), active))
            first = False
        if first:
            for c in range(0, width, LANES):
                store(d_a, o + c, zero)


@part
def score_units(
    a: Any, n: int, n_units: int, use_max: bool, v: Any, n_rows: int, ea: Any, ev: Any, scores: Any, stride: int
) -> int:  # fmt: skip
    """Add the scores of n positions; returns the way that was taken, for :func:`pull_units`."""
    width = padded(n_units)
    way = prepare(a, n, n_units, width, use_max, n_rows, v, ea, ev)
    if way == MAXIMISED:
        add_maxima(a, n, v, n_rows, width, scores, stride)
    elif way == SUMMED:
        add_sums(ea, n, ev, n_rows, width, scores, stride)
    else:
        add_sums_safely(a, n, v, n_rows, n_units, width, scores, stride)
    return way


@part
def pull_units(
    way: int, a: Any, n: int, n_units: int, v: Any, n_rows: int, ea: Any, ev: Any, d: Any, stride: int, d_a: Any,
    d_v: Any,
) -> None:  # fmt: skip
    """d_a (n, width) = d loss / d inputs; the gradient of what rows add is added to d_v (R, width)."""
    width = padded(n_units)
    if way == MAXIMISED:
        pull_maxima(a, n, v, n_rows, width, d, stride, d_a, d_v)
    elif way == SUMMED:
        pull_sums(ea, n, ev, n_rows, width, d, stride, d_a, d_v)
    else:
        pull_sums_safely(a, n, v, n_rows, n_units, width, d, stride, d_a, d_v)


@kernel
def forward_units(
    a: Out[Float], n: int, bias: Real, rows: Real2D, row_bias: Real, use_max: bool, v: Out[Float], ea: Out[Float],
    ev: Out[Float], scores: Out[Float2D],
) -> int:  # fmt: skip
    """Add biases to inputs (flat, padded), and the scores of all rows to ``scores`` (N, R)."""
    n_rows, n_units = rows.shape
    width = padded(n_units)
    for t in range(n):
        for h in range(n_units):
            a[t * width + h] += bias[h]
    pack(rows, 1.0, v)
    for t in range(n):
        for r in range(n_rows):
            scores[t, r] += row_bias[r]
    return score_units(a, n, n_units, use_max, v, n_rows, ea, ev, scores.ravel(), n_rows)


@kernel
def backward_units(
    way: int, a: Float, n: int, n_units: int, v: Float, n_rows: int, ea: Float, ev: Float, d: Float2D, d_a: Out[Float],
    d_v: Out[Float],
) -> None:  # fmt: skip
    """The gradient of the units' inputs (flat, padded), and of what rows add."""
    pull_units(way, a, n, n_units, v, n_rows, ea, ev, d.ravel(), n_rows, d_a, d_v)
