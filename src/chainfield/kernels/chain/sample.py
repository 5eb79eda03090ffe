"""Exact samples from a chain: forward filtering, backward sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Float2D, Int32_2D, Out
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import inner, kernel

from .logspace import log_forward


@inner
def draw(weights: Any, n: int, u: float) -> int:
    """Index i with probability weights[i] / sum, for a uniform number u in [0, 1)."""
    total = 0.0
    for i in range(n):
        total += weights[i]
    target = u * total
    chosen = -1
    for i in range(n):
        if weights[i] > 0.0:
            chosen = i
            target -= weights[i]
            if target < 0.0:
                break
    return chosen


@kernel
def sample_paths(
    graph: Graph, node: Float2D, edge: Float2D, at: int, n: int, uniforms: Float2D, states: Out[Int32_2D]
) -> float:
    """Paths drawn from the posterior of one sequence: uniforms (M, n) in [0, 1) → states (M, n). Returns log Z."""
    per_step = edge.shape[0] != 1 or node.shape[0] == 1
    n_states = len(graph.row_of)
    alpha = np.empty(n * graph.width)
    gain = np.empty(n)
    log_z = log_forward(graph, node, edge, per_step, at, n, alpha, gain)
    if not np.isfinite(log_z):
        return log_z
    weights = np.empty(max(n_states, len(graph.src)))
    for m in range(uniforms.shape[0]):
        o = (n - 1) * graph.width
        for k in range(n_states):
            weights[k] = np.exp(alpha[o + k])
        state = draw(weights, n_states, uniforms[m, n - 1])
        states[m, n - 1] = state
        for t in range(n - 2, -1, -1):
            first = graph.in_first[state]
            count = graph.in_first[state + 1] - first
            step = at + t + 1 if per_step else 0
            top = -np.inf
            for i in range(count):
                e = graph.in_edge[first + i]
                weights[i] = alpha[t * graph.width + graph.src[e]] + edge[step, e]
                top = max(top, weights[i])
            for i in range(count):
                weights[i] = np.exp(weights[i] - top)
            state = graph.src[graph.in_edge[first + draw(weights, count, uniforms[m, t])]]
            states[m, t] = state
    return log_z
