"""Large hidden-unit models: features that training did not move are left out, weights are kept in few bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chainfield import HiddenUnitCRF, load
from chainfield.errors import ModelFileError
from chainfield.files.container import read_container, write_container
from chainfield.fitted.eight_bit import eight_bit, restored
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
    assert sizes[0] < 0.3 * sizes[1]
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
    assert arrays["theta"].dtype == np.int8
    plain = {k: v for k, v in config.items() if k != "dtype"}
    step = arrays["step"]
    for wrong, changed, what in (
        (plain | {"dtype": "int8"}, {}, "dtype is 'int8'"),
        (plain, {}, "dtype"),
        (config, {"step": step[:-1]}, "each run"),
        (config, {"step": step * np.float32(1e38)}, "stay below 1e"),
        (config, {"step": -step}, "0 is the least"),
        (config, {"step": step * np.float32(np.nan)}, "not finite"),
        (config, {"theta": arrays["theta"].astype(np.float16)}, "belongs to parameters of 8 bits"),
    ):
        write_container(path, "model", 6, wrong, arrays | changed)
        with pytest.raises(ModelFileError, match=what):
            load(path)
    write_container(path, "model", 6, config, {k: v for k, v in arrays.items() if k != "step"})
    with pytest.raises(ModelFileError, match="belongs to parameters of 8 bits"):
        load(path)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_eight_bits_are_found_again(dtype: type) -> None:
    rng = np.random.default_rng(1)
    theta = (rng.normal(size=1000) * 10.0 ** rng.integers(-12, 12, 1000)).astype(dtype)
    theta[64:128] = 0.0
    found = eight_bit(theta)
    assert found is not None
    once = restored(*found, str(theta.dtype))
    blocks = [slice(at, at + 64) for at in range(0, 1000, 64)]
    assert all(np.abs(once[own] - theta[own]).max() <= np.abs(theta[own]).max() / 253 for own in blocks)
    again = eight_bit(once)
    assert again is not None
    np.testing.assert_array_equal(restored(*again, str(theta.dtype)), once)
    theta[3] = np.inf
    assert eight_bit(theta) is None


@pytest.mark.usefixtures("small")
def test_sixteen_bits_where_eight_are_too_few(
    data: tuple[list[list[str]], list[list[str]]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(slimming, "eight_bit", lambda theta: None)
    model = HiddenUnitCRF(**SETTINGS).fit(*data)
    model.save(tmp_path / "m.cf")
    assert read_container(tmp_path / "m.cf", "model", 99)[1]["theta"].dtype == np.float16
    np.testing.assert_array_equal(load(tmp_path / "m.cf").tagger_.theta, model.tagger_.theta)
