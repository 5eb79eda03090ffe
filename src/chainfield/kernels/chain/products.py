"""Sum-product by matrix products, for spaces of many states that nearly all follow each other.

A step of one sequence is a product of a vector with the matrix exp w (K, K): it reads the whole matrix for K²
additions, and with hundreds of states the matrix does not fit into the cache. So sequences go side by side, longest
first: step t of all that are still running is one product of matrices, and those are BLAS's to do.

    acc_t   = alpha_{t-1} · exp w                     (n_t, K), the n_t sequences longer than t
    right_t = beta_t · exp x_t                        (n_t, K)
    beta_{t-1} = right_t · exp wᵀ                     (n_t, K)
    expected edges = alphaᵀ · (right, one step later) (K, K), one product for all positions

That is 6 K² operations a position in matrix products, and a dozen passes over K numbers around them. Scaling and the
watch over what underflow might lose are those of ``chain.sum``; a sequence in which exp space does not
suffice gets NaN, and is left to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Float, Float2D, Int, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import kernel, maker, part
from chainfield.kernels.vector import (
    LANES,
    add,
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

from .bundles import exp_scalar, padded
from .complete import COMFORT
from .exposed import THIN, expose_row, shift_of


@maker
def by_length(offsets: Any) -> Any:
    """Sequences that have a position, longest first; how many run at each step; where each step's positions begin."""
    n_sequences = len(offsets) - 1
    lengths = offsets[1:] - offsets[:-1]
    longest = 0
    for s in range(n_sequences):
        longest = max(longest, lengths[s])
    running = np.zeros(longest + 1, np.int64)
    for s in range(n_sequences):
        for t in range(lengths[s]):
            running[t] += 1
    first = np.zeros(longest + 1, np.int64)
    for t in range(longest):
        first[t + 1] = first[t] + running[t]
    order = np.empty(n_sequences, np.int64)
    place = running.copy()  # how many sequences are longer
    for s in range(n_sequences):
        order[place[lengths[s]]] = s
        place[lengths[s]] += 1
    return order, running, first


@maker
def matrix(graph: Any, edges: Any) -> Any:
    """exp(edge scores - their largest) as a matrix [from, to], and the largest; 0 where there is no edge.

    The third answer: whether no score is so small that its exponential is lost.
    """
    n_states = len(graph.row_of)
    shift = shift_of(edges)
    found = np.zeros((n_states, n_states))
    whole = True
    for e in range(len(edges)):
        value = exp_scalar(edges[e] - shift)
        found[graph.src[e], graph.dst[e]] = value
        whole = whole and (value > 0.0 or edges[e] == -np.inf)
    return found, shift, whole


@maker
def reachable(graph: Any, edges: Any, longest: int) -> Any:
    """(T, K) 0 for states that a path can be in after t steps, inf for others; the last row holds for all later steps.

    By structure alone: node scores are finite here.
    """
    n_states = len(graph.row_of)
    rows = np.full((min(longest, n_states + 1), n_states), np.inf)
    for k in range(n_states):
        rows[0, k] = 0.0 if graph.start[k] else np.inf
    n = 1
    while n < len(rows):
        for e in range(len(edges)):
            if rows[n - 1, graph.src[e]] == 0.0 and edges[e] > -np.inf:
                rows[n, graph.dst[e]] = 0.0
        changed = False
        for k in range(n_states):
            changed = changed or rows[n, k] != rows[n - 1, k]
        if not changed:
            break
        n += 1
    return rows[:n]


@part
def emit_row(x: Any, at: int, n: int, emission: Any, e: int) -> tuple[float, bool]:
    """emission[e:] = exp(x[at:at+n] - their largest); returns the largest, and whether all are finite.

    NaN: there is a NaN, or no largest.
    """
    top, sums = expose_row(x, at, n, emission, e, splat(0.0))
    everything = total(sums)
    return (np.nan if np.isnan(everything) else top), everything > -np.inf


@part
def product_row(acc: Any, emission: Any, e: int, n: int, lost: Any) -> tuple[float, float]:
    """acc *= emission[e:]; returns the sum, and the smallest of those that are not lost (``lost`` is 0 there)."""
    last = n - n % LANES
    left = n - last
    sums = splat(0.0)
    thinnest = splat(np.inf)
    for c in range(0, last, LANES):
        values = mul(load(acc, c), load(emission, e + c))
        store(acc, c, values)
        sums = add(sums, values)
        thinnest = minimum(add(values, load(lost, c)), thinnest)
    if left > 0:
        values = mul(load_part(acc, last, left, 0.0), load(emission, e + last))
        store_part(acc, last, left, values)
        sums = add(sums, values)
        thinnest = minimum(add(values, load_part(lost, last, left, np.inf)), thinnest)
    return total(sums), lowest(thinnest)


@part
def scale_row(row: Any, n: int, factor: float) -> None:
    """row *= factor."""
    many = splat(factor)
    last = n - n % LANES
    for c in range(0, last, LANES):
        store(row, c, mul(load(row, c), many))
    for c in range(last, n):
        put(row, c, get(row, c) * factor)


@part
def posterior_row(
    alpha: Any, beta: Any, emission: Any, e: int, n: int, gain: float, weight: float, d: Any, at: int
) -> None:
    """d[at:] += weight · alpha · beta; beta *= gain · emission[e:], and 0 for states that no path visits."""
    last = n - n % LANES
    left = n - last
    many = splat(weight)
    scale = splat(gain)
    for c in range(0, last, LANES):
        a = load(alpha, c)
        b = load(beta, c)
        store(d, at + c, add(load(d, at + c), mul(mul(a, b), many)))
        store(beta, c, where_positive(a, mul(mul(b, scale), load(emission, e + c))))
    if left > 0:
        a = load_part(alpha, last, left, 0.0)
        b = load_part(beta, last, left, 0.0)
        before = load_part(d, at + last, left, 0.0)
        store_part(d, at + last, left, add(before, mul(mul(a, b), many)))
        store_part(beta, last, left, where_positive(a, mul(mul(b, scale), load(emission, e + last))))


@kernel
def sum_by_products(
    graph: Graph, node: Float2D, edges: Float, offsets: Int, weight: Float, posteriors: bool, d_node: Out[Float2D],
    d_edges: Out[Float], log_z: Out[Float],
) -> None:  # fmt: skip
    """log Z of every sequence; with ``posteriors``, weight[s] times its posteriors are added to d_node and d_edges.

    node (N, K), edges (E,), offsets (S+1,), weight (S,), d_node (N, K), d_edges (E,), log_z (S,). For sequences whose
    log_z becomes NaN, nothing has been added: exp space does not suffice, or scores are not finite.
    """
    n_states = len(graph.row_of)
    order, running, first = by_length(offsets)
    longest = len(running) - 1
    n_positions = first[longest]
    for s in range(len(offsets) - 1):
        log_z[s] = 0.0
    if n_positions == 0:
        return
    weights, shift, _ = matrix(graph, edges)
    lost = reachable(graph, edges, longest)
    complete = graph.complete and weights.min() > 0.0
    alpha = np.empty((n_positions, n_states))
    row_width = padded(n_states)
    emission = np.empty(n_positions * row_width)
    gain = np.ones(n_positions)
    nodes = node.ravel()
    gone = np.empty(n_states)
    # Forward, all sequences side by side. Positions of step t lie at first[t] + rank of the sequence.
    for t in range(longest):
        n = running[t]
        if t == 0:
            for r in range(n):
                for k in range(n_states):
                    alpha[r, k] = 1.0 if graph.start[k] else 0.0
        else:
            np.dot(alpha[first[t - 1] : first[t - 1] + n], weights, alpha[first[t] : first[t] + n])
        for r in range(n):
            s = order[r]
            p = first[t] + r
            x = offsets[s] + t
            top, clean = emit_row(nodes, x * n_states, n_states, emission, p * row_width)
            end = t == offsets[s + 1] - offsets[s] - 1
            pattern = lost[min(t, len(lost) - 1)]
            if end or not clean:
                for k in range(n_states):
                    out = end and not graph.end[k]
                    if out:
                        alpha[p, k] = 0.0
                    gone[k] = np.inf if out or not node[x, k] > -np.inf else pattern[k]
                pattern = gone
            z, thinnest = product_row(alpha[p], emission, p * row_width, n_states, pattern)
            # What -inf cuts off further along is known only where every state follows every state.
            if not (thinnest >= THIN and z > 0.0 and (clean or complete)):
                log_z[s] = np.nan
            log_z[s] += top + (shift if t > 0 else 0.0)
            if z < COMFORT or z > 1.0 / COMFORT or end:
                gain[p] = 1.0 / z if z > 0.0 else 0.0
                scale_row(alpha[p], n_states, gain[p])
                log_z[s] += np.log(z) if z > 0.0 else np.nan
    if not posteriors:
        return
    # Backward. ``after`` holds what follows a position: beta there, then beta times emission of the next one.
    after = np.zeros((n_positions, n_states))
    d_nodes = d_node.ravel()
    beta = np.empty((running[0], n_states))
    for t in range(longest - 1, -1, -1):
        n = running[t]
        ongoing = running[t + 1]
        if ongoing > 0:
            np.dot(after[first[t] : first[t] + ongoing], weights.T, beta[:ongoing])
        for r in range(n):
            s = order[r]
            p = first[t] + r
            failed = np.isnan(log_z[s])
            if failed:
                continue  # what follows it stays 0
            if r >= ongoing:
                beta[r, :] = 1.0
            at, e = (offsets[s] + t) * n_states, p * row_width
            posterior_row(alpha[p], beta[r], emission, e, n_states, gain[p], weight[s], d_nodes, at)
            if t > 0:
                after[first[t - 1] + r, :] = beta[r]
    for t in range(longest):
        for r in range(running[t]):
            s = order[r]
            if np.isnan(log_z[s]):
                alpha[first[t] + r, :] = 0.0
            elif weight[s] != 1.0:
                scale_row(alpha[first[t] + r], n_states, weight[s])
    expected = np.dot(alpha.T, after)
    for e in range(len(edges)):
        i, j = graph.src[e], graph.dst[e]
        d_edges[e] += expected[i, j] * weights[i, j]
