"""A pass of stochastic training over chains with hidden units: score, infer, and step, one sequence after the other.

What belongs to a sequence stays in the innermost caches: inputs of units (a matrix product, or gathered rows), scores
of all rows, one inference, and the way back, which touches only the rows of positions that have a gradient, and of
weights only those of their features. θ may be single precision in memory; all arithmetic but the matrix product is
double.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.chain.bundles import aligned, padded
from chainfield.kernels.declare import Float, Int, Int32, Out, Real, Real2D
from chainfield.kernels.elements import get, put
from chainfield.kernels.graph import Graph
from chainfield.kernels.jit import kernel, maker, part
from chainfield.kernels.vector import LANES, any_of, some_of, splat, store

from .contrast import Known, contrast, longest_of, make_scratch
from .hidden_units import pack, pull_units, score_units, side_by_side
from .linear_chain import Places, add_ends, add_shift, move_edges, move_ends, ready_edges
from .unit_inputs import add_row, gather_units, move_dense, scatter_units


class Inputs(NamedTuple):
    """What units read: numbers (N, D), or features of positions; the other kind is empty."""

    dense: Real2D  # (N, D)
    indptr: Int
    indices: Int32
    values: Float


class Layout(NamedTuple):
    """Where the parameters of the units lie in θ, and their relative steps."""

    n_inputs: int
    n_units: int
    input: int  # (D, H)
    unit: int  # (H,)
    output: int  # (R, H)
    row: int  # (R,)
    input_pace: float
    unit_pace: float
    output_pace: float
    row_pace: float


@maker
def fill_inputs(
    data: Any, layout: Any, at: int, n: int, theta: Any, bias: Any, outcome: Any, a: Any, width: int
) -> None:  # fmt: skip
    """a(t, h) = b_h + w_h · x_t for n positions."""
    n_units = layout.n_units
    if data.dense.shape[1] > 0:
        size = layout.n_inputs * n_units
        weight = theta[layout.input : layout.input + size].reshape((layout.n_inputs, n_units))
        np.dot(data.dense[at : at + n], weight, outcome[:n])
        for t in range(n):
            for h in range(n_units):
                put(a, t * width + h, outcome[t, h] + get(bias, h))
    else:
        for t in range(n):
            for h in range(n_units):
                put(a, t * width + h, get(bias, h))
        gather_units(
            data.indptr, data.indices, data.values, at, n, theta[layout.input :], n_units, a, width
        )  # fmt: skip


@kernel
def units_pass(
    graph: Graph, n_rows: int, offsets: Int, order: Int, rates: Float, use_max: bool, data: Inputs, layout: Layout,
    places: Places, known: Known, theta: Out[Real], lag: Out[Real], mass: float,
) -> tuple[float, int, int, float]:  # fmt: skip
    """Go through the sequences of ``order``: θ -= rate · pace · gradient after each; ``lag`` gathers what the average
    of all iterates needs (see trainers.online; empty: no average).

    Returns the loss, the number of updates, the sequence that failed (-1: none), and the new mass of the average.
    """
    n_units = layout.n_units
    width = padded(n_units)
    stride = padded(n_rows)
    n_edges = len(graph.src)
    longest = longest_of(offsets, order)
    rows = side_by_side(longest)
    summing = 0 if use_max else 1
    scratch = make_scratch(graph, n_rows, stride, longest, use_max, known.has_path)
    nodes, d_nodes, d_edges = scratch.nodes, scratch.d_nodes, scratch.d_edges
    a, d_a = aligned(rows * width), aligned(rows * width)
    v, d_v = aligned(n_rows * width), aligned(n_rows * width)
    ea, ev = aligned(summing * rows * width), aligned(summing * n_rows * width)
    is_dense = data.dense.shape[1] > 0
    outcome = np.empty((longest if is_dense else 0, n_units), theta.dtype)
    which, chosen, value = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest)
    bias = theta[layout.unit : layout.unit + n_units].astype(np.float64)
    output = theta[layout.output : layout.output + n_rows * n_units].reshape((n_rows, n_units))
    pack(output, 1.0, v)
    averaging = len(lag) > 0
    no, yes = np.bool_(False), np.bool_(True)  # constants in a call would be types of their own
    loss, updates, failed, shift = 0.0, 0, -1, 0.0
    stale = True
    for step in range(len(order)):
        s = order[step]
        at = offsets[s]
        n = offsets[s + 1] - at
        if n == 0:
            mass += 1.0
            continue
        fill_inputs(data, layout, at, n, theta, bias, outcome, a, width)
        for t in range(n):
            for r in range(stride):
                put(nodes, t * stride + r, theta[layout.row + r] if r < n_rows else 0.0)
                put(d_nodes, t * stride + r, 0.0)
        add_shift(known, 1.0, n, n_rows, stride, nodes)
        way = score_units(a, n, n_units, use_max, v, n_rows, ea, ev, nodes, stride)
        add_ends(places, theta, 1.0, n, n_rows, stride, nodes)
        if stale:
            shift = ready_edges(graph, places, theta, 1.0, use_max, scratch)
            stale = False
        for e in range(n_edges):
            put(d_edges, e, 0.0)
        above, below = contrast(
            graph, known, s, at, n, n_rows, stride, use_max, no, yes, shift, scratch
        )  # fmt: skip
        if not (np.isfinite(above) and np.isfinite(below)):
            loss = above if np.isfinite(below) else below
            failed = s
            break
        loss += known.weight[s] * (above - below)
        moved = not use_max or any_of(d_nodes, np.int64(0), n * stride)
        if moved or some_of(d_edges, n_edges):
            updates += 1
            rate = rates[step]
            late = rate * mass
            move_edges(places, d_edges, rate, theta)
            if averaging:
                move_edges(places, d_edges, late, lag)
            stale = True
        if moved:
            pull_units(way, a, n, n_units, v, n_rows, ea, ev, d_nodes, stride, d_a, d_v)
            move_ends(places, n, n_rows, stride, d_nodes, rate, theta)
            if averaging:
                move_ends(places, n, n_rows, stride, d_nodes, late, lag)
            move_units(
                data, layout, at, n, n_rows, d_nodes, stride, d_a, width, rate, theta, bias, late, lag, which, value,
                chosen,
            )  # fmt: skip
            move_outputs(layout, n_rows, width, rate, v, d_v, late, lag)
        mass += 1.0
    for h in range(n_units):
        theta[layout.unit + h] = bias[h]
    for r in range(n_rows):
        for h in range(n_units):
            output[r, h] = v[r * width + h]
    return loss, updates, failed, mass


@part
def move_units(
    data: Any, layout: Any, at: int, n: int, n_rows: int, d: Any, stride: int, d_a: Any, width: int, rate: float,
    theta: Any, bias: Any, late: float, lag: Any, which: Any, value: Any, chosen: Any,
) -> None:  # fmt: skip
    """What belongs to rows and units by themselves, and what leads from features to units."""
    n_units = layout.n_units
    averaging = len(lag) > 0
    for t in range(n):
        for r in range(n_rows):
            if d[t * stride + r] != 0.0:
                theta[layout.row + r] -= rate * layout.row_pace * d[t * stride + r]
                if averaging:
                    lag[layout.row + r] -= late * layout.row_pace * d[t * stride + r]
        if any_of(d_a, t * width, width):
            add_row(d_a, t * width, -rate * layout.unit_pace, n_units, bias, np.int64(0))
            if averaging:
                add_row(d_a, t * width, -late * layout.unit_pace, n_units, lag, layout.unit)
    pace, late_pace = -rate * layout.input_pace, -late * layout.input_pace
    if data.dense.shape[1] > 0:
        move_dense(
            data.dense, at, n, d_a, width, n_units, pace, theta, layout.input, late_pace, lag, which, value, chosen
        )  # fmt: skip
    else:
        entries = (data.indptr, data.indices, data.values)
        scatter_units(*entries, at, n, d_a, width, pace, n_units, theta[layout.input :])
        if averaging:
            scatter_units(*entries, at, n, d_a, width, late_pace, n_units, lag[layout.input :])


@part
def move_outputs(layout: Any, n_rows: int, width: int, rate: float, v: Any, d_v: Any, late: float, lag: Any) -> None:
    """What leads from units to rows; the gradient is left at zero for the next sequence."""
    zero = splat(0.0)
    n_units = layout.n_units
    for r in range(n_rows):
        if not any_of(d_v, r * width, width):
            continue
        add_row(d_v, r * width, -rate * layout.output_pace, n_units, v, r * width)
        if len(lag) > 0:
            add_row(d_v, r * width, -late * layout.output_pace, n_units, lag, layout.output + r * n_units)
        for c in range(0, width, LANES):
            store(d_v, r * width + c, zero)
