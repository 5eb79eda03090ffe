"""Sum-product in log space: for sequences whose scores differ by hundreds, where exp space would lose states.

The recursions of ``chain.sum``, with alpha normalised at every step so that its logarithms keep their
digits on long sequences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.jit import inner, maker

from .bundles import exp_scalar, largest


@inner
def log_add(a: float, b: float) -> float:
    """log(exp a + exp b)."""
    high = max(a, b)
    low = min(a, b)
    if high == -np.inf:
        return high
    return high + np.log1p(np.exp(low - high))


@inner
def clear(top: Any, mass: Any, n: int) -> None:
    """Begin n sums: each is kept as mass · exp(top)."""
    for k in range(n):
        top[k] = -np.inf
        mass[k] = 0.0


@inner
def absorb(top: Any, mass: Any, k: int, value: float) -> None:
    """Add exp(value) to sum k; a NaN makes it NaN."""
    if value > top[k]:
        mass[k] = mass[k] * np.exp(top[k] - value) + 1.0 if mass[k] != 0.0 else 1.0
        top[k] = value
    elif value != -np.inf:
        mass[k] += np.exp(value - top[k])


@inner
def log_sum(top: Any, mass: Any, k: int) -> float:
    """The logarithm of sum k."""
    if mass[k] == 0.0:
        return -np.inf
    return top[k] + np.log(mass[k]) if mass[k] != 1.0 else top[k]


@inner
def arrive(graph: Any, alpha: Any, o: int, edge: Any, step: int, top: Any, mass: Any) -> None:
    """For every state, the sum over the edges into it of exp(alpha[o + source] + edge score)."""
    clear(top, mass, len(graph.row_of))
    for e in range(len(graph.src)):
        absorb(top, mass, graph.dst[e], alpha[o + graph.src[e]] + edge[step, e])


@maker
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
            arrive(graph, alpha, o - width, edge, at + t if per_step else 0, top, mass)
            for k in range(n_states):
                alpha[o + k] = log_sum(top, mass, k) + node[at + t, graph.row_of[k]]
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


@maker
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
