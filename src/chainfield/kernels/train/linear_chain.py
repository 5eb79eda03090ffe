"""A pass over the sequences of a linear chain: score, infer, and the way back, one sequence after the other.

The same steps as everywhere (gather, forward and backward or Viterbi, scatter), put together in compiled code, so that
what belongs to a sequence never leaves the innermost cache. Where the way back leads decides what the pass is good for:
into a gradient, it is a batch's gradient; into the parameters themselves, it is stochastic training.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.chain.bundles import spread
from chainfield.kernels.chain.sum import prepare_edges
from chainfield.kernels.declare import Float, Int, Int32, Int32_2D, Out, Single, Single2D
from chainfield.kernels.elements import get, put
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import inner, kernel, part
from chainfield.kernels.vector import LANES, any_of, fma, load, load_part, mul, some_of, splat, store, store_part

from .contrast import Known, add_expected, contrast, longest_of, make_scratch
from .unrolled import Unrolled, announce_pairs, gather_unrolled, scatter_unrolled

# θ is a factor times what is stored, so that shrinking all of it is one multiplication; folded in below this.
SMALLEST_FACTOR = 1e-6


class Places(NamedTuple):
    """Where parameters lie that are no weights of features; -1: this chain has none of that kind."""

    start: int
    end: int
    plain: bool  # transition weights are edges, in their order
    tie: Int32_2D  # (T, E) transition weight of an edge in each of T sets, -1: none
    transition: Int  # (T,) where a set begins
    group_of: Int32  # (R,) the group of rows that a row belongs to, -1: none; empty: there are no groups


class Parameters(NamedTuple):
    """θ, or anything of its shape: the weights of features as :class:`Unrolled` places them, and all others."""

    weights: Float
    rest: Float


class Kept(NamedTuple):
    """The gradient in score space that every sequence keeps (see trainers.sdca); empty: none."""

    node: Single  # (N · R,) single precision
    edge: Single2D  # (S, E)
    share: float  # of a change that is added to them


@part
def read_edges(places: Any, rest: Any, factor: float, edges: Any) -> None:
    """edges[e] = the sum of its transition weights."""
    if places.plain:
        first = places.transition[0]
        for e in range(len(edges)):
            put(edges, e, factor * get(rest, first + e))
        return
    for e in range(len(edges)):
        put(edges, e, 0.0)
    for i in range(len(places.transition)):
        first = places.transition[i]
        tie = places.tie[i]
        for e in range(len(edges)):
            if get(tie, e) >= 0:
                put(edges, e, get(edges, e) + factor * get(rest, first + get(tie, e)))


@part
def move(
    places: Any, entries: Any, at: int, n: int, masked: bool, n_rows: int, d: Any, d_edges: Any, rate: float, into: Any
) -> None:
    """into -= rate · gradient of one sequence, given its gradient in score space; positions without one are skipped."""
    width = entries.width
    for t in range(n):
        if any_of(d, t * width, width):
            scatter_unrolled(entries, at + t, masked, d, t * width, -rate, into.weights)
    move_ends(places, n, n_rows, width, d, rate, into.rest)
    move_edges(places, d_edges, rate, into.rest)


@inner
def add_ends(places: Any, rest: Any, factor: float, n: int, n_rows: int, width: int, nodes: Any) -> None:
    """Scores of the first and of the last row of a sequence, added to those of nodes."""
    if places.start >= 0:
        for r in range(n_rows):
            nodes[r] += factor * rest[places.start + r]
            nodes[(n - 1) * width + r] += factor * rest[places.end + r]


@inner
def move_ends(places: Any, n: int, n_rows: int, width: int, d: Any, rate: float, rest: Any) -> None:
    """The way back of :func:`add_ends`."""
    if places.start >= 0:
        for r in range(n_rows):
            rest[places.start + r] -= rate * d[r]
            rest[places.end + r] -= rate * d[(n - 1) * width + r]


@inner
def add_shift(known: Any, factor: float, n: int, n_rows: int, width: int, nodes: Any) -> None:
    """What every position's rows have on top, in units of a factor."""
    if len(known.shift) > 0:
        for t in range(n):
            for r in range(n_rows):
                nodes[t * width + r] += known.shift[r] / factor


@inner
def ready_edges(graph: Any, places: Any, rest: Any, factor: float, use_max: bool, scratch: Any) -> float:
    """Edge scores as inference reads them; returns what they are shifted by."""
    read_edges(places, rest, factor, scratch.edges)
    if not use_max:
        return prepare_edges(graph, scratch.edges, scratch.work)
    spread(graph, scratch.edges, np.int64(0), 0.0, -np.inf, np.bool_(True), scratch.logs, scratch.logs[:0])
    return 0.0


@part
def move_edges(places: Any, d_edges: Any, rate: float, rest: Any) -> None:
    """The same for transitions alone."""
    if places.plain:
        first = places.transition[0]
        for e in range(len(d_edges)):
            put(rest, first + e, get(rest, first + e) - rate * get(d_edges, e))
        return
    for i in range(len(places.transition)):
        first = places.transition[i]
        tie = places.tie[i]
        for e in range(len(d_edges)):
            if get(tie, e) >= 0:
                p = first + get(tie, e)
                put(rest, p, get(rest, p) - rate * get(d_edges, e))


@inner
def add_groups(group_of: Any, n_rows: int, n: int, width: int, nodes: Any) -> None:
    """Rows += their groups, whose scores lie behind those of the rows."""
    for t in range(n):
        o = t * width
        for r in range(len(group_of)):
            if get(group_of, r) >= 0:
                put(nodes, o + r, get(nodes, o + r) + get(nodes, o + n_rows + get(group_of, r)))


@inner
def sum_groups(group_of: Any, n_rows: int, n: int, width: int, d: Any) -> None:
    """Gradients of groups: the sums of those of their rows."""
    for t in range(n if len(group_of) > 0 else 0):
        o = t * width
        for c in range(n_rows, width):
            put(d, o + c, 0.0)
        for r in range(len(group_of)):
            if get(group_of, r) >= 0:
                g = o + n_rows + get(group_of, r)
                put(d, g, get(d, g) + get(d, o + r))


@part
def exchange(kept: Any, at: int, n: int, s: int, n_rows: int, width: int, d: Any, d_edges: Any) -> None:
    """d becomes its difference from what the sequence keeps, and a share of that is kept."""
    share = splat(kept.share)
    node = kept.node
    minus = splat(-1.0)
    for t in range(n):
        o = t * width
        k = (at + t) * n_rows
        c = 0
        while c + LANES <= n_rows:
            before = load(node, k + c)
            change = fma(minus, before, load(d, o + c))
            store(d, o + c, change)
            store(node, k + c, fma(share, change, before))
            c += LANES
        if c < n_rows:
            before = load_part(node, k + c, n_rows - c, 0.0)
            change = fma(minus, before, load(d, o + c))
            store(d, o + c, change)
            store_part(node, k + c, n_rows - c, fma(share, change, before))
    edge = kept.edge[s]
    for e in range(len(d_edges)):
        change = get(d_edges, e) - get(edge, e)
        put(d_edges, e, change)
        put(edge, e, get(edge, e) + kept.share * change)


@kernel
def linear_pass(
    graph: Graph, n_rows: int, offsets: Int, order: Int, rates: Float, shrink: Float, use_max: bool, variances: bool,
    entries: Unrolled, places: Places, known: Known, theta: Out[Parameters], into: Out[Parameters], moving: bool,
    lag: Out[Parameters], mass: float, kept: Out[Kept],
) -> tuple[float, int, int, float]:  # fmt: skip
    """Go through the sequences of ``order`` and subtract rates[step] · gradient from ``into`` after each.

    moving: ``into`` is θ itself. Then shrink (len(order),) are factors by which θ shrinks after each step (empty:
    none), and ``lag`` gathers what the average of all iterates needs (see trainers.online; empty: no average).
    variances: instead of gradients, an estimate of the curvature: the variances of rows, half the counts of edges.

    Returns the loss, the number of updates, the sequence that failed, and the new mass of the average. The failed
    sequence is -1 if all went well; else the loss is infinite (no path) or NaN.
    """
    scratch = make_scratch(graph, n_rows, entries.width, longest_of(offsets, order), use_max, known.has_path)
    return walk(
        graph, n_rows, offsets, order, rates, shrink, use_max, variances, entries, places, known, theta, into, moving,
        lag, mass, kept, scratch,
    )  # fmt: skip


@part
def walk(
    graph: Any, n_rows: int, offsets: Any, order: Any, rates: Any, shrink: Any, use_max: bool, variances: bool,
    entries: Any, places: Any, known: Any, theta: Any, into: Any, moving: bool, lag: Any, mass: float, kept: Any,
    scratch: Any,
) -> tuple[float, int, int, float]:  # fmt: skip
    """What :func:`linear_pass` does, once its memory is there."""
    n_edges = len(graph.src)
    width = entries.width
    nodes, d_nodes, d_edges = scratch.nodes, scratch.d_nodes, scratch.d_edges
    keeping = len(kept.edge) > 0
    averaging = len(lag.rest) > 0
    masked = moving and len(entries.mask) > 0
    zero = splat(0.0)
    factor = 1.0
    loss = 0.0
    updates = 0
    stale = True
    shift = 0.0
    for step in range(len(order)):
        s = order[step]
        at = offsets[s]
        n = offsets[s + 1] - at
        if n == 0:
            if moving:
                if len(shrink) > 0:
                    factor *= shrink[step]
                    stale = True
                mass += factor
            continue
        for t in range(n):
            gather_unrolled(entries, at + t, theta.weights, nodes, t * width)
        # While inference computes, memory fetches what comes next: where the way back leads, and the next sequence.
        if not moving:
            announce_pairs(entries, at, at + n, into.weights)
        if step + 1 < len(order):
            following = order[step + 1]
            announce_pairs(entries, offsets[following], offsets[following + 1], theta.weights)
        for i in range(0, n * width, LANES):
            store(d_nodes, i, zero)
        if factor != 1.0:
            many = splat(factor)
            for i in range(0, n * width, LANES):
                store(nodes, i, mul(load(nodes, i), many))
        add_groups(places.group_of, n_rows, n, width, nodes)
        add_ends(places, theta.rest, factor, n, n_rows, width, nodes)
        add_shift(known, 1.0, n, n_rows, width, nodes)
        if stale:
            shift = ready_edges(graph, places, theta.rest, factor, use_max, scratch)
            stale = False
        if moving:
            for e in range(n_edges):
                put(d_edges, e, 0.0)
        above, below = contrast(
            graph, known, s, at, n, n_rows, width, use_max, variances, moving, shift, scratch
        )  # fmt: skip
        if not (np.isfinite(above) and np.isfinite(below)):
            return above if np.isfinite(below) else below, updates, s, mass
        weight = known.weight[s]
        loss += weight * (above - below)
        if keeping:
            exchange(kept, at, n, s, n_rows, width, d_nodes, d_edges)
        wrong = not use_max
        if use_max:
            wrong = any_of(d_nodes, np.int64(0), n * width) or some_of(d_edges, n_edges if moving else 0)
        sum_groups(places.group_of, n_rows, n, width, d_nodes)
        if variances:
            for i in range(0, n * width, LANES):
                p = load(d_nodes, i)
                store(d_nodes, i, fma(mul(p, splat(-1.0 / weight if weight > 0.0 else 0.0)), p, p))
        if wrong:
            updates += 1
            pace = rates[step] / factor
            own = d_edges[: n_edges if moving else 0]
            move(places, entries, at, n, masked, n_rows, d_nodes, own, pace, into)
            if averaging:
                move(places, entries, at, n, masked, n_rows, d_nodes, d_edges, pace * mass, lag)
            stale = moving
        if moving:
            if len(shrink) > 0:
                factor *= shrink[step]
                stale = True
                if factor < SMALLEST_FACTOR:
                    mass /= factor
                    fold(theta, factor)
                    factor = 1.0
            mass += factor
    if not moving:
        if not use_max:
            add_expected(graph, scratch.work, d_edges)
        if variances:
            for e in range(n_edges):
                d_edges[e] *= 0.5
        move_edges(places, d_edges, -1.0, into.rest)
    elif factor != 1.0:
        mass /= factor
        fold(theta, factor)
    return loss, updates, -1, mass


@part
def fold(theta: Any, factor: float) -> None:
    """The factor becomes part of what is stored."""
    for i in range(len(theta.weights)):
        theta.weights[i] *= factor
    for i in range(len(theta.rest)):
        theta.rest[i] *= factor
