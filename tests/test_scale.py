"""Columns of numbers on a scale of their own: what a model sees does not depend on the units of a measurement."""

from __future__ import annotations

import warnings
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chainfield import MEMM, HiddenUnitCRF, HMMClassifier, LatentCRF, LinearCRF, load
from chainfield.corpora import SourceCorpus
from chainfield.corpora.source import ListSource
from chainfield.errors import ConfigError, DataError, DataWarning, ModelFileError, SettingError
from chainfield.features.scale import Moments
from chainfield.files.container import read_container, write_container
from chainfield.problem import HeldPieces

Data = tuple[list[Any], list[list[str]]]


def draw(n: int, seed: int) -> Data:
    """Labels that are a linear function of six numbers."""
    rng = np.random.default_rng(seed)
    weights = np.random.default_rng(99).normal(size=(6, 3))
    X = [rng.normal(size=(8, 6)) for _ in range(n)]
    return X, [[str(k) for k in (x @ weights).argmax(axis=1)] for x in X]


TRAIN, TEST = draw(150, 0), draw(60, 1)
MEASURED = {
    "shifted": lambda x: x + 10.0,
    "unlike units": lambda x: x * [1e6, 1e3, 1.0, 1e-3, 1.0, 1.0],
    "tiny": lambda x: 1e-3 * x,
    "beside a time": lambda x: np.c_[x, 1.7e9 + 60.0 * np.arange(len(x))],
    "beside a huge constant": lambda x: np.c_[x, np.full(len(x), 1e200)],
    "single precision": lambda x: (1000.0 * x + 5000.0).astype(np.float32),
}
MODELS = {
    "linear": LinearCRF(),
    "hidden units": HiddenUnitCRF(hidden_units=20),
    "latent": LatentCRF(),
    "memm": MEMM(),
}


@pytest.mark.parametrize("measured", MEASURED)
@pytest.mark.parametrize("name", MODELS)
def test_units_of_measurement_do_not_matter(name: str, measured: str) -> None:
    change, model = MEASURED[measured], MODELS[name].set_params(n_jobs=1)
    plain = model.fit(*TRAIN).score(*TEST)
    assert model.scale_ is None
    assert model.training_.settings["scaling"] == "none"
    X, X_test = ([change(x) for x in part] for part in (TRAIN[0], TEST[0]))
    assert model.fit(X, TRAIN[1]).score(X_test, TEST[1]) > plain - 0.02
    assert model.scale_ is not None
    assert model.training_.settings["scaling"] == "standardised"


@pytest.mark.parametrize("scaling", ["centred", "standardised"])
def test_scaling_is_what_a_user_would_do_by_hand(scaling: str) -> None:
    X, y = [5.0 + 3.0 * x for x in TRAIN[0]], TRAIN[1]
    before = [x.copy() for x in X]
    stacked = np.concatenate(X)
    centre, spread = stacked.mean(axis=0), stacked.std(axis=0) if scaling == "standardised" else 1.0
    model = LinearCRF(scaling=scaling, n_jobs=1).fit(X, y)
    by_hand = LinearCRF(scaling="none", n_jobs=1).fit([(x - centre) / spread for x in X], y)
    np.testing.assert_allclose(model.tagger_.theta, by_hand.tagger_.theta, rtol=1e-6, atol=1e-9)
    assert model.scale_ is not None
    np.testing.assert_allclose(model.scale_.centre, centre, rtol=1e-12)
    np.testing.assert_allclose(model.scale_.spread, np.broadcast_to(spread, 6), rtol=1e-12)
    model.predict(X[:1])
    for x, old in zip(X, before, strict=True):
        np.testing.assert_array_equal(x, old)


def test_a_constant_column_stays_a_constant() -> None:
    X = [np.c_[x + 10.0, np.full(len(x), 7.0), np.zeros(len(x))] for x in TRAIN[0]]
    scale = LinearCRF(n_jobs=1, max_iter=1).fit(X, TRAIN[1]).scale_
    assert scale is not None
    np.testing.assert_allclose(scale.apply(X[0].copy())[0, 6:], [1.0, 0.0])


def test_the_scale_is_part_of_the_model(tmp_path: Path) -> None:
    X = [x + 10.0 for x in TRAIN[0]]
    model = LinearCRF(n_jobs=1).fit(X, TRAIN[1])
    model.save(tmp_path / "model.cf")
    again = load(tmp_path / "model.cf")
    assert again.predict(X[:20]) == model.predict(X[:20])
    np.testing.assert_array_equal(again.scale_.centre, model.scale_.centre)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("features.spread", None),
        ("features.centre", None),
        ("features.spread", lambda a: 0.0 * a),
        ("features.spread", lambda a: -a),
        ("features.spread", lambda a: a * np.nan),
        ("features.centre", lambda a: a * np.inf),
        ("features.centre", lambda a: a[:-1]),
    ],
)
def test_a_forged_scale_is_refused(tmp_path: Path, name: str, change: Any) -> None:
    path = tmp_path / "model.cf"
    LinearCRF(n_jobs=1, max_iter=1).fit([x + 10.0 for x in TRAIN[0]], TRAIN[1]).save(path)
    header, tensors, version = read_container(path, "model", 99)
    changed = {key: value for key, value in tensors.items() if key != name}
    if change is not None:
        changed[name] = np.ascontiguousarray(change(tensors[name]))
    write_container(path, "model", version, header, changed)
    with pytest.raises(ModelFileError):
        load(path)


def test_more_data_do_not_move_the_scale() -> None:
    X = [x + 10.0 for x in TRAIN[0]]
    model = LinearCRF(n_jobs=1).fit(X[:75], TRAIN[1][:75])
    first = model.scale_
    model.partial_fit([x + 3.0 for x in X[75:]], TRAIN[1][75:])
    assert first is not None
    assert model.scale_ is not None
    np.testing.assert_array_equal(model.scale_.centre, first.centre)
    later = HiddenUnitCRF(hidden_units=4, n_jobs=1, max_iter=1).fit(TRAIN[0], TRAIN[1], start_from=model)
    assert later.scale_ is not None  # weights mean the same only on the same scale
    np.testing.assert_array_equal(later.scale_.spread, first.spread)


def test_pieces_are_seen_on_the_scale_of_all_of_them() -> None:
    X, y = [5.0 * i / len(TRAIN[0]) + 20.0 + x for i, x in enumerate(TRAIN[0])], TRAIN[1]
    whole = LinearCRF(n_jobs=1).fit(X, y)
    cuts = range(0, len(X), 40)
    sources = [ListSource(X[at : at + 40], y[at : at + 40], f"part {i}", i) for i, at in enumerate(cuts)]
    spread = LinearCRF(n_jobs=1).fit(SourceCorpus(HeldPieces(sources)))
    np.testing.assert_allclose(spread.scale_.centre, whole.scale_.centre, rtol=1e-12)  # type: ignore[union-attr]
    np.testing.assert_allclose(spread.scale_.spread, whole.scale_.spread, rtol=1e-12)  # type: ignore[union-attr]
    assert spread.score(X, y) == pytest.approx(whole.score(X, y), abs=0.01)


def test_numbers_far_beyond_those_of_training_are_named() -> None:
    model = LinearCRF(n_jobs=1, max_iter=1).fit([1e-200 * x for x in TRAIN[0]], TRAIN[1])
    with pytest.raises(DataError, match="Column 2 has a value so far beyond those of training"):
        model.predict([np.array([[0.0, 0.0, 1e200, 0.0, 0.0, 0.0]])])


def test_scaling_is_for_arrays() -> None:
    with pytest.raises(
        ConfigError, match=r"scaling='standardised' is for arrays of numbers, but the first item is 'a'"
    ):
        LinearCRF(scaling="standardised").fit([["a", "b"]], [["x", "y"]])
    with pytest.raises(ConfigError, match="A template needs rows of columns"):
        LinearCRF(template="U:%x[0,0]\n").fit(*TRAIN)
    with pytest.raises(SettingError, match="scaling"):
        HMMClassifier(scaling="none")  # type: ignore[call-arg]


def test_without_scaling_a_warning_names_it() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LinearCRF(scaling="none", n_jobs=1, max_iter=1).fit([1e-3 * x for x in TRAIN[0]], TRAIN[1])
    assert [one for one in caught if issubclass(one.category, DataWarning)]
    assert any('scaling="standardised"' in str(one.message) for one in caught)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)),
    st.lists(st.integers(0, 40), max_size=4),
)
def test_moments_of_parts_are_those_of_the_whole(rows: np.ndarray, cuts: list[int]) -> None:
    parts = np.split(rows, sorted(min(cut, len(rows)) for cut in cuts))
    found = reduce(Moments.__add__, map(Moments.of, parts))
    size = np.abs(rows).max(axis=0)
    assert found.n == len(rows)
    np.testing.assert_array_equal(found.largest, size)
    assert (np.abs(found.mean - rows.mean(axis=0)) <= 1e-12 * size).all()
    assert (np.abs(found.deviation - rows.std(axis=0)) <= 1e-7 * size).all()
    for scaling in ("auto", "centred", "standardised"):
        scale = found.scale(scaling)
        assert scale is None or np.isfinite(scale.apply(rows.copy())).all()


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 9), st.integers(1, 3)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_any_finite_numbers_have_a_scale(rows: np.ndarray) -> None:
    scale = Moments.of(rows).scale("standardised")
    assert scale is not None
    assert np.isfinite(scale.centre).all()
    assert (scale.spread > 0).all()
    told = scale.apply(rows.copy())
    assert np.abs(told).max() <= 3.0 + 1e-6  # of n numbers, none is more than √n deviations from their mean
