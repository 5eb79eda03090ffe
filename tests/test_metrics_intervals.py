"""Intervals per type by groups, reliability and coverage: by hand, and against a bootstrap written out in full."""

from __future__ import annotations

import numpy as np
import pytest

from chainfield.errors import ConfigError, DataError
from chainfield.metrics import (
    bootstrap_interval,
    coverage,
    evaluate,
    paired_bootstrap,
    reliability,
    score_intervals,
    span_f1,
)

NAMES = ["O", "B-X", "I-X", "B-Y", "I-Y"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    gold = [rng.choice(NAMES, n).tolist() for n in rng.integers(2, 9, 80)]
    guess = [[str(rng.choice(NAMES)) if rng.random() < 0.3 else y for y in labels] for labels in gold]
    return gold, guess, (np.arange(80) // 8).tolist()


def test_estimates_are_those_of_evaluate(data):
    gold, guess, _ = data
    report, found = evaluate(gold, guess), score_intervals(gold, guess, n_resamples=50)
    assert found.of_spans
    assert (found.unit, found.n_units) == ("sequence", 80)
    for name, score in {**report.spans.types, "all": report.spans.micro}.items():
        own = found.all if name == "all" else found.types[name]
        assert own.score == score
        for what in ("precision", "recall", "f1"):
            interval = getattr(own, what)
            assert interval.estimate == getattr(score, what)
            assert interval.low <= interval.estimate <= interval.high


def test_groups_by_a_bootstrap_written_out(data):
    gold, guess, groups = data
    found = score_intervals(gold, guess, groups=groups, n_resamples=300, random_state=1)
    assert (found.unit, found.n_units) == ("group", 10)
    rng, drawn = np.random.default_rng(1), []
    for row in rng.integers(10, size=(300, 10)):
        picked = [i for g in row for i in range(80) if groups[i] == g]
        scores = evaluate([gold[i] for i in picked], [guess[i] for i in picked]).spans
        drawn.append((scores.types["X"].precision, scores.types["Y"].recall, scores.micro.f1))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    own = (found.types["X"].precision, found.types["Y"].recall, found.all.f1)
    np.testing.assert_allclose([i.low for i in own], low, rtol=1e-12)
    np.testing.assert_allclose([i.high for i in own], high, rtol=1e-12)


def test_alike_sentences_of_a_group_widen_intervals(data):
    gold, guess, _ = data
    many_gold, many_guess = [y for y in gold for _ in range(10)], [y for y in guess for _ in range(10)]
    groups = [i for i in range(80) for _ in range(10)]
    alone = score_intervals(many_gold, many_guess, n_resamples=400)
    together = score_intervals(many_gold, many_guess, groups=groups, n_resamples=400)
    width = [found.all.f1.high - found.all.f1.low for found in (alone, together)]
    assert 2 < width[1] / width[0] < 5  # √10
    plain = bootstrap_interval(many_gold, many_guess, groups=groups, n_resamples=400)
    assert plain.high - plain.low == pytest.approx(width[1], rel=0.2)
    called = bootstrap_interval(gold, guess, span_f1, n_resamples=20, groups=list(range(80)))
    assert called == bootstrap_interval(gold, guess, n_resamples=20)
    assert paired_bootstrap(gold, guess, guess, groups=groups[::10]).difference == 0.0


def test_plain_labels():
    found = score_intervals([["a", "b"], ["a"]], [["a", "a"], ["a"]], n_resamples=20)
    assert not found.of_spans
    assert found.all.f1.estimate == pytest.approx(2 / 3, rel=1e-12)
    assert (found.types["b"].score.support, found.types["b"].score.predicted) == (1, 0)
    assert (found.types["b"].precision.low, found.types["b"].precision.high) == (0.0, 1.0)  # nothing is known


def test_what_cannot_be_resampled_is_refused(data):
    gold, guess, groups = data
    with pytest.raises(DataError, match="80 sequences but 79 groups"):
        score_intervals(gold, guess, groups=groups[:-1])
    with pytest.raises(DataError, match="at least two groups, got 1"):
        score_intervals(gold, guess, groups=[0] * 80)
    with pytest.raises(ConfigError, match="level is 95"):
        score_intervals(gold, guess, level=95)


def test_reliability_by_hand():
    found = reliability([0.05, 0.15, 0.12, 1.0, 0.95], [0, 0, 1, 1, 1])
    assert [(b.low, b.count, b.share.estimate) for b in found.bins] == [(0.0, 1, 0.0), (0.1, 2, 0.5), (0.9, 2, 1.0)]
    assert found.error == pytest.approx((0.05 + 2 * (0.5 - 0.135) + 2 * 0.025) / 5, rel=1e-12)
    assert (found.count, found.share) == (5, 0.6)
    # Wilson (1927): 1 of 2 at z = 1.96.
    assert found.bins[1].share.low == pytest.approx(0.0945, abs=1e-4)
    assert found.bins[1].share.high == pytest.approx(0.9055, abs=1e-4)


def test_honest_probabilities_have_no_error():
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    right = rng.random(200_000) < p
    assert reliability(p, right).error < 0.01
    assert reliability(p**2, right).error > 0.1
    assert reliability([], []).error == 0.0


def test_coverage_by_hand():
    points = coverage([0.9, 0.2, 0.5, 0.5], [True, False, True, False], n_gold=4)
    assert [(q.threshold, q.kept, q.precision, q.recall) for q in points] == [
        (0.2, 1.0, 0.5, 0.5),
        (0.5, 0.75, 2 / 3, 0.5),
        (0.9, 0.25, 1.0, 0.25),
    ]
    many = coverage(np.linspace(0, 1, 1000), np.ones(1000), n_gold=1000, n_points=11)
    assert len(many) == 11
    assert many[0].threshold == 0.0
    assert many[-1].threshold == 1.0
    assert coverage([], [], n_gold=3) == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reliability([0.5], [True, False]), "one probability and one truth value"),
        (lambda: reliability([1.5], [True]), "Answer 0 has the probability 1.5"),
        (lambda: reliability([float("nan")], [True]), "must lie between 0 and 1"),
        (lambda: coverage([0.5, 0.4], [True, True], n_gold=1), "n_gold is 1, but 2 answers are right"),
    ],
)
def test_bad_probabilities(call, message):
    with pytest.raises(DataError, match=message):
        call()
