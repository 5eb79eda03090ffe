"""From the weights of a foreign model to an ordinary model of the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int, offsets_of
from chainfield.features.feature_map import FeatureMap
from chainfield.memory import demand_memory
from chainfield.models import LinearCRF
from chainfield.models.memm import MEMM
from chainfield.models.tagging import TaggingModel
from chainfield.scorers import Chain, EdgeFeatures, Pairs, Scorer, SparseLinear, Transition, arrange
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.states import StateSpace, one_per_label
from chainfield.tasks import Tagging

BYTES_PER_EDGE = 64.0  # of the state space and its kernels' view


@dataclass(frozen=True, eq=False)
class PairWeights:
    """Weights by (feature, column): every pair once, in any order."""

    feature: Int
    column: Int
    weight: Float


def linear_model(
    features: FeatureMap,
    labels: tuple[Any, ...],
    states: PairWeights,
    transitions: PairWeights | None,
    edges: PairWeights | None = None,
    *,
    normalised: bool = False,
    decoder: str = "viterbi",
) -> TaggingModel:
    """A linear chain with one state per label and no weights for first and last labels.

    ``transitions``: weights of (label before, label); None: there are none, not even zeros to show. ``edges``: weights
    of features with edges ``before · L + label``. ``normalised``: steps are probabilities, given the label before.
    """
    n = len(labels)
    demand_memory(BYTES_PER_EDGE * n * n, f"A model of {n:,} labels", "there is a score for every pair of labels")
    space = one_per_label(n)
    pairs, weight, numbers = arranged(states, features.n_features, n)
    features.renumber(numbers)
    scorers: list[Scorer] = []
    parameters = [weight]
    if transitions is not None:
        tie, own = _ties(space, transitions)
        scorers.append(Transition(tie))
        parameters.append(own)
    if edges is not None:
        order = np.argsort(edges.feature * space.n_edges + edges.column)
        codes = (edges.feature * space.n_edges + edges.column)[order]
        scorers.append(EdgeFeatures(pairs_from_codes(codes, features.n_edge_features, space.n_edges), space.edge_row))
        parameters.append(edges.weight[order])
    chain = Chain(space, (SparseLinear(pairs, n),), tuple(scorers), normalised=normalised)
    for scorer in chain.scorers:
        scorer.check(space, features)
    kind = MEMM if normalised else LinearCRF
    settings = {} if normalised else {"boundary": False}
    model = kind(all_transitions=False, decoder=decoder, **settings)
    theta = np.concatenate(parameters)
    model.fitted_ = model._make(features, Tagging(labels), chain, theta, "sum")
    model.scheme_ = None
    return model


def arranged(states: PairWeights, n_features: int, n_rows: int) -> tuple[Pairs, Float, Any]:
    """Pairs as the kernels like them, their weights, and the features' new numbers."""
    codes = states.feature * n_rows + states.column
    feature, column, weight = states.feature, states.column, states.weight
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes)
        feature, column, weight = feature[order], column[order], weight[order]
    first = offsets_of(np.bincount(feature, minlength=n_features))
    pairs, numbers = arrange(Pairs(first, column.astype(np.int32)), n_rows)
    # A full feature has a place for each row, any other one for each of its own.
    number = numbers[feature]
    within = np.where(number < pairs.n_full, column, np.arange(len(column)) - first[feature])
    arranged_weight = np.zeros(pairs.n_pairs)
    arranged_weight[pairs.first[number] + within] = weight
    return pairs, arranged_weight, numbers


def _ties(space: StateSpace, transitions: PairWeights) -> tuple[Any, Float]:
    """A weight for the edges that have one."""
    n = space.n_labels
    place = np.full(n * n, -1, np.int64)
    place[transitions.feature * n + transitions.column] = np.arange(len(transitions.weight))
    own = place[space.src.astype(np.int64) * n + space.dst]
    kept = own[own >= 0]
    tie = np.full(space.n_edges, -1, np.int32)
    tie[own >= 0] = np.arange(len(kept), dtype=np.int32)
    return tie, transitions.weight[kept]
