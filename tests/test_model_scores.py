"""``score`` of models, and what development data are scored by: labels may be unknown, or "one of these"."""

from __future__ import annotations

import numpy as np
import pytest

from chainfield import HMMClassifier, LinearCRF
from chainfield.errors import DataError, DataWarning
from chainfield.metrics import get_scorer
from test_commands import run

X = [["a", "b", "a"], ["b", "a"], ["a"], ["b", "b"]] * 5
Y = [[{"a": "x", "b": "z"}[token] for token in one] for one in X]
RNG = np.random.default_rng(0)
CLASSES = [0, 1] * 10
ARRAYS = [RNG.normal(size=(5, 2)) + 6 * label for label in CLASSES]
WEIGHTS = np.arange(1.0, 21.0)


@pytest.fixture(scope="module")
def tagger():
    model = LinearCRF(n_jobs=1, max_iter=20).fit(X, Y)
    assert model.score(X, Y) == 1.0
    return model


@pytest.fixture(scope="module")
def classifier():
    model = HMMClassifier(n_states=1, n_jobs=1, max_iter=3).fit(ARRAYS, CLASSES)
    assert model.score(ARRAYS, CLASSES) == 1.0
    return model


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    ("change", "right"),
    [
        (lambda v: {v}, 1.0),
        (lambda v: frozenset((0, 1)), 1.0),
        (lambda v: {v, "another"}, 1.0),
        (lambda v: {1 - v}, 0.0),
        (lambda v: {np.int64(v)}, 1.0),
    ],
)
def test_a_class_is_right_if_it_is_one_of_these(classifier, change, right, weights):
    assert classifier.score(ARRAYS, [change(v) for v in CLASSES], weights) == right
    assert classifier._quality([change(v) for v in CLASSES], classifier.predict(ARRAYS), (0, 1)) == right


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_unknown_classes_do_not_count(classifier, weights):
    truth = [None if s % 3 else {1 - v} if s % 2 else v for s, v in enumerate(CLASSES)]
    known = [s for s, v in enumerate(truth) if v is not None]
    weight = np.ones(20) if weights is None else weights
    share = sum(weight[s] for s in known if s % 2 == 0) / sum(weight[known])
    assert 0 < share < 1
    assert classifier.score(ARRAYS, truth, weights) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_positions_are_right_if_they_are_one_of_these_and_unknown_ones_do_not_count(tagger, weights):
    assert tagger.score(X, [[{v} for v in y] for y in Y], weights) == 1.0
    assert tagger.score(X, [[{"x", "z"} for _ in y] for y in Y], weights) == 1.0
    truth = [[None if t else {"x"} if s % 2 else {"x", "z"} for t in range(len(y))] for s, y in enumerate(Y)]
    weight = np.ones(20) if weights is None else weights
    share = sum(w for s, w in enumerate(weight) if s % 2 == 0 or Y[s][0] == "x") / sum(weight)
    assert 0 < share < 1
    assert tagger.score(X, truth, weights) == pytest.approx(share, rel=1e-12)
    if weights is None:
        assert tagger._quality(truth, tagger.predict(X), ("x", "z")) == pytest.approx(share, rel=1e-12)
        assert get_scorer("token_accuracy")(tagger, X, truth) == pytest.approx(share, rel=1e-12)


def test_spans_may_be_one_of_these():
    labels = [[{"x": "B-X", "z": "O"}[v] for v in y] for y in Y]
    model = LinearCRF(n_jobs=1, max_iter=20).fit(X, labels)
    score = get_scorer("span_f1")
    assert score(model, X, [[{v, "B-Y"} for v in y] for y in labels]) == 1.0
    assert score(model, X, [[{"B-Y", "B-Z"} for v in y] for y in labels]) == 0.0
    wrong = [[{"O", "B-Y"} if v == "B-X" else None for v in y] for y in labels]
    guess, classes = model.predict(X), tuple(model.classes_)
    assert score(model, X, wrong) == model._quality(wrong, guess, classes) == 0.0


def test_development_labels_may_be_one_of_these(classifier):
    truth = [[{v} if t else None for t, v in enumerate(y)] for y in Y]
    model = LinearCRF(n_jobs=1, max_iter=20).fit(X, Y, X_dev=X, y_dev=truth)
    assert model.history_[-1]["dev_score"] == 1.0


def test_where_nothing_is_known_there_is_no_score(tagger, classifier):
    nothing = [[None] * len(y) for y in Y]
    with pytest.raises(DataError, match="y holds no known label, so there is nothing to score by"):
        tagger.score(X, nothing)
    with pytest.raises(DataError, match="y holds no known label"):
        classifier.score(ARRAYS, [None] * 20)
    for name in ("span_f1", "token_accuracy", "sequence_accuracy"):
        with pytest.raises(DataError, match="y holds no known label"):
            get_scorer(name)(tagger, X, nothing)
    with pytest.raises(DataError, match="y_dev holds no known label"):
        LinearCRF(n_jobs=1, max_iter=2).fit(X, Y, X_dev=X, y_dev=nothing)


def test_labels_that_no_prediction_can_have_are_told(tagger, classifier):
    with pytest.warns(DataWarning, match=r"y holds '0', but the model's labels are 0, 1: no label of y is one of them"):
        assert classifier.score(ARRAYS, [str(v) for v in CLASSES]) == 0.0
    with pytest.warns(DataWarning, match=r"y holds 0, but the model's labels are 'x', 'z'") as caught:
        assert tagger.score(X, [[0 for _ in y] for y in Y]) == 0.0
    assert caught[0].filename == __file__
    # Labels of new data may be strange as long as some are not.
    assert 0.0 < classifier.score(ARRAYS, [0.0, "1"] * 10) < 1.0


@pytest.mark.filterwarnings("always:y holds:chainfield.errors.DataWarning")
@pytest.mark.parametrize(
    ("labels", "given", "share"),
    [
        (CLASSES, [str(v) for v in CLASSES], "100.00"),
        ([bool(v) for v in CLASSES], [str(bool(v)) for v in CLASSES], "100.00"),
        (["ab"[v] for v in CLASSES], ["ab"[v] for v in CLASSES], "100.00"),
        (["ab"[v] for v in CLASSES], CLASSES, "0.00"),
        (CLASSES, ["ab"[v] for v in CLASSES], "0.00"),
    ],
    ids=["written numbers", "written truths", "the same", "numbers for names", "names for numbers"],
)
def test_the_command_tells_of_strange_labels(tmp_path, labels, given, share):
    HMMClassifier(n_states=1, n_jobs=1, max_iter=3).fit(ARRAYS, labels).save(tmp_path / "m.cf")
    np.savez(tmp_path / "x.npz", X=np.concatenate(ARRAYS), lengths=np.full(20, 5), y=np.array(given))
    done = run("classify", tmp_path / "m.cf", tmp_path / "x.npz", "--jobs", 1)
    assert f"accuracy {share} % of 20 labelled sequences" in done.stderr
    assert ("warning: y holds " in done.stderr) == (share == "0.00")
