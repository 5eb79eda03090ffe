"""Labels that a model which has not seen them doubts; scores that grow with the data; facts of training."""

from __future__ import annotations

import json

import numpy as np
import pytest

import chainfield
from chainfield import EmpiricalCRF, HMMClassifier, LinearCRF
from chainfield.errors import ConfigError, DataError, ModelFileError
from chainfield.files.container import read_container, write_container
from chainfield.inspection.doubtful import disagreements
from chainfield.models.facts import MOST_RECORDS, TrainingFacts, fingerprint, thinned
from chainfield.models.folds import doubtful_labels, learning_curve

FAST = {"max_iter": 15, "n_jobs": 1}


def corpus(n, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = rng.choice(["the", "in", "rome", "oslo", "anna", "runs"], int(rng.integers(3, 8))).tolist()
        kind = {"rome": "B-LOC", "oslo": "B-LOC", "anna": "B-PER"}
        X.append(words)
        y.append([kind.get(word, "O") for word in words])
    return X, y


def test_disagreements_have_the_probabilities_of_both_sides():
    X, y = corpus(80)
    crf = LinearCRF(**FAST).fit(X, y)
    x = ["in", "rome", "anna"]
    gold = ["O", "B-PER", "O"]
    wrong, missed = sorted(disagreements(crf.tagger_, [x], [gold]), key=lambda place: place.start)
    assert (wrong.start, wrong.end, wrong.gold, wrong.found) == (1, 2, ("B-PER",), ("B-LOC",))
    assert (wrong.mistake.kind, missed.mistake.kind) == ("type", "spurious")
    marginals = crf.predict_marginals([x])[0][1]
    assert wrong.p_gold == pytest.approx(marginals[crf.classes_.index("B-PER")], rel=1e-9)
    assert wrong.p_found == pytest.approx(marginals[crf.classes_.index("B-LOC")], rel=1e-9)
    assert disagreements(crf.tagger_, [x, []], [[None] * 3, []]) == []
    (strange,) = disagreements(crf.tagger_, [["in"]], [["B-ORG"]])
    assert strange.p_gold == 0.0
    with pytest.raises(DataError, match="Sequence 0 has 3 positions but 2 labels"):
        disagreements(crf.tagger_, [x], [gold[:2]])


def test_plain_tags_disagree_token_by_token():
    crf = LinearCRF(**FAST).fit([["a", "b"]] * 10, [["N", "V"]] * 10)
    (place,) = disagreements(crf.tagger_, [["a", "b"]], [["N", "N"]])
    assert (place.start, place.end, place.mistake) == (1, 2, None)


def test_planted_mistakes_are_found_out_of_fold():
    X, y = corpus(150, seed=1)
    planted = {(3, X[3].index(next(w for w in X[3] if w != "the"))): "B-PER"}
    spoiled = [list(labels) for labels in y]
    rng = np.random.default_rng(2)
    for s in rng.choice(150, 6, replace=False).tolist():
        t = int(rng.integers(len(X[s])))
        spoiled[s][t] = "B-PER" if y[s][t] != "B-PER" else "O"
        planted[s, t] = spoiled[s][t]
    planted = {place: label for place, label in planted.items() if spoiled[place[0]][place[1]] == label}
    seen = []
    found = doubtful_labels(LinearCRF(**FAST), X, spoiled, watch=lambda *step: seen.append(step))
    assert seen == [(i, 5) for i in range(1, 6)]
    top = {(place.sequence, t) for place in found[: len(planted)] for t in range(place.start, place.end)}
    assert set(planted) <= top
    assert {place.fold for place in found} <= set(range(5))


def test_groups_are_never_divided():
    from chainfield.models.folds import _folds

    groups = np.random.default_rng(0).integers(9, size=100).tolist()
    folds = _folds(100, 100, 3, groups, 0)
    for group in set(groups):
        assert len({f for f, g in zip(folds, groups, strict=True) if g == group}) == 1
    assert min(np.bincount(folds)) >= 20
    with pytest.raises(ConfigError, match="n_folds is 4; there are 3 groups, so from 2 to 3"):
        doubtful_labels(LinearCRF(), [["a"]] * 6, [["x"]] * 6, n_folds=4, groups=[1, 1, 2, 2, 3, 3])
    with pytest.raises(DataError, match="X has 2 sequences, but there are labels for 1"):
        doubtful_labels(LinearCRF(), [["a"]] * 2, [["x"]])


def test_scores_grow_with_the_data():
    X, y = corpus(60, seed=3)
    curve = learning_curve(LinearCRF(**FAST), X, y, *corpus(40, seed=4), shares=(0.05, 0.5, 1.0), n_draws=2)
    assert curve.metric == "span_f1"
    assert [p.n for p in curve.points] == [3, 30, 60]
    assert [p.draws for p in curve.points] == [2, 2, 1]
    assert curve.points[0].test < curve.points[-1].test == 1.0
    assert all(p.low <= p.test <= p.high for p in curve.points)
    assert not curve.still_rising  # nothing is left to gain
    with pytest.raises(ConfigError, match="growing numbers up to 1"):
        learning_curve(LinearCRF(), X, y, X, y, shares=(0.5, 0.1))


def test_a_curve_of_whole_sequences():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=40)
    X = [rng.normal(size=(4, 1)) + 3 * label for label in y]
    model = HMMClassifier(n_states=1, max_iter=2)
    curve = learning_curve(model, X, y, X[:10], y[:10], shares=(0.5, 1.0), n_draws=1)
    assert curve.metric == "accuracy"
    assert curve.points[-1].test > 0.8


# ---- facts of training -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained():
    X, y = corpus(60)
    return LinearCRF(scheme="bio", **FAST).fit(X, y, X_dev=X[:10], y_dev=y[:10])


def test_facts_survive_a_file(trained, tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    trained.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf")
    assert loaded.training_ == trained.training_
    assert loaded.history_ == trained.history_
    assert (loaded.n_iter_, loaded.stop_reason_) == (trained.n_iter_, trained.stop_reason_)
    facts = loaded.training_
    assert (facts.n_sequences, facts.n_dev_sequences, facts.version) == (60, 10, chainfield.__version__)
    assert facts.settings["scheme"] == "bio"
    assert facts.settings["l2"] is not None
    assert facts.settings["max_iter"] == 15
    np.testing.assert_array_equal(loaded.feature_counts_, trained.feature_counts_)
    assert set(loaded.boundary_weights_) == {"start", "end"}


def test_the_data_of_a_training_are_recognised(trained):
    X, y = corpus(60)
    assert fingerprint(trained.tagger_.features.encode(X), y) == trained.training_.fingerprint
    assert fingerprint(trained.tagger_.features.encode(X[1:]), y[1:]) != trained.training_.fingerprint
    other = [list(labels) for labels in y]
    other[0][0] = "B-PER" if y[0][0] == "O" else "O"
    assert fingerprint(trained.tagger_.features.encode(X), other) != trained.training_.fingerprint


def test_features_are_counted(trained):
    X, _ = corpus(60)
    names = list(trained.feature_names_)
    rome = next(i for i, name in enumerate(names) if name.endswith("rome") and "[" not in name and "|" not in name)
    assert trained.feature_counts_[rome] == sum(words.count("rome") for words in X)


def test_counts_go_on_with_more_data():
    items = [[{"w": "a"}], [{"w": "b"}]]
    crf = LinearCRF().partial_fit(items, [["x"], ["y"]], classes=["x", "y"])
    crf.partial_fit([[{"w": "b"}], [{"w": "c"}, {"w": "b"}]], [["y"], ["x", "y"]])
    assert dict(zip(crf.feature_names_, crf.feature_counts_.tolist(), strict=True)) == {"w:a": 1, "w:b": 3, "w:c": 1}


def test_counts_and_fingerprint_of_a_model_without_useless_features(tmp_path):
    X, y = corpus(60)
    crf = LinearCRF(l1=1.0, l2=0.0, max_iter=30).fit(X, y)
    assert len(crf.feature_counts_) == len(crf.feature_names_)
    counts = dict(zip(crf.feature_names_, crf.feature_counts_.tolist(), strict=True))
    assert counts["word=rome"] == sum(words.count("rome") for words in X)
    crf.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf")
    assert fingerprint(loaded.tagger_.features.encode(X), y) == loaded.training_.fingerprint


def test_files_without_times(trained, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    trained.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf")
    assert loaded.training_.seconds is None
    assert not any("seconds" in record for record in loaded.history_)


def test_long_histories_are_thinned():
    history = [{"iteration": i, "objective": 1.0, "note": "text"} for i in range(1, 2002)]
    kept, every = thinned(history, best=777)
    assert len(kept) <= MOST_RECORDS + 2
    assert every == 5
    assert {1, 777, 2001} <= {record["iteration"] for record in kept}
    assert "note" not in kept[0]


@pytest.mark.parametrize(
    "change",
    [
        {"n_iter": "many"},
        {"history": [{"iteration": 1, "objective": "x"}]},
        {"history": [{"objective": 1.0}]},
        {"history": [{"iteration": 10**400}]},
        {"history": "none"},
        {"seconds": [1]},
        {"settings": None},
        {"stop_reason": 3},
        {"n_iter": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_facts_of_a_strange_file_are_refused(trained, tmp_path, change):
    trained.save(tmp_path / "m.cf")
    config, arrays, _ = read_container(tmp_path / "m.cf", "model", 99)
    config["estimator"]["training"] |= change
    write_container(tmp_path / "m.cf", "model", 2, config, arrays)
    with pytest.raises(ModelFileError, match=r"does not describe a model|is no LinearCRF|chainfield did not write it"):
        chainfield.load(tmp_path / "m.cf")


def test_counts_that_do_not_fit_are_refused(trained, tmp_path):
    trained.save(tmp_path / "m.cf")
    config, arrays, _ = read_container(tmp_path / "m.cf", "model", 99)
    arrays["feature_counts"] = arrays["feature_counts"][1:]
    write_container(tmp_path / "m.cf", "model", 2, config, arrays)
    with pytest.raises(ModelFileError, match="feature_counts"):
        chainfield.load(tmp_path / "m.cf")


def test_models_that_only_count_have_no_facts(tmp_path):
    model = EmpiricalCRF().fit([["a", "b"]], [["x", "y"]])
    model.save(tmp_path / "m.cf")
    assert not hasattr(chainfield.load(tmp_path / "m.cf"), "training_")
    assert json.dumps(
        TrainingFacts("0", {}, "sgd", 1, 1, "done", [{"a": float("nan")}], 1, 0.1, 1, 1, None, "").to_json()
    )
