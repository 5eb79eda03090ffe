"""Labels of whole sequences: the task, its losses against enumeration, and a classifier from data to file."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import chainfield
from chainfield.errors import ConfigError, DataError, ModelFileError
from chainfield.features.batch import Batch
from chainfield.files.model import load_model, load_tagger, save_model
from chainfield.fitted import Classifier
from chainfield.models import MODELS
from chainfield.objectives import OBJECTIVES, Contrast, Targets, objective_named
from chainfield.problem import Problem
from chainfield.scorers import Chain, DenseLinear, Transition
from chainfield.states import class_blocks, left_to_right, one_per_label, partitioned
from chainfield.tasks import TASKS, Classifying, Tagging
from support import enumeration
from support.models import BlockClassifier

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
SPACE = class_blocks([left_to_right(2), partitioned([2]), left_to_right(1)])
TASK = Classifying(("a", "b", "c"))
OFFSETS = np.array([0, 3, 5, 8, 10])
TARGETS = ["b", "a", None, {"a", "c"}]


def test_a_clamp_allows_the_rows_of_the_class():
    clamp = TASK.clamp(SPACE, TARGETS, OFFSETS)
    allowed = clamp.table[clamp.index]
    rows = {"a": [0, 1], "b": [2, 3], "c": [4]}
    expected = [rows["b"], rows["a"], [0, 1, 2, 3, 4], rows["a"] + rows["c"]]
    for s, own in enumerate(expected):
        for t in range(OFFSETS[s], OFFSETS[s + 1]):
            assert np.flatnonzero(allowed[t]).tolist() == own
    assert TASK.count(SPACE, clamp, OFFSETS).tolist() == [1, 1, 0]


def test_a_mistake_costs_once():
    clamp = TASK.clamp(SPACE, TARGETS, OFFSETS)
    cost = TASK.cost(SPACE, clamp, 2.5)[clamp.index]
    for s, right in enumerate([{"b"}, {"a"}, {"a", "b", "c"}, {"a", "c"}]):
        total = cost[OFFSETS[s] : OFFSETS[s + 1]].sum(axis=0)
        for row, label in enumerate(SPACE.label_of_row):
            assert total[row] == (0.0 if TASK.labels[label] in right else 2.5)


def test_class_weights_are_weights_of_sequences():
    clamp = TASK.clamp(SPACE, TARGETS, OFFSETS)
    shift, factor = TASK.favour(SPACE, clamp, OFFSETS, np.array([2.0, 3.0, 4.0]))
    assert shift is None
    assert factor.tolist() == [3.0, 2.0, 1.0, 1.0]


def make_problem(objective, targets=TARGETS, seed=0):
    rng = np.random.default_rng(seed)
    batch = Batch(OFFSETS, dense=rng.normal(size=(10, 3)))
    own = np.arange(SPACE.n_edges, dtype=np.int32)
    chain = Chain(SPACE, (DenseLinear(3, SPACE.n_rows),), (Transition(own),), 0.5)
    chosen = objective_named(objective)
    clamp = TASK.clamp(SPACE, targets, OFFSETS)
    cost = TASK.cost(SPACE, clamp, 0.7) if chosen.uses_cost else None
    return Problem(chain, chosen, batch, Targets(clamp, rng.uniform(0.5, 2.0, 4), cost))


@pytest.mark.parametrize("objective", [name for name, one in OBJECTIVES.items() if isinstance(one, Contrast)])
def test_losses_equal_enumeration(objective):
    problem = make_problem(objective)
    theta = problem.chain.start(np.random.default_rng(2))
    assert theta.all()
    potentials, _ = problem.chain.potentials(problem.chain.views(theta), problem.batch, problem.objective.how)
    gather = enumeration.log_sum if problem.objective.how == "sum" else max
    total = 0.0
    for s, target in enumerate(TARGETS):
        right = set(TASK.labels) if target is None else {target} if isinstance(target, str) else target
        above, below = [], []
        for path in enumeration.paths(SPACE, potentials, s):
            label = TASK.labels[SPACE.label_of[path.states[0]]]
            above.append(path.score + (0.7 if problem.objective.uses_cost and label not in right else 0.0))
            below += [path.score] if label in right else []
        total += problem.targets.weight[s] * (gather(above) - gather(below))
    value, gradient = problem.evaluate(theta)
    np.testing.assert_allclose(value, total, **CLOSE)
    if problem.objective.smooth:
        for direction in np.random.default_rng(3).normal(size=(5, len(theta))):
            up, down = (problem.evaluate(theta + sign * 1e-5 * direction)[0] for sign in (1, -1))
            np.testing.assert_allclose((up - down) / 2e-5, gradient @ direction, rtol=1e-5, atol=1e-6)


def test_bad_targets_are_refused():
    with pytest.raises(DataError, match="labels for 3"):
        TASK.clamp(SPACE, TARGETS[:3], OFFSETS)
    with pytest.raises(DataError, match="Sequence 1: the label 'x' is not the model's"):
        TASK.clamp(SPACE, ["a", "x", "a", "a"], OFFSETS)
    with pytest.raises(DataError, match="Sequence 1 is empty"):
        TASK.clamp(SPACE, ["a", "a"], np.array([0, 2, 2]))
    with pytest.raises(ConfigError, match="class_blocks"):
        TASK.check(one_per_label(3))
    with pytest.raises(DataError, match="only 3 of them have states"):
        Classifying(("a", "b", "c", "d")).check(SPACE)


def test_tasks_are_listed_by_kind():
    assert {"tagging": Tagging, "classifying": Classifying} == TASKS


# ---- a classifier ------------------------------------------------------------------------------------------------


def melodies(n=60, seed=0):
    """Rising and falling sequences of numbers, and flat ones."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        length = int(rng.integers(3, 8))
        slope = (1.0, -1.0, 0.0)[i % 3]
        x = slope * np.linspace(-1, 1, length) + 0.2 * rng.normal(size=length)
        X.append(np.c_[x, x**2, np.ones(length)])
        y.append(("up", "down", "flat")[i % 3])
    return X, y


X, Y = melodies()
X_NEW, Y_NEW = melodies(30, seed=1)


@pytest.fixture(scope="module")
def model():
    return BlockClassifier(max_iter=40).fit(X, Y)


def test_it_learns(model):
    assert model.classes_.tolist() == ["down", "flat", "up"]
    assert model.score(X_NEW, Y_NEW) > 0.9
    probability = model.predict_proba(X_NEW)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    assert model.classes_[probability.argmax(axis=1)].tolist() == model.predict(X_NEW).tolist()
    np.testing.assert_allclose(np.log(probability), model.predict_log_proba(X_NEW), **CLOSE)
    known = model.log_likelihood(X_NEW, Y_NEW)
    picked = [model.predict_log_proba(X_NEW)[i, model.classes_.tolist().index(label)] for i, label in enumerate(Y_NEW)]
    np.testing.assert_allclose(known, picked, **CLOSE)
    np.testing.assert_allclose(model.log_likelihood(X_NEW, [None] * len(X_NEW)), 0.0, atol=1e-9)


def test_states_of_a_label(model):
    space = model.classifier_.chain.space
    for x, states in zip(X_NEW, model.predict_states(X_NEW, ["up"] * len(X_NEW)), strict=True):
        assert len(states) == len(x)
        assert {model.classes_[i] for i in space.label_of[states]} == {"up"}
        assert (np.diff(states) >= 0).all()
    occupancy = model.classifier_.occupancies(X_NEW[:2])
    assert [o.shape for o in occupancy] == [(len(x), space.n_rows) for x in X_NEW[:2]]
    np.testing.assert_allclose(occupancy[0].sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("objective", ["perceptron", "large_margin"])
def test_max_objectives(objective):
    trained = BlockClassifier(objective=objective, trainer="averaged", max_iter=10).fit(X, Y)
    assert trained.score(X_NEW, Y_NEW) > 0.7


def test_development_data_and_weights():
    trained = BlockClassifier(max_iter=5).fit(X, Y, X_dev=X_NEW, y_dev=Y_NEW)
    assert all(0 <= record["dev_score"] <= 1 for record in trained.history_)
    settings = {"max_iter": 10, "trainer": "lbfgs"}
    weighted = BlockClassifier(class_weight={"up": 3.0}, **settings).fit(X, Y)
    same = BlockClassifier(**settings).fit(X, Y, [3.0 if label == "up" else 1.0 for label in Y])
    assert weighted.fitted_.theta.tobytes() == same.fitted_.theta.tobytes()
    assert clone(weighted).get_params() == weighted.get_params()
    balanced = BlockClassifier(class_weight="balanced", **settings).fit(X, Y)
    np.testing.assert_allclose(balanced.fitted_.theta, BlockClassifier(**settings).fit(X, Y).fitted_.theta, rtol=1e-9)


def test_going_on_with_more_classes(model):
    more = BlockClassifier(max_iter=5).fit(X[:40], Y[:40])
    before = more.feature_weights_
    more.partial_fit([x + 9.0 for x in X[:5]], ["high"] * 5)
    assert more.classes_.tolist() == ["down", "flat", "high", "up"]
    assert set(before) < set(more.feature_weights_)
    assert more.predict([X[0] + 9.0]).tolist() == ["high"]


def test_bad_input(model):
    with pytest.raises(NotFittedError):
        BlockClassifier().predict(X)
    assert not hasattr(BlockClassifier(), "classifier_")
    with pytest.raises(DataError, match="Sequence 1 is empty"):
        model.predict([X[0], X[0][:0]])
    with pytest.raises(DataError, match="a list with a label for each sequence"):
        BlockClassifier().fit(X, "up")
    with pytest.raises(DataError, match="labels for 2"):
        model.score(X[:3], Y[:2])
    with pytest.raises(DataError, match="labels for 2"):
        BlockClassifier().fit(X[:3], Y[:2])


def test_files(model, tmp_path, monkeypatch):
    path = tmp_path / "m.cf"
    model.save(path, notes={"a": 1})
    fitted, about = load_model(path)
    assert isinstance(fitted, Classifier)
    assert fitted.predict(X_NEW) == model.predict(X_NEW).tolist()
    assert fitted.probabilities(X_NEW).tobytes() == model.predict_proba(X_NEW).tobytes()
    assert about["class"] == "BlockClassifier"
    with pytest.raises(ModelFileError, match="labels whole sequences"):
        load_tagger(path)
    with pytest.raises(ModelFileError, match="'BlockClassifier'"):
        chainfield.load(path)
    monkeypatch.setitem(MODELS, "block", BlockClassifier)
    loaded = chainfield.load(path)
    assert loaded.get_params() == model.get_params()
    assert loaded.predict(X_NEW).tolist() == model.predict(X_NEW).tolist()
    assert loaded.n_sequences_seen_ == len(X)
    save_model(path, model.fitted_, about | {"class": "LinearCRF"})
    with pytest.raises(ModelFileError, match="LinearCRF is not for classifying"):
        chainfield.load(path)
    assert pickle.loads(pickle.dumps(model)).predict(X_NEW).tolist() == model.predict(X_NEW).tolist()


def test_no_sequences(model):
    assert model.predict([]).shape == (0,)
    assert model.decision_function([]).shape == (0, 3)
    assert model.predict_proba([]).shape == (0, 3)
    assert model.predict_states([]) == []
