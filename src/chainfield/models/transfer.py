"""Carrying weights over to a chain with more features or labels.

Feature maps append features and may renumber them; labels may have been added, so rows and edges are matched by their
labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainfield.fitted import Tagger
from chainfield.fitted.names import edge_labels
from chainfield.scorers import (
    Boundary,
    Chain,
    DenseLinear,
    EdgeFeatures,
    Pairs,
    Scorer,
    SparseLinear,
    Transition,
)
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.states import StateSpace

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def row_numbers(old: Tagger, labels: tuple[Any, ...]) -> Int:
    """The new number of each old row (one row a label)."""
    number = {label: i for i, label in enumerate(labels)}
    return np.array([number[old.task.labels[i]] for i in old.chain.space.label_of_row], np.int64)


def edge_numbers(old: Tagger, space: StateSpace, labels: tuple[Any, ...]) -> Int:
    """The new number of each old edge, -1 for one that is gone."""
    number = {name: e for e, name in enumerate(edge_labels(space, labels))}
    return np.array([number.get(name, -1) for name in edge_labels(old.chain.space, old.task.labels)], np.int64)


def edge_row_numbers(old: Tagger, space: StateSpace, labels: tuple[Any, ...]) -> Int:
    """The new number of each old edge row, -1 for one that is gone."""
    edges = edge_numbers(old, space, labels)
    numbers = np.full(old.chain.space.n_edge_rows, -1, np.int64)
    found = edges >= 0
    numbers[old.chain.space.edge_row[found]] = space.edge_row[edges[found]]
    return numbers


def old_pairs(old: Tagger, kind: type[Scorer]) -> Pairs:
    """The pairs of the old tagger's scorer of a kind."""
    for scorer in old.chain.scorers:
        if isinstance(scorer, kind) and isinstance(scorer, SparseLinear | EdgeFeatures):
            return scorer.pairs
    return Pairs(np.zeros(1, np.int64), np.empty(0, np.int32))


def unite_pairs(old: Pairs, new: Pairs, rows: Int) -> Pairs:
    """The pairs of both; ``rows`` gives the new number of an old row, -1: gone."""
    n_rows = int(max(rows.max(initial=0), new.row.max(initial=0))) + 1
    kept = _codes(old, n_rows, rows)
    return pairs_from_codes(np.union1d(kept[kept >= 0], _codes(new, n_rows)), new.n_features, n_rows)


def _codes(pairs: Pairs, n_rows: int, rows: Int | None = None, numbers: NDArray[np.int32] | None = None) -> Int:
    """feature · n_rows + row of each pair, in new numbers; -1 for pairs that are gone or only fill up."""
    row = pairs.row.astype(np.int64) if rows is None else rows[pairs.row]
    feature = pairs.feature() if numbers is None else numbers[pairs.feature()].astype(np.int64)
    return np.where((row >= 0) & (pairs.exists() | (rows is None)), feature * n_rows + row, -1)


def carry_over(
    old: Tagger, chain: Chain, labels: tuple[Any, ...], theta: Float, numbers: NDArray[np.int32] | None = None
) -> None:
    """Write the old tagger's weights into ``theta`` wherever the new chain has the same weight.

    ``numbers``: the new number of each sparse feature; None: numbers have not changed.
    """
    into, before = chain.views(theta), {scorer.name: scorer for scorer in old.chain.scorers}
    rows = row_numbers(old, labels)
    for scorer in chain.scorers:
        own = before.get(scorer.name)
        if type(own) is not type(scorer):
            continue
        weights = {
            name: (old.params[f"{scorer.name}.{name}"], into[f"{scorer.name}.{name}"]) for name in scorer.shapes()
        }
        if isinstance(scorer, SparseLinear) and isinstance(own, SparseLinear):
            _carry_pairs(own.pairs, scorer.pairs, rows, *weights["weight"], numbers)
        elif isinstance(scorer, EdgeFeatures) and isinstance(own, EdgeFeatures):
            _carry_pairs(own.pairs, scorer.pairs, edge_row_numbers(old, chain.space, labels), *weights["weight"])
        elif isinstance(scorer, Transition) and isinstance(own, Transition):
            edges = edge_numbers(old, chain.space, labels)
            ok = (own.tie >= 0) & (edges >= 0)
            ties, source = scorer.tie[edges[ok]], own.tie[ok]
            weights["weight"][1][ties[ties >= 0]] = weights["weight"][0][source[ties >= 0]]
        elif isinstance(scorer, Boundary | DenseLinear):
            for theirs, ours in weights.values():
                ours[..., rows] = theirs


def _carry_pairs(
    old: Pairs, new: Pairs, rows: Int, weight: Float, into: Float, numbers: NDArray[np.int32] | None = None
) -> None:
    n_rows = int(max(rows.max(initial=0), new.row.max(initial=0))) + 1
    wanted, codes = _codes(old, n_rows, rows, numbers), _codes(new, n_rows)
    place = np.searchsorted(codes, wanted)
    found = (place < len(codes)) & (codes[np.minimum(place, len(codes) - 1)] == wanted) & (wanted >= 0)
    into[place[found]] = weight[found]
