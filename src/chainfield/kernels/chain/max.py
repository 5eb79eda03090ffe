"""Max-product: the best path (Viterbi 1967), and the n best ones.

    delta_1(k) = [k may start] x_1(r(k))
    delta_t(j) = x_t(r(j)) + max over edges (i, j) of delta_{t-1}(i) + w_t(i, j)

Only the maximal values are kept; the best predecessor is found again along the best path alone, which is cheaper
than to carry an argmax along for every state. Ties go to the state with the lowest number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Float, Float2D, Int, Int32, Int32_2D, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import inner, kernel, part
from chainfield.kernels.vector import LANES, add, load, load_part, splat, store, store_part

from .bundles import aligned, largest, push_max, spread

# Scores are brought back to zero every so many steps, so that they keep their digits on long sequences.
REBASE = 64


@inner
def best_source(graph: Any, delta: Any, o: int, edges: Any, step: int, k: int) -> int:
    """The edge into state k with the best predecessor; -1 if there is none."""
    best = -1
    top = -np.inf
    for i in range(graph.in_first[k], graph.in_first[k + 1]):
        e = graph.in_edge[i]
        value = get(delta, o + graph.src[e]) + get(edges, step + e)
        if value > top:
            top = value
            best = e
    return best


@part
def best_path(
    graph: Any, nodes: Any, n_rows: int, edges: Any, per_step: bool, at: int, n: int, weights: Any, delta: Any,
    acc: Any, states: Any, path_edges: Any, out: int,
) -> float:  # fmt: skip
    """The best path of one sequence into states and path_edges, from ``out`` on; returns its score.

    weights: the edge scores in the forward layout, -inf where there is no edge (made here if positions have their own).
    """
    n_states = len(graph.row_of)
    n_edges = len(graph.src)
    width = graph.width
    base = 0.0
    nothing = splat(-np.inf)
    for t in range(n):
        o = t * width
        x = (at + t) * n_rows
        if t == 0:
            for k in range(width):
                put(acc, k, 0.0 if k < n_states and graph.start[k] else -np.inf)
        else:
            for k in range(0, width, LANES):
                store(acc, k, nothing)
            if per_step:
                spread(graph, edges, (at + t) * n_edges, 0.0, -np.inf, np.bool_(True), weights, weights[:0])
            push_max(graph, weights, delta, o - width, acc)
        for g in range(len(graph.segment_len)):
            state = graph.segment_state[g]
            row = x + graph.segment_row[g]
            m = graph.segment_len[g]
            c = 0
            while c + LANES <= m:
                store(delta, o + state + c, add(load(acc, state + c), load(nodes, row + c)))
                c += LANES
            if c < m:
                values = add(load_part(acc, state + c, m - c, 0.0), load_part(nodes, row + c, m - c, 0.0))
                store_part(delta, o + state + c, m - c, values)
        if t % REBASE == REBASE - 1:
            top = largest(delta, o, n_states)
            if top > -np.inf:
                base += top
                for k in range(n_states):
                    put(delta, o + k, get(delta, o + k) - top)
    o = (n - 1) * width
    best = -1
    top = -np.inf
    for k in range(n_states):
        if graph.end[k] and not get(delta, o + k) <= top:
            top = get(delta, o + k)
            best = k
    if best < 0 or not (top > -np.inf and top < np.inf):
        return top
    for t in range(n - 1, -1, -1):
        states[out + t] = best
        path_edges[out + t] = -1
        if t > 0:
            step = (at + t) * n_edges if per_step else 0
            e = best_source(graph, delta, (t - 1) * width, edges, step, best)
            path_edges[out + t] = e
            best = graph.src[e]
    return base + top


@kernel
def max_product(
    graph: Graph, node: Float2D, edge: Float2D, offsets: Int, states: Out[Int32], path_edges: Out[Int32],
    score: Out[Float],
) -> None:  # fmt: skip
    """The best path of every sequence: states (N,), the edge into each position (N,) (-1 at a start), score (S,)."""
    per_step = edge.shape[0] != 1 or node.shape[0] == 1
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta = aligned(longest * graph.width)
    acc = aligned(graph.width)
    weights = aligned(graph.n_slots)
    nodes = node.ravel()
    edges = edge.ravel()
    if not per_step:
        spread(graph, edges, np.int64(0), 0.0, -np.inf, np.bool_(True), weights, weights[:0])
    for s in range(len(offsets) - 1):
        at = offsets[s]
        n = offsets[s + 1] - at
        score[s] = 0.0
        if n > 0:
            score[s] = best_path(
                graph, nodes, node.shape[1], edges, per_step, at, n, weights, delta, acc, states, path_edges, at
            )


@kernel
def path_scores(
    graph: Graph, node: Float2D, edge: Float2D, offsets: Int, states: Int32, path_edges: Int32, weight: Float,
    gradients: bool, d_node: Out[Float2D], d_edge: Out[Float2D], d_per_step: bool, score: Out[Float],
) -> None:  # fmt: skip
    """Score of one given path a sequence; with ``gradients``, weight[s] times its indicators are added."""
    per_step = edge.shape[0] != 1 or node.shape[0] == 1
    for s in range(len(offsets) - 1):
        total = 0.0
        lost = 0.0
        w = weight[s]
        for t in range(offsets[s], offsets[s + 1]):
            r = graph.row_of[states[t]]
            term = node[t, r]
            e = path_edges[t]
            if e >= 0:
                term += edge[t if per_step else 0, e]
            term -= lost
            grown = total + term
            lost = (grown - total) - term
            total = grown
            if gradients:
                d_node[t, r] += w
                if e >= 0:
                    d_edge[t if d_per_step else 0, e] += w
        score[s] = total


@kernel
def follow_rows(
    graph: Graph, step_edge: Int32_2D, start_state: Int32, rows: Int32, offsets: Int, states: Out[Int32],
    path_edges: Out[Int32],
) -> int:  # fmt: skip
    """The state path behind a sequence of emission rows, where there is exactly one.

    step_edge (K, R): the edge from a state into a row, or -1; start_state (R,). Returns the index of the first
    sequence that no path can follow, or -1.
    """
    for s in range(len(offsets) - 1):
        state = -1
        for t in range(offsets[s], offsets[s + 1]):
            if t == offsets[s]:
                state = start_state[rows[t]]
                path_edges[t] = -1
            else:
                e = step_edge[state, rows[t]]
                if e < 0:
                    return s
                path_edges[t] = e
                state = graph.dst[e]
            if state < 0:
                return s
            states[t] = state
        if offsets[s + 1] > offsets[s] and not graph.end[state]:
            return s
    return -1


@part
def merge_lists(
    scores: Any, n_lists: int, begin: Any, gain: Any, x: float, names: Any, n_best: int, o: int, out: Any,
    out_names: Any, out_ranks: Any, value: Any, rank: Any, heap: Any,
) -> None:  # fmt: skip
    """The n_best largest of scores[begin[j] + i] + gain[j] + x over lists j, each of which falls with i; out[o] first.

    A heap holds the next of each list, so that one costs the logarithm of their number. Ties go to the first list.
    """
    size = 0
    for j in range(n_lists):
        value[j] = scores[begin[j]] + gain[j] + x
        rank[j] = 0
        if value[j] > -np.inf:
            i = size
            size += 1
            while i > 0:
                above = heap[(i - 1) // 2]
                if value[above] >= value[j]:
                    break
                heap[i] = above
                i = (i - 1) // 2
            heap[i] = j
    for b in range(n_best):
        if size == 0:
            break
        j = heap[0]
        out[o + b] = value[j]
        out_names[o + b] = names[j]
        out_ranks[o + b] = rank[j]
        rank[j] += 1
        value[j] = -np.inf
        if rank[j] < n_best:
            value[j] = scores[begin[j] + rank[j]] + gain[j] + x
        if not value[j] > -np.inf:  # its end
            size -= 1
            j = heap[size]
        i = 0
        while 2 * i + 1 < size:
            child = 2 * i + 1
            left = heap[child]
            if child + 1 < size:
                right = heap[child + 1]
                if value[right] > value[left] or (value[right] == value[left] and right < left):
                    child += 1
            c = heap[child]
            if value[j] > value[c] or (value[j] == value[c] and j < c):
                break
            heap[i] = c
            i = child
        heap[i] = j


@kernel
def n_best_product(
    graph: Graph, node: Float2D, edge: Float2D, at: int, n: int, n_best: int, states: Out[Int32_2D], score: Out[Float]
) -> None:
    """The n_best best paths of one sequence, best first: states (n_best, n), score (n_best,) (-inf: there is none)."""
    per_step = edge.shape[0] != 1 or node.shape[0] == 1
    n_states = len(graph.row_of)
    size = n_states * n_best
    scores = np.full(n * size, -np.inf)
    edges = np.full(n * size, -1, np.int32)
    ranks = np.zeros(n * size, np.int32)
    most = n_states  # lists that are merged: one for each state, or for each edge into one
    for k in range(n_states):
        most = max(most, graph.in_first[k + 1] - graph.in_first[k])
    begin, gain, value = np.empty(most, np.int64), np.empty(most), np.empty(most)
    names, rank_of, heap = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int64)
    for k in range(n_states):
        if graph.start[k]:
            scores[k * n_best] = node[at, graph.row_of[k]]
    for t in range(1, n):
        step = at + t if per_step else 0
        for k in range(n_states):
            o = t * size + k * n_best
            x = node[at + t, graph.row_of[k]]
            first = graph.in_first[k]
            n_lists = graph.in_first[k + 1] - first
            for i in range(n_lists):
                e = graph.in_edge[first + i]
                names[i] = e
                begin[i] = (t - 1) * size + graph.src[e] * n_best
                gain[i] = edge[step, e]
            merge_lists(scores, n_lists, begin, gain, x, names, n_best, o, scores, edges, ranks, value, rank_of, heap)
    last = np.full(n_best, -np.inf)
    last_state = np.full(n_best, -1, np.int32)
    last_rank = np.zeros(n_best, np.int32)
    n_lists = 0
    for k in range(n_states):
        if graph.end[k]:
            names[n_lists] = k
            begin[n_lists] = (n - 1) * size + k * n_best
            gain[n_lists] = 0.0
            n_lists += 1
    merge_lists(scores, n_lists, begin, gain, 0.0, names, n_best, 0, last, last_state, last_rank, value, rank_of, heap)
    for b in range(n_best):
        score[b] = last[b]
        state = last_state[b]
        rank = last_rank[b]
        if state < 0:
            continue
        for t in range(n - 1, -1, -1):
            states[b, t] = state
            o = t * size + state * n_best + rank
            if t > 0:
                rank = ranks[o]
                state = graph.src[edges[o]]
