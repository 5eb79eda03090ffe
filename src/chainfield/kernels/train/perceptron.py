"""A pass of online training by best paths: the perceptron, and large margins.

    θ ← θ - η (features of the best path - features of the best path with the known labels)

Such a step touches only what the two paths do not share, and nothing at all where the best path has the known labels:
then it is the best of both, and the second one need not be sought. The scores of transitions are kept between steps,
and those that a step has changed are brought up to date by themselves.

θ is a factor times what is stored (an l2 penalty shrinks the factor). Best paths do not change if all scores are
divided by the factor, so costs are divided by it, and nothing is multiplied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.chain.bundles import aligned, spread
from chainfield.kernels.chain.clamped_max import best_known_path, make_search
from chainfield.kernels.chain.max import best_path
from chainfield.kernels.declare import Float, Int, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import inner, kernel, maker, part
from chainfield.kernels.train.linear_chain import Parameters, Places
from chainfield.kernels.vector import LANES

from .contrast import Known
from .linear_chain import SMALLEST_FACTOR, add_ends, add_groups, add_shift, fold, read_edges
from .margin import Margin, margin_step
from .unrolled import Unrolled, announce_pairs, gather_unrolled

# The search for the best path with known labels follows edges one by one; vectors are faster if it must follow so many.
NARROW = 4


class Tied(NamedTuple):
    """The edges that a transition weight scores: edge[first[w]:first[w+1]], w counted over all sets of weights."""

    first: Any
    edge: Any
    offset: Any  # (T,) number of the first weight of a set


@maker
def tied_edges(places: Any) -> Any:
    """The inverse of ``places.tie``."""
    n_sets, n_edges = places.tie.shape
    offset = np.zeros(n_sets, np.int64)
    n_weights = 0
    for i in range(n_sets):
        offset[i] = n_weights
        most = -1
        for e in range(n_edges):
            most = max(most, places.tie[i, e])
        n_weights += most + 1
    first = np.zeros(n_weights + 1, np.int64)
    for i in range(n_sets):
        for e in range(n_edges):
            if places.tie[i, e] >= 0:
                first[offset[i] + places.tie[i, e] + 1] += 1
    for w in range(n_weights):
        first[w + 1] += first[w]
    edge = np.empty(first[n_weights], np.int32)
    at = first.copy()
    for i in range(n_sets):
        for e in range(n_edges):
            if places.tie[i, e] >= 0:
                w = offset[i] + places.tie[i, e]
                edge[at[w]] = e
                at[w] += 1
    return Tied(first, edge, offset)


@part
def refresh(
    graph: Any, places: Any, tied: Any, rest: Any, path: Any, other: Any, n: int, edges: Any, logs: Any
) -> None:
    """The scores of all edges that share a weight with edges of a path that are not those of another one."""
    for t in range(1, n):
        if path[t] == other[t]:
            continue
        for i in range(len(places.transition)):
            w = places.tie[i, path[t]]
            if w < 0 or w == places.tie[i, other[t]]:
                continue
            for j in range(tied.first[tied.offset[i] + w], tied.first[tied.offset[i] + w + 1]):
                e = get(tied.edge, j)
                score = 0.0
                for k in range(len(places.transition)):
                    if places.tie[k, e] >= 0:
                        score += rest[places.transition[k] + places.tie[k, e]]
                put(edges, e, score)
                put(logs, get(graph.slot, e), score)


@inner
def change_weights(entries: Any, t: int, masked: bool, columns: Any, m: int, d: Any, scale: float, into: Any) -> None:
    """into += scale · value · d[c] for the m columns whose d is not 0: the way back of a position."""
    width = entries.width
    ones = entries.ones
    for i in range(get(entries.full_first, t), get(entries.full_first, t + 1)):
        f = get(entries.full, i)
        x = scale if ones else scale * get(entries.full_value, i)
        for j in range(m):
            c = get(columns, j)
            if masked and (get(entries.mask, f * (width // LANES) + c // LANES) >> (c % LANES)) & 1 == 0:
                continue
            w = f * width + c
            put(into, w, get(into, w) + x * get(d, c))
    for i in range(get(entries.pair_first, t), get(entries.pair_first, t + 1)):
        change = get(d, get(entries.row, i))
        if change != 0.0:
            p = get(entries.pair, i)
            x = scale if ones else scale * get(entries.pair_value, i)
            put(into, p, get(into, p) + x * change)


@part
def part_ways(
    graph: Any, places: Any, entries: Any, at: int, n: int, masked: bool, n_rows: int, states: Any, path_edges: Any,
    right: Any, right_edges: Any, d: Any, columns: Any, scale: float, into: Any,
) -> None:  # fmt: skip
    """into += scale · (features of the path ``right`` - features of the other one)."""
    rest = into.rest
    for t in range(n):
        r = graph.row_of[states[t]]
        q = graph.row_of[right[t]]
        if r != q:
            m = 2
            columns[0] = r
            columns[1] = q
            d[r] = -1.0
            d[q] = 1.0
            if len(places.group_of) > 0 and places.group_of[r] != places.group_of[q]:
                if places.group_of[r] >= 0:
                    columns[m] = n_rows + places.group_of[r]
                    d[columns[m]] = -1.0
                    m += 1
                if places.group_of[q] >= 0:
                    columns[m] = n_rows + places.group_of[q]
                    d[columns[m]] = 1.0
                    m += 1
            change_weights(entries, at + t, masked, columns, m, d, scale, into.weights)
            for j in range(m):
                d[columns[j]] = 0.0
            if places.start >= 0 and t == 0:
                rest[places.start + r] -= scale
                rest[places.start + q] += scale
            if places.start >= 0 and t == n - 1:
                rest[places.end + r] -= scale
                rest[places.end + q] += scale
        if t > 0 and path_edges[t] != right_edges[t]:
            for i in range(len(places.transition)):
                v = places.tie[i, path_edges[t]]
                w = places.tie[i, right_edges[t]]
                if v != w:
                    if v >= 0:
                        rest[places.transition[i] + v] -= scale
                    if w >= 0:
                        rest[places.transition[i] + w] += scale


class Room(NamedTuple):
    """Memory for one sequence at a time."""

    search: Any
    tied: Any
    size: Any  # (M,) states that a set of labels leaves
    nodes: Any  # (longest, width) scores
    raised: Any  # the same with the costs of wrong labels on top
    others: Any  # the same with unknown labels shut out
    delta: Any  # (longest, graph.width)
    acc: Any  # (graph.width,)
    logs: Any  # edge scores in the forward layout
    edges: Any  # (E,)
    states: Any  # (longest,) the best path
    path_edges: Any  # (longest,)
    right: Any  # (longest,) the best path of the right labels
    right_edges: Any  # (longest,)
    d: Any  # (width,)
    columns: Any  # (4,)


@kernel
def perceptron_pass(
    graph: Graph, n_rows: int, offsets: Int, order: Int, rates: Float, shrink: Float, entries: Unrolled, places: Places,
    known: Known, theta: Out[Parameters], lag: Out[Parameters], mass: float, margin: Out[Margin],
) -> tuple[float, int, int, float]:  # fmt: skip
    """Go through the sequences of ``order``, and step with rates[step] after each: see ``linear_chain.linear_pass``.

    Where a margin is used, it says how far a step goes.

    Returns the loss, the number of updates, the sequence that failed (-1: none), and the new mass of the average.
    """
    width = entries.width
    sets = known.table
    n_states = len(graph.row_of)
    longest = 0
    most = 0
    size = np.zeros(len(sets), np.int64)
    for m in range(0 if known.has_path else len(sets)):
        for k in range(n_states):
            size[m] += sets[m, graph.row_of[k]]
    for s in order:
        longest = max(longest, offsets[s + 1] - offsets[s])
        total = 0
        for t in range(offsets[s], offsets[s + 1]):
            if size[known.index[t]] * NARROW <= n_states:
                total += size[known.index[t]]
        most = max(most, total)
    room = Room(
        make_search(graph, longest, most),
        tied_edges(places),
        size,
        aligned(longest * width),
        aligned(longest * width if len(known.cost) > 0 else 0),
        aligned(0 if known.has_path else longest * width),
        aligned(longest * graph.width),
        aligned(graph.width),
        aligned(graph.n_slots),
        np.empty(len(graph.src)),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.zeros(width),
        np.empty(4, np.int64),
    )
    return walk(graph, n_rows, offsets, order, rates, shrink, entries, places, known, theta, lag, mass, margin, room)


@part
def walk(
    graph: Any, n_rows: int, offsets: Any, order: Any, rates: Any, shrink: Any, entries: Any, places: Any, known: Any,
    theta: Any, lag: Any, mass: float, margin: Any, room: Any,
) -> tuple[float, int, int, float]:  # fmt: skip
    """What :func:`perceptron_pass` does, once its memory is there."""
    width = entries.width
    sets = known.table
    n_states = len(graph.row_of)
    search, tied, size, d, columns = room.search, room.tied, room.size, room.d, room.columns
    nodes, raised, others, delta, acc = room.nodes, room.raised, room.others, room.delta, room.acc
    logs, edges, states, path_edges = room.logs, room.edges, room.states, room.path_edges
    right, right_edges = room.right, room.right_edges
    averaging = len(lag.rest) > 0
    masked = len(entries.mask) > 0
    # Constants in a call would be types of their own, and compile these functions once more.
    zero = np.int64(0)
    no = np.bool_(False)
    read_edges(places, theta.rest, 1.0, edges)
    spread(graph, edges, zero, 0.0, -np.inf, np.bool_(True), logs, logs[:0])
    factor = 1.0
    loss = 0.0
    updates = 0
    for step in range(len(order)):
        s = order[step]
        at = offsets[s]
        n = offsets[s + 1] - at
        if n > 0:
            for t in range(n):
                gather_unrolled(entries, at + t, theta.weights, nodes, t * width)
            if step + 1 < len(order):  # while the path is sought, memory fetches what comes next
                following = order[step + 1]
                announce_pairs(entries, offsets[following], offsets[following + 1], theta.weights)
            add_groups(places.group_of, n_rows, n, width, nodes)
            add_ends(places, theta.rest, 1.0, n, n_rows, width, nodes)
            add_shift(known, factor, n, n_rows, width, nodes)
            scores = nodes
            if len(known.cost) > 0:
                scores = raised
                for t in range(n):
                    for r in range(n_rows):
                        raised[t * width + r] = nodes[t * width + r] + known.cost[known.index[at + t], r] / factor
            above = best_path(graph, scores, width, edges, no, zero, n, logs, delta, acc, states, path_edges, zero)
            if not np.isfinite(above):
                return above, updates, s, mass
            weight = known.weight[s]
            good = True
            narrow = True
            for t in range(n):
                r = graph.row_of[states[t]]
                m = known.index[at + t]
                good = good and sets[m, r] and (len(known.cost) == 0 or known.cost[m, r] == 0.0)
                narrow = narrow and size[m] * NARROW <= n_states
            if weight != 0.0 and not good:
                if known.has_path:
                    below = 0.0
                    for t in range(n):
                        right[t] = known.states[at + t]
                        right_edges[t] = known.edges[at + t]
                        below += nodes[t * width + graph.row_of[right[t]]]
                        if t > 0:
                            below += edges[right_edges[t]]
                elif narrow:
                    below = best_known_path(
                        graph, known.index, sets, at, n, nodes, width, edges, search, right, right_edges
                    )
                else:
                    for t in range(n):
                        for r in range(n_rows):
                            allowed = sets[known.index[at + t], r]
                            others[t * width + r] = nodes[t * width + r] if allowed else -np.inf
                    below = best_path(
                        graph, others, width, edges, no, zero, n, logs, delta, acc, right, right_edges, zero
                    )
                if not np.isfinite(below):
                    return below, updates, s, mass
                loss += weight * factor * (above - below)
                updates += 1
                if margin.used:
                    loss += margin_step(
                        graph, places, entries, at, n, masked, n_rows, states, path_edges, right, right_edges, d,
                        columns, above - below, weight, s, margin, mass, theta, lag,
                    )  # fmt: skip
                else:
                    scale = weight * rates[step] / factor
                    part_ways(
                        graph, places, entries, at, n, masked, n_rows, states, path_edges, right, right_edges, d,
                        columns, scale, theta,
                    )  # fmt: skip
                    if averaging:
                        part_ways(
                            graph, places, entries, at, n, masked, n_rows, states, path_edges, right, right_edges, d,
                            columns, scale * mass, lag,
                        )  # fmt: skip
                refresh(graph, places, tied, theta.rest, path_edges, right_edges, n, edges, logs)
                refresh(graph, places, tied, theta.rest, right_edges, path_edges, n, edges, logs)
        if len(shrink) > 0:
            factor *= shrink[step]
            if factor < SMALLEST_FACTOR:
                mass /= factor
                fold(theta, factor)
                factor = 1.0
                read_edges(places, theta.rest, 1.0, edges)
                spread(graph, edges, zero, 0.0, -np.inf, np.bool_(True), logs, logs[:0])
        mass += factor
    if factor != 1.0:
        mass /= factor
        fold(theta, factor)
    return loss, updates, -1, mass
