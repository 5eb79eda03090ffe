"""Tests of significance by hand, against scipy, and against a bootstrap written out in full."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from chainfield.errors import ConfigError, DataError
from chainfield.metrics import bootstrap_interval, mcnemar, paired_bootstrap, sequence_accuracy, span_f1, token_accuracy

METRICS = {"span_f1": span_f1, "token_accuracy": token_accuracy, "sequence_accuracy": sequence_accuracy}
LABELS = np.array(["O", "B-X", "I-X", "B-Y", "I-Y"])


def noisy(gold: list[list[str]], share: float, seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[str(rng.choice(LABELS)) if rng.random() < share else y for y in labels] for labels in gold]


@pytest.fixture(scope="module")
def gold() -> list[list[str]]:
    rng = np.random.default_rng(7)
    return [[str(y) for y in rng.choice(LABELS, size=rng.integers(1, 9))] for _ in range(60)]


def with_counts(n01: int, n10: int, n_both: int) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """Sequences of one token: a is wrong in n01 of them, b in n10 others, both are right in the rest."""
    n = n01 + n10 + n_both
    a = [["B" if i < n01 else "A"] for i in range(n)]
    b = [["B" if n01 <= i < n01 + n10 else "A"] for i in range(n)]
    return [["A"]] * n, a, b


@pytest.mark.parametrize("unit", ["token", "sequence"])
def test_mcnemar_by_hand(unit):
    result = mcnemar(*with_counts(n01=10, n10=30, n_both=60), unit=unit)
    assert (result.n01, result.n10, result.method) == (10, 30, "mcnemar")
    assert result.statistic == pytest.approx(19**2 / 40, rel=1e-15)
    # The tail of chi-squared with one degree of freedom is that of a squared normal.
    assert result.p_value == pytest.approx(2 * stats.norm.sf(19 / 40**0.5), rel=1e-12)
    assert result.difference == pytest.approx(0.2, rel=1e-15)
    assert result.interval is None


def test_mcnemar_exact_by_hand():
    result = mcnemar(*with_counts(n01=1, n10=5, n_both=4))
    assert (result.method, result.statistic) == ("mcnemar-exact", 1.0)
    # Two tails of six tosses with at most one head: 2 (1 + 6) / 64.
    assert result.p_value == pytest.approx(14 / 64, rel=1e-12)


@pytest.mark.parametrize(("n01", "n10", "exact"), [(12, 12, True), (12, 13, False)])
def test_mcnemar_is_exact_below_twenty_five(n01, n10, exact):
    assert mcnemar(*with_counts(n01, n10, 3)).method == ("mcnemar-exact" if exact else "mcnemar")


def test_mcnemar_exact_can_be_asked_for_and_refused():
    data = with_counts(n01=10, n10=30, n_both=0)
    exact = mcnemar(*data, exact=True)
    assert exact.p_value == pytest.approx(stats.binomtest(10, 40).pvalue, rel=1e-12)
    small = mcnemar(*with_counts(n01=1, n10=5, n_both=0), exact=False)
    assert small.p_value == pytest.approx(stats.chi2.sf(9 / 6, 1), rel=1e-12)


@pytest.mark.parametrize("exact", [None, True, False])
def test_mcnemar_of_equals_is_one(exact):
    assert mcnemar(*with_counts(0, 0, 5), exact=exact).p_value == 1.0
    # Without the floor at zero the correction would turn a tie into a difference.
    assert mcnemar(*with_counts(20, 20, 5), exact=exact).p_value == pytest.approx(1.0, rel=1e-12)
    assert mcnemar([], [], [], exact=exact).difference == 0.0


def test_mcnemar_units_differ():
    y_true, a, b = [["A", "A"], ["A", "A"]], [["A", "A"], ["B", "B"]], [["B", "B"], ["A", "B"]]
    tokens, sequences = mcnemar(y_true, a, b), mcnemar(y_true, a, b, unit="sequence")
    assert (tokens.n01, tokens.n10, tokens.difference) == (1, 2, 0.25)
    assert (sequences.n01, sequences.n10, sequences.difference) == (0, 1, 0.5)


def test_mcnemar_is_antisymmetric(gold):
    a, b = noisy(gold, 0.1, 1), noisy(gold, 0.3, 2)
    there, back = mcnemar(gold, a, b), mcnemar(gold, b, a)
    assert (
        there.difference
        == -back.difference
        == pytest.approx(token_accuracy(gold, a) - token_accuracy(gold, b), rel=1e-12)
    )
    assert (there.n01, there.n10, there.p_value) == (back.n10, back.n01, back.p_value)


@pytest.mark.parametrize("metric", METRICS)
def test_named_metrics_are_their_functions_on_every_resample(metric, gold):
    guess = noisy(gold, 0.2, 3)
    fast = bootstrap_interval(gold, guess, metric, n_resamples=50)
    slow = bootstrap_interval(gold, guess, METRICS[metric], n_resamples=50)
    assert fast.estimate == METRICS[metric](gold, guess)
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), rel=1e-12)
    assert fast.low < fast.estimate < fast.high


def test_interval_of_a_proportion_has_its_normal_width():
    # 200 sequences of one token, 140 right: the interval is 0.7 +- 1.96 sqrt(0.7 0.3 / 200).
    y_true, y_pred = [["A"]] * 200, [["A"]] * 140 + [["B"]] * 60
    interval = bootstrap_interval(y_true, y_pred, "token_accuracy", n_resamples=4000)
    half = 1.96 * (0.7 * 0.3 / 200) ** 0.5
    assert (interval.low, interval.high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.01)
    wider = bootstrap_interval(y_true, y_pred, "token_accuracy", n_resamples=4000, level=0.99)
    assert wider.low < interval.low < interval.high < wider.high


def test_whole_sequences_are_drawn():
    # Two sequences, one all right and one all wrong: only 0, 1/2 and 1 can come out.
    y_true, y_pred = [["A"] * 50, ["A"] * 50], [["A"] * 50, ["B"] * 50]
    interval = bootstrap_interval(y_true, y_pred, "token_accuracy", n_resamples=200)
    assert (interval.estimate, interval.low, interval.high) == (0.5, 0.0, 1.0)


def test_seed_decides_the_resamples(gold):
    guess = noisy(gold, 0.2, 3)
    first = bootstrap_interval(gold, guess, random_state=1)
    assert first == bootstrap_interval(gold, guess, random_state=1)
    assert first == bootstrap_interval(gold, guess, random_state=np.random.default_rng(1))
    assert first != bootstrap_interval(gold, guess, random_state=2)


def test_scheme_reaches_the_metric(gold):
    guess = noisy(gold, 0.2, 3)
    assert bootstrap_interval(gold, guess, n_resamples=2, scheme="iob2").estimate == span_f1(gold, guess, "iob2")
    assert span_f1(gold, guess, "iob2") != span_f1(gold, guess)


def test_resamples_without_spans_score_zero():
    interval = bootstrap_interval([["O"], ["O"]], [["O"], ["O"]], "span_f1", n_resamples=10)
    assert (interval.estimate, interval.low, interval.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("metric", [*METRICS, span_f1])
def test_paired_bootstrap_finds_a_large_difference(metric, gold):
    good, bad = noisy(gold, 0.02, 4), noisy(gold, 0.6, 5)
    result = paired_bootstrap(gold, good, bad, metric, n_resamples=99)
    score = metric if callable(metric) else METRICS[metric]
    assert result.method == "paired-bootstrap"
    assert result.difference == result.statistic == score(gold, good) - score(gold, bad)
    assert result.interval is not None
    assert 0 < result.interval.low < result.difference < result.interval.high
    assert result.p_value == pytest.approx(2 / 100, rel=1e-12)
    assert paired_bootstrap(gold, bad, good, metric, n_resamples=99).interval.high < 0


def test_paired_bootstrap_of_equals_is_one(gold):
    guess = noisy(gold, 0.3, 6)
    result = paired_bootstrap(gold, guess, guess)
    assert (result.difference, result.p_value) == (0.0, 1.0)
    assert result.interval is not None
    assert (result.interval.low, result.interval.high) == (0.0, 0.0)


def test_pairing_narrows_the_interval(gold):
    a = noisy(gold, 0.3, 6)
    b = [list(labels) for labels in a]
    b[0] = list(gold[0])
    b[1] = list(gold[1])
    paired = paired_bootstrap(gold, b, a, "token_accuracy").interval
    alone = bootstrap_interval(gold, a, "token_accuracy")
    assert paired is not None
    assert 0 < paired.high - paired.low < (alone.high - alone.low) / 2


def test_p_value_is_the_share_of_resamples_beyond_zero(gold):
    a, b = noisy(gold, 0.25, 8), noisy(gold, 0.27, 9)
    seen: list[float] = []

    def accuracy(y_true, y_pred):
        seen.append(token_accuracy(y_true, y_pred))
        return seen[-1]

    n = 40
    result = paired_bootstrap(gold, a, b, accuracy, n_resamples=n)
    # Scored first are the n resamples, those of a before those of b, and at last the data themselves.
    drawn = np.array(seen[:n]) - np.array(seen[n : 2 * n])
    assert result.difference == seen[-2] - seen[-1]
    side = min((drawn <= 0).sum(), (drawn >= 0).sum())
    assert side > 0
    assert result.p_value == pytest.approx(min(1, 2 * (side + 1) / (n + 1)), rel=1e-12)


def test_refusals(gold):
    with pytest.raises(DataError, match="at least two sequences, got 1"):
        bootstrap_interval(gold[:1], gold[:1])
    with pytest.raises(ConfigError, match="Unknown metric 'f2'"):
        bootstrap_interval(gold, gold, "f2")
    with pytest.raises(ConfigError, match="n_resamples is 0"):
        bootstrap_interval(gold, gold, n_resamples=0)
    with pytest.raises(ConfigError, match="level is 95"):
        bootstrap_interval(gold, gold, level=95)
    with pytest.raises(ConfigError, match="Unknown unit 'span'"):
        mcnemar(gold, gold, gold, unit="span")
    with pytest.raises(DataError, match="y_pred_b has 59"):
        mcnemar(gold, gold, gold[1:])
    with pytest.raises(DataError, match="but b has 59"):
        paired_bootstrap(gold, gold, gold[1:])
