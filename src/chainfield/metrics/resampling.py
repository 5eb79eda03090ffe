"""Resampling of sequences: a score as a function of which sequences were drawn, and its bootstrap.

Every named metric is a ratio of sums over sequences: the counts of each sequence are taken once, and a
resample only adds them up. Shapes: S sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError, DataError

from .span_counts import Sequences, check_aligned, check_spans, correct_token_counts, count, token_counts

Metric = Literal["span_f1", "token_accuracy", "sequence_accuracy"] | Callable[[Sequences, Sequences], float]
"""A metric by name, or a function of gold and predicted sequences (called anew for each resample: slower)."""

Statistic = Callable[[Int], Float]
"""Scores, shape (...), of drawn sequences, given by their indices, shape (..., S)."""

# Resamples are drawn in batches of at most this many sequence indices, which bounds the memory.
_BATCH = 1 << 21


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its confidence interval."""

    estimate: float
    low: float
    high: float


def group_numbers(groups: Sequence[Any] | None, n_sequences: int) -> tuple[Int, int]:
    """(S,) the number of each sequence's group, in the order in which groups appear, and how many there are.

    Without groups, every sequence is one by itself.
    """
    if groups is None:
        return np.arange(n_sequences), n_sequences
    if len(groups) != n_sequences:
        raise DataError(f"There are {n_sequences} sequences but {len(groups)} groups: name one group for each of them.")
    number: dict[Any, int] = {}
    return np.array([number.setdefault(group, len(number)) for group in groups], np.int64), len(number)


def statistic_of(
    y_true: Sequences,
    y_pred: Sequences,
    metric: Metric,
    scheme: str,
    name: str = "y_pred",
    groups: Sequence[Any] | None = None,
) -> Statistic:
    """The metric of these predictions as a function of drawn sequences, or groups; ``name``: theirs in messages."""
    check_aligned(y_true, y_pred, name)
    unit, n_units = group_numbers(groups, len(y_true))
    if callable(metric):
        return _called(metric, y_true, y_pred, [np.flatnonzero(unit == g) for g in range(n_units)])

    def ratio_of_sums(above: Int, below: Int) -> Statistic:
        return _ratio_of_sums(*(np.bincount(unit, part, n_units).astype(np.int64) for part in (above, below)))

    if metric == "span_f1":
        counts = count(y_true, y_pred, scheme, name)
        check_spans(y_true)
        return ratio_of_sums(2 * counts.correct_spans, counts.gold_spans + counts.predicted_spans)
    right, tokens = correct_token_counts(y_true, y_pred), token_counts(y_true)
    if metric == "token_accuracy":
        return ratio_of_sums(right, tokens)
    if metric == "sequence_accuracy":
        return ratio_of_sums((right == tokens).astype(np.int64), np.ones_like(tokens))
    raise ConfigError(f"Unknown metric {metric!r}: use 'span_f1', 'token_accuracy', 'sequence_accuracy' or a function.")


def _ratio_of_sums(numerator: Int, denominator: Int) -> Statistic:
    def statistic(index: Int) -> Float:
        above, below = numerator[index].sum(axis=-1), denominator[index].sum(axis=-1)
        # Where the denominator is zero the numerator is too, which gives the 0.0 of conlleval.
        return np.asarray(above / np.maximum(below, 1), dtype=np.float64)

    return statistic


def _called(
    metric: Callable[[Sequences, Sequences], float], y_true: Sequences, y_pred: Sequences, members: list[Int]
) -> Statistic:
    def statistic(index: Int) -> Float:
        rows = [np.concatenate([members[g] for g in row]) for row in index.reshape(-1, index.shape[-1])]
        scores = [metric([y_true[i] for i in row], [y_pred[i] for i in row]) for row in rows]
        return np.array(scores, dtype=np.float64).reshape(index.shape[:-1])

    return statistic


def check_resampling(n_units: int, n_resamples: int, level: float, what: str = "sequences") -> None:
    """Refuse what nothing can be drawn from."""
    if n_units < 2:
        raise DataError(f"A bootstrap draws from at least two {what}, got {n_units}: give more data.")
    if n_resamples < 1:
        raise ConfigError(f"n_resamples is {n_resamples}: use at least 1, better 1000.")
    if not 0 < level < 1:
        raise ConfigError(f"level is {level}: give the confidence as a number between 0 and 1, such as 0.95.")


def bootstrap(
    statistic: Statistic,
    n_units: int,
    n_resamples: int,
    level: float,
    random_state: int | np.random.Generator,
) -> tuple[Interval, Float]:
    """Estimate, percentile interval and resampled scores, shape (n_resamples,), of a statistic."""
    check_resampling(n_units, n_resamples, level)
    # scipy.stats takes long to import, and only the tests of significance need it.
    from scipy import stats

    # SciPy renamed the argument in 1.15.
    seed = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"
    options: dict[str, Any] = {seed: np.random.default_rng(random_state)}
    everything = np.arange(n_units)
    result = stats.bootstrap(
        (everything,),
        lambda index, axis: statistic(np.moveaxis(index, axis, -1)),
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, _BATCH // n_units),
        confidence_level=level,
        method="percentile",
        **options,
    )
    low, high = result.confidence_interval
    drawn = np.asarray(result.bootstrap_distribution, dtype=np.float64)
    return Interval(estimate=float(statistic(everything)), low=float(low), high=float(high)), drawn
