"""One step along the chain: products of a vector of states with the bundles' little matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import inner
from .vector import LANES, add, fma, get, load, maximum, put, splat, store


@inner
def padded(n: int) -> int:
    """The next multiple of the vector width."""
    return (n + LANES - 1) // LANES * LANES


@inner
def spread(graph: Any, edge: Any, e: int, shift: float, fill: float, logs: bool, out: Any, back: Any) -> None:
    """Edge scores edge[e:e+E] into both bundle layouts; ``logs`` keeps them as they are, else exp(score - shift)."""
    from_log = not logs
    for i in range(len(out)):
        out[i] = fill
    for i in range(len(back)):
        back[i] = fill
    for i in range(len(graph.slot)):
        value = get(edge, e + i)
        if from_log:
            value = exp_scalar(value - shift)
        out[graph.slot[i]] = value
        if len(back) > 0:
            back[graph.tslot[i]] = value


@inner
def exp_scalar(x: float) -> float:
    """exp for a single number; underflow is exactly 0 (no denormals)."""
    return np.exp(x) if x >= -700.0 else 0.0


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
        while c + 4 * LANES <= wide:
            a0 = load(acc, target + c)
            a1 = load(acc, target + c + LANES)
            a2 = load(acc, target + c + 2 * LANES)
            a3 = load(acc, target + c + 3 * LANES)
            o = base + c
            for i in range(first, last):
                x = splat(get(values, v + get(graph.bundle_src, i)))
                a0 = fma(x, load(weights, o), a0)
                a1 = fma(x, load(weights, o + LANES), a1)
                a2 = fma(x, load(weights, o + 2 * LANES), a2)
                a3 = fma(x, load(weights, o + 3 * LANES), a3)
                o += wide
            store(acc, target + c, a0)
            store(acc, target + c + LANES, a1)
            store(acc, target + c + 2 * LANES, a2)
            store(acc, target + c + 3 * LANES, a3)
            c += 4 * LANES
        while c < wide:
            a0 = load(acc, target + c)
            o = base + c
            for i in range(first, last):
                x = splat(get(values, v + get(graph.bundle_src, i)))
                a0 = fma(x, load(weights, o), a0)
                o += wide
            store(acc, target + c, a0)
            c += LANES


@inner
def pull(graph: Any, back: Any, values: Any, v: int, acc: Any, scratch: Any) -> None:
    """acc[i] += sum over edges (i, j) of weights[i, j] * values[v + j]: one backward step, in exp space."""
    for b in range(len(graph.bundle_dst)):
        first = graph.bundle_first[b]
        n = graph.bundle_first[b + 1] - first
        wide = padded(n)
        target = graph.bundle_dst[b]
        length = graph.bundle_len[b]
        base = graph.bundle_tslot[b]
        c = 0
        while c < wide:
            a0 = splat(0.0)
            o = base + c
            for j in range(length):
                a0 = fma(splat(get(values, v + target + j)), load(back, o), a0)
                o += wide
            store(scratch, c, a0)
            c += LANES
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
        while c + 2 * LANES <= wide:
            a0 = load(acc, target + c)
            a1 = load(acc, target + c + LANES)
            o = base + c
            for i in range(first, last):
                x = splat(get(values, v + get(graph.bundle_src, i)))
                a0 = maximum(add(x, load(weights, o)), a0)
                a1 = maximum(add(x, load(weights, o + LANES)), a1)
                o += wide
            store(acc, target + c, a0)
            store(acc, target + c + LANES, a1)
            c += 2 * LANES
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
                for t in range(first_step, last_step):
                    q = load(right, t * width + target + c)
                    o = (t - 1) * width
                    a0 = fma(splat(get(left, o + s0)), q, a0)
                    a1 = fma(splat(get(left, o + s1)), q, a1)
                    a2 = fma(splat(get(left, o + s2)), q, a2)
                    a3 = fma(splat(get(left, o + s3)), q, a3)
                o = base + (i - first) * wide + c
                store(out, o, add(load(out, o), a0))
                if i + 1 < last:
                    store(out, o + wide, add(load(out, o + wide), a1))
                if i + 2 < last:
                    store(out, o + 2 * wide, add(load(out, o + 2 * wide), a2))
                if i + 3 < last:
                    store(out, o + 3 * wide, add(load(out, o + 3 * wide), a3))
                i += 4
