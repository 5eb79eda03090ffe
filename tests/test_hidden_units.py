"""Hidden units: extremes, passes in one kernel, the estimator, decoders by brute force, pre-training, bad input."""

from __future__ import annotations

import itertools
import warnings
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse as sp

import chainfield
from chainfield import HiddenUnitCRF, LinearCRF
from chainfield.errors import ConfigError, DataError, DataWarning, DivergenceError
from chainfield.features.batch import Batch
from chainfield.fitted import Tagger
from chainfield.models.hidden_units.pretraining import frames_problem
from chainfield.models.hidden_units.steps import shorter
from chainfield.problem import Steps
from chainfield.problem.one_by_one import one_by_one
from chainfield.scorers import Boundary, Chain, HiddenUnits, Transition
from chainfield.states import one_per_label
from support.catalogue import compose


def xor_data(n=60, length=4, seed=0):
    """A label is the exclusive or of two numbers: no linear model can tell."""
    rng = np.random.default_rng(seed)
    X = [rng.choice([-1.0, 1.0], size=(length, 3)) for _ in range(n)]
    y = [["on" if a * b < 0 else "off" for a, b, _ in x] for x in X]
    return X, y


def fast(**settings):
    return HiddenUnitCRF(**{"hidden_units": 8, "n_jobs": 1, "random_state": 1, **settings})


# ---- scores --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.0, 1.0, 40.0, 300.0, 1e5])
@pytest.mark.parametrize("n_units", [1, 7, 8, 33])
@pytest.mark.parametrize("how", ["sum", "max"])
def test_scores_and_gradients_at_any_scale(how, n_units, scale):
    rng = np.random.default_rng(0)
    units = HiddenUnits(4, n_units, 3)
    params = {name: scale * rng.normal(size=shape) for name, shape in units.shapes().items()}
    batch = Batch(np.array([0, 5, 7]), dense=rng.normal(size=(7, 4)))
    scores = np.zeros((7, 3))
    pullback = units.forward(params, batch, how, scores)
    o = (batch.dense @ params["input"] + params["unit"])[:, None] + params["output"]
    soft = np.logaddexp(0.0, o) if how == "sum" else np.maximum(o, 0.0)
    np.testing.assert_allclose(scores, soft.sum(2) + params["row"], rtol=1e-12, atol=1e-12)
    d = rng.normal(size=scores.shape)
    into = {name: np.zeros(shape) for name, shape in units.shapes().items()}
    pullback(d, into, 2.0)
    slope = 1 / (1 + np.exp(-np.clip(o, -700, 700))) if how == "sum" else (o > 0).astype(float)
    inputs = np.einsum("tr,trh->th", d, slope)
    expected = {
        "input": batch.dense.T @ inputs,
        "unit": inputs.sum(0),
        "output": np.einsum("tr,trh->rh", d, slope),
        "row": d.sum(0),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(into[name], 2.0 * value, rtol=1e-11, atol=1e-11)


def test_sparse_and_dense_inputs_agree():
    problem = compose("one per label", "sparse units", "free", "likelihood")
    batch, units = problem.batch, problem.chain.emissions[0]
    dense = np.zeros((batch.n_positions, units.n_inputs))
    for t in range(batch.n_positions):
        for i in range(batch.sparse.indptr[t], batch.sparse.indptr[t + 1]):
            if batch.sparse.indices[i] >= 0:
                dense[t, batch.sparse.indices[i]] += batch.sparse.values[i]
    chain = replace(problem.chain, emissions=(replace(units, source="dense"),))
    other = replace(problem, chain=chain, batch=replace(batch, dense=dense))
    theta = np.random.default_rng(0).normal(size=chain.n_parameters)
    for a, b in zip(problem.evaluate(theta), other.evaluate(theta), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


# ---- passes in one kernel ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["likelihood", "large_margin"])
@pytest.mark.parametrize(
    ("space", "source", "labelling"),
    [("one per label", "dense", "full"), ("latent", "sparse", "unknown"), ("second order bio", "dense", "full")],
)
def test_a_pass_in_one_kernel_is_the_pass_step_by_step(space, source, labelling, objective):
    problem = compose(space, "boundary", "tied", objective, labelling, l2=0.0, lengths=(3, 1, 0, 2, 5))
    units = HiddenUnits(
        2 if source == "dense" else 5, 11, problem.chain.space.n_rows, source, 0.3, unit_pace=2.0, output_pace=0.7
    )
    chain = replace(problem.chain, emissions=(units, *problem.chain.emissions))
    problem = replace(problem, chain=chain)
    start = np.random.default_rng(0).normal(size=chain.n_parameters)
    order, rates = np.array([0, 1, 2, 3, 4, 1, 0, 4]), np.linspace(0.2, 0.05, 8)
    results = []
    single = replace(problem, chain=replace(chain, dtype="float32"))
    for kind, dtype in ((problem, float), (single, np.float32), (None, float)):
        theta, lag = start.astype(dtype), np.zeros(len(start), dtype)
        steps = Steps(theta, order, rates, lag=lag, mass=3.0)
        found = one_by_one(problem, steps) if kind is None else kind.fast.walk(steps)
        results.append((found.loss, found.mass, theta, lag))
    for i, tolerance in ((0, 1e-11), (1, 2e-4)):
        for a, b in zip(results[i], results[2], strict=True):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def test_an_update_touches_only_the_rows_of_its_features():
    X = [sp.csr_array(np.eye(6)[[0, 1]]), sp.csr_array(np.eye(6)[[2, 3]])]
    model = fast(max_iter=1, average_from=0).fit(X, [["a", "b"], ["b", "a"]])
    weight, _ = model.unit_weights_
    start = model.tagger_.chain.start(np.random.default_rng(1))
    start = model.tagger_.chain.views(start)["hidden.input"]
    names = list(model.feature_names_)
    moved = [names[f] for f in np.flatnonzero(np.abs(weight - start).max(axis=1) > 1e-12)]
    assert set(moved) <= {"x0", "x1", "x2", "x3"}
    assert moved


# ---- the estimator -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "trainer"),
    [
        ("large_margin", "auto"),
        ("large_margin", "herding"),
        ("large_margin", "adam"),
        ("likelihood", "averaged"),
        ("likelihood", "sgd"),
        ("likelihood", "lbfgs"),
        ("softmax_margin", "lbfgs"),
        ("likelihood", "rprop"),
    ],
)
@pytest.mark.parametrize("order", [1, 2])
def test_every_training_learns_what_a_linear_model_cannot(objective, trainer, order):
    X, y = xor_data(300)
    passes = None if trainer in ("lbfgs", "rprop") else 40
    model = fast(objective=objective, trainer=trainer, order=order, hidden_units=16, max_iter=passes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.95
    assert LinearCRF(order=order, n_jobs=1).fit(X[:200], y[:200]).score(X[200:], y[200:]) < 0.8


def test_steps_are_smaller_for_long_sequences_unless_they_are_given():
    lengths = {10: 1.0, 25: 1.0, 100: (25 / 100) ** 0.75, 400: 1.0}  # beyond 256, windows of 20
    for length, factor in lengths.items():
        np.testing.assert_allclose(shorter(Batch(np.array([0, length, 2 * length])), 0.75), factor, rtol=1e-12)
    X, y = xor_data(3, length=400)
    for settings, step in (({}, 0.2 / np.sqrt(10) * lengths[400]), ({"learning_rate": 0.01}, 0.01)):
        own = fast(hidden_units=10, max_iter=1, **settings).fit(X, y).tagger_.chain.emissions[0]
        np.testing.assert_allclose(own.output_scale, 0.1 * step, rtol=0.06)


@pytest.mark.parametrize("order", [1, 2])
def test_the_perceptron_learns(order):
    X, _ = xor_data(100)
    y = [["up" if a + 0.5 * c > 0 else "down" for a, _, c in x] for x in X]
    model = fast(objective="perceptron", order=order).fit(X[:70], y[:70])
    assert model.score(X[70:], y[70:]) > 0.95


def test_the_pace_of_input_weights_is_relative():
    """The first step is as long as its pace, and nothing else moves by it."""
    X, y = xor_data(1, length=20)
    models = [
        fast(objective="likelihood", trainer="sgd", max_iter=1, input_pace=pace).fit(X, y) for pace in (1.0, 2.0, 4.0)
    ]
    one, two, four = (model.unit_weights_ for model in models)
    assert np.abs(two[0] - one[0]).max() > 1e-3
    np.testing.assert_allclose(four[0] - two[0], 2.0 * (two[0] - one[0]), rtol=1e-9)
    np.testing.assert_array_equal(four[1], one[1])


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_scale_of_the_data_is_immaterial(scale):
    X, y = xor_data()
    plain, scaled = fast().fit(X, y), fast(scaling="none").fit([scale * x for x in X], y)
    assert plain.predict(X) == scaled.predict([scale * x for x in X])
    np.testing.assert_allclose(scale * scaled.unit_weights_[0], plain.unit_weights_[0], rtol=1e-3, atol=1e-6)


def test_step_and_margin_matter_only_relative_to_each_other():
    X, y = xor_data()
    a, b = fast(margin=1.0, learning_rate=0.02).fit(X, y), fast(margin=8.0, learning_rate=0.16).fit(X, y)
    np.testing.assert_allclose(b.unit_weights_[1], 8.0 * a.unit_weights_[1], rtol=1e-4, atol=1e-6)


def test_dicts_matrices_and_arrays_give_one_model():
    X, y = xor_data(20)
    models = [
        fast(max_iter=5).fit(form, y)
        for form in (X, [sp.csr_array(x) for x in X], [[{f"x{i}": v for i, v in enumerate(t)} for t in x] for x in X])
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.unit_weights_[0], models[0].unit_weights_[0], rtol=1e-8, atol=1e-10)


def test_starts_and_steps_of_blocks_are_settings():
    X, y = xor_data(12)
    norm = np.sqrt(np.mean([np.sum(row**2) for x in X for row in x]))
    for objective, unit in (("likelihood", 1.0), ("perceptron", 0.2)):
        settings = {"objective": objective, "max_iter": 1, "learning_rate": 0.2}
        model = fast(**settings, input_start=0.3, output_start=0.6, unit_pace=0.5).fit(X, y)
        scorer = model.tagger_.chain.emissions[0]
        assert norm * scorer.input_scale == pytest.approx(0.3 * unit)
        assert scorer.output_scale == pytest.approx(0.6 * unit)
        assert {scorer.pace(name) for name in ("unit", "output", "row")} == {0.5}
        usual = fast(**settings).fit(X, y).tagger_.chain.emissions[0]
        assert (usual.pace("output"), usual.output_scale) == (0.1, pytest.approx(0.1 * unit))
    words = [["a", "b"], ["b", "c", "a"]], [["x", "y"], ["y", "x", "x"]]
    for objective, start in (("perceptron", 10.0), ("large_margin", 0.1)):  # over sparse features
        own = fast(objective=objective, max_iter=1, learning_rate=0.2).fit(*words).tagger_.chain.emissions[0]
        assert own.output_scale == pytest.approx(0.2 * start)


def test_sums_of_scores_without_a_scale_are_warned_of_before_training():
    X, y = xor_data(6)
    with pytest.warns(DataWarning, match="never gave a scale"):
        fast(objective="large_margin", decoder="summed", max_iter=1).fit(X, y)


@pytest.mark.parametrize("objective", ["likelihood", "large_margin"])
def test_both_decoders_are_the_best_by_brute_force(objective):
    X, y = xor_data(12, length=3)
    model = fast(objective=objective, hidden_units=3, max_iter=3).fit(X, y)
    tagger = model.tagger_
    own = tagger.own(tagger.chain.emissions[0])
    labels = model.classes_
    chosen = {}
    for decoder in ("joint", "summed"):
        model.decoder = decoder
        unscaled = objective == "large_margin" and decoder == "summed"
        with pytest.warns(DataWarning, match="never gave a scale") if unscaled else nullcontext():
            chosen[decoder] = model.predict(X)
        for x, found in zip(X, chosen[decoder], strict=True):
            best, answer = -np.inf, None
            for path in itertools.product(range(len(labels)), repeat=len(x)):
                score = sum(
                    tagger.params["transition.weight"][a * len(labels) + b] for a, b in itertools.pairwise(path)
                )
                score += tagger.params["boundary.start"][path[0]] + tagger.params["boundary.end"][path[-1]]
                for row, k in zip(x, path, strict=True):
                    energies = [
                        own["row"][k] + np.dot(z, row @ own["input"] + own["unit"] + own["output"][k])
                        for z in itertools.product((0, 1), repeat=3)
                    ]
                    score += max(energies) if decoder == "joint" else np.logaddexp.reduce(energies)
                if score > best + 1e-12:
                    best, answer = score, [labels[k] for k in path]
            assert found == answer
    model.decoder = "auto"
    assert model.predict(X) == chosen["joint" if objective == "large_margin" else "summed"]


def test_files_and_everything_that_taggers_have(tmp_path):
    X, y = xor_data(30)
    model = fast(dtype="float32", max_iter=6, forbidden=[("on", None)], class_weight="balanced")
    y = [[*labels[:-1], "off"] for labels in y]
    y[0][1] = None
    model.fit(X[:20], y[:20], X_dev=X[20:], y_dev=y[20:])
    assert model.tagger_.theta.dtype == np.float32
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf", n_jobs=1)
    assert isinstance(loaded, HiddenUnitCRF)
    assert loaded.predict(X) == model.predict(X)
    assert all(labels[-1] == "off" for labels in loaded.predict(X))
    np.testing.assert_allclose(loaded.predict_marginals(X[:2])[1].sum(1), 1.0, rtol=1e-9)
    assert loaded.predict(X[:1], given=[["on", None, None, None]])[0][0] == "on"
    assert loaded.predict_n_best(X[:1], 2)[0][0][0] == loaded.predict(X[:1])[0]
    assert "unit" in str(loaded.explain(X[0]))
    loaded.max_iter = None
    assert loaded.partial_fit(X[:5], y[:5]).n_iter_ == 1


def test_members_of_a_herd_vote(tmp_path):
    X, y = xor_data(40)
    model = fast(trainer="herding", max_iter=9).fit(X[:30], y[:30])
    herd = model.tagger_
    assert herd.members.shape == (6, herd.chain.n_parameters)
    np.testing.assert_allclose(herd.theta, herd.members.mean(0), rtol=1e-12, atol=1e-15)
    lone = [Tagger(herd.features, herd.task, herd.chain, theta, "max").predict(X) for theta in herd.members]
    shares, guesses = model.predict_marginals(X), model.predict(X)
    for s, t in itertools.product(range(len(X)), range(4)):
        votes = [sum(one[s][t] == label for one in lone) for label in model.classes_]
        np.testing.assert_allclose(shares[s][t], np.array(votes) / 6, rtol=1e-12)
        assert guesses[s][t] == model.classes_[int(np.argmax(votes))]
    # The members are what the same steps leave behind, pass by pass.
    walk = fast(trainer="sgd", max_iter=9).fit(X[:30], y[:30])
    np.testing.assert_array_equal(herd.members[-1], walk.tagger_.theta)

    model.save(tmp_path / "herd.cf")
    loaded = chainfield.load(tmp_path / "herd.cf", n_jobs=1)
    assert loaded.predict(X) == guesses
    np.testing.assert_array_equal(loaded.tagger_.members, herd.members)
    loaded.decoder = "summed"
    with pytest.warns(DataWarning, match="never gave a scale"):
        loaded.predict(X[:1])
    assert loaded.predict(X[:1], given=[["on", None, None, None]])[0][0] == "on"


def test_herding_with_development_data_single_precision_and_checkpoints(tmp_path):
    X, y = xor_data(40)
    settings = {"trainer": "herding", "dtype": "float32", "random_state": 2}
    model = fast(**settings, max_iter=6, average_from=1).fit(X[:30], y[:30], X_dev=X[30:], y_dev=y[30:])
    assert model.tagger_.theta.dtype == np.float32
    file = tmp_path / "c.cf"
    whole = fast(**settings, max_iter=6, average_from=1).fit(X[:30], y[:30])
    fast(**settings, max_iter=4, average_from=1).fit(X[:30], y[:30], checkpoint=file)
    resumed = fast(**settings, max_iter=6, average_from=1).fit(X[:30], y[:30], checkpoint=file, resume=True)
    np.testing.assert_array_equal(resumed.tagger_.members, whole.tagger_.members)
    assert fast(**settings).partial_fit(X[:5], y[:5]).n_iter_ == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"objective": "likelihood"}, "needs objective="), ({"batch_size": 4}, "has no effect")],
)
def test_herding_refuses_what_it_cannot_do(settings, message):
    X, y = xor_data(6)
    with pytest.raises(ConfigError, match=message):
        fast(trainer="herding", **settings).fit(X, y)


def test_transform_is_the_posterior_of_units():
    X, y = xor_data(8)
    model = fast(objective="likelihood", hidden_units=2, max_iter=3).fit(X, y)
    tagger = model.tagger_
    own = tagger.own(tagger.chain.emissions[0])
    known = model.transform(X, y)
    assert known[0].shape == (4, 2)
    k = model.classes_.index(y[0][1])
    expected = 1 / (1 + np.exp(-(X[0][1] @ own["input"] + own["unit"] + own["output"][k])))
    np.testing.assert_allclose(known[0][1], expected, rtol=1e-10)
    free, p = model.transform(X)[0][1], model.predict_marginals(X)[0][1]
    per_label = 1 / (1 + np.exp(-(X[0][1] @ own["input"] + own["unit"] + own["output"])))
    np.testing.assert_allclose(free, p @ per_label, rtol=1e-10)


def test_units_have_names_and_pictures():
    pytest.importorskip("matplotlib")
    X, y = xor_data(8)
    model = fast(max_iter=3).fit(X, y)
    first = model.describe_units(2)[0]
    assert {name for name, _ in first.features} <= {"x0", "x1", "x2"}
    assert len(first.features) == 2
    assert "unit" in str(first)
    assert model.receptive_fields((1, 3)).shape == (8, 1, 3)
    assert len(model.plot_receptive_fields((1, 3), 4).axes) == 4
    with pytest.raises(ConfigError, match="positions have 3 numbers"):
        model.receptive_fields((2, 2))


# ---- pre-training --------------------------------------------------------------------------------------------------


def test_sequences_of_one_position_are_the_discriminative_boltzmann_machine():
    problem = compose("one per label", "units", "none", "likelihood", offset=False, l2=0.0)
    units = problem.chain.emissions[0]
    single = frames_problem(problem, units)
    theta = np.random.default_rng(0).normal(size=single.n_parameters)
    p = {k.removeprefix("hidden."): v for k, v in single.chain.views(theta).items()}
    x, clamp = problem.batch.dense, problem.targets.clamp
    o = (x @ p["input"] + p["unit"])[:, None] + p["output"]
    free_energy = p["row"] + np.logaddexp(0.0, o).sum(2)
    log_p = free_energy - np.logaddexp.reduce(free_energy, axis=1, keepdims=True)
    right = clamp.table[clamp.index]
    weight = np.repeat(problem.targets.weight, np.diff(problem.batch.offsets))
    np.testing.assert_allclose(single.evaluate(theta)[0], -(weight * log_p[right]).sum(), rtol=1e-12)
    # Without transitions a sequence is its positions.
    np.testing.assert_allclose(problem.evaluate(theta)[0], single.evaluate(theta)[0], rtol=1e-12)


@pytest.mark.parametrize("kind", ["frames", "contrastive"])
def test_pretraining_is_a_better_start(kind):
    X, y = xor_data(300)
    plain, ahead = fast(max_iter=1, hidden_units=16), fast(max_iter=1, hidden_units=16, pretraining=kind)
    losses = [m.fit(X, y).history_[0]["objective"] for m in (plain, ahead)]
    if kind == "frames":
        assert losses[1] < losses[0]
        assert ahead.score(X, y) > 0.9
    assert np.isfinite(losses[1])


@pytest.mark.parametrize("settings", [{"margin": 1.0}, {"margin": 5.0}, {"objective": "perceptron"}])
def test_pretraining_brings_scores_down_to_the_scale_of_the_margin(settings):
    X, _ = xor_data(600)
    y = [["on" if row[0] > 0 else "off" for row in x] for x in X]
    # Steps next to nothing: what is left is the start.
    model = fast(pretraining="frames", max_iter=1, learning_rate=1e-9, **settings).fit(X, y)
    own = model.tagger_.own(model.tagger_.chain.emissions[0])
    o = np.concatenate(X) @ own["input"] + own["unit"]
    scores = np.maximum(o[:, None] + own["output"], 0.0).sum(2) + own["row"]
    gap = np.abs(scores[:, 0] - scores[:, 1]).mean()
    np.testing.assert_allclose(gap, settings.get("margin", 1.0), rtol=1e-3)


def test_pretraining_that_finds_nothing_stays_small():
    X, y = [np.zeros((6, 3)) for _ in range(4)], [["a", "b"] * 3 for _ in range(4)]
    model = fast(pretraining="frames", max_iter=1).fit(X, y)
    assert max(np.abs(w).max() for w in model.unit_weights_) < 2.0


def test_contrastive_divergence_of_numbers_stays_finite():
    """Reconstructions of numbers are sums over all units: many units, small steps."""
    rng = np.random.default_rng(0)
    X = [3.0 * rng.normal(size=(10, 40)) for _ in range(100)]
    y = [["a" if x[t].sum() > 0 else "b" for t in range(10)] for x in X]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fast(hidden_units=300, max_iter=1, pretraining="contrastive").fit(X, y)
    assert all(np.isfinite(w).all() for w in model.unit_weights_)


def test_contrastive_divergence_reconstructs():
    """Two patterns, a label each: after training, units tell them apart."""
    X = [np.array([[1.0, 1.0, 0.0, 0.0]] * 3 + [[0.0, 0.0, 1.0, 1.0]] * 3) for _ in range(100)]
    y = [["a"] * 3 + ["b"] * 3 for _ in X]
    model = fast(max_iter=1, pretraining="contrastive", learning_rate=1e-9).fit(X, y)
    on = model.transform(X[:1], y[:1])[0]
    assert np.abs(on[0] - on[-1]).max() > 0.2


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_units": 0}, "hidden_units is 0"),
        ({"hidden_units": 2.5}, "hidden_units is 2.5"),
        ({"objective": "likelihood", "margin": 2.0}, "margin has no effect"),
        ({"objective": "perceptron", "margin": 0.5}, "margin has no effect"),
        ({"dtype": "float16"}, "dtype is 'float16'"),
        ({"pretraining": "magic"}, "pretraining is "),
        ({"input_pace": 0.0}, "input_pace is 0.0"),
        ({"input_pace": float("nan")}, "input_pace is nan"),
        ({"unit_pace": 0.0}, "unit_pace is 0.0"),
        ({"input_start": -1.0}, "input_start is -1.0"),
        ({"output_start": "far"}, "output_start is 'far'"),
        ({"objective": "likelihood", "trainer": "lbfgs", "unit_pace": 1.0}, "unit_pace has no effect"),
        ({"objective": "likelihood", "trainer": "lbfgs", "input_pace": 1.0}, "input_pace has no effect"),
        ({"input_pace": "fast"}, "input_pace is 'fast'; a number above 0"),
        ({"decoder": "best"}, "decoder is "),
        ({"objective": "likelihood", "trainer": "lbfgs", "dtype": "float32"}, 'needs dtype="float64"'),
        ({"trainer": "lbfgs"}, "needs a smooth objective"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ConfigError, match=message):
        fast(**settings).fit(*xor_data(4))


def test_data_without_features():
    with pytest.raises(ConfigError, match="no features"):
        fast().fit([np.zeros((3, 0))] * 2, [["a", "b", "a"]] * 2)


def test_contrastive_pretraining_needs_arrays():
    X, y = xor_data(4)
    with pytest.raises(ConfigError, match="needs dense arrays"):
        fast(pretraining="contrastive").fit([sp.csr_array(x) for x in X], y)


def test_numbers_that_are_not_finite():
    X, y = xor_data(4)
    X[2][1, 0] = np.nan
    with pytest.raises(DataError, match="Sequence 2, position 1"):
        fast().fit(X, y)


def test_wildly_different_scales_are_told():
    X, y = xor_data(4)
    with pytest.warns(DataWarning, match=r"x2 goes up to .*e\+06.*Standardise"):
        fast(max_iter=1, scaling="none").fit([x * [1.0, 1.0, 1e6] for x in X], y)


@pytest.mark.parametrize("trainer", ["sgd", "adam"])
def test_steps_that_are_too_large_end_training(trainer):
    X, y = xor_data()
    model = fast(objective="likelihood", trainer=trainer, warm_start=True, max_iter=5).fit(X, y)
    good = model.predict(X)
    model.learning_rate = 1e4
    with pytest.raises(DivergenceError, match="use a smaller step than 10000"):
        model.fit(X, y)
    assert model.predict(X) == good


def test_single_precision_takes_twice_the_parameters_and_no_more():
    """Parameters and what is behind their average; the average takes the latter's place in the end."""
    from chainfield.trainers import SGD, begin, run

    problem = compose("one per label", "units + boundary", "free", "large_margin", l2=0.0)
    problem = replace(problem, chain=replace(problem.chain, dtype="float32"))
    theta = problem.chain.start(np.random.default_rng(0))
    trainer = SGD(rate=0.1, decay=0.0, average_from=0, max_iter=3)
    copies = run(trainer, problem, begin(trainer, problem, theta))
    spare = run(trainer, problem, begin(trainer, problem, theta, frugal=True), frugal=True)
    assert spare.best is spare.state.lag
    assert spare.best.dtype == np.float32
    np.testing.assert_array_equal(spare.best, copies.best)


def test_hidden_units_need_a_space_that_fits_them():
    chain = Chain(one_per_label(2), (HiddenUnits(3, 4, 2), Boundary(2)), (Transition(np.arange(4, dtype=np.int32)),))
    assert chain.n_parameters == 12 + 4 + 8 + 2 + 4 + 4
    assert not replace(chain, emissions=(HiddenUnits(3, 4, 2, input_pace=0.5),)).even
