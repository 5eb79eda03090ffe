"""The temperature of models that are trained by maxima: their probabilities mean something, and labels stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chainfield import LinearCRF, load
from chainfield.confidence.temperature import best_temperature
from chainfield.errors import ConfigError, ModelFileError
from chainfield.files.container import read_container, write_container
from chainfield.models.score_scale import crossfit_temperature, fit_temperature

Data = tuple[list[list[str]], list[list[str]]]


def draw(n: int, seed: int) -> Data:
    """Words that belong to one of three tags, one time in four to another: nobody can be sure."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        tags = rng.integers(3, size=6)
        shown = np.where(rng.random(6) < 0.25, rng.integers(3, size=6), tags)
        X.append([f"w{3 * rng.integers(4) + tag}" for tag in shown])
        y.append([f"T{tag}" for tag in tags])
    return X, y


TRAIN, TEST = draw(300, 0), draw(150, 1)


def token_gap(model: LinearCRF) -> float:
    """How much surer the model is of its labels than it is right."""
    sure = np.concatenate([shares.max(axis=1) for shares in model.predict_marginals(TEST[0])])
    return float(sure.mean() - model.score(*TEST))


@pytest.mark.parametrize("objective", ["perceptron", "large_margin"])
def test_maxima_get_a_scale(objective: str) -> None:
    plain = LinearCRF(objective=objective, temperature=1.0).fit(*TRAIN)
    scaled = LinearCRF(objective=objective).fit(*TRAIN)
    np.testing.assert_array_equal(plain.tagger_.theta, scaled.tagger_.theta)
    assert plain.predict(TEST[0]) == scaled.predict(TEST[0])
    assert token_gap(plain) > 0.15
    assert abs(token_gap(scaled)) < 0.14  # noise features: the smaller model is less sure than the larger could be
    assert scaled.log_likelihood(*TEST).mean() > plain.log_likelihood(*TEST).mean() + 1.0
    best = scaled.predict_n_best(TEST[0][:3], 2)
    for x, paths in zip(TEST[0], best, strict=False):
        for labels, probability in paths:
            assert np.exp(scaled.log_likelihood([x], [labels])[0]) == pytest.approx(probability, rel=1e-8)
    for x, sure in zip(TEST[0][:3], scaled.predict_confidence(TEST[0][:3]), strict=True):
        assert sure.sequence == pytest.approx(np.exp(scaled.log_likelihood([x], [sure.labels])[0]), rel=1e-8)


def test_development_data_decide() -> None:
    model = LinearCRF(objective="perceptron").fit(*TRAIN, X_dev=TEST[0], y_dev=TEST[1])
    plain = replace(model.tagger_, temperature=1.0)
    assert model.tagger_.temperature == pytest.approx(fit_temperature(plain, *TEST), rel=1e-6)
    values = [replace(plain, temperature=t).log_likelihood(*TEST).sum() for t in (0.8, 1.0, 1.25)]
    best = replace(plain, temperature=model.tagger_.temperature).log_likelihood(*TEST).sum()
    assert best >= max(values)


def test_likelihoods_have_a_scale() -> None:
    assert LinearCRF(max_iter=3).fit(*TRAIN).tagger_.temperature == 1.0
    assert LinearCRF(max_iter=3, temperature=2.5).fit(*TRAIN).tagger_.temperature == 2.5


@pytest.mark.parametrize("n", [1, 5, 19])
def test_too_little_data(n: int) -> None:
    X, y = TRAIN
    assert LinearCRF(objective="perceptron").fit(X[:n], y[:n]).tagger_.temperature == 1.0


def test_unknown_labels_and_weights() -> None:
    X, y = TRAIN
    holes = [[None if t == 0 else label for t, label in enumerate(labels)] for labels in y]
    model = LinearCRF(objective="perceptron")
    assert crossfit_temperature(model, X, holes, np.ones(len(X)), 0) > 1.0
    rare = [*y[:-1], ["NEW"] * 6]  # a label that the smaller model may not know
    assert LinearCRF(objective="perceptron").fit(X, rare).tagger_.temperature > 1.0


def test_going_on_keeps_it() -> None:
    model = LinearCRF(objective="perceptron").fit(*TRAIN)
    before = model.tagger_.temperature
    model.partial_fit(*TEST)
    assert model.tagger_.temperature == before


def test_files(tmp_path: Path) -> None:
    model = LinearCRF(objective="perceptron").fit(*TRAIN)
    path = tmp_path / "m.cf"
    model.save(path)
    again = load(path)
    assert again.tagger_.temperature == model.tagger_.temperature
    for a, b in zip(again.predict_marginals(TEST[0][:5]), model.predict_marginals(TEST[0][:5]), strict=True):
        np.testing.assert_array_equal(a, b)
    config, arrays, _ = read_container(path, "model", 99)
    for value in (0.0, -1.0, float("inf"), "hot", None):
        write_container(path, "model", 6, {**config, "temperature": value}, arrays)
        with pytest.raises(ModelFileError, match="temperature"):
            load(path)


@pytest.mark.parametrize("value", [0.0, -1.0, "hot", float("nan"), None])
def test_impossible_temperatures(value: object) -> None:
    with pytest.raises(ConfigError, match=r'^temperature is .*a number above 0, or "auto", is expected'):
        LinearCRF(temperature=value).fit(*TRAIN)


def test_the_minimum_is_found() -> None:
    assert best_temperature(lambda t: (np.log(t) - np.log(3.0)) ** 2) == pytest.approx(3.0, rel=1e-6)
