"""A BiLSTM over the characters of words, word by word: the equations are those of models.neural.char_lstm.

The networks are small: the recurrent weights stay in the fastest cache, and a step is a few thousand operations, less
than it costs to call a library for a product. Gates lie as o, i, f, g.
"""

from __future__ import annotations

from typing import Any

from chainfield.kernels.declare import Int, Int2D, Out, Real, Real2D, Real3D
from chainfield.kernels.jit import inner, kernel
from chainfield.kernels.vector import LANES, add, divide, exp, load, load_part, mul, splat, store, store_part


@inner
def squash(x: Any, at: int, n: int, k: float) -> None:
    """x[at:at+n] = k σ(k x) + 1 - k: the logistic function for k = 1, tanh for k = 2."""
    turn, up, off, one = splat(-k), splat(k), splat(1.0 - k), splat(1.0)
    last = n - n % LANES
    for c in range(0, last, LANES):
        store(x, at + c, add(off, divide(up, add(one, exp(mul(turn, load(x, at + c)))))))
    if n > last:
        values = load_part(x, at + last, n - last, 0.0)
        store_part(x, at + last, n - last, add(off, divide(up, add(one, exp(mul(turn, values))))))


@kernel
def read_words(
    table: Real3D, recurrent: Real3D, chars: Int2D, bounds: Int, gates: Out[Real3D], state: Out[Real3D],
    cell: Out[Real3D], bent: Out[Real3D], last: Out[Real2D],
) -> None:  # fmt: skip
    """The last states of both directions, last (M, 2 H), and what the way back needs: gates (2, P, 4 H) and others.

    table (2, V, 4 H), recurrent (2, H, 4 H), chars (M, C); word m has the places bounds[m]:bounds[m+1] of P.
    """
    h = recurrent.shape[1]
    n_places = gates.shape[1]
    all_gates, all_bent = gates.ravel(), bent.ravel()
    for d in range(2):
        for m in range(len(bounds) - 1):
            lo, hi = bounds[m], bounds[m + 1]
            for p in range(lo, hi):
                own = gates[d, p]
                own[:] = table[d, chars[m, p - lo] if d == 0 else chars[m, hi - 1 - p]]
                if p > lo:
                    for k in range(h):
                        x = state[d, p - 1, k]
                        row = recurrent[d, k]
                        for j in range(4 * h):
                            own[j] += x * row[j]
                at = d * n_places + p
                squash(all_gates, 4 * h * at, 3 * h, 1.0)
                squash(all_gates, 4 * h * at + 3 * h, h, 2.0)
                here, curve, out = cell[d, p], bent[d, p], state[d, p]
                for j in range(h):
                    here[j] = own[h + j] * own[3 * h + j]
                if p > lo:
                    before = cell[d, p - 1]
                    for j in range(h):
                        here[j] += own[2 * h + j] * before[j]
                curve[:] = here
                squash(all_bent, h * at, h, 2.0)
                for j in range(h):
                    out[j] = own[j] * curve[j]
            for j in range(h):
                last[m, d * h + j] = state[d, hi - 1, j]


@kernel
def unread_words(
    turned: Real3D, chars: Int2D, bounds: Int, gates: Real3D, cell: Real3D, bent: Real3D, d_last: Real2D,
    slope: Out[Real3D], d_table: Out[Real3D], d_state: Out[Real], d_cell: Out[Real],
) -> None:  # fmt: skip
    """slope (2, P, 4 H): d loss / d (what enters the gates); its sums for every character are added to d_table.

    turned (2, 4 H, H): the recurrent weights by columns; d_last (M, 2 H); d_state, d_cell (H,): scratch.
    """
    h = turned.shape[2]
    for d in range(2):
        for m in range(len(bounds) - 1):
            lo, hi = bounds[m], bounds[m + 1]
            d_state[:] = d_last[m, d * h : (d + 1) * h]
            d_cell[:] = 0.0
            for p in range(hi - 1, lo - 1, -1):
                own, curve, out = gates[d, p], bent[d, p], slope[d, p]
                for j in range(h):
                    o, i, f, g = own[j], own[h + j], own[2 * h + j], own[3 * h + j]
                    d_cell[j] += d_state[j] * o * (1 - curve[j] * curve[j])
                    out[j] = d_state[j] * curve[j] * o * (1 - o)
                    out[h + j] = d_cell[j] * g * i * (1 - i)
                    out[2 * h + j] = d_cell[j] * f * (1 - f)
                    out[3 * h + j] = d_cell[j] * i * (1 - g * g)
                    d_cell[j] *= f
                before = cell[d, max(p - 1, lo)]
                for j in range(h):
                    out[2 * h + j] = out[2 * h + j] * before[j] if p > lo else 0.0
                into = d_table[d, chars[m, p - lo] if d == 0 else chars[m, hi - 1 - p]]
                for j in range(4 * h):
                    into[j] += out[j]
                if p > lo:
                    d_state[:] = 0.0
                    for j in range(4 * h):
                        x = out[j]
                        row = turned[d, j]
                        for k in range(h):
                            d_state[k] += x * row[k]
