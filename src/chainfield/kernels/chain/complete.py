"""Both recursions of a complete graph at once: alpha goes forward while beta goes backward.

A step of a recursion waits for the one before it, and a little matrix is done long before the next can begin. Where
every state follows every state (a plain first-order chain), neither recursion needs anything of the other: one step of
each, side by side, and one computes while the other waits. That nearly halves the time of a step.

What the general kernels do beyond this (states that no path visits, scores of -inf) cannot occur here, or is left to
them: the answer is NaN then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.elements import put
from chainfield.kernels.jit import inner, part
from chainfield.kernels.vector import (
    LANES,
    add,
    fma,
    load,
    load_part,
    lowest,
    minimum,
    mul,
    splat,
    store,
    store_part,
    total,
)

from .bundles import one, outer, three

# Alpha and beta are exact while they stay above THIN (see sum.py); the product of two reciprocals must not overflow.
THIN = 1e-120
COMFORT = 1e-20  # they are rescaled when their sum is below this, or above its inverse; looked at every CHECK steps
CHECK = 4
CHUNK = 512  # the matrix product of edge expectations goes over a long sequence in pieces that stay in cache


@inner
def knows(graph: Any) -> bool:
    """Whether a graph is complete, every state with a row of its own, in order."""
    return graph.complete and len(graph.bundle_dst) == 1 and len(graph.segment_len) == 1 and graph.segment_row[0] == 0


@inner
def put_alpha(alpha: Any, emission: Any, lost: Any, o: int, c: int, sums: Any, thinnest: Any) -> Any:
    """Alpha of a step, from the sums over the states before; returns the smallest so far."""
    values = mul(sums, load(emission, o + c))
    store(alpha, o + c, values)
    return minimum(add(values, load(lost, c)), thinnest)


@inner
def put_beta(betas: Any, right: Any, emission: Any, lost: Any, o: int, c: int, sums: Any, thinnest: Any) -> Any:
    """Beta of a step, and its product with the emission, which the next one reads; returns the smallest so far."""
    store(betas, o + c, sums)
    store(right, o + c, mul(sums, load(emission, o + c)))
    return minimum(add(sums, load(lost, c)), thinnest)


@inner
def rescaling(values: Any, o: int, width: int) -> float:
    """The factor that brings the sum of a vector back to 1, if it has left a comfortable range."""
    sums = splat(0.0)
    for k in range(0, width, LANES):
        sums = add(sums, load(values, o + k))
    z = total(sums)
    return 1.0 if z >= COMFORT and z <= 1.0 / COMFORT else 1.0 / z


@inner
def scale(values: Any, o: int, width: int, factor: float) -> None:
    """values[o : o + width] *= factor."""
    many = splat(factor)
    for k in range(0, width, LANES):
        store(values, o + k, mul(load(values, o + k), many))


@part
def both_ways(
    graph: Any, log_z: float, n: int, shift: float, weight: float, work: Any, d_nodes: Any, d: int, stride: int
) -> float:
    """log Z, and weight · posteriors added to ``d_nodes`` (rows from ``d`` on) and ``work.expected``.

    ``work.emission`` is filled from finite scores, log_z is the sum of their shifts. NaN: numbers got too small here,
    and nothing was added anywhere.
    """
    k_states = len(graph.row_of)
    width = graph.width
    forth, back = graph.bundle_slot[0], graph.bundle_tslot[0]
    alpha, betas, right, emission, gain = work.alpha, work.betas, work.right, work.emission, work.gain
    thinnest = splat(np.inf)
    o = np.int64(0)
    u = (n - 1) * width
    for k in range(width):
        put(work.lost, k, 0.0 if k < k_states else np.inf)
    for k in range(0, width, LANES):
        store(alpha, k, load(emission, k))
        store(betas, u + k, splat(1.0))
        store(right, u + k, load(emission, u + k))
        thinnest = minimum(add(load(emission, k), load(work.lost, k)), thinnest)
    gain[n - 1] = 1.0
    for step in range(1, n):
        o += width
        u -= width
        c = 0
        while c + 3 * LANES <= width:
            x, y, z = three(work.weights, forth + c, width, alpha, o - width, k_states)
            thinnest = put_alpha(alpha, emission, work.lost, o, c, x, thinnest)
            thinnest = put_alpha(alpha, emission, work.lost, o, c + LANES, y, thinnest)
            thinnest = put_alpha(alpha, emission, work.lost, o, c + 2 * LANES, z, thinnest)
            x, y, z = three(work.back, back + c, width, right, u + width, k_states)
            thinnest = put_beta(betas, right, emission, work.lost, u, c, x, thinnest)
            thinnest = put_beta(betas, right, emission, work.lost, u, c + LANES, y, thinnest)
            thinnest = put_beta(betas, right, emission, work.lost, u, c + 2 * LANES, z, thinnest)
            c += 3 * LANES
        while c < width:
            x = one(work.weights, forth + c, width, alpha, o - width, k_states)
            thinnest = put_alpha(alpha, emission, work.lost, o, c, x, thinnest)
            x = one(work.back, back + c, width, right, u + width, k_states)
            thinnest = put_beta(betas, right, emission, work.lost, u, c, x, thinnest)
            c += LANES
        log_z += shift
        at = n - 1 - step
        gain[at] = 1.0
        if step % CHECK == 0:
            factor = rescaling(alpha, o, width)
            if factor != 1.0:
                scale(alpha, o, width, factor)
                log_z -= np.log(factor)
            factor = rescaling(betas, u, width)
            if factor != 1.0:
                scale(betas, u, width, factor)
                scale(right, u, width, factor)
                gain[at] = factor
    if not lowest(thinnest) >= THIN:
        return np.nan
    sums = splat(0.0)
    for k in range(0, width, LANES):
        sums = add(sums, load(alpha, o + k))
    log_z += np.log(total(sums))
    # A position's products of alpha and beta sum up to Z, in the position's own unit.
    for t in range(n):
        o = t * width
        sums = splat(0.0)
        for k in range(0, width, LANES):
            sums = fma(load(alpha, o + k), load(betas, o + k), sums)
        unit = weight / total(sums)
        many = splat(unit)
        out = (d + t) * stride
        c = 0
        while c + LANES <= k_states:
            p = mul(load(alpha, o + c), load(betas, o + c))
            store(d_nodes, out + c, fma(p, many, load(d_nodes, out + c)))
            c += LANES
        if c < k_states:
            left = k_states - c
            p = mul(load(alpha, o + c), load(betas, o + c))
            store_part(d_nodes, out + c, left, fma(p, many, load_part(d_nodes, out + c, left, 0.0)))
        if t + 1 < n:
            scale(right, o + width, width, unit * gain[t])
    for t in range(1, n, CHUNK):
        outer(graph, alpha, right, width, t, min(t + CHUNK, n), work.expected)
    return log_z
