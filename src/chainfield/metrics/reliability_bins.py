"""Can probabilities be believed, and what is gained by keeping only sure answers?

Both questions are about pairs: how probable an answer was said to be, and whether it was right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Bool, Float
from chainfield.errors import ConfigError, DataError

from .report import ratio
from .resampling import Interval


@dataclass(frozen=True)
class Bin:
    """Answers whose probability lies in [low, high): how many, their mean probability, and the share that is right.

    The interval of the share is Wilson's (1927).
    """

    low: float
    high: float
    count: int
    mean: float
    share: Interval


@dataclass(frozen=True)
class Reliability:
    """Said and true probabilities of ``count`` answers, in bins of equal width; empty bins are left out.

    ``error`` is the expected calibration error: the mean gap between probability and share over the bins, weighted by
    their numbers (Naeini, Cooper and Hauskrecht 2015).
    """

    bins: tuple[Bin, ...]
    count: int
    mean: float
    share: float
    error: float


def reliability(probability: Any, correct: Any, n_bins: int = 10, level: float = 0.95) -> Reliability:
    """How often answers are right, by how probable they were said to be."""
    if n_bins < 1:
        raise ConfigError(f"n_bins is {n_bins}: use at least 1, usually 10.")
    p, right = _checked(probability, correct)
    number = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    bins, error = [], 0.0
    for i in np.unique(number).tolist():
        own = number == i
        n, mean, share = int(own.sum()), float(p[own].mean()), float(right[own].mean())
        bins.append(Bin(i / n_bins, (i + 1) / n_bins, n, mean, wilson(int(right[own].sum()), n, level)))
        error += n * abs(mean - share)
    return Reliability(
        tuple(bins), len(p), ratio(float(p.sum()), len(p)), ratio(float(right.sum()), len(p)), ratio(error, len(p))
    )


def wilson(n_right: int, n: int, level: float = 0.95) -> Interval:
    """The share n_right / n and Wilson's interval for it."""
    if not 0 < level < 1:
        raise ConfigError(f"level is {level}: give the confidence as a number between 0 and 1, such as 0.95.")
    if n == 0:
        return Interval(0.0, 0.0, 1.0)
    from statistics import NormalDist

    z, share = NormalDist().inv_cdf(0.5 + level / 2), n_right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


@dataclass(frozen=True)
class CoveragePoint:
    """What is left if only answers of at least this probability are kept.

    ``kept`` is the share of answers, ``precision`` the share of the kept ones that are right, ``recall`` the share of
    all gold ones that are among them.
    """

    threshold: float
    kept: float
    precision: float
    recall: float


def coverage(probability: Any, correct: Any, n_gold: int, n_points: int = 101) -> tuple[CoveragePoint, ...]:
    """Precision and recall by threshold, from keeping everything to keeping the surest answers.

    ``n_gold``: how many right answers there are in all, found or not. At most ``n_points`` thresholds, each of them the
    probability of an answer; answers of equal probability are kept or dropped together.
    """
    if n_points < 2:
        raise ConfigError(f"n_points is {n_points}: at least 2 are needed for a curve.")
    p, right = _checked(probability, correct)
    if n_gold < right.sum():
        raise DataError(f"n_gold is {n_gold}, but {int(right.sum())} answers are right; count all gold ones.")
    if not len(p):
        return ()
    order = np.argsort(p, kind="stable")
    p, right = p[order], right[order]
    thresholds, first = np.unique(p, return_index=True)
    chosen = np.unique(np.linspace(0, len(thresholds) - 1, min(n_points, len(thresholds))).round().astype(np.int64))
    above = np.concatenate([np.cumsum(right[::-1])[::-1], [0]])  # (n+1,) right answers from here on
    points = []
    for i in chosen.tolist():
        at, n = int(first[i]), len(p) - int(first[i])
        good = int(above[at])
        points.append(CoveragePoint(float(thresholds[i]), n / len(p), good / n, ratio(good, n_gold)))
    return tuple(points)


def _checked(probability: Any, correct: Any) -> tuple[Float, Bool]:
    p, right = np.asarray(probability, np.float64), np.asarray(correct)
    if p.ndim != 1 or p.shape != right.shape:
        raise DataError(
            f"probability has the shape {p.shape} and correct the shape {right.shape}: "
            "give one probability and one truth value for each answer."
        )
    if len(p) and not ((p >= 0) & (p <= 1 + 1e-9)).all():
        at = int(np.argmin((p >= 0) & (p <= 1 + 1e-9)))
        raise DataError(f"Answer {at} has the probability {p[at]}: it must lie between 0 and 1.")
    return np.minimum(p, 1.0), right.astype(np.bool_)
