"""Class blocks in one pass: the gathered score of every class, in log space.

    S_w = log of the sum over the paths of class w of exp(score), or the largest score

No edge leaves a class, so one forward recursion over all states serves all classes; the last step tells them apart.
"""

from __future__ import annotations

import numpy as np

from chainfield.kernels.declare import Float2D, Int, Int32, Out
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import kernel

from .logspace import absorb, arrive, clear, log_sum


@kernel
def class_sums(
    graph: Graph, label_of: Int32, node: Float2D, edge: Float2D, offsets: Int, best: bool, out: Out[Float2D]
) -> None:
    """out (S, L): gathered scores, -inf where a class has no path; NaN where scores are not numbers."""
    n_states = len(graph.row_of)
    n_labels = out.shape[1]
    per_step = edge.shape[0] != 1 or node.shape[0] == 1
    alpha = np.empty(n_states)
    top = np.empty(max(n_states, n_labels))
    mass = np.empty(max(n_states, n_labels))
    for s in range(len(offsets) - 1):
        at = offsets[s]
        n = offsets[s + 1] - at
        for k in range(n_states):
            alpha[k] = node[at, graph.row_of[k]] if n > 0 and graph.start[k] else -np.inf
        for t in range(1, n):
            arrive(graph, alpha, 0, edge, at + t if per_step else 0, top, mass)
            for k in range(n_states):
                alpha[k] = (top[k] if best else log_sum(top, mass, k)) + node[at + t, graph.row_of[k]]
        clear(top, mass, n_labels)
        for k in range(n_states):
            if graph.end[k]:
                absorb(top, mass, label_of[k], alpha[k])
        for label in range(n_labels):
            out[s, label] = top[label] if best else log_sum(top, mass, label)
