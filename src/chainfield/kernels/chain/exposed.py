"""Scores in exp space: shifted by the largest of a row, so that none overflows; see ``chain.sum``."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.jit import inner, part
from chainfield.kernels.vector import LANES, add, exp, highest, load, load_part, maximum, splat, store, total

from .bundles import largest, padded

THIN = 1e-250  # a state that a path can reach is lost below it: the sequence is done again in log space


@inner
def shift_of(edges: Any) -> float:
    """What edge scores shared by all positions are shifted by: the largest, if there is one."""
    shift = largest(edges, 0, len(edges))
    return 0.0 if shift == -np.inf else shift


@inner
def expose_row(x: Any, at: int, n: int, emission: Any, e: int, sums: Any) -> Any:
    """emission[e:] = exp(x[at:at+n] - their largest), zeros behind them up to a whole vector.

    Returns the largest (NaN if it is not finite), and ``sums`` with all of x added: not finite if anything is not.
    """
    last = n - n % LANES
    left = n - last
    tops = splat(-np.inf)
    for c in range(0, last, LANES):
        values = load(x, at + c)
        tops = maximum(values, tops)
        sums = add(sums, values)
    if left > 0:
        tops = maximum(load_part(x, at + last, left, -np.inf), tops)
        sums = add(sums, load_part(x, at + last, left, 0.0))
    top = highest(tops)
    if not (top > -np.inf and top < np.inf):
        return np.nan, sums
    minus = splat(-top)
    for c in range(0, last, LANES):
        store(emission, e + c, exp(add(load(x, at + c), minus)))
    if left > 0:
        store(emission, e + last, exp(add(load_part(x, at + last, left, -np.inf), minus)))
    return top, sums


@part
def expose(nodes: Any, stride: int, n_rows: int, at: int, n: int, emission: Any) -> tuple[float, bool]:
    """emission[t] = exp(node scores - their largest); returns the sum of the largest, and whether all are finite.

    A pass of its own: nothing here waits for the recursion. NaN as the sum: there is a NaN, or a row of -inf.
    """
    row_width = padded(n_rows)
    shifts = 0.0
    lost = 0.0  # Kahan's compensation: a million steps add up without losing digits
    sums = splat(0.0)  # of everything: not finite if anything is not
    for t in range(n):
        top, sums = expose_row(nodes, (at + t) * stride, n_rows, emission, t * row_width, sums)
        if np.isnan(top):
            return np.nan, False
        term = top - lost
        grown = shifts + term
        lost = (grown - shifts) - term
        shifts = grown
    everything = total(sums)
    if np.isnan(everything):  # a NaN hides from comparisons
        return np.nan, False
    return shifts, everything > -np.inf
