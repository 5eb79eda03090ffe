"""Sum-product over the paths of known labels, where every state may follow every state and a label has a run of them.

A step leads from the m states of one label to the m' of the next, so it is one block (m, m') of exp w. The numbers may
be float32: whoever calls has seen that the edge scores span little, so that nothing that counts is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Float, Int, Out, Real, Real2D
from chainfield.kernels.jit import kernel, maker

FAINT = -80.0  # exp of less would be a denormal number, or nearly


@maker
def forward_labels(
    weights: Any, node: Any, labels: Any, begin: Any, at: int, n: int, alpha: Any, emission: Any, total: Any
) -> float:
    """Fill alpha (n, m), scaled to sum 1, emission (n, m) and total (n,); the log of the sum, but for edge shifts."""
    log_z = 0.0
    for t in range(n):
        lo, hi = begin[labels[at + t]], begin[labels[at + t] + 1]
        m = hi - lo
        x = node[at + t, lo:hi]
        top = x[0]
        for j in range(1, m):
            top = max(top, x[j])
        if top == -np.inf:
            return -np.inf
        own = emission[t, :m]
        here = alpha[t, :m]
        for j in range(m):
            apart = x[j] - top
            own[j] = np.exp(apart) if apart > FAINT else 0.0
        if t == 0:
            here[:] = own
        else:
            before = begin[labels[at + t - 1]]
            here[:] = 0.0
            for i in range(begin[labels[at + t - 1] + 1] - before):
                share = alpha[t - 1, i]
                row = weights[before + i, lo:hi]
                for j in range(m):
                    here[j] += share * row[j]
            for j in range(m):
                here[j] *= own[j]
        z = 0.0
        for j in range(m):
            z += here[j]
        total[t] = z
        for j in range(m):
            here[j] /= total[t]
        log_z += np.log(z) + top
    return log_z


@maker
def backward_labels(
    weights: Any, turned: Any, labels: Any, begin: Any, at: int, n: int, alpha: Any, emission: Any, total: Any,
    weight: Any, beta: Any, right: Any, d_node: Any, d_edge: Any,
) -> None:  # fmt: skip
    """Add weight · posteriors of states to d_node, and of edges to d_edge (K, K)."""
    beta[:] = 1.0
    for t in range(n - 1, -1, -1):
        lo, hi = begin[labels[at + t]], begin[labels[at + t] + 1]
        m = hi - lo
        here, own, into = alpha[t, :m], emission[t, :m], d_node[at + t, lo:hi]
        for j in range(m):
            into[j] += weight * here[j] * beta[j]
            right[j] = beta[j] * own[j] / total[t]
        if t == 0:
            return
        first, last = begin[labels[at + t - 1]], begin[labels[at + t - 1] + 1]
        before = alpha[t - 1, : last - first]
        back = beta[: last - first]
        back[:] = 0.0
        for j in range(m):
            share = right[j]
            column = turned[lo + j, first:last]
            for i in range(last - first):
                back[i] += share * column[i]
        for i in range(last - first):
            share = weight * before[i]
            row = weights[first + i, lo:hi]
            sums = d_edge[first + i, lo:hi]
            for j in range(m):
                sums[j] += share * row[j] * right[j]


@kernel
def sum_labelled(
    weights: Real2D, turned: Real2D, node: Real2D, labels: Int, begin: Int, offsets: Int, posteriors: bool,
    weight: Real, d_node: Out[Real2D], d_edge: Out[Real2D], log_z: Out[Float],
) -> None:  # fmt: skip
    """log_z (S,) of the paths of ``labels`` (N,), -inf where there is none; weight[s] · posteriors are added.

    weights (K, K): exp(edge scores less their largest), turned: the same by columns; node (N, K); the states of label l
    are begin[l]:begin[l+1]. What the largest edge score adds to log_z is the caller's to add.
    """
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    width = 0
    for label in range(len(begin) - 1):
        width = max(width, begin[label + 1] - begin[label])
    alpha = np.empty((longest, width), node.dtype)
    emission = np.empty((longest, width), node.dtype)
    total = np.empty(longest, node.dtype)
    beta = np.empty(width, node.dtype)
    right = np.empty(width, node.dtype)
    for s in range(len(offsets) - 1):
        at, n = offsets[s], offsets[s + 1] - offsets[s]
        log_z[s] = forward_labels(weights, node, labels, begin, at, n, alpha, emission, total)
        if posteriors and log_z[s] > -np.inf:
            backward_labels(
                weights, turned, labels, begin, at, n, alpha, emission, total, weight[s], beta, right, d_node, d_edge
            )
