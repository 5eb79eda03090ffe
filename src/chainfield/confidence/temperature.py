"""The best temperature: one number by which scores are divided before they become probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def best_temperature(
    loss: Callable[[float], float], least: float = 0.05, most: float = 20.0, n_steps: int = 60
) -> float:
    """The T with the least loss, by golden section over log T: a log-loss has one minimum."""
    lo, hi, ratio = np.log(least), np.log(most), (np.sqrt(5) - 1) / 2
    for _ in range(n_steps):
        a, b = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        lo, hi = (lo, b) if loss(float(np.exp(a))) < loss(float(np.exp(b))) else (a, hi)
    return float(np.exp((lo + hi) / 2))
