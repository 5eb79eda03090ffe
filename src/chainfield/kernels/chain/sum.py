"""Sum-product: log-partition and posteriors of a batch of chains.

With node scores x_t(r) of emission row r, edge scores w_t(e) of the edge e = (i, j), and r(k) the row of state k:

    alpha_1(k) = [k may start] exp x_1(r(k))
    alpha_t(j) = exp x_t(r(j)) * sum over edges (i, j) of alpha_{t-1}(i) exp w_t(i, j)
    log Z      = log sum over k that may end of alpha_n(k)

The recursion runs in exp space, scores shifted by their largest and alpha rescaled before it leaves a comfortable
range (a division at every step, as in Rabiner 1989, would stand in the middle of the chain of dependencies). That is
exact as long as no reachable alpha gets lost to underflow: a state whose alpha is at least ``THIN`` carries its full
precision, what a product loses below 1e-308 is then irrelevant, and beta is bounded by 1/alpha. So each sequence is
watched, and one in which a reachable state falls below ``THIN`` (scores that differ by hundreds) is done again in log
space: slower, never wrong.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.declare import Float, Float2D, Int, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import inner, kernel, maker, part
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
    where_positive,
)

from .bundles import aligned, largest, outer, padded, pull, push, spread
from .complete import CHECK, CHUNK, COMFORT, both_ways, knows
from .exposed import THIN, expose, shift_of
from .logspace import log_backward, log_forward


class Work(NamedTuple):
    """Scratch memory for one sequence at a time; n positions, K states padded to ``width``, R rows padded."""

    n_rows: int
    alpha: Any  # (n, width)
    betas: Any  # (n, width) where both recursions run at once (see complete.py)
    right: Any  # (n, width) beta times emission, scaled: what a backward step reads
    emission: Any  # (n, padded R) exp of node scores, shifted by their largest
    gain: Any  # (n,) factor by which alpha was rescaled (exp space), or log normaliser (log space)
    acc: Any  # (width,)
    beta: Any  # (width,)
    scratch: Any  # (width,)
    lost: Any  # (width,) 0 for a state that a path can be in, inf for others and for lanes behind the last state
    weights: Any  # forward layout of exp edge scores
    back: Any  # backward layout
    expected: Any  # forward layout: edge expectations without their factor exp w
    reached: Any  # (K,) can a path be here
    before: Any  # (K,) the same one step earlier


@maker
def make_work(graph: Any, n_rows: int, longest: int, posteriors: bool) -> Any:
    """Scratch memory for sequences of up to ``longest`` positions."""
    width = graph.width
    n_states = len(graph.row_of)
    return Work(
        n_rows,
        aligned(longest * width),
        aligned(longest * width if posteriors and knows(graph) else 0),
        aligned(longest * width if posteriors else 0),
        aligned(longest * padded(n_rows)),
        np.empty(longest),
        aligned(width),
        aligned(width),
        aligned(width),
        aligned(width),
        aligned(graph.n_slots),
        aligned(graph.n_tslots),
        aligned(graph.n_slots if posteriors else 0),
        np.empty(n_states, np.bool_),
        np.empty(n_states, np.bool_),
    )


@part
def prepare_edges(graph: Any, edges: Any, work: Any) -> float:
    """Edge scores shared by all positions, into both layouts; returns their shift."""
    shift = shift_of(edges)
    spread(graph, edges, np.int64(0), shift, 0.0, np.bool_(False), work.weights, work.back)
    return shift


@inner
def store_zeros_behind(values: Any, o: int, k: int, part: int, width: int, vector: Any) -> None:
    """Write the first lanes of a vector to values[o + k:], and zeros behind them if the row has room for them.

    The next step reads all of it at once, and a processor cannot hand on what was written lane by lane: it would wait
    until the memory has it. States behind these are written after them; lanes behind the last state stay 0.
    """
    if k + LANES <= width:
        store(values, o + k, vector)
    else:
        store_part(values, o + k, part, vector)


@inner
def emit(graph: Any, emission: Any, e: int, acc: Any, lost: Any, alpha: Any, o: int, thinnest: Any) -> Any:
    """alpha[o + k] = acc[k] * emission[e + row of k]; returns the smallest so far of those that are not lost."""
    for g in range(len(graph.segment_len)):
        state = graph.segment_state[g]
        row = e + graph.segment_row[g]
        n = graph.segment_len[g]
        c = 0
        while c + LANES <= n:
            values = mul(load(acc, state + c), load(emission, row + c))
            store(alpha, o + state + c, values)
            thinnest = minimum(add(values, load(lost, state + c)), thinnest)
            c += LANES
        if c < n:
            part = n - c
            values = mul(load_part(acc, state + c, part, 0.0), load_part(emission, row + c, part, 0.0))
            store_zeros_behind(alpha, o, state + c, part, graph.width, values)
            thinnest = minimum(add(values, load_part(lost, state + c, part, np.inf)), thinnest)
    return thinnest


@part
def reach(graph: Any, nodes: Any, x: int, first: bool, last: bool, work: Any) -> bool:
    """Mark in ``work.lost`` which states no path can be in here, by structure and -inf alone; did anything change?"""
    reached, before, lost = work.reached, work.before, work.lost
    n_states = len(graph.row_of)
    for k in range(n_states):
        before[k] = reached[k]
        reached[k] = first or graph.complete
    if not (first or graph.complete):
        for e in range(len(graph.src)):
            if before[graph.src[e]]:
                reached[graph.dst[e]] = True
    changed = first
    for k in range(n_states):
        possible = reached[k] and get(nodes, x + get(graph.row_of, k)) > -np.inf
        possible = possible and (graph.start[k] or not first) and (graph.end[k] or not last)
        reached[k] = possible
        lost[k] = 0.0 if possible else np.inf
        changed = changed or possible != before[k]
    return changed


@part
def forward(
    graph: Any, nodes: Any, stride: int, edges: Any, per_step: bool, at: int, n: int, shift: float, work: Any
) -> float:
    """Fill alpha, emission and gain of positions at:at+n; return log Z. NaN: exp space does not suffice here.

    nodes: rows of scores, ``stride`` apart.
    """
    n_states = len(graph.row_of)
    n_edges = len(graph.src)
    width = graph.width
    row_width = padded(work.n_rows)
    acc, alpha, gain = work.acc, work.alpha, work.gain
    log_z, clean = expose(nodes, stride, work.n_rows, at, n, work.emission)
    if not np.isfinite(log_z):
        return np.nan
    zero = splat(0.0)
    thinnest = splat(np.inf)
    simple = clean and graph.complete
    changing = not simple
    for k in range(width):
        put(acc, k, 1.0 if k < n_states else 0.0)
        put(work.lost, k, 0.0 if k < n_states else np.inf)
    for t in range(n):
        o = t * width
        if t > 0:
            for k in range(0, width, LANES):
                store(acc, k, zero)
            if per_step:
                step = (at + t) * n_edges
                shift = largest(edges, step, n_edges)
                if not (shift > -np.inf and shift < np.inf):
                    return np.nan
                spread(graph, edges, step, shift, 0.0, np.bool_(False), work.weights, work.back[:0])
            push(graph, work.weights, alpha, o - width, acc)
            log_z += shift
        if changing or (t == n - 1 and not simple):
            # Where all scores are finite, which states can be reached is the same from some step on.
            changing = reach(graph, nodes, (at + t) * stride, t == 0, t == n - 1, work) or not clean
            for k in range(n_states):
                if not work.reached[k]:
                    put(acc, k, 0.0)
        thinnest = emit(graph, work.emission, t * row_width, acc, work.lost, alpha, o, thinnest)
        gain[t] = 1.0
        # Scores are at most 1 here, so alpha grows by a factor of K a step at most, and what gets lost is noticed.
        if t % CHECK == CHECK - 1 or t == n - 1:
            sums = zero
            for k in range(0, width, LANES):
                sums = add(sums, load(alpha, o + k))
            z = total(sums)
            if z < COMFORT or z > 1.0 / COMFORT or t == n - 1:
                gain[t] = 1.0 / z
                scale = splat(gain[t])
                for k in range(0, width, LANES):
                    store(alpha, o + k, mul(load(alpha, o + k), scale))
                log_z += np.log(z)
    return log_z if lowest(thinnest) >= THIN else np.nan


@part
def backward(
    graph: Any, stride: int, edges: Any, per_step: bool, at: int, n: int, weight: float, work: Any,
    d_nodes: Any, d_at: int, d_edges: Any, d_per_step: bool,
) -> None:  # fmt: skip
    """beta_n(k) = 1; beta_t(i) = sum over (i, j) of exp w(i, j) exp x_{t+1}(r(j)) beta_{t+1}(j), scaled as alpha is.

    Adds weight * posteriors to ``d_nodes`` (from position d_at on) and ``d_edges``; shared edges gather into
    ``work.expected``, without their factor exp w, in the forward layout.
    """
    n_states = len(graph.row_of)
    n_edges = len(graph.src)
    width = graph.width
    row_width = padded(work.n_rows)
    alpha, beta, right, emission = work.alpha, work.beta, work.right, work.emission
    for k in range(width):
        put(beta, k, 1.0 if k < n_states else 0.0)
    many = splat(weight)
    for t in range(n - 1, -1, -1):
        o = t * width
        out = (d_at + t) * stride
        e = t * row_width
        scale = splat(work.gain[t])
        for g in range(len(graph.segment_len)):
            state = graph.segment_state[g]
            row = graph.segment_row[g]
            m = graph.segment_len[g]
            c = 0
            while c + LANES <= m:
                k = state + c
                a = load(alpha, o + k)
                b = load(beta, k)
                store(d_nodes, out + row + c, fma(mul(a, b), many, load(d_nodes, out + row + c)))
                # An alpha of exactly zero is a state that no path visits: its beta must not leak through.
                store(right, o + k, where_positive(a, mul(mul(b, scale), load(emission, e + row + c))))
                c += LANES
            if c < m:
                left = m - c
                k = state + c
                a = load_part(alpha, o + k, left, 0.0)
                b = load_part(beta, k, left, 0.0)
                d = load_part(d_nodes, out + row + c, left, 0.0)
                store_part(d_nodes, out + row + c, left, fma(mul(a, b), many, d))
                q = mul(mul(b, scale), load_part(emission, e + row + c, left, 0.0))
                store_zeros_behind(right, o, k, left, width, where_positive(a, q))
        if t > 0:
            if per_step:
                step = (at + t) * n_edges
                spread(graph, edges, step, largest(edges, step, n_edges), 0.0, np.bool_(False), work.weights, work.back)
            zero = splat(0.0)
            for k in range(0, width, LANES):
                store(beta, k, zero)
            pull(graph, work.back, right, o, beta, work.scratch)
            if d_per_step:
                step = (d_at + t) * n_edges
                for i in range(n_edges):
                    p = (
                        get(alpha, o - width + get(graph.src, i))
                        * get(work.weights, get(graph.slot, i))
                        * get(right, o + get(graph.dst, i))
                    )
                    put(d_edges, step + i, get(d_edges, step + i) + weight * p)
    if not d_per_step and not per_step:
        for t in range(1, n, CHUNK):
            end = min(t + CHUNK, n)
            if weight != 1.0:
                for i in range(t * width, end * width, LANES):
                    store(right, i, mul(load(right, i), many))
            outer(graph, alpha, right, width, t, end, work.expected)


@part
def posteriors_of(
    graph: Any, nodes: Any, stride: int, edges: Any, per_step: bool, at: int, n: int, shift: float, weight: float,
    work: Any, d_nodes: Any, d_at: int, d_edges: Any, d_per_step: bool,
) -> float:  # fmt: skip
    """Forward and backward: log Z, and weight * posteriors added as :func:`backward` does. NaN as in forward."""
    if knows(graph) and not per_step and not d_per_step:
        shifts, clean = expose(nodes, stride, work.n_rows, at, n, work.emission)
        if clean:
            log_z = both_ways(graph, shifts, n, shift, weight, work, d_nodes, d_at, stride)
            if np.isfinite(log_z):
                return log_z
    log_z = forward(graph, nodes, stride, edges, per_step, at, n, shift, work)
    if np.isfinite(log_z):
        backward(graph, stride, edges, per_step, at, n, weight, work, d_nodes, d_at, d_edges, d_per_step)
    return log_z


@kernel
def sum_product(
    graph: Graph, node: Float2D, edge: Float2D, offsets: Int, weight: Float, posteriors: bool, d_node: Out[Float2D],
    d_edge: Out[Float2D], d_per_step: bool, log_z: Out[Float],
) -> None:  # fmt: skip
    """log Z of every sequence; with ``posteriors``, weight[s] times its posteriors are added to d_node and d_edge.

    node (N, R), edge (1 | N, E) (row t: the edges into position t), offsets (S+1,), weight (S,), log_z (S,).
    A log_z of -inf means that no path exists, NaN or +inf that the scores were not finite.
    """
    n_rows = node.shape[1]
    per_step = edge.shape[0] != 1 or node.shape[0] == 1
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    work = make_work(graph, n_rows, longest, posteriors)
    nodes = node.ravel()
    edges = edge.ravel()
    d_nodes = d_node.ravel()
    d_edges = d_edge.ravel()
    shift = 0.0 if per_step else prepare_edges(graph, edges, work)
    for s in range(len(offsets) - 1):
        at = offsets[s]
        n = offsets[s + 1] - at
        if n == 0:
            log_z[s] = 0.0
            continue
        if posteriors:
            result = posteriors_of(
                graph, nodes, n_rows, edges, per_step, at, n, shift, weight[s], work, d_nodes, at, d_edges, d_per_step
            )
        else:
            result = forward(graph, nodes, n_rows, edges, per_step, at, n, shift, work)
        if not np.isfinite(result):
            result = log_forward(graph, node, edge, per_step, at, n, work.alpha, work.gain)
            if posteriors and np.isfinite(result):
                log_backward(
                    graph, node, edge, per_step, at, n, work.alpha, work.gain, weight[s], d_node, d_edge, d_per_step
                )
            for i in range(n * graph.width):
                work.alpha[i] = 0.0
        log_z[s] = result
    if posteriors and not d_per_step:
        for e in range(len(graph.src)):
            d_edge[0, e] += work.expected[graph.slot[e]] * work.weights[graph.slot[e]]
