"""What scorers with one weight per (feature, column) pair share: scores, names, shares, old weights, sound files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.features.batch import Sparse
from chainfield.schema import demand

from .pairs import Pairs
from .shares import Share, Weight


def gather(pairs: Pairs, sparse: Sparse, weight: Float, scores: Float) -> None:
    """scores[t, row of p] += value · weight[p], over the features of position t and their pairs p."""
    from chainfield.kernels.train.linear import gather_pairs

    entries, layout = (sparse.indptr, sparse.indices, sparse.weights()), (pairs.first, pairs.row)
    gather_pairs(*entries, *layout, pairs.n_full, pairs.n_single, weight, scores)


def scatter(pairs: Pairs, sparse: Sparse, d: Float, scale: float, into: Float) -> None:
    """The way back of :func:`gather`: into[p] += scale · value · d[t, row of p]."""
    from chainfield.kernels.train.linear import scatter_pairs

    entries, layout = (sparse.indptr, sparse.indices, sparse.weights()), (pairs.first, pairs.row)
    d = np.ascontiguousarray(d)
    scatter_pairs(*entries, *layout, pairs.n_full, pairs.n_single, pairs.bits, d, scale, into)


def named_pairs(pairs: Pairs, weight: Float, names: Sequence[str]) -> Iterator[Weight]:
    """The weight of every pair that has a weight of its own."""
    entries = zip(pairs.feature().tolist(), pairs.row.tolist(), weight.tolist(), pairs.exists().tolist(), strict=True)
    names = list(names)  # all are asked for
    return (Weight(names[f], column, w) for f, column, w, real in entries if real)


def pair_shares(
    pairs: Pairs, weight: Float, sparse: Sparse, columns: Sequence[Sequence[int]], names: Sequence[str]
) -> list[list[Share]]:
    """The share of each feature of each position; columns of -1 get nothing."""
    known: dict[int, str] = {}  # neighbours share many features

    def name(f: int) -> str:
        if f not in known:
            known[f] = names[f]
        return known[f]

    return [
        [
            Share(name(f), value, tuple(value * own.get(c, 0.0) for c in wanted))
            for f, value in _entries(sparse, t)
            for own in [_weights(pairs, weight, f)]
        ]
        for t, wanted in enumerate(columns)
    ]


def _entries(sparse: Sparse, t: int) -> list[tuple[int, float]]:
    """Features and values of a position."""
    span = slice(int(sparse.indptr[t]), int(sparse.indptr[t + 1]))
    features = sparse.indices[span].tolist()
    values = [1.0] * len(features) if sparse.values is None else sparse.values[span].tolist()
    return [(f, value) for f, value in zip(features, values, strict=True) if f >= 0]


def _weights(pairs: Pairs, weight: Any, f: int) -> dict[int, float]:
    """Weights of a feature by column."""
    span = slice(pairs.first[f], pairs.first[f + 1])
    return dict(zip(pairs.row[span].tolist(), weight[span].tolist(), strict=True))


def carry_pairs(old: Pairs, new: Pairs, columns: Int, features: Int | None, theirs: Float, ours: Float) -> None:
    """Write the weights of pairs that were there before; ``columns``, ``features``: old numbers by new ones."""
    before, wanted = old_codes(old, new, columns, features)
    order = np.argsort(before, kind="stable")
    ranked = before[order]
    place = np.minimum(np.searchsorted(ranked, wanted), max(len(ranked) - 1, 0))
    if len(ranked):
        found = (wanted >= 0) & (ranked[place] == wanted)
        ours[found] = theirs[order[place[found]]]


def old_codes(old: Pairs, new: Pairs, columns: Int, features: Int | None) -> tuple[Int, Int]:
    """Pairs as numbers: those of the old ones (-1: a filler), and what the new ones were (-1: not there)."""
    width = int(max(columns.max(initial=0), old.row.max(initial=0))) + 1
    before = np.where(old.exists(), old.feature() * width + old.row, -1)
    column = columns[new.row]
    feature = new.feature() if features is None else features[new.feature()]
    there = (column >= 0) & (feature >= 0) & new.exists()
    return before, np.where(there, feature * width + column, -1)


def check_pairs(pairs: Pairs, n_features: int, n_columns: int) -> None:
    """Refuse pairs that do not fit: the kernels trust every index."""
    counts = pairs.ragged.lengths
    zones = pairs.n_full >= 0 and pairs.n_single >= 0 and pairs.n_full + pairs.n_single <= pairs.n_features
    demand(pairs.n_features == n_features, "the number of features")
    demand(pairs.first[-1] == pairs.n_pairs, "the number of pairs")
    demand(pairs.n_pairs == 0 or (pairs.row.min() >= 0 and pairs.row.max() < n_columns), "a row of a pair")
    demand(zones and bool((counts[: pairs.n_full] == n_columns).all()), "the zone of full features")
    full = np.tile(np.arange(n_columns), pairs.n_full)
    demand(np.array_equal(pairs.row[: len(full)], full), "the order of full features")
    demand(bool((counts[pairs.n_full : pairs.n_full + pairs.n_single] == 1).all()), "the zone of single features")
    demand(len(pairs.mask) in (0, len(full)), "the mask of full features")
    first = pairs.first[pairs.n_full + pairs.n_single :]  # of the features that have neither all rows nor one
    rows = pairs.row[first[0] :]
    rising = rows[1:] > rows[:-1]
    bounds = first[1:-1] - first[0]  # where a new feature begins, rows may fall
    rising[bounds[(bounds > 0) & (bounds < len(rows))] - 1] = True
    demand(bool(rising.all()), "the order of the rows of a feature")
