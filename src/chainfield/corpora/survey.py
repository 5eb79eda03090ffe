"""The dictionary of features of a corpus in pieces: each piece learns its own, and they are merged.

    survey of a piece → merged in the order of the pieces → rare features left out → one map for all

Features are numbered in order of first appearance, so that the result is the map that the whole corpus, learned at
once, would give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Int, Int32
from chainfield.errors import ConfigError, DataError
from chainfield.features.feature_map import FeatureMap

from .profile import Profile
from .source import Source

ChooseMap = Callable[[Sequence[Any]], FeatureMap]


@dataclass(frozen=True, eq=False)
class Survey:
    """What one or several pieces have: features with their counts, and labels."""

    source: str  # the first piece
    features: FeatureMap
    counts: Int  # (F,) positions at which a feature occurs
    edge_counts: Int
    profile: Profile


def survey_source(source: Source, choose: ChooseMap) -> Survey:
    """Read a piece and learn its features."""
    found = source.read()
    try:
        features = choose(found.sequences)
        batch = features.learn(found.sequences)
    except (DataError, ConfigError) as error:
        raise type(error)(f"{source.name}: {error}") from None
    return Survey(source.name, features, *features.count(batch), Profile.of(found.ragged, found.kinds, found.codes))


def join_surveys(ours: Survey, theirs: Survey) -> Survey:
    """Both together; the map of the first one takes the features of the other."""
    mine, other = ours.features, theirs.features
    if type(mine) is not type(other):
        raise DataError(
            f"{ours.source} has features of the kind {mine.kind}, but {theirs.source} those of the kind {other.kind}; "
            "all pieces of a corpus must be alike."
        )
    try:
        nodes, edges = mine.merge(other)
    except DataError as error:
        raise DataError(f"{ours.source} and {theirs.source} do not belong together: {error}") from None
    return Survey(
        ours.source,
        mine,
        _added(ours.counts, theirs.counts, nodes, mine.n_features),
        _added(ours.edge_counts, theirs.edge_counts, edges, mine.n_edge_features),
        ours.profile + theirs.profile,
    )


def _added(ours: Int, theirs: Int, numbers: Int32, n: int) -> Int:
    total = np.zeros(n, np.int64)
    total[: len(ours)] = ours
    np.add.at(total, numbers, theirs)
    return total


def settle(survey: Survey, min_count: int) -> FeatureMap:
    """The map of all features that occur often enough."""
    if min_count == 1:
        return survey.features
    found = survey.features.selected(_numbers(survey.counts, min_count), _numbers(survey.edge_counts, min_count))
    if found is None:
        raise ConfigError(f"Features of the kind {survey.features.kind} cannot be left out; use min_count=1.")
    return found


def _numbers(counts: Int, min_count: int) -> Int32:
    """The new number of each feature, -1 for rare ones."""
    often = counts >= min_count
    return np.where(often, np.cumsum(often) - 1, -1).astype(np.int32)
