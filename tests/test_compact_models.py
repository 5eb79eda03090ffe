"""Models trained with l1 carry no zeros, and predict what they would predict with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import chainfield
from chainfield import MEMM, HiddenUnitCRF, LatentCRF, LinearCRF
from chainfield.fitted import compacted
from test_linear_crf import SENTENCES, X_NEW, X, Y, corpus

NEW = corpus(15, seed=1)[0]
TEMPLATE = "\n".join(["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "U2:%x[1,0]", "B1:%x[-1,0]/%x[0,0]", "B"])


def matrices(sentences):
    """Words and lengths as sparse matrices."""
    words = sorted({word for sentence in SENTENCES for word in sentence})
    found = []
    for sentence in sentences:
        rows = np.array([[*(0.5 * (w == word) for w in words), len(word)] for word in sentence], float)
        found.append(sparse.csr_array(rows.reshape(-1, len(words) + 1)))
    return found


DATA = {
    "dicts": (X, X_NEW),
    "lists": tuple(
        [[[f"w={w}", f"{t}={w}"] for t, w in enumerate(s)] for s in sentences] for sentences in (SENTENCES, NEW)
    ),
    "columns": (SENTENCES, NEW),
    "matrices": (matrices(SENTENCES), matrices(NEW)),
}
MODELS = {
    "linear": lambda **kw: LinearCRF(**kw),
    "second order": lambda **kw: LinearCRF(order=2, **kw),
    "all features": lambda **kw: LinearCRF(all_features=True, **kw),
    "latent": lambda **kw: LatentCRF(n_states=2, share_labels=True, **kw | {"max_iter": 8}),
    "MEMM": lambda **kw: MEMM(**kw),
}
SETTINGS = {"l1": 0.4, "max_iter": 25, "n_jobs": 1}


def both(monkeypatch, name, data, **settings):
    """A model as it is trained now, and with its zeros."""
    found = MODELS[name](**SETTINGS | settings).fit(data, Y)
    with monkeypatch.context() as patched:
        patched.setattr("chainfield.models.estimator.compacted", lambda model: model)
        return found, MODELS[name](**SETTINGS | settings).fit(data, Y)


def assert_same(small, whole, sequences):
    """All answers, bit by bit, and the weights that are not 0."""
    assert small.predict(sequences) == whole.predict(sequences)
    assert small.predict_n_best(sequences, 3) == whole.predict_n_best(sequences, 3)
    for a, b in zip(small.predict_marginals(sequences), whole.predict_marginals(sequences), strict=True):
        assert a.tobytes() == b.tobytes()
    named = {key: weight for key, weight in whole.feature_weights_.items() if weight}
    assert {key: weight for key, weight in small.feature_weights_.items() if weight} == named
    assert small.transition_weights_ == whole.transition_weights_


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", DATA)
def test_predictions_are_the_same_bits(monkeypatch, name, kind):
    data, new = DATA[kind]
    small, whole = both(monkeypatch, name, data)
    assert_same(small, whole, [*data, *new])
    assert len(small.tagger_.theta) < len(whole.tagger_.theta)
    if kind != "matrices":  # their columns are the user's
        assert small.tagger_.features.n_features < whole.tagger_.features.n_features
        assert {feature for feature, _ in small.feature_weights_} == set(small.feature_names_)


@pytest.mark.parametrize("name", ["linear", "second order", "latent"])
def test_features_of_transitions_go_too(monkeypatch, name):
    small, whole = both(monkeypatch, name, SENTENCES, template=TEMPLATE)
    assert_same(small, whole, [*SENTENCES, *NEW])
    before, after = whole.tagger_.features, small.tagger_.features
    assert after.n_features < before.n_features
    assert 0 < after.n_edge_features < before.n_edge_features
    assert set(after.edge_feature_names()) < set(before.edge_feature_names())
    assert [c.feature for p in small.explain(NEW[0]).positions for c in p.contributions]


def test_a_penalty_that_leaves_nothing(monkeypatch):
    for kind in ("dicts", "columns"):
        data, new = DATA[kind]
        small, whole = both(monkeypatch, "linear", data, l1=1e6)
        assert small.tagger_.features.n_features == 0
        assert small.predict(new) == whole.predict(new)


@pytest.mark.parametrize("kind", DATA)
def test_files_are_smaller_and_load(monkeypatch, tmp_path, kind):
    data, new = DATA[kind]
    small, whole = both(monkeypatch, "linear", data)
    small.save(tmp_path / "small.cf")
    whole.save(tmp_path / "whole.cf")
    assert (tmp_path / "small.cf").stat().st_size < (tmp_path / "whole.cf").stat().st_size
    assert_same(chainfield.load(tmp_path / "small.cf", n_jobs=1), whole, new)


@pytest.mark.parametrize("kind", ["dicts", "columns"])
def test_what_was_left_out_comes_back_with_new_data(kind):
    data, _ = DATA[kind]
    model = LinearCRF(**SETTINGS | {"max_iter": None}).fit(data, Y)
    names = set(model.feature_names_)
    again = LinearCRF(**SETTINGS | {"l1": 0.0, "l2": 0.1, "warm_start": True, "max_iter": 5})
    again.fitted_ = model.fitted_
    again.fit(data, Y)
    assert names < set(again.feature_names_)
    assert set(LinearCRF(l2=0.1, max_iter=1).fit(data, Y).feature_names_) == set(again.feature_names_)
    model.set_params(trainer="sgd").partial_fit(data[:5], Y[:5])
    assert model.predict(data)


@pytest.mark.parametrize("kind", ["dicts", "columns"])
def test_a_warm_start_ends_where_a_cold_one_does(kind):
    data, _ = DATA[kind]
    settings = {"l1": 0.4, "l2": 0.1, "n_jobs": 1, "tol": 1e-8, "max_iter": 2000}
    model = LinearCRF(warm_start=True, **settings).fit(data, Y)
    first = {key: w for key, w in model.feature_weights_.items() if abs(w) > 1e-3}
    second = model.fit(data, Y).feature_weights_
    assert first.keys() == {key for key, w in second.items() if abs(w) > 1e-3}
    np.testing.assert_allclose([second[key] for key in first], list(first.values()), atol=1e-3)


def test_scorers_of_another_kind_keep_their_features():
    model = HiddenUnitCRF(hidden_units=3, max_iter=2, n_jobs=1).fit(X, Y)
    assert compacted(model.tagger_) is model.tagger_


def test_a_model_without_zeros_stays_as_large():
    model = LinearCRF(l2=1.0, max_iter=20, n_jobs=1).fit(X, Y)
    assert len(compacted(model.tagger_).theta) <= len(model.tagger_.theta)
    assert compacted(model.tagger_).features.n_features == model.tagger_.features.n_features
