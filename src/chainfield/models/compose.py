"""From hyper-parameters and training data to the parts of a chain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chainfield.arrays import Array, Int, Int32, distinct, union
from chainfield.errors import ConfigError
from chainfield.features.batch import Sparse
from chainfield.fitted import FittedModel
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
    low_rank,
    seen_pairs,
)
from chainfield.scorers.groups import NO_GROUPS, label_groups, n_groups, old_columns
from chainfield.scorers.pairs import join_pairs, pairs_with_sets
from chainfield.states import StateSpace
from chainfield.states.naming import label_codes, label_ties

from .material import Examples, Material
from .scales import check_scales
from .transfer import unite_pairs


def number_features(
    material: Material, space: StateSpace, *, all_features: bool, share_labels: bool = False, pairs: Pairs | None = None
) -> Material:
    """Choose which sparse features have weights with which rows, and number features as the kernels like them.

    The feature map of ``material`` is changed: it numbers its features anew from here on.

    share_labels: labels with several rows have weights of their own, beside those of their rows.
    pairs: the (feature, row) pairs that get a weight, in place of those seen together.
    """
    if share_labels:
        material = replace(material, group_of=label_groups(space))
    previous = material.previous
    if not material.extent.sparse:
        return material
    n_columns = space.n_rows + n_groups(material.group_of)
    if all_features:
        return replace(material, pairs=all_pairs(material.features.n_features, n_columns))
    if pairs is None:
        pairs = material.fold(_pairs_in, join_pairs, space, material.group_of)
    if previous is not None:
        before = next((s.group_of for s in previous.chain.scorers if isinstance(s, SparseLinear)), NO_GROUPS)
        columns = old_columns(before, material.group_of, material.origin(space).rows)
        pairs = _with_old(previous, "features", pairs, columns)
    # With several states a label, a rare feature that was seen with one of a few labels has a third of all columns:
    # filling up the others would triple the memory that a pass goes through (noun phrases, 5 states: 15 % slower).
    hidden = space.n_rows > len(distinct(space.label_of_row))
    pairs, numbers = arrange(pairs, n_columns, 0.4 if hidden else 0.25)
    material.features.renumber(numbers)
    examples = material.examples.derive(_renumbered, numbers, pairs.n_full, pairs.n_single)
    return replace(material, examples=examples, pairs=pairs, numbers=numbers)


def _pairs_in(examples: Examples, space: StateSpace, group_of: Int32) -> Pairs:
    assert examples.batch.sparse is not None
    return known_pairs(examples.batch.sparse, examples.clamp, space, group_of)


def _renumbered(examples: Examples, numbers: Int32, n_full: int, n_single: int) -> Examples:
    """Features under their new numbers, those of a position in the order of the kernels' zones."""
    from chainfield.kernels.train.linear import sort_zones

    sparse = examples.batch.sparse
    assert sparse is not None
    indices = (
        np.where(sparse.indices >= 0, numbers[sparse.indices], -1).astype(np.int32) if len(numbers) else sparse.indices
    )
    ordered = np.empty_like(indices)
    values = sparse.weights()
    ordered_values = np.empty_like(values)
    sort_zones(sparse.indptr, indices, values, n_full, n_single, ordered, ordered_values)
    sparse = replace(sparse, indices=ordered, values=None if sparse.values is None else ordered_values)
    return replace(examples, batch=replace(examples.batch, sparse=sparse))


def linear_emissions(material: Material, space: StateSpace, *, boundary: bool) -> list[Scorer]:
    """Linear scores of whatever features there are."""
    check_scales(material)
    scorers: list[Scorer] = []
    if material.pairs is not None:
        scorers.append(SparseLinear(material.pairs, space.n_rows, material.group_of))
    if material.extent.dense:
        scorers.append(DenseLinear(material.features.n_columns, space.n_rows, material.group_of))
    if boundary:
        scorers.append(Boundary(space.n_rows))
    if not scorers:
        raise ConfigError("The data have no features at all.")
    return scorers


def known_pairs(sparse: Sparse, clamp: Clamp, space: StateSpace, group_of: Int32 = NO_GROUPS) -> Pairs:
    """Pairs of features and rows (and groups) seen together; positions with unknown labels tell nothing."""
    is_open = np.asarray(clamp.table.all(axis=1)) & (space.n_labels > 1)
    index = np.where(is_open[clamp.index], -1, clamp.index).astype(np.int32)
    groups = [clamp.table[:, group_of == g].any(1) for g in range(n_groups(group_of))]
    return seen_pairs(sparse, np.column_stack([clamp.table, *groups]), index)


def transitions(
    material: Material,
    space: StateSpace,
    *,
    all_transitions: bool,
    share_labels: bool = False,
    rank: int | None = None,
    triples: bool = False,
) -> list[Scorer]:
    """Shared transition weights (pairs, and triples in a second-order space) and input-conditioned ones.

    share_labels: weights of label pairs and triples beside those of states.
    rank: transitions of low rank in place of those of states.
    triples: in a second-order space, weights of features with state triples beside those with pairs.
    """
    scorers: list[Scorer] = []
    previous = material.previous
    if material.features.plain_transitions:
        keep = np.ones(space.n_edge_rows, np.bool_)
        if not all_transitions:
            keep = np.isin(np.arange(space.n_edge_rows), material.fold(_steps_in, union, space))
        own: list[Scorer] = [Transition(compact_ties(keep, space.edge_row))]
        if space.n_edges > space.n_edge_rows:
            own.append(Transition(np.arange(space.n_edges, dtype=np.int32), name="transition2"))
        scorers += own if rank is None else [low_rank(space, rank)]
        if share_labels and len(material.group_of):
            ties = zip(own, label_ties(space), strict=True)
            scorers += [Transition(tie, name=f"label_{scorer.name}") for scorer, tie in ties]
    if material.extent.edges:
        pairs = material.fold(_edge_pairs, join_pairs, space)
        if previous is not None:
            pairs = _with_old(previous, "edge_features", pairs, material.origin(space).edge_rows)
        scorers.append(EdgeFeatures(pairs, space.edge_row))
        if triples and space.n_edges > space.n_edge_rows:
            scorers.append(_triple_features(material, space))
        if share_labels and len(material.group_of):
            scorers.append(_label_features(material, space))
    return scorers


def _steps_in(examples: Examples, space: StateSpace) -> Int:
    """The edge rows of all steps that are known."""
    return np.concatenate([np.empty(0, np.int64), *known_steps(examples.clamp, examples.batch.offsets, space)[0]])


def _edge_pairs(examples: Examples, space: StateSpace) -> Pairs:
    """Features of transitions with the edge rows of the steps that they occur at."""
    edges = examples.batch.edges
    assert edges is not None
    return pairs_with_sets(edges, *known_steps(examples.clamp, examples.batch.offsets, space), space.n_edge_rows)


def known_steps(clamp: Clamp, offsets: Int, space: StateSpace) -> tuple[list[Int], Int32]:
    """What is known of the step into each position: sets of first-order edges (edge rows), and each position's set.

    A step is known where the labels on both its sides are; its set has all edges between the states of the two. The
    index is -1 elsewhere, and where no edge leads from one label to the other.
    """
    _, pair, _ = _known_labels(clamp, offsets, space)
    return _step_sets(pair, label_codes(space)[0], space.edge_row)


def known_triples(clamp: Clamp, offsets: Int, space: StateSpace) -> tuple[list[Int], Int32]:
    """The same for the edges of a second-order space, which stand for triples: three labels must be known."""
    before, pair, second = _known_labels(clamp, offsets, space)
    n = space.n_labels + 1
    earlier = np.full_like(before, -1)
    earlier[1:] = before[:-1]
    earlier[second] = space.n_labels
    code = np.where((pair >= 0) & (earlier >= 0), earlier * n * n + pair, -1)
    return _step_sets(code, label_codes(space)[1], np.arange(space.n_edges))


def _known_labels(clamp: Clamp, offsets: Int, space: StateSpace) -> tuple[Int, Int, Int]:
    """(N,) the label before each position, and a number for it and the position's own (-1: unknown, or none before);
    and the second positions of all sequences.
    """
    now = clamp.only_label(space)[clamp.index].astype(np.int64)
    before = np.full_like(now, -1)
    before[1:] = now[:-1]
    before[offsets[:-1][np.diff(offsets) > 0]] = -1
    second = offsets[:-1][np.diff(offsets) > 1] + 1
    return before, np.where((now >= 0) & (before >= 0), before * (space.n_labels + 1) + now, -1), second


def _step_sets(wanted: Int, of_edge: Int, row: Array) -> tuple[list[Int], Int32]:
    """The rows of all edges with a number, for each number that some position has; and each position's set."""
    order = np.argsort(of_edge, kind="stable")
    exist, first = np.unique(of_edge[order], return_index=True)
    sets = np.split(row[order].astype(np.int64), first[1:]) if len(exist) else []
    place = np.searchsorted(exist, wanted)
    known = (wanted >= 0) & (place < len(exist))
    known[known] = exist[place[known]] == wanted[known]
    used, index = np.unique(place[known], return_inverse=True)
    steps = np.full(len(wanted), -1, np.int32)
    steps[known] = index
    return [distinct(sets[i]) for i in used], steps


def _triple_features(material: Material, space: StateSpace) -> EdgeFeatures:
    """Features of transitions with a weight for every state triple seen."""
    pairs = material.fold(_triple_pairs, join_pairs, space)
    if material.previous is not None:
        pairs = _with_old(material.previous, "triple_features", pairs, material.origin(space).edges)
    return EdgeFeatures(pairs, np.arange(space.n_edges, dtype=np.int32), name="triple_features")


def _triple_pairs(examples: Examples, space: StateSpace) -> Pairs:
    edges = examples.batch.edges
    assert edges is not None
    return pairs_with_sets(edges, *known_triples(examples.clamp, examples.batch.offsets, space), space.n_edges)


def _label_features(material: Material, space: StateSpace) -> EdgeFeatures:
    """Features of transitions with a weight for every label pair seen, beside those of its state pairs."""
    tie = label_ties(space)[0]
    pairs = material.fold(_label_pairs, join_pairs, space, tie)
    if material.previous is not None:
        old = material.origin(space).edges
        before = label_ties(material.previous.chain.space)[0]
        columns = np.full(int(tie.max(initial=-1)) + 1, -1, np.int64)
        columns[tie[old >= 0]] = before[old[old >= 0]]
        pairs = _with_old(material.previous, "label_edge_features", pairs, columns)
    return EdgeFeatures(pairs, tie, name="label_edge_features")


def _label_pairs(examples: Examples, space: StateSpace, tie: Int32) -> Pairs:
    edges = examples.batch.edges
    assert edges is not None
    steps, index = known_steps(examples.clamp, examples.batch.offsets, space)
    of_row = np.zeros(space.n_edge_rows, np.int64)
    of_row[space.edge_row] = tie
    sets = [of_row[rows[:1]] for rows in steps]  # all edges of a step have the same labels
    return pairs_with_sets(edges, sets, index, int(tie.max(initial=-1)) + 1)


def _with_old(previous: FittedModel, name: str, pairs: Pairs, columns: Int) -> Pairs:
    """The pairs with those that the scorer of the same name had before."""
    for scorer in previous.chain.scorers:
        old = getattr(scorer, "pairs", None)
        if scorer.name == name and isinstance(old, Pairs):
            return unite_pairs(old, pairs, columns)
    return pairs
