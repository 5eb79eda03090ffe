"""A fitted model without features and pairs whose weights are 0: a penalty l1 leaves a great number of them."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TypeVar

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.scorers import Chain, Scorer
from chainfield.scorers.feature_weights import FeatureWeights

from .herd import Herd
from .model import FittedModel

M = TypeVar("M", bound=FittedModel)


def compacted(model: M) -> M:
    """The same model, smaller: it predicts the same numbers, bit by bit.

    A model stays as it is if a scorer reads features in another way than by weights of pairs, or does not say; or if it
    has a pruner, whose weights for the same pairs are not 0.
    """
    chain, features = model.chain, model.features
    others = [scorer for scorer in chain.scorers if not isinstance(scorer, FeatureWeights)]
    if (
        isinstance(model, Herd)
        or chain.pruner is not None
        or len(others) == len(chain.scorers)
        or any(s.schema is None or s.needs in ("sparse", "edges") for s in others)
    ):
        return model
    nodes, n_nodes = _numbers(model, "sparse", features.n_features)
    edges, n_edges = _numbers(model, "edges", features.n_edge_features)
    smaller = features.selected(_only(nodes, n_nodes), _only(edges, n_edges))
    if smaller is None:  # all features stay, those that have no weights behind the others
        smaller = copy.deepcopy(features)
        smaller.renumber(nodes)
        edges = np.arange(features.n_edge_features, dtype=np.int32)
        n_nodes, n_edges = features.n_features, features.n_edge_features
    new = {"sparse": (_only(nodes, n_nodes), n_nodes), "edges": (_only(edges, n_edges), n_edges)}
    found = {
        scorer.name: scorer.compacted(model.own(scorer), *new[scorer.needs])
        for scorer in chain.scorers
        if isinstance(scorer, FeatureWeights)
    }
    emissions, transitions = (
        tuple(found[scorer.name][0] if scorer.name in found else scorer for scorer in group)
        for group in (chain.emissions, chain.transitions)
    )
    slim = replace(chain, emissions=emissions, transitions=transitions)
    return replace(model, features=smaller, chain=slim, theta=_theta(model, slim, found))


def _numbers(model: FittedModel, place: str, n: int) -> tuple[Int32, int]:
    """(n,) new numbers of features, and how many have weights: these come first, in the order that the kernels like."""
    readers = [s for s in model.chain.scorers if isinstance(s, FeatureWeights) and s.needs == place]
    used = np.zeros(n, np.bool_)
    for scorer in readers:
        used |= scorer.used(model.own(scorer))
    order = readers[0].order(model.own(readers[0])) if len(readers) == 1 else np.arange(n, dtype=np.int32)
    numbers = np.empty(n, np.int32)
    numbers[np.lexsort((order, ~used))] = np.arange(n, dtype=np.int32)
    return numbers, int(np.count_nonzero(used))


def _only(numbers: Int32, n: int) -> Int32:
    """The first n numbers; -1 in place of the others."""
    return np.where(numbers < n, numbers, -1).astype(np.int32)


def _theta(model: FittedModel, chain: Chain, found: dict[str, tuple[Scorer, Float]]) -> Float:
    theta = np.empty(chain.n_parameters, model.theta.dtype)
    for name, place in chain.views(theta).items():
        scorer = name.partition(".")[0]
        place[...] = found[scorer][1] if scorer in found else model.params[name]
    return theta
