"""Both sides of a contrast over one sequence: all paths against those that are right.

The same for every chain, whatever its scores come from. The clamped side comes first, from the scores as they are; the
free side then has the costs of wrong labels on top.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.chain.bundles import aligned
from chainfield.kernels.chain.logspace import log_backward, log_forward
from chainfield.kernels.chain.max import best_path
from chainfield.kernels.chain.sum import make_work, posteriors_of
from chainfield.kernels.declare import Bool2D, Float, Float2D, Int32
from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import inner, maker, part
from chainfield.kernels.vector import LANES, splat, store


class Known(NamedTuple):
    """What is known of the labels: see Clamp, Targets and Paths."""

    index: Int32  # type: ignore[assignment]  # (N,)
    table: Bool2D  # (M, R)
    cost: Float2D  # (M, R), or (0, R)
    shift: Float  # (R,), or (0,)
    weight: Float  # (S,)
    has_path: bool
    states: Int32  # (N,)
    edges: Int32  # (N,)


class Scratch(NamedTuple):
    """Memory for one sequence at a time."""

    work: Any
    nodes: Any  # (longest, width) scores
    others: Any  # the same with unknown labels shut out, where labels are known in part
    d_nodes: Any  # (longest, width)
    edges: Any  # (E,)
    d_edges: Any  # (E,)
    logs: Any  # edge scores in the forward layout
    states: Any  # (longest,)
    path_edges: Any  # (longest,)


@maker
def make_scratch(graph: Any, n_rows: int, width: int, longest: int, use_max: bool, has_path: bool) -> Any:
    """Memory for sequences of up to ``longest`` positions."""
    n_edges = len(graph.src)
    return Scratch(
        make_work(graph, n_rows, longest, not use_max),
        aligned(longest * width),
        aligned(0 if has_path else longest * width),
        aligned(longest * width),
        np.empty(n_edges),
        np.zeros(n_edges),
        aligned(graph.n_slots),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
    )


@inner
def longest_of(offsets: Any, order: Any) -> int:
    """The length of the longest sequence of an order."""
    longest = 0
    for s in order:
        longest = max(longest, offsets[s + 1] - offsets[s])
    return longest


@inner
def contrast(
    graph: Any, known: Any, s: int, at: int, n: int, n_rows: int, width: int, use_max: bool, variances: bool,
    moving: bool, shift: float, scratch: Any,
) -> tuple[float, float]:  # fmt: skip
    """The values of the free and of the clamped side; weight · (free posterior - clamped posterior) is added to the
    gradients.

    The nodes of ``scratch`` get the costs; its gradients hold zeros before. variances: the free side alone. moving:
    see :func:`side`.
    """
    nodes, edges, d_nodes, d_edges = scratch.nodes, scratch.edges, scratch.d_nodes, scratch.d_edges
    longest = len(nodes) // width
    node = nodes.reshape((longest, width))
    weight = known.weight[s]
    below = 0.0
    if variances:
        pass
    elif known.has_path:
        for t in range(n):
            r = t * width + get(graph.row_of, get(known.states, at + t))
            below += get(nodes, r)
            put(d_nodes, r, get(d_nodes, r) - weight)
            if t > 0:
                e = get(known.edges, at + t)
                below += get(edges, e)
                put(d_edges, e, get(d_edges, e) - weight)
    else:
        clamped = scratch.others.reshape((longest, width))
        for t in range(n):
            for r in range(n_rows):
                clamped[t, r] = node[t, r] if known.table[known.index[at + t], r] else -np.inf
        below = side(graph, scratch.others, width, n, use_max, shift, -weight, moving, scratch)
    if len(known.cost) > 0:
        for t in range(n):
            for r in range(n_rows):
                node[t, r] += known.cost[known.index[at + t], r]
    return side(graph, nodes, width, n, use_max, shift, weight, moving, scratch), below


@part
def side(
    graph: Any, nodes: Any, width: int, n: int, use_max: bool, shift: float, weight: float, moving: bool, scratch: Any
) -> float:
    """One side of a contrast: its value, and weight · its posterior or path added to the gradients.

    Expectations of edges stay in ``work`` where nothing moves: they are added up once at the end.
    """
    # Constants in a call would be types of their own, and compile these functions once more.
    zero = np.int64(0)
    no = np.bool_(False)
    work, edges, d_nodes, d_edges = scratch.work, scratch.edges, scratch.d_nodes, scratch.d_edges
    if use_max:
        states, path_edges = scratch.states, scratch.path_edges
        value = best_path(
            graph, nodes, width, edges, no, zero, n, scratch.logs, work.alpha, work.acc, states, path_edges, zero
        )
        if np.isfinite(value):
            for t in range(n):
                d_nodes[t * width + graph.row_of[states[t]]] += weight
                if t > 0:
                    d_edges[path_edges[t]] += weight
        return value
    if moving:
        nothing = splat(0.0)
        for i in range(0, graph.n_slots, LANES):
            store(work.expected, i, nothing)
    value = posteriors_of(graph, nodes, width, edges, no, zero, n, shift, weight, work, d_nodes, zero, d_edges, no)
    if np.isfinite(value):
        if moving:
            add_expected(graph, work, d_edges)
    else:
        longest = len(nodes) // width
        node, d_node = nodes.reshape((longest, width)), d_nodes.reshape((longest, width))
        edge, d_edge = edges.reshape((1, len(edges))), d_edges.reshape((1, len(edges)))
        value = log_forward(graph, node, edge, no, zero, n, work.alpha, work.gain)
        if np.isfinite(value):
            log_backward(graph, node, edge, no, zero, n, work.alpha, work.gain, weight, d_node, d_edge, no)
        for i in range(n * graph.width):
            work.alpha[i] = 0.0
    return value


@inner
def add_expected(graph: Any, work: Any, d_edges: Any) -> None:
    """Expectations of edges, from the bundles' layout, with the factor that they lack there."""
    for e in range(len(graph.src)):
        at = get(graph.slot, e)
        put(d_edges, e, get(d_edges, e) + get(work.expected, at) * get(work.weights, at))
