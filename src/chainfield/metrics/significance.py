"""Is the difference real? Intervals and tests for scores on one test set.

Tokens of one sequence are not independent, so the bootstrap draws whole sequences (Efron and Tibshirani 1993,
An Introduction to the Bootstrap, chapters 13 and 16).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, Literal

import numpy as np

from chainfield.arrays import Bool, Float, Int
from chainfield.errors import ConfigError

from .resampling import Interval, Metric, bootstrap, group_numbers, statistic_of
from .span_counts import Sequences, check_aligned, correct_token_counts, token_counts

_EXACT_BELOW = 25


@dataclass(frozen=True)
class Comparison:
    """Predictions a against predictions b.

    ``difference`` is the score of a minus the score of b. ``p_value`` is two-sided: how probable a difference
    at least this large would be if a and b were equally good. McNemar's test gives ``n01``, the number of
    units that are wrong in a and right in b, and ``n10``, the other way round; the bootstrap gives
    ``interval``, that of the difference.
    """

    method: Literal["mcnemar", "mcnemar-exact", "paired-bootstrap"]
    difference: float
    statistic: float
    p_value: float
    n01: int | None = None
    n10: int | None = None
    interval: Interval | None = None


def mcnemar(
    y_true: Sequences,
    y_pred_a: Sequences,
    y_pred_b: Sequences,
    unit: Literal["token", "sequence"] = "token",
    exact: bool | None = None,
) -> Comparison:
    """McNemar's test on the units that only one of two predictions gets right.

    With ``exact`` (by default when there are fewer than 25 such units) it is the binomial test of n01 against
    n01 + n10 at 1/2, and the statistic is min(n01, n10). Otherwise the statistic is
    ``(|n01 - n10| - 1)^2 / (n01 + n10)``, chi-squared with one degree of freedom (McNemar 1947, with the
    correction of Edwards 1948). The test takes units as independent; tokens of one sequence are not quite,
    so prefer ``unit="sequence"`` or ``paired_bootstrap`` where a result is close.
    """
    check_aligned(y_true, y_pred_a, "y_pred_a")
    check_aligned(y_true, y_pred_b, "y_pred_b")
    if unit not in ("token", "sequence"):
        raise ConfigError(f"Unknown unit {unit!r}: use 'token' or 'sequence'.")
    right_a, right_b = _right(y_true, y_pred_a, unit), _right(y_true, y_pred_b, unit)
    n01, n10 = int((~right_a & right_b).sum()), int((right_a & ~right_b).sum())
    n_units, n_differ = right_a.size, n01 + n10
    is_exact = n_differ < _EXACT_BELOW if exact is None else exact
    statistic = float(min(n01, n10)) if is_exact else 0.0
    p_value = 1.0
    if n_differ:
        # scipy.stats takes long to import, and only these tests need it.
        from scipy.stats import binomtest, chi2

        if is_exact:
            p_value = float(binomtest(n01, n_differ, 0.5).pvalue)
        else:
            statistic = max(abs(n01 - n10) - 1, 0) ** 2 / n_differ
            p_value = float(chi2.sf(statistic, df=1))
    return Comparison(
        method="mcnemar-exact" if is_exact else "mcnemar",
        difference=(n10 - n01) / n_units if n_units else 0.0,
        statistic=statistic,
        p_value=p_value,
        n01=n01,
        n10=n10,
    )


def bootstrap_interval(
    y_true: Sequences,
    y_pred: Sequences,
    metric: Metric = "span_f1",
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: int | np.random.Generator = 0,
    *,
    scheme: str = "conlleval",
    groups: Sequence[Any] | None = None,
) -> Interval:
    """A score with its percentile bootstrap interval, from sequences drawn with replacement.

    ``scheme`` is the reading of spans behind ``"span_f1"``. ``groups`` names the group of each sequence, such as its
    document: whole groups are then drawn. At least two are needed.
    """
    statistic = statistic_of(y_true, y_pred, metric, scheme, groups=groups)
    interval, _ = bootstrap(statistic, group_numbers(groups, len(y_true))[1], n_resamples, level, random_state)
    return interval


def paired_bootstrap(
    y_true: Sequences,
    a: Sequences,
    b: Sequences,
    metric: Metric = "span_f1",
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: int | np.random.Generator = 0,
    *,
    scheme: str = "conlleval",
    groups: Sequence[Any] | None = None,
) -> Comparison:
    """The difference of two scores on the same sequences, its interval and its p-value.

    Both are scored on the same resamples (Koehn 2004). The statistic is the difference itself. The p-value
    inverts the percentile interval: twice the smaller share of resamples on one side of zero, with one added
    to count and total, so it is never below 2 / (n_resamples + 1). ``groups``: as in :func:`bootstrap_interval`.
    """
    score_a = statistic_of(y_true, a, metric, scheme, "a", groups)
    score_b = statistic_of(y_true, b, metric, scheme, "b", groups)

    def difference(index: Int) -> Float:
        return score_a(index) - score_b(index)

    interval, drawn = bootstrap(difference, group_numbers(groups, len(y_true))[1], n_resamples, level, random_state)
    n_side = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return Comparison(
        method="paired-bootstrap",
        difference=interval.estimate,
        statistic=interval.estimate,
        p_value=min(1.0, 2 * (n_side + 1) / (drawn.size + 1)),
        interval=interval,
    )


def _right(y_true: Sequences, y_pred: Sequences, unit: str) -> Bool:
    if unit == "sequence":
        return np.equal(correct_token_counts(y_true, y_pred), token_counts(y_true))
    pairs = zip(y_true, y_pred, strict=True)
    return np.array([right for gold, labels in pairs for right in map(eq, gold, labels)], dtype=bool)
