"""Sparse linear scores in the layout of training: entries of full features apart from all others, pairs written out.

Training goes over the same entries dozens of times, so they are laid out once as the processor likes them. Entries of
full features (a weight for every row) are vectors on cache lines of their own. All others are written out as a flat
list of (weight, row): walking over each feature's short list of pairs costs a mispredicted branch an entry, which is
more than the additions themselves. On CoNLL-2000 this halves the time of gathering and of scattering. Storing weights
in single precision gains nothing: neither is bound by bandwidth.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from chainfield.kernels.declare import Bytes, Float, Int, Int32, Out, UInt16
from chainfield.kernels.elements import get, prefetch, put
from chainfield.kernels.jit import inner, kernel
from chainfield.kernels.vector import LANES, add, fma, keep, load, mul, splat, store


class Unrolled(NamedTuple):
    """Entries of N positions. Weights of full feature f begin at f · width, those of pairs lie behind them."""

    full_first: Int  # (N+1,)
    full: Int32  # feature of each entry
    full_value: Float  # its value
    pair_first: Int  # (N+1,)
    pair: Int32  # place of the weight
    row: UInt16  # its row
    pair_value: Float
    mask: Bytes  # for each vector of a full feature, the bits of the weights that exist; empty: all exist
    width: int  # padded number of rows
    ones: bool  # all values are 1, and not stored


@kernel
def count_unrolled(
    indptr: Int, indices: Int32, first: Int, n_full: int, full_first: Out[Int], pair_first: Out[Int]
) -> None:
    """Where each position's full entries and pairs begin."""
    for t in range(len(indptr) - 1):
        n_fulls = 0
        n_pairs = 0
        for i in range(indptr[t], indptr[t + 1]):
            f = indices[i]
            if f >= n_full:
                n_pairs += first[f + 1] - first[f]
            elif f >= 0:
                n_fulls += 1
        full_first[t + 1] = full_first[t] + n_fulls
        pair_first[t + 1] = pair_first[t] + n_pairs


@kernel
def unroll(
    indptr: Int, indices: Int32, values: Float, first: Int, row: Int32, n_full: int, shift: int, full: Out[Int32],
    full_value: Out[Float], pair: Out[Int32], rows: Out[UInt16], pair_value: Out[Float],
) -> None:  # fmt: skip
    """Write the entries out; ``shift`` is how much further back weights of pairs lie than in the flat parameters."""
    a = 0
    b = 0
    for i in range(indptr[0], indptr[len(indptr) - 1]):
        f = indices[i]
        if f >= n_full:
            for p in range(first[f], first[f + 1]):
                pair[b] = p + shift
                rows[b] = row[p]
                if len(values) > 0:
                    pair_value[b] = values[i]
                b += 1
        elif f >= 0:
            full[a] = f
            if len(values) > 0:
                full_value[a] = values[i]
            a += 1


@inner
def announce_pairs(entries: Any, lo: int, hi: int, weights: Any) -> None:
    """Ask for the weights of pairs of positions lo:hi, which will be read or written soon."""
    for i in range(get(entries.pair_first, lo), get(entries.pair_first, hi)):
        prefetch(weights, get(entries.pair, i))


@inner
def gather_unrolled(entries: Any, t: int, weights: Any, scores: Any, o: int) -> None:
    """scores[o + r] = sum over the entries of position t of value · weight."""
    lo = get(entries.full_first, t)
    hi = get(entries.full_first, t + 1)
    ones = entries.ones
    width = entries.width
    c = 0
    while c + 3 * LANES <= width:
        a0 = splat(0.0)
        a1 = splat(0.0)
        a2 = splat(0.0)
        for i in range(lo, hi):
            w = get(entries.full, i) * width + c
            if ones:
                a0 = add(a0, load(weights, w))
                a1 = add(a1, load(weights, w + LANES))
                a2 = add(a2, load(weights, w + 2 * LANES))
            else:
                x = splat(get(entries.full_value, i))
                a0 = fma(x, load(weights, w), a0)
                a1 = fma(x, load(weights, w + LANES), a1)
                a2 = fma(x, load(weights, w + 2 * LANES), a2)
        store(scores, o + c, a0)
        store(scores, o + c + LANES, a1)
        store(scores, o + c + 2 * LANES, a2)
        c += 3 * LANES
    while c < width:
        a0 = splat(0.0)
        for i in range(lo, hi):
            x = splat(1.0 if ones else get(entries.full_value, i))
            a0 = fma(x, load(weights, get(entries.full, i) * width + c), a0)
        store(scores, o + c, a0)
        c += LANES
    for i in range(get(entries.pair_first, t), get(entries.pair_first, t + 1)):
        r = o + get(entries.row, i)
        value = get(weights, get(entries.pair, i))
        put(scores, r, get(scores, r) + (value if ones else value * get(entries.pair_value, i)))


@inner
def scatter_unrolled(entries: Any, t: int, masked: bool, d: Any, o: int, scale: float, into: Any) -> None:
    """into += scale · value · d[o + r]: the way back of :func:`gather_unrolled`.

    masked: leave alone what does not exist; else what is added there must not matter.
    """
    lo = get(entries.full_first, t)
    hi = get(entries.full_first, t + 1)
    ones = entries.ones
    width = entries.width
    n_vectors = width // LANES
    many = splat(scale)
    c = 0
    while c + 3 * LANES <= width:
        d0 = mul(many, load(d, o + c))
        d1 = mul(many, load(d, o + c + LANES))
        d2 = mul(many, load(d, o + c + 2 * LANES))
        for i in range(lo, hi):
            f = get(entries.full, i)
            w = f * width + c
            c0 = d0
            c1 = d1
            c2 = d2
            if not ones:
                x = splat(get(entries.full_value, i))
                c0 = mul(x, c0)
                c1 = mul(x, c1)
                c2 = mul(x, c2)
            if masked:
                m = f * n_vectors + c // LANES
                c0 = keep(c0, get(entries.mask, m))
                c1 = keep(c1, get(entries.mask, m + 1))
                c2 = keep(c2, get(entries.mask, m + 2))
            store(into, w, add(load(into, w), c0))
            store(into, w + LANES, add(load(into, w + LANES), c1))
            store(into, w + 2 * LANES, add(load(into, w + 2 * LANES), c2))
        c += 3 * LANES
    while c < width:
        d0 = mul(many, load(d, o + c))
        for i in range(lo, hi):
            f = get(entries.full, i)
            w = f * width + c
            c0 = d0 if ones else mul(d0, splat(get(entries.full_value, i)))
            if masked:
                c0 = keep(c0, get(entries.mask, f * n_vectors + c // LANES))
            store(into, w, add(load(into, w), c0))
        c += LANES
    for i in range(get(entries.pair_first, t), get(entries.pair_first, t + 1)):
        p = get(entries.pair, i)
        change = scale * get(d, o + get(entries.row, i))
        put(into, p, get(into, p) + (change if ones else change * get(entries.pair_value, i)))
