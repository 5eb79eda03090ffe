"""Sum-product where most scores are -inf: labels are known, but each has several states.

Clamped to its labels, a chain of hundreds of states visits only the few of one label at each position. So every
position lists the states that it may be in, and a step costs what those states cost: with L labels of equal size, one
part in L² of all edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Float, Float2D, Int, Out
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import kernel, part

from .bundles import exp_scalar
from .complete import COMFORT
from .exposed import THIN
from .products import matrix


@part
def list_states(graph: Any, node: Any, at: int, n: int, first: Any, states: Any) -> None:
    """The states whose scores are above -inf, position by position; a NaN counts as well, to be noticed."""
    m = 0
    for t in range(n):
        first[t] = m
        for k in range(len(graph.row_of)):
            x = node[at + t, graph.row_of[k]]
            if x != -np.inf and (graph.start[k] or t > 0) and (graph.end[k] or t < n - 1):
                states[m] = k
                m += 1
    first[n] = m


@part
def step(weights: Any, before: Any, values: Any, lo: int, hi: int, states: Any, a: int, b: int, acc: Any) -> None:
    """acc = values of the states before · weights of the edges to states[a:b]; a run of states is read as it lies."""
    m = b - a
    for j in range(m):
        acc[j] = 0.0
    run = m > 0 and states[b - 1] - states[a] == m - 1
    for i in range(lo, hi):
        x = values[i]
        row = weights[before[i]]
        if run:
            c = states[a]
            for j in range(m):
                acc[j] += x * row[c + j]
        else:
            for j in range(m):
                acc[j] += x * row[states[a + j]]


@part
def thin_is_unreachable(weights: Any, before: Any, values: Any, lo: int, hi: int, k: int) -> bool:
    """Whether a state has no alpha because no path leads to it, not because it got lost."""
    found = False
    for i in range(lo, hi):
        found = found or (values[i] > 0.0 and weights[before[i], k] > 0.0)
    return not found


@part
def narrow_forward(
    graph: Any, node: Any, at: int, n: int, weights: Any, shift: float, first: Any, states: Any, alpha: Any,
    emission: Any, gain: Any, acc: Any,
) -> float:  # fmt: skip
    """Fill alpha, emission and gain; return log Z. NaN: exp space does not suffice, or there is no path."""
    log_z = 0.0
    for t in range(n):
        a, b = first[t], first[t + 1]
        top = -np.inf
        for i in range(a, b):
            x = node[at + t, graph.row_of[states[i]]]
            if not x < np.inf:
                return np.nan
            top = max(top, x)
        if t == 0:
            for i in range(a, b):
                acc[i - a] = 1.0
        else:
            step(weights, states, alpha, first[t - 1], a, states, a, b, acc)
            log_z += shift
        z = 0.0
        for i in range(a, b):
            emission[i] = exp_scalar(node[at + t, graph.row_of[states[i]]] - top)
            alpha[i] = acc[i - a] * emission[i]
            z += alpha[i]
            if alpha[i] < THIN:
                if t == 0 or not thin_is_unreachable(weights, states, alpha, first[t - 1], a, states[i]):
                    return np.nan
                alpha[i] = 0.0
        if not z > 0.0:
            return np.nan
        log_z += top
        gain[t] = 1.0
        if z < COMFORT or z > 1.0 / COMFORT or t == n - 1:
            gain[t] = 1.0 / z
            for i in range(a, b):
                alpha[i] *= gain[t]
            log_z += np.log(z)
    return log_z


@part
def narrow_backward(
    graph: Any, at: int, n: int, weights: Any, first: Any, states: Any, alpha: Any, emission: Any, gain: Any,
    weight: float, beta: Any, right: Any, d_node: Any, expected: Any,
) -> None:  # fmt: skip
    """Add weight · posteriors to d_node, and those of edges without their factor exp w to ``expected`` (K, K)."""
    for i in range(first[n - 1], first[n]):
        beta[i - first[n - 1]] = 1.0
    for t in range(n - 1, -1, -1):
        a, b = first[t], first[t + 1]
        for i in range(a, b):
            d_node[at + t, graph.row_of[states[i]]] += weight * alpha[i] * beta[i - a]
            right[i - a] = beta[i - a] * gain[t] * emission[i] if alpha[i] > 0.0 else 0.0
        if t == 0:
            break
        lo = first[t - 1]
        for i in range(lo, a):
            row = weights[states[i]]
            out = expected[states[i]]
            x = weight * alpha[i]
            total = 0.0
            for j in range(b - a):
                k = states[a + j]
                total += row[k] * right[j]
                out[k] += x * right[j]
            beta[i - lo] = total


@kernel
def narrow_sum(
    graph: Graph, node: Float2D, edges: Float, offsets: Int, weight: Float, posteriors: bool, d_node: Out[Float2D],
    d_edges: Out[Float], log_z: Out[Float],
) -> None:  # fmt: skip
    """As :func:`chainfield.kernels.chain.products.sum_by_products`: NaN for sequences that are left to others."""
    n_states = len(graph.row_of)
    n_sequences = len(offsets) - 1
    weights, shift, whole = matrix(graph, edges)
    longest = 0
    for s in range(n_sequences):
        longest = max(longest, offsets[s + 1] - offsets[s])
        log_z[s] = 0.0 if whole or offsets[s + 1] == offsets[s] else np.nan
    if not whole or longest == 0:
        return
    first = np.zeros(longest + 1, np.int64)
    states = np.empty(longest * n_states, np.int32)
    alpha = np.empty(longest * n_states)
    emission = np.empty(longest * n_states)
    gain = np.empty(longest)
    acc = np.empty(n_states)
    beta = np.empty(n_states)
    expected = np.zeros((n_states, n_states))
    for s in range(n_sequences):
        at = offsets[s]
        n = offsets[s + 1] - at
        if n == 0:
            continue
        list_states(graph, node, at, n, first, states)
        log_z[s] = narrow_forward(graph, node, at, n, weights, shift, first, states, alpha, emission, gain, acc)
        if posteriors and np.isfinite(log_z[s]):
            narrow_backward(
                graph, at, n, weights, first, states, alpha, emission, gain, weight[s], beta, acc, d_node, expected
            )
    if posteriors:
        for e in range(len(edges)):
            i, j = graph.src[e], graph.dst[e]
            d_edges[e] += expected[i, j] * weights[i, j]
