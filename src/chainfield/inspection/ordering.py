"""An order of states that shows the blocks of their transition matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int


def block_order(scores: Float, groups: Sequence[Any]) -> Int:
    """(R,) states, those of a group together; within a group, neighbours have like rows and like columns.

    Average linkage of the states' scores, to and from all others, with the leaves turned so that neighbours are alike
    (Bar-Joseph, Gifford and Jaakkola 2001). Scores of -inf count as less than any other.
    """
    finite = scores[np.isfinite(scores)]
    floor = finite.min() - 1.0 if len(finite) else 0.0
    filled = np.where(np.isfinite(scores), scores, floor)
    profile = np.concatenate([filled, filled.T], axis=1)  # (R, 2R)
    members: dict[Any, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    return np.array([i for own in members.values() for i in _line_up(profile, np.array(own))], np.int64)


def _line_up(profile: Float, own: Int) -> list[int]:
    if len(own) < 3:
        return own.tolist()
    from scipy.cluster.hierarchy import leaves_list, linkage

    tree = linkage(profile[own], "average", optimal_ordering=len(own) <= 600)
    return own[leaves_list(tree)].tolist()
