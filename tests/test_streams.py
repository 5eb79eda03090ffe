"""``partial_fit`` over chunks: what is remembered, in the model and in its file, and what is refused."""

import itertools
import pickle

import numpy as np
import pytest

import chainfield
from chainfield import LatentCRF, LinearCRF
from chainfield.errors import ConfigError, DataError
from chainfield.models.rehearsal import Rehearsal
from chainfield.models.stream import anchored_problem, streams
from chainfield.problem import AnchoredProblem

RNG = np.random.default_rng(5)
KINDS = {"O": ["the", "on", "went", "and"], "B-PER": ["ann", "bob", "cyd"], "B-LOC": ["rome", "oslo", "bern"]}
BEFORE = {"O": ["O", "B-PER", "B-LOC"], "B-PER": ["O"], "B-LOC": ["O"]}


def sentences(n, words):
    """Sentences of a Markov chain; names are drawn from ``words`` of each kind, so that chunks can differ."""
    X, y = [], []
    for _ in range(n):
        labels = ["O"]
        for _ in range(int(RNG.integers(2, 7))):
            labels.append(str(RNG.choice(BEFORE[labels[-1]])))
        X.append([{"word": str(RNG.choice(words[label])), "odd": bool(RNG.random() < 0.3)} for label in labels])
        y.append(labels)
    return X, y


def own_words(k):
    return {label: [*words[:2], f"{words[0]}{k}"] for label, words in KINDS.items()}


CHUNKS = [sentences(25, own_words(k)) for k in range(6)]
ALL = tuple(list(itertools.chain.from_iterable(part)) for part in zip(*CHUNKS, strict=True))


def streamed(order, **settings):
    model = LinearCRF(n_jobs=1, **settings)
    for k in order:
        model.partial_fit(*CHUNKS[k])
    return model


@pytest.mark.parametrize("objective", ["likelihood", "perceptron", "large_margin", "piecewise"])
def test_chunks_in_any_order_come_near_to_one_fit(objective):
    whole = LinearCRF(n_jobs=1, objective=objective).fit(*ALL).score(*ALL)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(CHUNKS))
        assert streamed(order, objective=objective).score(*ALL) >= whole - 0.01


def test_the_objective_of_all_data_is_nearly_reached():
    def loss(model):
        theta = model.tagger_.theta
        return float(-model.log_likelihood(*ALL).sum() + 0.5 * theta @ theta)

    best, forgetful = loss(LinearCRF(n_jobs=1, tol=1e-6).fit(*ALL)), loss(streamed(range(6), forgetting=1.0))
    reached = loss(streamed(range(6)))
    assert reached < 1.25 * best
    assert reached < forgetful


def test_chunks_that_are_kept_are_one_fit():
    best = LinearCRF(n_jobs=1, tol=1e-9).fit(*ALL)
    kept = streamed(range(6), tol=1e-9)
    assert kept.rehearsal_.seen == len(kept.rehearsal_.sequences) == len(ALL[0])
    np.testing.assert_allclose(kept.log_likelihood(*ALL), best.log_likelihood(*ALL), atol=1e-2)


def test_a_part_of_earlier_data_helps():
    def loss(rehearsal):
        model = streamed(range(6), rehearsal=rehearsal)
        assert sum(map(len, model.rehearsal_.sequences if rehearsal else [])) <= rehearsal
        return float(-model.log_likelihood(*ALL).sum() + 0.15 * model.tagger_.theta @ model.tagger_.theta)

    nothing, some, everything = map(loss, (0, 250, 10_000))
    assert everything < some < nothing


def test_data_are_kept_in_memory_only(tmp_path):
    model = streamed([0, 1])
    first = model.rehearsal_.sequences[0]
    assert pickle.loads(pickle.dumps(model)).rehearsal_ is None
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf", n_jobs=1)
    assert loaded.rehearsal_ is None
    assert loaded.partial_fit(*CHUNKS[2]).score(*CHUNKS[0]) > 0.9
    assert first is not CHUNKS[0][0][0]
    assert streamed([0], forgetting=1.0).rehearsal_ is None
    assert model.fit(*CHUNKS[0]).rehearsal_ is None


def test_the_sample_is_uniform_and_bounded():
    memory = Rehearsal()
    for k in range(20):
        memory = memory.grown([[k]] * 50, [["O"]] * 50, np.ones(50), 0.1, 200, seed=0)
    assert (memory.seen, len(memory.sequences)) == (1000, 200)
    drawn = [x[0] for x in memory.sequences]
    assert 60 < sum(k < 10 for k in drawn) < 140
    np.testing.assert_allclose(memory.weight, 0.9 ** (19 - np.array(drawn)))
    assert len(memory.drawn(5).sequences) == 50


def test_one_chunk_is_one_fit():
    one = LinearCRF(n_jobs=1, tol=1e-9).partial_fit(*ALL)
    fit = LinearCRF(n_jobs=1, tol=1e-9).fit(*ALL)
    np.testing.assert_allclose(one.log_likelihood(*ALL), fit.log_likelihood(*ALL), atol=1e-2)


def test_what_is_remembered_grows_and_is_forgotten_as_told():
    model = streamed([0])
    first = model.firmness_.copy()
    model.partial_fit(*CHUNKS[0])
    assert model.firmness_.dtype == np.float32
    assert (model.firmness_ >= first * (1 - 1e-6)).all()
    forgetful = streamed([0], forgetting=1.0).partial_fit(*CHUNKS[0])
    assert forgetful.firmness_.sum() < 0.8 * model.firmness_.sum()
    assert model.fit(*CHUNKS[0]).firmness_ is None


@pytest.mark.parametrize("settings", [{}, {"objective": "perceptron"}, {"l1": 0.1}])
def test_a_stream_goes_on_from_its_file(settings, tmp_path):
    model = streamed([0, 1], rehearsal=0, **settings)
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf", n_jobs=1)
    model.partial_fit(*CHUNKS[2])
    loaded.partial_fit(*CHUNKS[2])
    assert loaded.tagger_.theta.tobytes() == model.tagger_.theta.tobytes()
    assert loaded.firmness_.tobytes() == model.firmness_.tobytes()


@pytest.mark.parametrize("rehearsal", [0, 60, 10_000])
def test_the_bowl_has_the_gradient_that_it_says(rehearsal):
    model = streamed([0, 1], rehearsal=rehearsal)
    seen = {}

    def look(*told):
        seen["problem"] = anchored_problem(*told)
        return seen["problem"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chainfield.models.estimator.anchored_problem", look)
        model.partial_fit(*CHUNKS[2])
    problem = seen["problem"]
    theta = RNG.normal(size=problem.n_parameters)
    _, gradient = problem.evaluate(theta)
    for i in RNG.choice(len(theta), 10, replace=False):
        step = np.zeros(len(theta))
        step[i] = 1e-5
        slope = (problem.evaluate(theta + step)[0] - problem.evaluate(theta - step)[0]) / 2e-5
        np.testing.assert_allclose(slope, gradient[i], rtol=1e-5, atol=1e-6)
    assert (problem.firmness >= problem.l2).all()
    assert isinstance(problem, AnchoredProblem)
    assert not problem.stepwise


def test_labels_and_features_of_later_chunks():
    model = streamed([0, 1])
    n = len(model.feature_names_)
    model.partial_fit([[{"word": "km"}, {"word": "9"}]] * 5, [["O", "B-NUM"]] * 5)
    assert "B-NUM" in model.classes_
    assert len(model.feature_names_) == n + 2
    assert len(model.firmness_) == len(model.tagger_.theta)
    assert model.predict([[{"word": "km"}, {"word": "9"}]]) == [["O", "B-NUM"]]
    assert model.score(*CHUNKS[0]) > 0.9


def test_latent_models_stream_too():
    model = LatentCRF(n_jobs=1, n_states=2)
    for chunk in CHUNKS[:3]:
        model.partial_fit(*chunk)
    assert model.firmness_ is not None
    assert model.score(*CHUNKS[0]) > 0.9


def test_steps_of_your_own_are_taken():
    model = LinearCRF(n_jobs=1, objective="perceptron", learning_rate=0.5).partial_fit(*CHUNKS[0])
    assert (model.trainer_, model.n_iter_, model.firmness_) == ("averaged", 1, None)
    assert not streams(model, model.tagger_.chain)


@pytest.mark.parametrize("forgetting", [-0.1, 1.5, float("nan"), "all"])
def test_forgetting_is_a_share(forgetting):
    with pytest.raises(ConfigError, match="forgetting"):
        LinearCRF(forgetting=forgetting).partial_fit(*CHUNKS[0])


def test_chunks_that_teach_nothing():
    model = streamed([0])
    for y in ([[None] * len(x) for x in CHUNKS[1][0]], []):
        with pytest.raises(DataError, match="no label at all"):
            model.partial_fit(CHUNKS[1][0] if y else [], y)
    one = LinearCRF(n_jobs=1).partial_fit([[{"word": "a"}]], [["O"]])
    assert one.predict([[{"word": "a"}]]) == [["O"]]
    assert one.partial_fit(*CHUNKS[0]).score(*CHUNKS[0]) > 0.9
