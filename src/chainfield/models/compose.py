"""From hyper-parameters and training data to the parts of a chain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import ConfigError, NoPathError
from chainfield.features.batch import Batch, Sparse
from chainfield.features.map import FeatureMap
from chainfield.fitted import Tagger
from chainfield.potentials import Clamp
from chainfield.scorers import (
    Boundary,
    DenseLinear,
    EdgeFeatures,
    Pairs,
    Scorer,
    SparseLinear,
    Transition,
    all_pairs,
    arrange,
    compact_ties,
    seen_pairs,
)
from chainfield.states import Rules, StateSpace, forbid, restrict
from chainfield.states.schemes import detect_scheme, scheme_rules

from .transfer import edge_row_numbers, old_pairs, row_numbers, unite_pairs


@dataclass(frozen=True, eq=False)
class Material:
    """What a model is composed from: the features, the encoded data, and what is known of its labels."""

    features: FeatureMap
    batch: Batch
    clamp: Clamp
    labels: tuple[Any, ...]
    previous: Tagger | None = None  # when training goes on from a fitted model: all its weights stay
    pairs: Pairs | None = None  # which (feature, row) pairs of sparse features get a weight
    numbers: NDArray[np.int32] | None = None  # the number of each feature, after those of ``previous`` have changed


def with_pairs(material: Material, space: StateSpace, *, all_features: bool) -> Material:
    """Choose the pairs of sparse features and number the features as the kernels like them."""
    from chainfield.kernels.linear import sort_zones

    sparse, previous = material.batch.sparse, material.previous
    if sparse is None:
        return material
    if all_features:
        return replace(material, pairs=all_pairs(material.features.n_features, space.n_rows))
    pairs = known_pairs(sparse, material.clamp, space.n_rows)
    if previous is not None:
        pairs = unite_pairs(old_pairs(previous, SparseLinear), pairs, row_numbers(previous, material.labels))
    pairs, numbers = arrange(pairs, space.n_rows)
    material.features.renumber(numbers)
    indices = (
        np.where(sparse.indices >= 0, numbers[sparse.indices], -1).astype(np.int32) if len(numbers) else sparse.indices
    )
    ordered = np.empty_like(indices)
    values = sparse.weights()
    ordered_values = np.empty_like(values)
    sort_zones(sparse.indptr, indices, values, pairs.n_full, pairs.n_single, ordered, ordered_values)
    sparse = replace(sparse, indices=ordered, values=None if sparse.values is None else ordered_values)
    return replace(material, batch=replace(material.batch, sparse=sparse), pairs=pairs, numbers=numbers)


def label_rules(
    labels: tuple[Any, ...],
    scheme: str | None,
    forbidden: Iterable[tuple[Any, Any]] | None,
) -> Rules | None:
    """The rules of a tagging scheme and of the user together; None if there are none."""
    rules: Rules | None = None
    if scheme is not None:
        odd = [label for label in labels if not isinstance(label, str)]
        if odd:
            raise ConfigError(f"scheme={scheme!r} needs labels such as B-X, but {odd[0]!r} is not a string.")
        rules = scheme_rules(labels, scheme)
    if forbidden is not None:
        own = forbid(labels, forbidden)
        rules = own if rules is None else rules & own
    return rules


def found_scheme(labels: tuple[Any, ...], scheme: str | None, sequences: Iterable[Any]) -> str | None:
    """The scheme that "auto" stands for (None if the labels follow none), any other by its name."""
    if scheme != "auto":
        return scheme if scheme is None else scheme.lower()
    known = [s for s in sequences if all(isinstance(label, str) for label in s)]
    return detect_scheme(labels, known) if all(isinstance(label, str) for label in labels) else None


def check_rules(rules: Rules | None, labels: tuple[Any, ...], sequences: Iterable[Sequence[Any]]) -> None:
    """Refuse training labels that break the rules, naming the first place."""
    if rules is None:
        return
    number = {label: i for i, label in enumerate(labels)}
    for s, sequence in enumerate(sequences):
        ids = [number.get(label, -1) if not isinstance(label, set | frozenset) else -1 for label in sequence]
        for t, now in enumerate(ids):
            wrong = ""
            if now >= 0 and t == 0 and not rules.start[now]:
                wrong = f"{labels[now]!r} cannot begin a sequence"
            elif now >= 0 and t > 0 and ids[t - 1] >= 0 and not rules.edge[ids[t - 1], now]:
                wrong = f"{labels[now]!r} cannot follow {labels[ids[t - 1]]!r}"
            elif now >= 0 and t == len(ids) - 1 and not rules.end[now]:
                wrong = f"{labels[now]!r} cannot end a sequence"
            if wrong:
                advice = 'correct the labels, or change the rules (scheme="auto" reads the scheme off the labels).'
                raise NoPathError(s, detail=f"in its training labels, at position {t}, {wrong}; {advice}")


def restricted(space: StateSpace, rules: Rules | None) -> StateSpace:
    """The space under the rules, if there are any."""
    return space if rules is None else restrict(space, rules)


def linear_emissions(material: Material, space: StateSpace, *, boundary: bool) -> list[Scorer]:
    """Linear scores of whatever features there are."""
    scorers: list[Scorer] = []
    if material.pairs is not None:
        scorers.append(SparseLinear(material.pairs, space.n_rows))
    if material.batch.dense is not None:
        scorers.append(DenseLinear(material.features.n_columns, space.n_rows))
    if boundary:
        scorers.append(Boundary(space.n_rows))
    if not scorers:
        raise ConfigError("The data have no features at all.")
    return scorers


def known_pairs(sparse: Sparse, clamp: Clamp, n_rows: int) -> Pairs:
    """Pairs of features and rows seen together; positions with unknown labels tell nothing."""
    is_open = np.asarray(clamp.table.all(axis=1)) & (n_rows > 1)
    index = np.where(is_open[clamp.index], -1, clamp.index).astype(np.int32)
    return seen_pairs(sparse, clamp.table, index)


def transitions(material: Material, space: StateSpace, *, all_transitions: bool) -> list[Scorer]:
    """Shared transition weights (pairs, and triples in a second-order space) and input-conditioned ones."""
    scorers: list[Scorer] = []
    batch, previous = material.batch, material.previous
    into = edges_into(material.clamp, batch.offsets, space)
    if material.features.plain_transitions:
        keep = np.ones(space.n_edge_rows, np.bool_)
        if not all_transitions:
            keep = np.bincount(into + 1, minlength=space.n_edge_rows + 1)[1:] > 0
        scorers.append(Transition(compact_ties(keep, space.edge_row)))
        if space.n_edges > space.n_edge_rows:
            scorers.append(Transition(np.arange(space.n_edges, dtype=np.int32), name="transition2"))
    if batch.edges is not None:
        pairs = seen_pairs(batch.edges, np.eye(space.n_edge_rows, dtype=np.bool_), into)
        if previous is not None:
            numbers = edge_row_numbers(previous, space, material.labels)
            pairs = unite_pairs(old_pairs(previous, EdgeFeatures), pairs, numbers)
        scorers.append(EdgeFeatures(pairs, space.edge_row))
    return scorers


def edges_into(clamp: Clamp, offsets: NDArray[np.int64], space: StateSpace) -> NDArray[np.int32]:
    """(N,) the first-order edge (edge row) into each position where both labels are known; else -1."""
    table = np.full((space.n_rows, space.n_rows), -1, np.int32)
    table[space.row_of[space.src], space.row_of[space.dst]] = space.edge_row
    rows = clamp.single_row[clamp.index]
    before = np.full_like(rows, -1)
    before[1:] = rows[:-1]
    before[offsets[:-1][np.diff(offsets) > 0]] = -1
    return np.where((rows >= 0) & (before >= 0), table[before, rows], -1).astype(np.int32)
