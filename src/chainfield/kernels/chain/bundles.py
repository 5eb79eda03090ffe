"""One step along the chain: products of a vector of states with the bundles' little matrices.

SIMD runs over target states (forward) or source states (backward), not over sequences side by side. Lanes over
sequences need no padding of labels and no broadcast, but they need eight sequences of one length at a time: useless
for a single long sequence and for online training, which sees one sequence a step. With bundles the same kernel serves
all of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels import layout
from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import inner, maker, part
from chainfield.kernels.vector import LANES, add, exp, fma, highest, load, maximum, mul, splat, store, total

padded = inner(layout.padded)


@maker
def aligned(n: int) -> Any:
    """n zeros that start on a cache line: a vector that straddles two lines costs twice."""
    array = np.zeros(n + layout.ALIGNMENT // 8)
    first = (-array.ctypes.data % layout.ALIGNMENT) // 8
    return array[first : first + n]


@inner
def exp_scalar(x: float) -> float:
    """exp for a single number; underflow is exactly 0 (no denormals)."""
    return np.exp(x) if x >= -700.0 else 0.0


@inner
def largest(values: Any, first: int, n: int) -> float:
    """The largest of n values; -inf for none, NaN if there is one."""
    tops = splat(-np.inf)
    sums = splat(0.0)  # a NaN hides from comparisons
    i = 0
    while i + LANES <= n:
        value = load(values, first + i)
        tops = maximum(value, tops)
        sums = add(sums, mul(value, splat(0.0)))
        i += LANES
    top = highest(tops)
    bad = total(sums)
    while i < n:
        value_i = get(values, first + i)
        top = max(top, value_i)
        bad += 0.0 * value_i
        i += 1
    if bad != bad:  # a NaN, or an infinity: look again
        for i in range(n):
            if get(values, first + i) != get(values, first + i):
                return get(values, first + i)
    return top


@part
def spread(graph: Any, edge: Any, e: int, shift: float, fill: float, logs: bool, out: Any, back: Any) -> None:
    """Edge scores edge[e:e+E] into the bundle layouts; ``logs`` keeps them as they are, else exp(score - shift)."""
    n_edges = len(graph.slot)
    empty = splat(-np.inf if not logs else fill)
    for i in range(0, len(out), LANES):
        store(out, i, empty)
    for i in range(n_edges):
        put(out, get(graph.slot, i), get(edge, e + i))
    if not logs:
        minus = splat(-shift)
        for i in range(0, len(out), LANES):
            store(out, i, exp(add(load(out, i), minus)))
    if len(back) > 0:
        empty = splat(fill)
        for i in range(0, len(back), LANES):
            store(back, i, empty)
        for i in range(n_edges):
            put(back, get(graph.tslot, i), get(out, get(graph.slot, i)))


@inner
def three(matrix: Any, o: int, wide: int, values: Any, v: int, n: int) -> Any:
    """Three vectors of the sum over i of values[v + i] · matrix[o + i · wide]: six chains of multiply-adds."""
    a0 = splat(0.0)
    a1 = splat(0.0)
    a2 = splat(0.0)
    b0 = splat(0.0)
    b1 = splat(0.0)
    b2 = splat(0.0)
    i = 0
    while i + 1 < n:
        x = splat(get(values, v + i))
        y = splat(get(values, v + i + 1))
        a0 = fma(x, load(matrix, o), a0)
        a1 = fma(x, load(matrix, o + LANES), a1)
        a2 = fma(x, load(matrix, o + 2 * LANES), a2)
        o += wide
        b0 = fma(y, load(matrix, o), b0)
        b1 = fma(y, load(matrix, o + LANES), b1)
        b2 = fma(y, load(matrix, o + 2 * LANES), b2)
        o += wide
        i += 2
    if i < n:
        x = splat(get(values, v + i))
        a0 = fma(x, load(matrix, o), a0)
        a1 = fma(x, load(matrix, o + LANES), a1)
        a2 = fma(x, load(matrix, o + 2 * LANES), a2)
    return add(a0, b0), add(a1, b1), add(a2, b2)


@inner
def one(matrix: Any, o: int, wide: int, values: Any, v: int, n: int) -> Any:
    """The same, one vector: four chains."""
    a0 = splat(0.0)
    b0 = splat(0.0)
    c0 = splat(0.0)
    d0 = splat(0.0)
    i = 0
    while i + 3 < n:
        a0 = fma(splat(get(values, v + i)), load(matrix, o), a0)
        b0 = fma(splat(get(values, v + i + 1)), load(matrix, o + wide), b0)
        c0 = fma(splat(get(values, v + i + 2)), load(matrix, o + 2 * wide), c0)
        d0 = fma(splat(get(values, v + i + 3)), load(matrix, o + 3 * wide), d0)
        o += 4 * wide
        i += 4
    while i < n:
        a0 = fma(splat(get(values, v + i)), load(matrix, o), a0)
        o += wide
        i += 1
    return add(add(a0, b0), add(c0, d0))


@inner
def push(graph: Any, weights: Any, values: Any, v: int, acc: Any) -> None:
    """acc[j] += sum over edges (i, j) of values[v + i] * weights[i, j]: one forward step, in exp space."""
    for b in range(len(graph.bundle_dst)):
        first = graph.bundle_first[b]
        last = graph.bundle_first[b + 1]
        target = graph.bundle_dst[b]
        wide = padded(graph.bundle_len[b])
        base = graph.bundle_slot[b]
        c = 0
        # Three vectors at a time, two sources at a time: six chains of multiply-adds hide their latency.
        while c + 3 * LANES <= wide:
            o = base + c
            a0 = load(acc, target + c)
            a1 = load(acc, target + c + LANES)
            a2 = load(acc, target + c + 2 * LANES)
            b0 = splat(0.0)
            b1 = splat(0.0)
            b2 = splat(0.0)
            i = first
            while i + 1 < last:
                x = splat(get(values, v + get(graph.bundle_src, i)))
                y = splat(get(values, v + get(graph.bundle_src, i + 1)))
                a0 = fma(x, load(weights, o), a0)
                a1 = fma(x, load(weights, o + LANES), a1)
                a2 = fma(x, load(weights, o + 2 * LANES), a2)
                o += wide
                b0 = fma(y, load(weights, o), b0)
                b1 = fma(y, load(weights, o + LANES), b1)
                b2 = fma(y, load(weights, o + 2 * LANES), b2)
                o += wide
                i += 2
            if i < last:
                x = splat(get(values, v + get(graph.bundle_src, i)))
                a0 = fma(x, load(weights, o), a0)
                a1 = fma(x, load(weights, o + LANES), a1)
                a2 = fma(x, load(weights, o + 2 * LANES), a2)
            store(acc, target + c, add(a0, b0))
            store(acc, target + c + LANES, add(a1, b1))
            store(acc, target + c + 2 * LANES, add(a2, b2))
            c += 3 * LANES
        while c < wide:
            o = base + c
            a0 = load(acc, target + c)
            b0 = splat(0.0)
            i = first
            while i + 1 < last:
                x = splat(get(values, v + get(graph.bundle_src, i)))
                y = splat(get(values, v + get(graph.bundle_src, i + 1)))
                a0 = fma(x, load(weights, o), a0)
                b0 = fma(y, load(weights, o + wide), b0)
                o += 2 * wide
                i += 2
            if i < last:
                a0 = fma(splat(get(values, v + get(graph.bundle_src, i))), load(weights, o), a0)
            store(acc, target + c, add(a0, b0))
            c += LANES


@inner
def pull(graph: Any, back: Any, values: Any, v: int, acc: Any, scratch: Any) -> None:
    """acc[i] += sum over edges (i, j) of weights[i, j] * values[v + j]: one backward step, in exp space."""
    for b in range(len(graph.bundle_dst)):
        first = graph.bundle_first[b]
        n = graph.bundle_first[b + 1] - first
        wide = padded(n)
        at = v + graph.bundle_dst[b]
        length = graph.bundle_len[b]
        base = graph.bundle_tslot[b]
        source = get(graph.bundle_src, first)
        # Sources side by side are added to as they are; others by way of scratch memory, one by one.
        beside = get(graph.bundle_src, first + n - 1) == source + n - 1
        target = acc if beside else scratch
        start = source if beside else 0
        if not beside:
            for c in range(0, wide, LANES):
                store(scratch, c, splat(0.0))
        c = 0
        while c + 3 * LANES <= wide:
            x, y, z = three(back, base + c, wide, values, at, length)
            store(target, start + c, add(load(target, start + c), x))
            store(target, start + c + LANES, add(load(target, start + c + LANES), y))
            store(target, start + c + 2 * LANES, add(load(target, start + c + 2 * LANES), z))
            c += 3 * LANES
        while c < wide:
            x = one(back, base + c, wide, values, at, length)
            store(target, start + c, add(load(target, start + c), x))
            c += LANES
        if not beside:
            for i in range(n):
                k = get(graph.bundle_src, first + i)
                put(acc, k, get(acc, k) + get(scratch, i))


@inner
def push_max(graph: Any, weights: Any, values: Any, v: int, acc: Any) -> None:
    """acc[j] = max(acc[j], max over edges (i, j) of values[v + i] + weights[i, j]): one step of Viterbi."""
    for b in range(len(graph.bundle_dst)):
        first = graph.bundle_first[b]
        last = graph.bundle_first[b + 1]
        target = graph.bundle_dst[b]
        wide = padded(graph.bundle_len[b])
        base = graph.bundle_slot[b]
        c = 0
        while c + 3 * LANES <= wide:
            a0 = load(acc, target + c)
            a1 = load(acc, target + c + LANES)
            a2 = load(acc, target + c + 2 * LANES)
            o = base + c
            for i in range(first, last):
                x = splat(get(values, v + get(graph.bundle_src, i)))
                a0 = maximum(add(x, load(weights, o)), a0)
                a1 = maximum(add(x, load(weights, o + LANES)), a1)
                a2 = maximum(add(x, load(weights, o + 2 * LANES)), a2)
                o += wide
            store(acc, target + c, a0)
            store(acc, target + c + LANES, a1)
            store(acc, target + c + 2 * LANES, a2)
            c += 3 * LANES
        while c < wide:
            a0 = load(acc, target + c)
            o = base + c
            for i in range(first, last):
                x = splat(get(values, v + get(graph.bundle_src, i)))
                a0 = maximum(add(x, load(weights, o)), a0)
                o += wide
            store(acc, target + c, a0)
            c += LANES


@inner
def outer(graph: Any, left: Any, right: Any, width: int, first_step: int, last_step: int, out: Any) -> None:
    """out[i, j] += sum over t of left[t - 1, i] * right[t, j] for every edge (i, j), in the forward layout.

    A small matrix product a bundle; four sources and eight targets at a time stay in registers over all t.
    """
    for b in range(len(graph.bundle_dst)):
        first = graph.bundle_first[b]
        last = graph.bundle_first[b + 1]
        target = graph.bundle_dst[b]
        wide = padded(graph.bundle_len[b])
        base = graph.bundle_slot[b]
        for c in range(0, wide, LANES):
            i = first
            while i < last:
                s0 = get(graph.bundle_src, i)
                s1 = get(graph.bundle_src, min(i + 1, last - 1))
                s2 = get(graph.bundle_src, min(i + 2, last - 1))
                s3 = get(graph.bundle_src, min(i + 3, last - 1))
                a0 = splat(0.0)
                a1 = splat(0.0)
                a2 = splat(0.0)
                a3 = splat(0.0)
                o = (first_step - 1) * width
                r = first_step * width + target + c
                for _ in range(first_step, last_step):
                    q = load(right, r)
                    a0 = fma(splat(get(left, o + s0)), q, a0)
                    a1 = fma(splat(get(left, o + s1)), q, a1)
                    a2 = fma(splat(get(left, o + s2)), q, a2)
                    a3 = fma(splat(get(left, o + s3)), q, a3)
                    o += width
                    r += width
                o = base + (i - first) * wide + c
                store(out, o, add(load(out, o), a0))
                if i + 1 < last:
                    store(out, o + wide, add(load(out, o + wide), a1))
                if i + 2 < last:
                    store(out, o + 2 * wide, add(load(out, o + 2 * wide), a2))
                if i + 3 < last:
                    store(out, o + 3 * wide, add(load(out, o + 3 * wide), a3))
                i += 4
