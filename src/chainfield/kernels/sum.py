"""Sum-product: log-partition and posteriors of a batch of chains.

With node scores x_t(r) of emission row r, edge scores w_t(e) of the edge e = (i, j), and r(k) the row of state k:

    alpha_1(k) = [k may start] exp x_1(r(k))
    alpha_t(j) = exp x_t(r(j)) * sum over edges (i, j) of alpha_{t-1}(i) exp w_t(i, j)
    log Z      = log sum over k that may end of alpha_n(k)

The recursion runs in exp space, alpha normalised at each step and scores shifted by their largest (Rabiner 1989).
That is exact as long as no reachable alpha gets lost to underflow: a state whose normalised alpha is at least
``THIN`` carries its full precision, what a product loses below 1e-308 is then irrelevant, and beta is bounded by
1/alpha. So each sequence is watched, and one in which a reachable state falls below ``THIN`` (scores that
differ by hundreds) is done again in log space: slower, never wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bundles import exp_scalar, outer, pull, push, spread
from .jit import inner, kernel
from .vector import LANES, exp_into, get, load, mul, put, splat, store

THIN = 1e-250
# The matrix product of edge expectations goes over a long sequence in pieces that stay in cache.
CHUNK = 512


@inner
def largest(values: Any, first: int, n: int) -> float:
    """The largest of n values; -inf for none."""
    top = -np.inf
    for i in range(n):
        if not get(values, first + i) <= top:
            top = get(values, first + i)
    return top


@inner
def mark_reached(graph: Any, allowed: Any, before: Any, after: Any) -> None:
    """Which states a path can reach at the next step, by structure alone."""
    for k in range(len(graph.row_of)):
        after[k] = False
    for e in range(len(graph.src)):
        if before[graph.src[e]]:
            after[graph.dst[e]] = True
    for k in range(len(graph.row_of)):
        after[k] = after[k] and allowed[k]


@inner
def forward(
    graph: Any, node: Any, edge: Any, per_step: bool, at: int, n: int, shift: float, weights: Any, back: Any,
    alpha: Any, gain: Any, acc: Any, emission: Any, allowed: Any, reached: Any, reaching: Any,
) -> float:  # fmt: skip
    """Fill ``alpha`` (n, width), normalised, and ``gain`` (n,) = 1 / normaliser; return log Z.

    NaN means: exp space does not suffice here. ``emission`` keeps exp(x_t - max) for the way back.
    """
    n_states = len(graph.row_of)
    n_rows = node.shape[1]
    n_edges = len(graph.src)
    width = graph.width
    nodes = node.ravel()
    edges = edge.ravel()
    log_z = 0.0
    lost = 0.0  # Kahan's compensation: a million steps add up without losing digits
    for t in range(n):
        x = (at + t) * n_rows
        top = largest(nodes, x, n_rows)
        if not (top > -np.inf and top < np.inf):
            return np.nan
        exp_into(emission, t * n_rows, nodes, x, n_rows, top)
        for k in range(n_states):
            row = x + get(graph.row_of, k)
            possible = get(nodes, row) > -np.inf
            if t == 0:
                possible = possible and graph.start[k]
            if t == n - 1:
                possible = possible and graph.end[k]
            allowed[k] = possible
        for k in range(width):
            put(acc, k, 0.0)
        if t == 0:
            for k in range(n_states):
                put(acc, k, 1.0)
                reached[k] = allowed[k]
        else:
            if per_step:
                step = (at + t) * n_edges
                shift = largest(edges, step, n_edges)
                if not (shift > -np.inf and shift < np.inf):
                    return np.nan
                spread(graph, edges, step, shift, 0.0, False, weights, back[:0])
            push(graph, weights, alpha, (t - 1) * width, acc)
            top += shift
            if graph.complete:
                for k in range(n_states):
                    reached[k] = allowed[k]
            else:
                for k in range(n_states):
                    reaching[k] = reached[k]
                mark_reached(graph, allowed, reaching, reached)
        z = 0.0
        thinnest = np.inf
        for k in range(n_states):
            value = 0.0
            if reached[k]:
                value = get(acc, k) * get(emission, t * n_rows + get(graph.row_of, k))
                thinnest = min(thinnest, value)
            put(acc, k, value)
            z += value
        if not (thinnest >= THIN * z and z > 0.0):
            return np.nan
        inverse = 1.0 / z
        scale = splat(inverse)
        o = t * width
        for k in range(0, width, LANES):
            store(alpha, o + k, mul(load(acc, k), scale))
        gain[t] = inverse
        term = top + np.log(z) - lost
        grown = log_z + term
        lost = (grown - log_z) - term
        log_z = grown
    return log_z


@inner
def backward(
    graph: Any, node: Any, edge: Any, per_step: bool, at: int, n: int, weights: Any, back: Any,
    alpha: Any, gain: Any, emission: Any, beta: Any, right: Any, acc: Any, scratch: Any,
    weight: float, d_node: Any, d_edge: Any, d_per_step: bool, expected: Any,
) -> None:  # fmt: skip
    """beta_n(k) = 1; beta_t(i) = sum over (i, j) of exp w(i, j) exp x_{t+1}(r(j)) beta_{t+1}(j), scaled as alpha is.

    Adds weight * posteriors to ``d_node`` and ``d_edge``; shared edges gather into ``expected``, without their
    factor exp w, in the forward layout.
    """
    n_states = len(graph.row_of)
    n_rows = node.shape[1]
    n_edges = len(graph.src)
    width = graph.width
    d_nodes = d_node.ravel()
    d_edges = d_edge.ravel()
    edges = edge.ravel()
    for k in range(width):
        put(beta, k, 0.0)
    for k in range(n_states):
        put(beta, k, 1.0)
    for t in range(n - 1, -1, -1):
        o = t * width
        out = (at + t) * n_rows
        row = t * n_rows
        for k in range(n_states):
            p = get(alpha, o + k) * get(beta, k)
            r = get(graph.row_of, k)
            put(d_nodes, out + r, get(d_nodes, out + r) + weight * p)
            q = get(beta, k) * get(emission, row + r) * gain[t]
            # An alpha of exactly zero is a state that no path visits: its beta must not leak through.
            put(right, o + k, q if get(alpha, o + k) > 0.0 else 0.0)
        for k in range(n_states, width):
            put(right, o + k, 0.0)
        if t > 0:
            if per_step:
                step = (at + t) * n_edges
                spread(graph, edges, step, largest(edges, step, n_edges), 0.0, False, weights, back)
            for k in range(width):
                put(acc, k, 0.0)
            pull(graph, back, right, o, acc, scratch)
            for k in range(0, width, LANES):
                store(beta, k, load(acc, k))
            if d_per_step:
                step = (at + t) * n_edges
                for e in range(n_edges):
                    p = (
                        get(alpha, o - width + get(graph.src, e))
                        * get(weights, get(graph.slot, e))
                        * get(right, o + get(graph.dst, e))
                    )
                    put(d_edges, step + e, get(d_edges, step + e) + weight * p)
    if not d_per_step and not per_step:
        for t in range(1, n, CHUNK):
            if weight != 1.0:
                for i in range(t * width, min(t + CHUNK, n) * width):
                    put(right, i, get(right, i) * weight)
            outer(graph, alpha, right, width, t, min(t + CHUNK, n), expected)


@inner
def log_add(a: float, b: float) -> float:
    """log(exp a + exp b)."""
    high = max(a, b)
    low = min(a, b)
    if high == -np.inf:
        return high
    return high + np.log1p(np.exp(low - high))


@inner
def log_forward(graph: Any, node: Any, edge: Any, per_step: bool, at: int, n: int, alpha: Any, gain: Any) -> float:
    """The same in log space: ``alpha`` (n, width) holds log alpha with log-sum 0, ``gain`` the log normalisers."""
    n_states = len(graph.row_of)
    width = graph.width
    total = 0.0
    lost = 0.0
    top = np.empty(n_states)
    mass = np.empty(n_states)
    for t in range(n):
        o = t * width
        if t == 0:
            for k in range(n_states):
                alpha[k] = node[at, graph.row_of[k]] if graph.start[k] else -np.inf
        else:
            step = at + t if per_step else 0
            for k in range(n_states):
                top[k] = -np.inf
                mass[k] = 0.0
            for e in range(len(graph.src)):
                value = alpha[o - width + graph.src[e]] + edge[step, e]
                k = graph.dst[e]
                if value > -np.inf:
                    if value <= top[k]:
                        mass[k] += np.exp(value - top[k])
                    else:
                        mass[k] = mass[k] * np.exp(top[k] - value) + 1.0
                        top[k] = value
            for k in range(n_states):
                x = node[at + t, graph.row_of[k]]
                alpha[o + k] = top[k] + np.log(mass[k]) + x if mass[k] > 0.0 else -np.inf
        if t == n - 1:
            for k in range(n_states):
                if not graph.end[k]:
                    alpha[o + k] = -np.inf
        high = largest(alpha, o, n_states)
        if not (high > -np.inf and high < np.inf):
            return high
        z = 0.0
        for k in range(n_states):
            z += np.exp(alpha[o + k] - high)
        z = high + np.log(z)
        for k in range(n_states):
            alpha[o + k] -= z
        gain[t] = z
        term = z - lost
        grown = total + term
        lost = (grown - total) - term
        total = grown
    return total


@inner
def log_backward(
    graph: Any, node: Any, edge: Any, per_step: bool, at: int, n: int, alpha: Any, gain: Any,
    weight: float, d_node: Any, d_edge: Any, d_per_step: bool,
) -> None:  # fmt: skip
    """Posteriors from log space."""
    n_states = len(graph.row_of)
    width = graph.width
    beta = np.zeros(n_states)
    before = np.empty(n_states)
    for t in range(n - 1, -1, -1):
        o = t * width
        for k in range(n_states):
            if alpha[o + k] > -np.inf:
                d_node[at + t, graph.row_of[k]] += weight * exp_scalar(alpha[o + k] + beta[k])
        if t == 0:
            break
        step = at + t if per_step else 0
        d_step = at + t if d_per_step else 0
        for k in range(n_states):
            before[k] = -np.inf
        for e in range(len(graph.src)):
            k = graph.dst[e]
            if alpha[o + k] == -np.inf:
                continue
            tail = edge[step, e] + node[at + t, graph.row_of[k]] + beta[k] - gain[t]
            if tail > -np.inf:
                i = graph.src[e]
                before[i] = log_add(before[i], tail)
                d_edge[d_step, e] += weight * exp_scalar(alpha[o - width + i] + tail)
        for k in range(n_states):
            beta[k] = before[k]


@kernel
def sum_product(
    graph: Any, node: Any, edge: Any, offsets: Any, weight: Any, posteriors: bool, d_node: Any, d_edge: Any,
    d_per_step: bool, log_z: Any,
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
    n_states = len(graph.row_of)
    width = graph.width
    alpha = np.zeros(longest * width)
    gain = np.empty(longest)
    emission = np.empty(longest * n_rows + LANES)
    right = np.empty(longest * width + LANES if posteriors else 0)
    beta = np.empty(width)
    acc = np.empty(width)
    weights = np.zeros(graph.n_slots)
    back = np.zeros(graph.n_tslots)
    expected = np.zeros(graph.n_slots if posteriors else 0)
    scratch = np.empty(max(width, graph.n_tslots))
    allowed = np.empty(n_states, np.bool_)
    reached = np.empty(n_states, np.bool_)
    reaching = np.empty(n_states, np.bool_)
    shift = 0.0
    if not per_step:
        edges = edge.ravel()
        shift = largest(edges, 0, len(edges))
        if len(edges) == 0 or shift == -np.inf:
            shift = 0.0
        spread(graph, edges, 0, shift, 0.0, False, weights, back)
    for s in range(len(offsets) - 1):
        at = offsets[s]
        n = offsets[s + 1] - at
        if n == 0:
            log_z[s] = 0.0
            continue
        result = forward(
            graph, node, edge, per_step, at, n, shift, weights, back, alpha, gain, acc, emission, allowed,
            reached, reaching,
        )  # fmt: skip
        if np.isfinite(result):
            if posteriors:
                backward(
                    graph, node, edge, per_step, at, n, weights, back, alpha, gain, emission, beta, right, acc,
                    scratch, weight[s], d_node, d_edge, d_per_step, expected,
                )  # fmt: skip
        else:
            result = log_forward(graph, node, edge, per_step, at, n, alpha, gain)
            if posteriors and np.isfinite(result):
                log_backward(graph, node, edge, per_step, at, n, alpha, gain, weight[s], d_node, d_edge, d_per_step)
            for i in range(n * width):
                alpha[i] = 0.0
        log_z[s] = result
    if posteriors and not d_per_step:
        for e in range(len(graph.src)):
            d_edge[0, e] += expected[graph.slot[e]] * weights[graph.slot[e]]
