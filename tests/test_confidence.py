"""Calibration and conformal sets: what they promise holds, in simulation and on a model."""

from __future__ import annotations

import json

import numpy as np
import pytest

import chainfield
from chainfield import LinearCRF, TextTagger
from chainfield.confidence import Calibration, SequenceSets, conformal_threshold, fit_calibration
from chainfield.errors import ConfigError, DataError, ModelFileError
from chainfield.text import SpanSets
from support.texts import corpus
from test_commands import run


def calibration_error(p: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """The mean distance between probability and accuracy, over bins of equal width."""
    which = np.minimum((p * bins).astype(int), bins - 1)
    return float(sum(abs((p - right)[which == b].sum()) for b in range(bins)) / len(p))


@pytest.mark.parametrize("method", ["auto", "isotonic", "temperature"])
def test_calibration_halves_the_error(method: str) -> None:
    rng = np.random.default_rng(0)
    true = rng.uniform(0.02, 0.98, 6000)
    logit = np.log(true / (1 - true))
    p, right = 1 / (1 + np.exp(-2.5 * logit)), rng.random(6000) < true  # too sure of itself
    found = fit_calibration(p[:3000], right[:3000], method=method)
    before = calibration_error(p[3000:], right[3000:])
    after = calibration_error(found.apply(p[3000:]), right[3000:])
    assert after < 0.5 * before
    assert after < 0.03
    assert np.all(np.diff(found.apply(np.linspace(0, 1, 101))) >= 0)
    if method != "isotonic":
        assert found.shared.knots[0, 0] == pytest.approx(2.5, rel=0.1)
    again = Calibration.restore(json.loads(json.dumps(found.describe())))
    np.testing.assert_array_equal(again.apply(p), found.apply(p))


def test_good_probabilities_stay_as_they_are() -> None:
    rng = np.random.default_rng(3)
    p = rng.beta(6, 1, 6000)  # as those of taggers are: most of them near 1
    right, labels = rng.random(6000) < p, rng.choice(["a", "b", "c"], 6000).tolist()
    found = fit_calibration(p, right, labels)
    np.testing.assert_allclose(found.apply(p, labels), p, rtol=1e-6)
    bent = fit_calibration(p, rng.random(6000) < p**3, labels)  # no temperature does that
    assert len(bent.shared.knots) == 2
    one = fit_calibration(p, rng.random(6000) < np.where(np.array(labels) == "b", p**3, p), labels)
    assert set(one.labels) == {"b"} or len(one.shared.knots) == 2


def test_labels_with_enough_answers_have_maps_of_their_own() -> None:
    rng = np.random.default_rng(1)
    p, labels = np.full(1000, 0.8), np.array(["a", "b"] * 500)
    right = rng.random(1000) < np.where(labels == "a", 0.9, 0.5)
    found = fit_calibration(p, right, labels.tolist(), per_label=300)
    assert found.apply([0.8, 0.8, 0.8], ["a", "b", "c"]) == pytest.approx([0.9, 0.5, 0.7], abs=0.05)
    assert not fit_calibration(p, right, labels.tolist(), per_label=600).labels


@pytest.mark.parametrize(
    ("p", "right", "message"),
    [
        ([0.5] * 5, [1] * 5, "needs 20 answers or more on held-out data, but there are 5"),
        ([1.5] * 30, [1] * 30, "probabilities from 0 to 1"),
        ([0.5] * 30, [2] * 30, "right or wrong"),
        ([float("nan")] * 30, [1] * 30, "probabilities from 0 to 1"),
        ([0.5] * 30, [1] * 29, "as many outcomes"),
    ],
)
def test_bad_calibration_data(p: list[float], right: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        fit_calibration(p, right)
    with pytest.raises(ConfigError, match="There is no calibration 'platt'"):
        fit_calibration([0.5] * 30, [1] * 30, method="platt")


@pytest.mark.parametrize(
    "config",
    [
        {"method": "?", "shared": [[1.0]], "labels": {}},
        {"method": "temperature", "shared": [[0.0]], "labels": {}},
        {"method": "temperature", "shared": [[float("nan")]], "labels": {}},
        {"method": "isotonic", "shared": [[0.5, 0.1], [0.0, 1.0]], "labels": {}},
        {"method": "isotonic", "shared": [[0.0, 1.0], [0.0, 7.0]], "labels": {}},
        {"method": "isotonic", "shared": [[0.0], [0.0, 1.0]], "labels": {}},
        {"method": "isotonic", "shared": "x", "labels": {}},
        {"method": "isotonic", "shared": [[0.0], [0.5]], "labels": {"a": 3}},
    ],
)
def test_hostile_calibrations(config: dict) -> None:
    with pytest.raises(ValueError):
        Calibration.restore(config)


def test_the_threshold_covers_as_promised() -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        scores = rng.normal(size=120)
        covered.append(np.mean(rng.normal(size=200) <= conformal_threshold(scores, 0.1)))
    assert np.mean(covered) == pytest.approx(np.ceil(121 * 0.9) / 121, abs=0.01)
    assert conformal_threshold([0.1, 0.2], 0.1) == np.inf
    with pytest.raises(ConfigError, match="alpha is 1"):
        conformal_threshold([0.1], 1)
    with pytest.raises(DataError, match="no held-out scores"):
        conformal_threshold([], 0.1)


def noisy(n: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Words that tell their label three times in four."""
    rng = np.random.default_rng(seed)
    y = [rng.choice(["a", "b", "c"], size=3).tolist() for _ in range(n)]
    X = [[label if rng.random() < 0.75 else rng.choice(["a", "b", "c"]) for label in labels] for labels in y]
    return X, y


def test_sets_of_sequences_hold_the_truth() -> None:
    model = LinearCRF(l2=0.1).fit(*noisy(300, 0))
    X, y = noisy(900, 1)
    order, coverage, sizes = np.random.default_rng(2), [], []
    for _ in range(4):
        mixed = order.permutation(900)
        some, rest = mixed[:400], mixed[400:]
        sets = SequenceSets.fit(model, [X[i] for i in some], [y[i] for i in some], alpha=0.2)
        found = sets.predict([X[i] for i in rest])
        coverage.append(np.mean([y[i] in one for i, one in zip(rest, found, strict=True)]))
        sizes.append(np.mean([len(one) for one in found]))
        assert all(one.complete for one in found)
    assert np.mean(coverage) == pytest.approx(0.8, abs=0.03)
    assert 1 < np.mean(sizes) < 27
    with pytest.raises(DataError, match="X has 2 sequences, but y has 1"):
        SequenceSets.fit(model, X[:2], y[:1])
    with pytest.raises(ConfigError, match="n is 0"):
        SequenceSets.fit(model, X[:2], y[:2], n=0)


@pytest.fixture(scope="module")
def tagger() -> TextTagger:
    texts, spans = corpus(25, 5)
    return TextTagger(model=LinearCRF(l2=2.0)).fit(texts, spans)


def test_a_tagger_of_text_is_calibrated(tagger: TextTagger, tmp_path) -> None:
    texts, spans = corpus(150, 6)
    before = tagger.predict(texts)
    tagger.calibrate(texts, spans)
    after = tagger.predict(texts)
    assert [[s.span for s in own] for own in before] == [[s.span for s in own] for own in after]
    pairs = [
        (s.probability, s.span in set(map(tuple, gold))) for own, gold in zip(after, spans, strict=True) for s in own
    ]
    p, right = map(np.array, zip(*pairs, strict=True))
    raw = np.array([s.probability for own in before for s in own])
    assert calibration_error(p, right) < 0.5 * calibration_error(raw, right)
    tagger.save(tmp_path / "text.cf")
    again = chainfield.load(tmp_path / "text.cf")
    assert again.predict(texts) == after
    tagger.calibration_ = None
    bad = {**tagger.reader_.describe(), "calibration": {"method": "isotonic"}}
    tagger.model_.save(tmp_path / "bad.cf", wrapper=bad)
    with pytest.raises(ModelFileError, match=r"bad\.cf"):
        chainfield.load(tmp_path / "bad.cf")


def test_sets_of_labels(tagger: TextTagger) -> None:
    texts, spans = corpus(120, 7)
    sets = SpanSets.fit(tagger, texts, spans, alpha=0.1)
    held_texts, held = corpus(200, 8)
    found = sets.predict(held_texts)
    inside = []
    for own, gold in zip(found, held, strict=True):
        right = {(a, b): label for a, b, label in gold}
        inside += [right.get((span.start, span.end), "none") in labels for span, labels in own]
    assert np.mean(inside) > 0.86  # the best label alone is right more often than that: sets are never empty
    with pytest.raises(DataError, match="finds no span"):
        SpanSets.fit(tagger, ["x"], [[]])


def test_what_to_review_first(tagger: TextTagger, tmp_path) -> None:
    texts, _ = corpus(30, 9)
    sure = tagger.certainty([*texts, "", "x"])
    assert sure[30] == 1.0
    assert all(0 < p <= 1 for p in sure)
    split = TextTagger(model=tagger.model, sentences=True).fit(*corpus(25, 5))
    assert all(0 < p <= 1 for p in split.certainty(["", "Bob. Rome.", "\n"]))
    tagger.save(tmp_path / "m.cf")
    (tmp_path / "t.txt").write_text("\n".join(text.replace("\n", " ") for text in texts) + "\n", encoding="utf-8")
    result = run("tag", str(tmp_path / "m.cf"), str(tmp_path / "t.txt"), "--text", "--review", "3")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    plain = tagger.certainty([text.replace("\n", " ") for text in texts])
    assert [one["meta"]["document"] for one in found] == np.argsort(plain, kind="stable")[:3].tolist()
    assert run("tag", str(tmp_path / "m.cf"), "--text", "--review", "0").code == 1
