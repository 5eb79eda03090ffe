"""Conformal prediction: a threshold learned on held-out data, by which sets hold the truth with probability 1 - α.

Whatever the model and the data, if the n scores of held-out examples and the score of a new one could have come in any
order, the new one is at most the ⌈(n + 1)(1 - α)⌉-th smallest with probability 1 - α or more (Vovk et al. 2005).
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from chainfield.errors import ConfigError, DataError


def conformal_threshold(scores: Any, alpha: float) -> float:
    """The threshold of scores of held-out examples; infinite if there are too few of them for this α."""
    found = np.sort(np.asarray(scores, float))
    if not 0 < alpha < 1:
        raise ConfigError(f"alpha is {alpha!r}; the share of misses, between 0 and 1, is expected.")
    if found.ndim != 1 or not len(found) or np.isnan(found).any():
        raise DataError("There are no held-out scores to learn a threshold from, or some are not numbers.")
    rank = ceil((len(found) + 1) * (1 - alpha))
    return float("inf") if rank > len(found) else float(found[rank - 1])
