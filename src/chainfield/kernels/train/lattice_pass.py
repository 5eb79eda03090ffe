"""A pass over the sequences of a linear chain whose positions list the rows that they may use.

What :mod:`chainfield.kernels.train.linear_chain` does, over lattices (:mod:`chainfield.kernels.chain.lattice`): score,
both sides of a contrast, and the way back into a gradient or into the parameters themselves. The clamped side is the
same lattice without the cells that contradict the labels. Every cell knows its weights by their places in θ, so that a
cell costs what its own features cost, however many rows there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.chain.lattice import (
    Net,
    lattice_backward,
    lattice_forward,
    list_lattice,
    make_listed,
    most_listed,
)
from chainfield.kernels.declare import Bool, Bytes, Float, Int, Int32, Out
from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import inner, kernel, maker, part

from .contrast import longest_of

# θ is a factor times what is stored, so that shrinking all of it is one multiplication; folded in below this.
SMALLEST_FACTOR = 1e-6


class Cells(NamedTuple):
    """The rows that positions may use, what is known of them, and the places of their weights in θ."""

    first: Int  # (N+1,)
    row: Int32  # (C,)
    right: Bool  # (C,) whether the labels allow a cell
    extra: Float  # (C,) added to scores in training only, or empty
    cost: Float  # (C,) of a wrong label, or empty
    slot_first: Int  # (C+1,)
    slot: Int32  # places in θ
    value: Float  # of the features, or empty: all are 1
    edge: Int  # (E,) the place of an edge's weight in θ, -1: none
    triple: int  # where the weights of triples begin
    weight: Float  # (S,) of sequences


class Desk(NamedTuple):
    """Memory for one sequence at a time: both sides of a contrast."""

    free: Any
    right: Any
    score: Any  # (cells,)
    d: Any  # (cells,)


@maker
def make_desk(longest: int, cells: int, states: int, edges: int) -> Any:
    """Memory for sequences of so many cells, states and edges."""
    return Desk(
        make_listed(longest, states, edges), make_listed(longest, states, edges), np.empty(cells), np.empty(cells)
    )


@part
def score_cells(cells: Any, lo: int, hi: int, theta: Any, factor: float, score: Any) -> None:
    """Scores of cells lo:hi; what is only added in training is not a part of θ."""
    ones = len(cells.value) == 0
    for c in range(lo, hi):
        x = 0.0
        for i in range(get(cells.slot_first, c), get(cells.slot_first, c + 1)):
            w = get(theta, get(cells.slot, i))
            x += w if ones else get(cells.value, i) * w
        x *= factor
        if len(cells.extra) > 0:
            x += get(cells.extra, c)
        put(score, c - lo, x)


@part
def score_steps(cells: Any, listed: Any, n: int, theta: Any, factor: float) -> None:
    """Scores of the listed edges."""
    for e in range(get(listed.into, listed.first[n])):
        x = 0.0
        place = get(cells.edge, get(listed.edge, e))
        if place >= 0:
            x = get(theta, place)
        if get(listed.triple, e) >= 0:
            x += get(theta, cells.triple + get(listed.triple, e))
        put(listed.score, e, factor * x)


@part
def move_cells(cells: Any, lo: int, hi: int, d: Any, pace: float, into: Any) -> None:
    """into -= pace · gradient of the weights of cells."""
    ones = len(cells.value) == 0
    for c in range(lo, hi):
        change = pace * get(d, c - lo)
        if change != 0.0:
            for i in range(get(cells.slot_first, c), get(cells.slot_first, c + 1)):
                p = get(cells.slot, i)
                put(into, p, get(into, p) - (change if ones else get(cells.value, i) * change))


@part
def move_steps(cells: Any, listed: Any, n: int, pace: float, into: Any) -> None:
    """into -= pace · gradient of the weights of edges, given their posteriors."""
    for e in range(get(listed.into, listed.first[n])):
        change = pace * get(listed.share, e)
        if change != 0.0:
            place = get(cells.edge, get(listed.edge, e))
            if place >= 0:
                put(into, place, get(into, place) - change)
            if get(listed.triple, e) >= 0:
                place = cells.triple + get(listed.triple, e)
                put(into, place, get(into, place) - change)


@part
def sides(
    net: Any, cells: Any, at: int, n: int, weight: float, use_max: bool, variances: bool, theta: Any, factor: float,
    desk: Any,
) -> tuple[float, float]:  # fmt: skip
    """The values of the free and of the clamped side; their difference's gradient stands in d and in the shares."""
    lo = cells.first[at]
    hi = cells.first[at + n]
    for c in range(hi - lo):
        put(desk.d, c, 0.0)
    score_cells(cells, lo, hi, theta, factor, desk.score)
    below = 0.0
    if not variances:
        if not list_lattice(net, cells.first, cells.row, cells.right, at, n, desk.right):
            return 0.0, -np.inf
        score_steps(cells, desk.right, n, theta, factor)
        below = lattice_forward(desk.right, n, desk.score, use_max)
        if not np.isfinite(below):
            return 0.0, below
        lattice_backward(desk.right, n, -weight, desk.d)
    if len(cells.cost) > 0:
        for c in range(lo, hi):
            put(desk.score, c - lo, get(desk.score, c - lo) + get(cells.cost, c))
    if not list_lattice(net, cells.first, cells.row, cells.right[:0], at, n, desk.free):
        return -np.inf, below
    score_steps(cells, desk.free, n, theta, factor)
    above = lattice_forward(desk.free, n, desk.score, use_max)
    if np.isfinite(above):
        lattice_backward(desk.free, n, weight, desk.d)
    return above, below


@inner
def any_change(d: Any, n: int) -> bool:
    """Whether something is not 0."""
    found = False
    for i in range(n):
        found = found or get(d, i) != 0.0
    return found


@kernel
def lattice_pass(
    net: Net, offsets: Int, order: Int, rates: Float, shrink: Float, use_max: bool, variances: bool, cells: Cells,
    theta: Out[Float], into: Out[Float], moving: bool, lag: Out[Float], mass: float,
) -> tuple[float, int, int, float]:  # fmt: skip
    """As :func:`chainfield.kernels.train.linear_chain.linear_pass`, over a lattice; parameters are flat vectors."""
    most, states, edges = most_listed(cells.first, offsets, order, net.order)
    desk = make_desk(longest_of(offsets, order), most, states, edges)
    return walk_lattice(
        net, offsets, order, rates, shrink, use_max, variances, cells, theta, into, moving, lag, mass, desk
    )  # fmt: skip


@part
def walk_lattice(
    net: Any, offsets: Any, order: Any, rates: Any, shrink: Any, use_max: bool, variances: bool, cells: Any, theta: Any,
    into: Any, moving: bool, lag: Any, mass: float, desk: Any,
) -> tuple[float, int, int, float]:  # fmt: skip
    """What :func:`lattice_pass` does, once its memory is there."""
    factor = 1.0
    loss = 0.0
    updates = 0
    for step in range(len(order)):
        s = order[step]
        at = offsets[s]
        n = offsets[s + 1] - at
        weight = cells.weight[s]
        if n > 0:
            above, below = sides(net, cells, at, n, weight, use_max, variances, theta, factor, desk)
            if not (np.isfinite(above) and np.isfinite(below)):
                return above if np.isfinite(below) else below, updates, s, mass
            loss += weight * (above - below)
            lo = cells.first[at]
            hi = cells.first[at + n]
            share = weight
            if variances:
                share = 0.5 * weight
                for c in range(hi - lo):
                    p = get(desk.d, c)
                    put(desk.d, c, p - (p * p / weight if weight > 0.0 else 0.0))
            if not use_max or any_change(desk.d, hi - lo) or n > 1:
                updates += not use_max or any_change(desk.d, hi - lo)
                pace = rates[step] / factor
                move_cells(cells, lo, hi, desk.d, pace, into)
                move_steps(cells, desk.free, n, pace * share, into)
                if not variances:
                    move_steps(cells, desk.right, n, -pace * weight, into)
                if len(lag) > 0:
                    move_cells(cells, lo, hi, desk.d, pace * mass, lag)
                    move_steps(cells, desk.free, n, pace * mass * weight, lag)
                    move_steps(cells, desk.right, n, -pace * mass * weight, lag)
        if moving:
            if len(shrink) > 0:
                factor *= shrink[step]
                if factor < SMALLEST_FACTOR:
                    mass /= factor
                    for i in range(len(theta)):
                        theta[i] *= factor
                    factor = 1.0
            mass += factor
    if factor != 1.0:
        mass /= factor
        for i in range(len(theta)):
            theta[i] *= factor
    return loss, updates, -1, mass


class Pairing(NamedTuple):
    """Where the weights of rows lie in θ: those of pairs (see :class:`chainfield.scorers.pairs.Pairs`), and of ends."""

    first: Int  # (F+1,)
    row: Int32  # (P,)
    bits: Bytes  # of full features: whether a weight exists, or empty
    n_full: int
    n_rows: int
    at: int  # where the weights of pairs begin
    start: int  # where those of first rows begin, -1: there are none
    end: int


@kernel
def count_slots(
    pairing: Pairing, offsets: Int, indptr: Int, indices: Int32, first: Int, rows: Int32, slot_first: Out[Int]
) -> None:
    """slot_first (C+1,): how many weights each cell has, added up."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            ends = 0
            if pairing.start >= 0:
                ends = (t == offsets[s]) + (t == offsets[s + 1] - 1)
            for c in range(first[t], first[t + 1]):
                m = ends
                for i in range(indptr[t], indptr[t + 1]):
                    m += find_pair(pairing, get(indices, i), get(rows, c)) >= 0
                slot_first[c + 1] = slot_first[c] + m


@kernel
def fill_slots(
    pairing: Pairing, offsets: Int, indptr: Int, indices: Int32, values: Float, first: Int, rows: Int32,
    slot_first: Int, slot: Out[Int32], value: Out[Float],
) -> None:  # fmt: skip
    """The places of those weights in θ, and the features' values, if they are not all 1."""
    ones = len(values) == 0
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            for c in range(first[t], first[t + 1]):
                m = slot_first[c]
                for i in range(indptr[t], indptr[t + 1]):
                    p = find_pair(pairing, get(indices, i), get(rows, c))
                    if p >= 0:
                        put(slot, m, pairing.at + p)
                        if not ones:
                            put(value, m, get(values, i))
                        m += 1
                while m < slot_first[c + 1]:
                    first_one = t == offsets[s] and (m + 1 < slot_first[c + 1] or t < offsets[s + 1] - 1)
                    put(slot, m, get(rows, c) + (pairing.start if first_one else pairing.end))
                    if not ones:
                        put(value, m, 1.0)
                    m += 1


@inner
def find_pair(pairing: Any, feature: int, row: int) -> int:
    """The pair of a feature and a row, -1: it has no weight."""
    if feature < 0:
        return -1
    if feature < pairing.n_full:
        n_bytes = (pairing.n_rows + 7) // 8
        if len(pairing.bits) > 0 and not (get(pairing.bits, feature * n_bytes + row // 8) >> (row % 8)) & 1:
            return -1
        return feature * pairing.n_rows + row
    lo = get(pairing.first, feature)
    hi = get(pairing.first, feature + 1)
    end = hi
    while lo < hi:
        middle = (lo + hi) >> 1
        if get(pairing.row, middle) < row:
            lo = middle + 1
        else:
            hi = middle
    return lo if lo < end and get(pairing.row, lo) == row else -1
