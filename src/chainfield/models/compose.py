"""From hyper-parameters and training data to the parts of a chain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import ConfigError
from chainfield.features.batch import Batch, Sparse
from chainfield.features.map import FeatureMap
from chainfield.fitted import FittedModel
from chainfield.potentials import Clamp
from chainfield.scorers import (
    Boundary,
    DenseLinear,
    EdgeFeatures,
    Origin,
    Pairs,
    Scorer,
    SparseLinear,
    Transition,
    all_pairs,
    arrange,
    compact_ties,
    seen_pairs,
)
from chainfield.scorers.pairs import pairs_with_sets
from chainfield.states import StateSpace

from .transfer import find_origin, unite_pairs


@dataclass(frozen=True, eq=False)
class Material:
    """What a model is composed from: the features, the encoded data, and what is known of its labels."""

    features: FeatureMap
    batch: Batch
    clamp: Clamp
    labels: tuple[Any, ...]
    previous: FittedModel | None = None  # when training goes on from a fitted model: all its weights stay
    pairs: Pairs | None = None  # which (feature, row) pairs of sparse features get a weight
    numbers: NDArray[np.int32] | None = None  # the number of each feature, after those of ``previous`` have changed

    def origin(self, space: StateSpace) -> Origin:
        """Where the parts of a chain over a space were in ``previous``."""
        assert self.previous is not None
        return find_origin(self.previous, space, self.labels, self.features.n_features, self.numbers)


def with_pairs(material: Material, space: StateSpace, *, all_features: bool) -> Material:
    """Choose the pairs of sparse features and number the features as the kernels like them."""
    from chainfield.kernels.linear import sort_zones

    sparse, previous = material.batch.sparse, material.previous
    if sparse is None:
        return material
    if all_features:
        return replace(material, pairs=all_pairs(material.features.n_features, space.n_rows))
    pairs = known_pairs(sparse, material.clamp, space)
    if previous is not None:
        pairs = _with_old(previous, "features", pairs, material.origin(space).rows)
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


def known_pairs(sparse: Sparse, clamp: Clamp, space: StateSpace) -> Pairs:
    """Pairs of features and rows seen together; positions with unknown labels tell nothing."""
    is_open = np.asarray(clamp.table.all(axis=1)) & (space.n_labels > 1)
    index = np.where(is_open[clamp.index], -1, clamp.index).astype(np.int32)
    return seen_pairs(sparse, clamp.table, index)


def transitions(material: Material, space: StateSpace, *, all_transitions: bool) -> list[Scorer]:
    """Shared transition weights (pairs, and triples in a second-order space) and input-conditioned ones."""
    scorers: list[Scorer] = []
    batch, previous = material.batch, material.previous
    steps, index = known_steps(material.clamp, batch.offsets, space)
    if material.features.plain_transitions:
        keep = np.ones(space.n_edge_rows, np.bool_)
        if not all_transitions:
            keep = np.isin(np.arange(space.n_edge_rows), np.concatenate([np.empty(0, np.int64), *steps]))
        scorers.append(Transition(compact_ties(keep, space.edge_row)))
        if space.n_edges > space.n_edge_rows:
            scorers.append(Transition(np.arange(space.n_edges, dtype=np.int32), name="transition2"))
    if batch.edges is not None:
        pairs = pairs_with_sets(batch.edges, steps, index, space.n_edge_rows)
        if previous is not None:
            pairs = _with_old(previous, "edge_features", pairs, material.origin(space).edge_rows)
        scorers.append(EdgeFeatures(pairs, space.edge_row))
    return scorers


def known_steps(
    clamp: Clamp, offsets: NDArray[np.int64], space: StateSpace
) -> tuple[list[NDArray[np.int64]], NDArray[np.int32]]:
    """What is known of the step into each position: sets of first-order edges (edge rows), and each position's set.

    A step is known where the labels on both its sides are; its set has all edges between the states of the two. The
    index is -1 elsewhere, and where no edge leads from one label to the other.
    """
    n = space.n_labels
    now = clamp.only_label(space)[clamp.index].astype(np.int64)
    before = np.full_like(now, -1)
    before[1:] = now[:-1]
    before[offsets[:-1][np.diff(offsets) > 0]] = -1
    pair = np.where((now >= 0) & (before >= 0), before * n + now, -1)
    of_edge = space.label_of[space.src].astype(np.int64) * n + space.label_of[space.dst]
    order = np.argsort(of_edge, kind="stable")
    exist, first = np.unique(of_edge[order], return_index=True)
    sets = np.split(space.edge_row[order].astype(np.int64), first[1:]) if len(exist) else []
    place = np.searchsorted(exist, pair)
    known = (pair >= 0) & (place < len(exist))
    known[known] = exist[place[known]] == pair[known]
    used, index = np.unique(place[known], return_inverse=True)
    steps = np.full(len(pair), -1, np.int32)
    steps[known] = index
    return [np.unique(sets[i]) for i in used], steps


def _with_old(previous: FittedModel, name: str, pairs: Pairs, columns: NDArray[np.int64]) -> Pairs:
    """The pairs with those that the scorer of the same name had before."""
    for scorer in previous.chain.scorers:
        old = getattr(scorer, "pairs", None)
        if scorer.name == name and isinstance(old, Pairs):
            return unite_pairs(old, pairs, columns)
    return pairs
