"""Counts of a corpus in pieces: every piece is counted where it lies, and counts are added along the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.corpora.profile import Profile
from chainfield.corpora.source import Source
from chainfield.features.feature_map import FeatureMap

from .counts import Counts


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts with the features that they number, and what is known of labels."""

    features: FeatureMap
    counts: Counts
    profile: Profile


def count_source(source: Source, model: Any) -> Counted:
    """Read a piece and count it, as a model's settings say."""
    found = source.read()
    features = model._map(found.sequences)
    tally = model._tally(features)
    tally.add(found.sequences, found.ragged.cut([found.kinds[c] for c in found.codes.tolist()]))
    return Counted(features, tally.counts(), Profile.of(found.ragged, found.kinds, found.codes))


def join_counted(ours: Counted, theirs: Counted) -> Counted:
    """Both together; the map of the first one takes the features of the other."""
    numbers, _ = ours.features.merge(theirs.features)
    counts = ours.counts + theirs.counts.renumbered(numbers.astype(np.int64))
    return Counted(ours.features, counts, ours.profile + theirs.profile)
