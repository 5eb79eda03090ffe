"""Class blocks in one pass: the gathered score of every class, in log space.

    S_w = log of the sum over the paths of class w of exp(score), or the largest score

No edge leaves a class, so one forward recursion over all states serves all classes; the last step tells them apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.jit import kernel


@kernel
def class_sums(graph: Any, label_of: Any, node: Any, edge: Any, offsets: Any, best: bool, out: Any) -> None:
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
            step = at + t if per_step else 0
            for k in range(n_states):
                top[k] = -np.inf
                mass[k] = 0.0
            for e in range(len(graph.src)):
                value = alpha[graph.src[e]] + edge[step, e]
                k = graph.dst[e]
                if value > top[k]:
                    mass[k] = mass[k] * np.exp(top[k] - value) + 1.0 if mass[k] > 0.0 else 1.0
                    top[k] = value
                elif value != -np.inf:
                    mass[k] += np.exp(value - top[k])
            for k in range(n_states):
                gathered = top[k] if best or not mass[k] > 1.0 else top[k] + np.log(mass[k])
                alpha[k] = gathered + node[at + t, graph.row_of[k]] if mass[k] > 0.0 else -np.inf
        for label in range(n_labels):
            top[label] = -np.inf
            mass[label] = 0.0
        for k in range(n_states):
            if graph.end[k]:
                label = label_of[k]
                value = alpha[k]
                if value > top[label]:
                    mass[label] = mass[label] * np.exp(top[label] - value) + 1.0 if mass[label] > 0.0 else 1.0
                    top[label] = value
                elif value != -np.inf:
                    mass[label] += np.exp(value - top[label])
        for label in range(n_labels):
            out[s, label] = top[label] if best or not mass[label] > 1.0 else top[label] + np.log(mass[label])
