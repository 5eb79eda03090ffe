"""A pass of online training over a linear chain: score, infer, update, one sequence after the other.

The same steps as everywhere (gather, forward and backward or Viterbi, scatter), put together in compiled code: at a
few microseconds a sequence, going through Python for each would cost several times the work itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .bundles import aligned, spread
from .jit import kernel, part
from .linear import gather_window, scatter_position
from .logspace import log_backward, log_forward
from .max import best_path
from .sum import backward, forward, make_work, prepare_edges
from .vector import get, put


class Entries(NamedTuple):
    """Sparse features of all positions, and the layout of their weights."""

    indptr: Any
    indices: Any
    values: Any
    first: Any
    row: Any
    n_full: int
    n_single: int
    mask: Any


class Places(NamedTuple):
    """Where the parameters lie in θ; -1: this chain has none of that kind."""

    features: int
    n_features: int
    start: int
    end: int
    tie: Any  # (E,) transition weight of an edge, -1: none
    transition: int
    tie2: Any  # the same for a second set of transition weights
    transition2: int


class Known(NamedTuple):
    """What is known of the labels: see Clamp, Targets and Paths."""

    index: Any  # (N,)
    table: Any  # (M, R)
    cost: Any  # (M, R), or (0, R)
    shift: Any  # (R,), or (0,)
    weight: Any  # (S,)
    has_path: bool
    states: Any  # (N,)
    edges: Any  # (N,)


@part
def read_edges(places: Any, theta: Any, edges: Any) -> None:
    """edges[e] = the sum of its transition weights."""
    for e in range(len(edges)):
        value = 0.0
        if places.transition >= 0 and places.tie[e] >= 0:
            value += theta[places.transition + places.tie[e]]
        if places.transition2 >= 0 and places.tie2[e] >= 0:
            value += theta[places.transition2 + places.tie2[e]]
        edges[e] = value


@part
def move(
    places: Any, entries: Any, at: int, n: int, n_rows: int, d: Any, d_edges: Any, rate: float, theta: Any
) -> None:
    """θ -= rate · gradient of one sequence, given its gradient in score space; positions without one are skipped."""
    features = theta[places.features : places.features + places.n_features]
    for t in range(n):
        o = t * n_rows
        some = False
        for r in range(n_rows):
            some = some or get(d, o + r) != 0.0
        if some and places.n_features > 0:
            scatter_position(
                entries.indptr[at + t], entries.indptr[at + t + 1], entries.indices, entries.values, entries.first,
                entries.row, entries.n_full, entries.n_single, n_rows, entries.mask, d, o, -rate, features,
            )  # fmt: skip
    if places.start >= 0:
        for r in range(n_rows):
            theta[places.start + r] -= rate * d[r]
            theta[places.end + r] -= rate * d[(n - 1) * n_rows + r]
    for e in range(len(d_edges)):
        if d_edges[e] != 0.0:
            if places.transition >= 0 and places.tie[e] >= 0:
                theta[places.transition + places.tie[e]] -= rate * d_edges[e]
            if places.transition2 >= 0 and places.tie2[e] >= 0:
                theta[places.transition2 + places.tie2[e]] -= rate * d_edges[e]


@kernel
def online_pass(
    graph: Any, n_rows: int, offsets: Any, order: Any, rates: Any, use_max: bool, entries: Any, places: Any, known: Any,
    theta: Any, lag: Any, clock: int, kept_node: Any, kept_edge: Any, share: float,
) -> tuple[float, int, int]:  # fmt: skip
    """Go through the sequences of ``order``, moving θ after each; returns loss, updates, and the sequence that failed.

    rates (len(order),): step sizes. lag: see trainers.online, or empty. kept_node (N, R), kept_edge (S, E): what every
    sequence keeps (see trainers.sdca), or empty; then ``share`` of the difference is added to them.
    The failed sequence is -1 if all went well; its loss is then infinite (no path) or NaN.
    """
    n_edges = len(graph.src)
    longest = 0
    for s in order:
        longest = max(longest, offsets[s + 1] - offsets[s])
    work = make_work(graph, n_rows, longest, not use_max)
    node = np.empty((longest, n_rows))
    clamped = np.empty((longest, n_rows))
    d_node = np.empty((longest, n_rows))
    d_edge = np.empty((1, n_edges))
    edge = np.empty((1, n_edges))
    nodes, others, d_nodes, d_edges, edges = node.ravel(), clamped.ravel(), d_node.ravel(), d_edge.ravel(), edge.ravel()
    states = np.empty(longest, np.int32)
    path_edges = np.empty(longest, np.int32)
    logs = aligned(graph.n_slots)
    keeping = len(kept_edge) > 0
    features = theta[places.features : places.features + places.n_features]
    loss = 0.0
    updates = 0
    stale = True
    shift = 0.0
    for step in range(len(order)):
        s = order[step]
        at = offsets[s]
        n = offsets[s + 1] - at
        if n == 0:
            continue
        for i in range(n * n_rows):
            nodes[i] = 0.0
            d_nodes[i] = 0.0
        for e in range(n_edges):
            d_edges[e] = 0.0
        if places.n_features > 0:
            gather_window(
                at, n, entries.indptr, entries.indices, entries.values, entries.first, entries.row, entries.n_full,
                entries.n_single, n_rows, features, nodes,
            )  # fmt: skip
        if places.start >= 0:
            for r in range(n_rows):
                nodes[r] += theta[places.start + r]
                nodes[(n - 1) * n_rows + r] += theta[places.end + r]
        if len(known.shift) > 0:
            for t in range(n):
                for r in range(n_rows):
                    node[t, r] += known.shift[r]
        if stale:
            read_edges(places, theta, edges)
            if use_max:
                spread(graph, edges, np.int64(0), 0.0, -np.inf, np.bool_(True), logs, logs[:0])
            else:
                shift = prepare_edges(graph, edges, work)
            stale = False
        # The clamped side first, from the scores as they are; the free side then has the costs of wrong labels on top.
        weight = known.weight[s]
        if known.has_path:
            below = 0.0
            for t in range(n):
                r = graph.row_of[known.states[at + t]]
                below += node[t, r]
                d_node[t, r] -= weight
                if t > 0:
                    below += edges[known.edges[at + t]]
                    d_edges[known.edges[at + t]] -= weight
        else:
            for t in range(n):
                for r in range(n_rows):
                    clamped[t, r] = node[t, r] if known.table[known.index[at + t], r] else -np.inf
            below = side(
                graph, clamped, others, n_rows, edge, edges, n, use_max, shift, work, logs, states, path_edges, -weight,
                d_node, d_nodes, d_edge, d_edges,
            )  # fmt: skip
        if len(known.cost) > 0:
            for t in range(n):
                for r in range(n_rows):
                    node[t, r] += known.cost[known.index[at + t], r]
        above = side(
            graph, node, nodes, n_rows, edge, edges, n, use_max, shift, work, logs, states, path_edges, weight, d_node,
            d_nodes, d_edge, d_edges,
        )  # fmt: skip
        if not (np.isfinite(above) and np.isfinite(below)):
            return above if np.isfinite(below) else below, updates, s
        loss += weight * (above - below)
        if keeping:
            for t in range(n):
                o = t * n_rows
                for r in range(n_rows):
                    change = get(d_nodes, o + r) - kept_node[at + t, r]
                    put(d_nodes, o + r, change)
                    kept_node[at + t, r] += share * change
            for e in range(n_edges):
                change = d_edges[e] - kept_edge[s, e]
                d_edges[e] = change
                kept_edge[s, e] += share * change
        wrong = not use_max
        for i in range(n * n_rows):
            wrong = wrong or d_nodes[i] != 0.0
        for e in range(n_edges):
            wrong = wrong or d_edges[e] != 0.0
        if wrong:
            updates += 1
            stale = True
            move(places, entries, at, n, n_rows, d_nodes, d_edges, rates[step], theta)
            if len(lag) > 0:
                move(places, entries, at, n, n_rows, d_nodes, d_edges, rates[step] * (clock + step), lag)
    return loss, updates, -1


@part
def side(
    graph: Any, node: Any, nodes: Any, n_rows: int, edge: Any, edges: Any, n: int, use_max: bool, shift: float,
    work: Any, logs: Any, states: Any, path_edges: Any, weight: float, d_node: Any, d_nodes: Any, d_edge: Any,
    d_edges: Any,
) -> float:  # fmt: skip
    """One side of a contrast: its value, and weight · its posterior or path added to the gradients."""
    # Constants in a call would be types of their own, and compile these functions once more.
    zero = np.int64(0)
    no = np.bool_(False)
    if use_max:
        value = best_path(
            graph, nodes, n_rows, edges, no, zero, n, logs, work.alpha, work.acc, states, path_edges, zero
        )
        if np.isfinite(value):
            for t in range(n):
                d_node[t, graph.row_of[states[t]]] += weight
                if t > 0:
                    d_edges[path_edges[t]] += weight
        return value
    value = forward(graph, nodes, n_rows, edges, no, zero, n, shift, work)
    if np.isfinite(value):
        for i in range(graph.n_slots):
            put(work.expected, i, 0.0)
        backward(graph, nodes, n_rows, edges, no, zero, n, weight, work, d_nodes, zero, d_edges, no)
        for e in range(len(graph.src)):
            d_edges[e] += work.expected[graph.slot[e]] * work.weights[graph.slot[e]]
    else:
        value = log_forward(graph, node, edge, no, zero, n, work.alpha, work.gain)
        if np.isfinite(value):
            log_backward(graph, node, edge, no, zero, n, work.alpha, work.gain, weight, d_node, d_edge, no)
        for i in range(n * graph.width):
            work.alpha[i] = 0.0
    return value
