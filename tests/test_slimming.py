"""Large hidden-unit models: features that training did not move are left out, weights are kept in half precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chainfield import HiddenUnitCRF, load
from chainfield.errors import ModelFileError
from chainfield.files.container import read_container, write_container
from chainfield.models.hidden_units import slimming
from chainfield.models.hidden_units.slimming import slimmed


@pytest.fixture
def data() -> tuple[list[list[str]], list[list[str]]]:
    rng = np.random.default_rng(0)
    X = [[f"{'ab'[int(c)]}{rng.integers(400)}" for c in rng.integers(2, size=6)] for _ in range(200)]
    return X, [["A" if word[0] == "a" else "B" for word in words] for words in X]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slimming, "LARGE", 1000)


SETTINGS = {"hidden_units": 40, "max_iter": 4}


@pytest.mark.usefixtures("small")
def test_smaller_with_the_same_answers(data: tuple[list[list[str]], list[list[str]]], tmp_path: Path) -> None:
    X, y = data
    slim = HiddenUnitCRF(**SETTINGS).fit(X[:150], y[:150])
    full = HiddenUnitCRF(**SETTINGS, storage="full").fit(X[:150], y[:150])
    assert slim.tagger_.features.n_features < 0.8 * full.tagger_.features.n_features
    assert len(slim.feature_names_) == slim.tagger_.features.n_features
    assert slim.predict(X) == full.predict(X)
    for name, model in {"slim": slim, "full": full}.items():
        model.save(tmp_path / f"{name}.cf")
    sizes = [(tmp_path / f"{name}.cf").stat().st_size for name in ("slim", "full")]
    assert sizes[0] < 0.4 * sizes[1]
    again = load(tmp_path / "slim.cf")
    np.testing.assert_array_equal(again.tagger_.theta, slim.tagger_.theta)
    assert again.tagger_.theta.dtype == np.float64
    assert again.predict(X) == slim.predict(X)
    slim.partial_fit(X[150:], y[150:])  # goes on, with the features that come back
    assert slim.score(X, y) > 0.95


@pytest.mark.usefixtures("small")
def test_answers_that_would_change_are_kept(
    data: tuple[list[list[str]], list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data
    model = HiddenUnitCRF(**SETTINGS, storage="full").fit(X, y)
    monkeypatch.setattr(slimming, "SAME", 1.1)
    tagger = model.tagger_
    assert slimmed(tagger, tagger.theta, tagger.encode(X)) is tagger


def test_small_models_stay(data: tuple[list[list[str]], list[list[str]]]) -> None:
    X, y = data
    thetas = [HiddenUnitCRF(**SETTINGS, storage=how).fit(X, y).tagger_.theta for how in ("auto", "full")]
    np.testing.assert_array_equal(*thetas)


@pytest.mark.usefixtures("small")
def test_hostile_files(data: tuple[list[list[str]], list[list[str]]], tmp_path: Path) -> None:
    path = tmp_path / "m.cf"
    HiddenUnitCRF(**SETTINGS).fit(*data).save(path)
    config, arrays, _ = read_container(path, "model", 99)
    assert arrays["theta"].dtype == np.float16
    for change, what in (({"dtype": "int8"}, "dtype is 'int8'"), ({}, "dtype")):
        wrong = {k: v for k, v in config.items() if k != "dtype"} | change
        write_container(path, "model", 6, wrong, arrays)
        with pytest.raises(ModelFileError, match=what):
            load(path)
