"""Viterbi where most states are ruled out: labels are known, but each has several states.

A known label leaves a few states at each position. The search follows the edges that leave them, and looks at no other
state: with L labels of equal size, a step costs one part in L of all edges (and less in second order).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import maker, part


class Search(NamedTuple):
    """What the search needs to know of the graph, and its memory."""

    out_first: Any  # (K+1,) edges that leave state k; edges are sorted by their sources
    starts: Any  # states that paths may start in
    first: Any  # (longest + 1,) what was found for position t: entries first[t]:first[t+1] of the arrays below
    state: Any
    value: Any  # score of the best path into it
    edge: Any  # the edge it came by, -1: none
    before: Any  # the entry it came from
    place: Any  # (K,) entry of a state at the current position, or one of an earlier position


@maker
def make_search(graph: Any, longest: int, most: int) -> Any:
    """Memory for sequences of up to ``longest`` positions and ``most`` states, all positions taken together."""
    n_states = len(graph.row_of)
    out_first = np.zeros(n_states + 1, np.int64)
    for e in range(len(graph.src)):
        out_first[graph.src[e] + 1] += 1
    n_starts = 0
    for k in range(n_states):
        out_first[k + 1] += out_first[k]
        n_starts += graph.start[k]
    starts = np.empty(n_starts, np.int32)
    i = 0
    for k in range(n_states):
        if graph.start[k]:
            starts[i] = k
            i += 1
    return Search(
        out_first, starts, np.zeros(longest + 1, np.int64), np.empty(most, np.int32), np.empty(most),
        np.empty(most, np.int32), np.empty(most, np.int32), np.empty(n_states, np.int64),
    )  # fmt: skip


@part
def best_known_path(
    graph: Any, index: Any, table: Any, at: int, n: int, nodes: Any, width: int, edges: Any, search: Any, states: Any,
    path_edges: Any,
) -> float:  # fmt: skip
    """The best path through the rows that are known to be possible, as ``chain.max.best_path``."""
    place = search.place
    for k in range(len(place)):
        put(place, k, -1)
    m = 0
    for i in range(len(search.starts)):
        k = get(search.starts, i)
        row = get(graph.row_of, k)
        if table[index[at], row]:
            put(search.state, m, k)
            put(search.value, m, get(nodes, row))
            put(search.edge, m, -1)
            m += 1
    search.first[1] = m
    for t in range(1, n):
        known = table[index[at + t]]
        for i in range(search.first[t - 1], search.first[t]):
            k = get(search.state, i)
            x = get(search.value, i)
            for e in range(get(search.out_first, k), get(search.out_first, k + 1)):
                j = get(graph.dst, e)
                if not known[get(graph.row_of, j)]:
                    continue
                value = x + get(edges, e)
                p = get(place, j)
                if p < search.first[t]:
                    p = m
                    m += 1
                    put(place, j, p)
                    put(search.state, p, j)
                elif not (value > get(search.value, p) or (value == get(search.value, p) and e < get(search.edge, p))):
                    continue
                put(search.value, p, value)
                put(search.edge, p, e)
                put(search.before, p, i)
        search.first[t + 1] = m
        for i in range(search.first[t], m):
            row = get(graph.row_of, get(search.state, i))
            put(search.value, i, get(search.value, i) + get(nodes, t * width + row))
    best = -1
    top = -np.inf
    for i in range(search.first[n - 1], m):
        k = search.state[i]
        if graph.end[k] and (search.value[i] > top or (search.value[i] == top and k < search.state[best])):
            top = search.value[i]
            best = i
    if best < 0:
        return top
    for t in range(n - 1, -1, -1):
        states[t] = search.state[best]
        path_edges[t] = search.edge[best]
        best = search.before[best]
    return top
