"""Inference where every position lists the few states that it may be in: a lattice.

Labels leave a few states, and so does a pruner; both are lists to what follows. A *cell* is a row that a position may
use. In first order a state is a cell; in second order it is a pair of neighbouring cells. The states of a sequence and
the edges between them are listed once; forward, backward and best path go along that list, whatever the order:

    α(u) = x(u) + log Σ_e exp(α(source e) + w(e))         share(e) = exp(α(source e) + w(e)) / Σ
    γ(source e) += γ(u) · share(e)                        the posterior, from the last position to the first

All in the log domain: a position has a handful of edges, so that nothing is gained by scaling. For the best path the
sum is a maximum, and the share of its edge is 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.declare import Bool, Float, Int, Int32, Int32_2D, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import inner, kernel, maker, part


class Net(NamedTuple):
    """Which rows may follow which: a first-order space with one state a row. R rows, E edges, T triples."""

    edge_of: Int32_2D  # (R, R) the edge from row to row, -1: none
    start: Bool  # (R,)
    end: Bool  # (R,)
    order: int
    after: Int32  # (E + R + 1,) triples that begin with an edge, or with a start in a row (E + row); empty in order 1
    third: Int32  # (T,) the last row of a triple, ascending after each pair


class Listed(NamedTuple):
    """The states and edges of one sequence."""

    first: Any  # (longest + 1,) states of position t: first[t]:first[t+1]
    cell: Any  # cell of a state, counted from the first cell of the sequence
    pair: Any  # in second order: the edge behind a state, or E + row at the start
    into: Any  # edges into state u: into[u]:into[u+1]
    source: Any
    edge: Any  # edge of the space
    triple: Any  # triple of the space, -1: none
    score: Any  # of an edge
    share: Any  # of an edge in the sum, or the maximum, of its state; afterwards its posterior
    alpha: Any
    posterior: Any  # of states


@inner
def most_listed(first: Any, offsets: Any, order: Any, n_back: int) -> tuple[int, int, int]:
    """The most cells, states and edges that a sequence of ``order`` can have."""
    cells = 0
    states = 0
    edges = 0
    for s in order:
        own_states = 0
        own_edges = 0
        before = 1
        earlier = 1
        for t in range(offsets[s], offsets[s + 1]):
            here = first[t + 1] - first[t]
            if n_back == 1:
                own_states += here
                own_edges += before * here
            else:
                own_states += before * here
                own_edges += earlier * before * here
            earlier = before
            before = here
        cells = max(cells, first[offsets[s + 1]] - first[offsets[s]])
        states = max(states, own_states)
        edges = max(edges, own_edges)
    return cells, states, edges


@maker
def make_listed(longest: int, states: int, edges: int) -> Any:
    """Memory for one sequence at a time."""
    return Listed(
        np.zeros(longest + 1, np.int64), np.empty(states, np.int32), np.empty(states, np.int32),
        np.empty(states + 1, np.int64), np.empty(edges, np.int32), np.empty(edges, np.int32),
        np.empty(edges, np.int32), np.empty(edges), np.empty(edges), np.empty(states), np.empty(states),
    )  # fmt: skip


@inner
def triple_of(net: Any, pair: int, row: int) -> int:
    """The triple of a pair and the row that follows it, -1: it has no weight."""
    lo = get(net.after, pair)
    hi = get(net.after, pair + 1)
    end = hi
    while lo < hi:
        middle = (lo + hi) >> 1
        if get(net.third, middle) < row:
            lo = middle + 1
        else:
            hi = middle
    return lo if lo < end and get(net.third, lo) == row else -1


@part
def list_lattice(net: Any, first: Any, rows: Any, keep: Any, at: int, n: int, listed: Any) -> bool:
    """Write down states and edges of the cells (with ``keep``, if that is not empty); False: there is no path."""
    base = first[at]
    some = len(keep) > 0
    n_edges = len(net.after) - 1 - len(net.start)
    m = 0
    e = 0
    for t in range(n):
        listed.first[t] = m
        for c in range(first[at + t], first[at + t + 1]):
            r = get(rows, c)
            if (some and not keep[c]) or (t == 0 and not net.start[r]) or (t == n - 1 and not net.end[r]):
                continue
            if t == 0:
                put(listed.into, m, e)
                put(listed.cell, m, c - base)
                put(listed.pair, m, n_edges + r)
                m += 1
                continue
            lo = listed.first[t - 1]
            put(listed.into, m, e)
            while lo < listed.first[t]:
                before = get(listed.cell, lo)
                hi = lo + 1
                f = net.edge_of[get(rows, base + before), r]
                while hi < listed.first[t] and get(listed.cell, hi) == before:
                    hi += 1
                if f >= 0:
                    for u in range(lo, hi):
                        put(listed.source, e, u)
                        put(listed.edge, e, f)
                        put(listed.triple, e, triple_of(net, get(listed.pair, u), r) if net.order == 2 else -1)
                        e += 1
                    if net.order == 2:
                        put(listed.cell, m, c - base)
                        put(listed.pair, m, f)
                        m += 1
                        put(listed.into, m, e)
                lo = hi
            if net.order == 1 and e > get(listed.into, m):
                put(listed.cell, m, c - base)
                m += 1
        if m == listed.first[t]:
            return False
    listed.first[n] = m
    put(listed.into, m, e)
    return True


@part
def score_edges(listed: Any, n: int, edges: Any, triples: Any) -> None:
    """The scores of the listed edges: those of the space's edges and triples."""
    for e in range(get(listed.into, listed.first[n])):
        x = get(edges, get(listed.edge, e))
        if get(listed.triple, e) >= 0:
            x += get(triples, get(listed.triple, e))
        put(listed.score, e, x)


@part
def lattice_forward(listed: Any, n: int, cells: Any, use_max: bool) -> float:
    """Fill alpha and shares from the scores of cells and edges; the log of the sum over paths, or the best score."""
    for u in range(listed.first[1]):
        put(listed.alpha, u, get(cells, get(listed.cell, u)))
    for u in range(listed.first[1], listed.first[n]):
        lo = get(listed.into, u)
        hi = get(listed.into, u + 1)
        top = -np.inf
        best = lo
        for e in range(lo, hi):
            x = get(listed.alpha, get(listed.source, e)) + get(listed.score, e)
            put(listed.share, e, x)
            if x > top:
                top = x
                best = e
            elif x != x:
                return x
        total = 1.0
        if use_max or top == -np.inf:
            for e in range(lo, hi):
                put(listed.share, e, 1.0 if e == best else 0.0)
        else:
            total = 0.0
            for e in range(lo, hi):
                x = np.exp(get(listed.share, e) - top)
                put(listed.share, e, x)
                total += x
            for e in range(lo, hi):
                put(listed.share, e, get(listed.share, e) / total)
        put(listed.alpha, u, top + np.log(total) + get(cells, get(listed.cell, u)))
    top = -np.inf
    best = listed.first[n - 1]
    for u in range(listed.first[n - 1], listed.first[n]):
        x = get(listed.alpha, u)
        if x > top:
            top = x
            best = u
        elif x != x:
            return x
    if not np.isfinite(top):
        return top
    total = 0.0
    for u in range(listed.first[n - 1], listed.first[n]):
        x = np.exp(get(listed.alpha, u) - top)
        if use_max:
            x = 1.0 if u == best else 0.0
        put(listed.posterior, u, x)
        total += x
    for u in range(listed.first[n - 1], listed.first[n]):
        put(listed.posterior, u, get(listed.posterior, u) / total)
    return top + np.log(total)


@part
def lattice_backward(listed: Any, n: int, weight: float, d_cells: Any) -> None:
    """Add weight · posteriors of cells to ``d_cells``; shares of edges become their posteriors."""
    for u in range(listed.first[n - 1]):
        put(listed.posterior, u, 0.0)
    for u in range(listed.first[n] - 1, -1, -1):
        p = get(listed.posterior, u)
        c = get(listed.cell, u)
        put(d_cells, c, get(d_cells, c) + weight * p)
        if u >= listed.first[1]:
            for e in range(get(listed.into, u), get(listed.into, u + 1)):
                x = p * get(listed.share, e)
                put(listed.share, e, x)
                source = get(listed.source, e)
                put(listed.posterior, source, get(listed.posterior, source) + x)


@kernel
def lattice_best(
    net: Net, first: Int, rows: Int32, offsets: Int, cells: Float, edges: Float, triples: Float, path: Out[Int32],
    score: Out[Float],
) -> None:  # fmt: skip
    """The rows (N,) of the best path of each sequence and its score; -inf: there is none, NaN: scores are not finite.

    first (N+1,) and rows (C,): the lattice; cells (C,), edges (E,), triples (T,) scores.
    """
    order = np.arange(len(offsets) - 1)
    _, states, n_edges = most_listed(first, offsets, order, net.order)
    longest = 0
    for s in order:
        longest = max(longest, offsets[s + 1] - offsets[s])
    listed = make_listed(longest, states, n_edges)
    for s in order:
        at = offsets[s]
        n = offsets[s + 1] - at
        score[s] = 0.0
        if n > 0:
            own = cells[first[at] : first[at + n]]
            score[s] = best_rows(net, first, rows, at, n, own, edges, triples, listed, path)


@part
def best_rows(
    net: Any, first: Any, rows: Any, at: int, n: int, cells: Any, edges: Any, triples: Any, listed: Any, path: Any
) -> float:
    """One sequence of :func:`lattice_best`; cells: its own."""
    if not list_lattice(net, first, rows, net.start[:0], at, n, listed):
        return -np.inf
    score_edges(listed, n, edges, triples)
    score = lattice_forward(listed, n, cells, np.bool_(True))
    if not np.isfinite(score):
        return score
    u = listed.first[n - 1]
    while get(listed.posterior, u) == 0.0:
        u += 1
    for t in range(n - 1, -1, -1):
        path[at + t] = get(rows, first[at] + get(listed.cell, u))
        if t > 0:
            e = get(listed.into, u)
            while get(listed.share, e) == 0.0:
                e += 1
            u = get(listed.source, e)
    return score


@kernel
def lattice_alive(net: Net, first: Int, rows: Int32, keep: Bool, offsets: Int, alive: Out[Bool]) -> None:
    """alive (S,): whether a sequence has a path through the cells (with ``keep``, if that is not empty)."""
    order = np.arange(len(offsets) - 1)
    _, states, n_edges = most_listed(first, offsets, order, net.order)
    longest = 0
    for s in order:
        longest = max(longest, offsets[s + 1] - offsets[s])
    listed = make_listed(longest, states, n_edges)
    for s in order:
        n = offsets[s + 1] - offsets[s]
        alive[s] = n == 0 or list_lattice(net, first, rows, keep, offsets[s], n, listed)
