"""scikit-learn's own tools over every model: its checks, selection, ensembles, calibration, pipelines, routing."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_do_not_raise_errors_in_init_or_set_params,
    check_estimator_repr,
    check_estimator_tags_renamed,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
    check_valid_tag_types,
    parametrize_with_checks,
)

import chainfield
from chainfield.adapters import RowClassifier, pad
from chainfield.errors import ConfigError, DataError, SettingError
from chainfield.metrics import get_scorer, sequence_accuracy, span_f1, token_accuracy
from chainfield.models import MODELS, ClassifyingModel
from chainfield.states import class_blocks, left_to_right
from chainfield.tasks.task import label_array
from test_classifying import melodies
from test_linear_crf import X_NEW as X_TEXT_NEW
from test_linear_crf import X as X_TEXT
from test_linear_crf import Y as Y_TEXT

KINDS = [*MODELS.values(), chainfield.ComposedTagger, chainfield.ComposedClassifier]
FAST = {"n_jobs": 1, "max_iter": 20}


def moving(n, seed):
    """Melodies without the column that is always 1."""
    sequences, labels = melodies(n, seed)
    return [x[:, :2] for x in sequences], labels


X, Y = moving(60, 0)
X_NEW, Y_NEW = moving(30, 1)
EVERYWHERE = [[label] * len(x) for x, label in zip(X, Y, strict=True)]


def hmm(**settings):
    return chainfield.HMMClassifier(n_states=2, **FAST | settings)


def two_classes():
    """Sequences of two classes, sorted by class."""
    order = sorted((i for i, label in enumerate(Y) if label != "flat"), key=lambda i: Y[i])
    return [X[i] for i in order], [Y[i] for i in order]


# ---- its checks --------------------------------------------------------------------------------------------------


def one_state(n_labels):
    return class_blocks([left_to_right(1)] * n_labels)


ONE_SAMPLE = {
    "check_fit2d_1sample": "one position has no variance: the message names the column that is constant",
}
IN_STEPS = {
    "check_sample_weight_equivalence_on_dense_data": "stochastic training draws batches of sequences: a weight of two "
    "lengthens a step, two copies make two",
}
EXPECTED = {
    "HMMClassifier": ONE_SAMPLE,
    "HiddenCRF": ONE_SAMPLE | IN_STEPS,
    "HiddenUnitCRF": IN_STEPS,
    "NeuralCRF": {
        "check_sample_weight_equivalence_on_dense_data": "a network takes steps on batches: a weight is no repetition",
        "check_classifiers_train": "words of one token each tell a network nothing in three passes",
    },
}
CHECKED = [
    RowClassifier(chainfield.LinearCRF(n_jobs=1)),
    RowClassifier(chainfield.MEMM(n_jobs=1)),
    RowClassifier(chainfield.LatentCRF(**FAST)),
    RowClassifier(chainfield.HiddenUnitCRF(hidden_units=5, **FAST)),
    RowClassifier(chainfield.EmpiricalCRF(n_jobs=1), text=True),
    RowClassifier(
        chainfield.NeuralCRF(context="none", word_dim=8, hidden=8, chars="none", **FAST | {"max_iter": 3}), text=True
    ),
    RowClassifier(chainfield.HMMClassifier(n_states=1, **FAST)),
    RowClassifier(chainfield.HiddenCRF(n_states=1, **FAST | {"max_iter": 5})),
    RowClassifier(chainfield.ComposedTagger(**FAST)),
    RowClassifier(chainfield.ComposedClassifier(space=one_state, **FAST)),
]


def test_every_model_is_checked():
    assert {type(rows.estimator) for rows in CHECKED} == set(KINDS)


@pytest.mark.filterwarnings("ignore:Columns are far from 0")  # data of the checks are shifted by 100
@parametrize_with_checks(
    CHECKED, expected_failed_checks=lambda rows: EXPECTED.get(type(rows.estimator).__name__, {}), xfail_strict=True
)
def test_checks_of_scikit_learn(estimator, check):
    if isinstance(estimator.estimator, chainfield.NeuralCRF):
        pytest.importorskip("torch")
    check(estimator)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "check",
    [
        check_do_not_raise_errors_in_init_or_set_params,
        check_estimator_repr,
        check_estimator_tags_renamed,
        check_get_params_invariance,
        check_no_attributes_set_in_init,
        check_parameters_default_constructible,
        check_set_params,
        check_valid_tag_types,
    ],
    ids=lambda check: check.__name__,
)
def test_checks_without_data(kind, check):
    """The checks of scikit-learn that pass no table, on the models themselves."""
    check(kind.__name__, kind())


# ---- classifiers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_who_is_a_classifier(kind):
    whole = issubclass(kind, ClassifyingModel)
    tags = get_tags(kind())
    assert is_classifier(kind()) == whole
    assert (tags.estimator_type == "classifier") == (tags.classifier_tags is not None) == whole
    assert getattr(kind(), "_estimator_type", None) == ("classifier" if whole else None)
    assert tags.target_tags.one_d_labels == whole
    assert not tags.input_tags.two_d_array


def test_predictions_are_arrays():
    model = hmm().fit(X, Y)
    assert model.classes_.dtype.kind == "U"
    assert model.classes_.tolist() == ["down", "flat", "up"]
    guess = model.predict(X_NEW)
    assert isinstance(guess, np.ndarray)
    assert guess.dtype == model.classes_.dtype
    numbers = hmm().fit(X, np.array([{"down": 3, "flat": 5, "up": 7}[label] for label in Y]))
    assert numbers.classes_.dtype == np.int64
    assert numbers.predict(X_NEW).dtype == np.int64
    assert [{3: "down", 5: "flat", 7: "up"}[label] for label in numbers.predict(X_NEW)] == guess.tolist()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (("a", "bc"), "U"), ((1, 2), "i"), ((1, 2.5), "f"), ((False, True), "b"), (("a", 1), "O"),
        ((("a", 1), ("b", 2)), "O"), ((("a",), ("b", 2)), "O"), (("a\0", "a"), "O"), ((2**70, 1), "O"),
        ((2**53 + 1, 0.5), "O"), ((b"a", b"b"), "O"), ((), "O"),
    ],
)  # fmt: skip
def test_no_label_changes_in_an_array(labels, kind):
    found = label_array(labels)
    assert found.dtype.kind == kind
    assert found.shape == (len(labels),)
    assert found.tolist() == list(labels)


def test_labels_that_fit_no_array():
    names = {"down": ("a", 1), "flat": ("b",), "up": "up"}
    model = hmm().fit(X, [names[label] for label in Y])
    assert set(model.classes_.tolist()) == set(names.values())
    assert model.predict(X_NEW).tolist() == [names[label] for label in hmm().fit(X, Y).predict(X_NEW)]
    assert model.score(X_NEW, [names[label] for label in Y_NEW]) > 0.9


def test_margins_agree_with_predictions():
    for model in (hmm(), chainfield.HiddenCRF(n_states=2, objective="perceptron", trainer="averaged", **FAST)):
        margins = model.fit(X, Y).decision_function(X_NEW)
        assert margins.shape == (len(X_NEW), 3)
        assert model.classes_[margins.argmax(axis=1)].tolist() == model.predict(X_NEW).tolist()
        assert ((margins > 0).sum(axis=1) == 1).all()
    few, labels = two_classes()
    model = hmm().fit(few, labels)
    odds = np.diff(model.predict_log_proba(few), axis=1)[:, 0]
    np.testing.assert_allclose(model.decision_function(few), odds, rtol=1e-9, atol=1e-9)
    assert hmm().fit(X[::3], Y[::3]).decision_function(X[:2]).tolist() == [[0.0], [0.0]]


def test_a_class_without_a_path_lies_far_below():
    """Of two chains, of three states and of one, only the second has a path for two positions."""
    few, labels = two_classes()
    model = chainfield.ComposedClassifier(space=three_and_one, **FAST).fit(few, labels)
    short = model.decision_function([few[0][:2]])
    assert np.isfinite(short).all()
    assert short[0] > 1e300
    assert model.predict([few[0][:2]]).tolist() == ["up"]


def three_and_one(n_labels):
    return class_blocks([left_to_right(3), left_to_right(1)])


def test_folds_keep_the_shares_of_classes():
    few, labels = two_classes()
    scores = cross_val_score(hmm(), few, labels, cv=2, error_score="raise")
    assert scores.min() > 0.9
    grid = GridSearchCV(hmm(), {"n_components": [1, 2]}, cv=2, scoring="roc_auc", error_score="raise").fit(few, labels)
    assert grid.best_score_ > 0.9
    assert grid.classes_.tolist() == ["down", "up"]
    assert isinstance(grid.cv_results_["params"][0]["n_components"], int)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
def test_predictions_of_all_folds(method):
    found = cross_val_predict(hmm(), X, Y, cv=3, method=method)
    assert found.shape == ((len(X),) if method == "predict" else (len(X), 3))
    for inside, outside in StratifiedKFold(3).split(Y, Y):
        model = hmm().fit([X[i] for i in inside], [Y[i] for i in inside])
        wanted = getattr(model, method)([X[i] for i in outside])
        if method == "predict":
            assert found[outside].tolist() == wanted.tolist()
        else:
            np.testing.assert_allclose(found[outside], wanted, rtol=1e-9, atol=1e-12)


def test_area_under_the_curve():
    assert cross_val_score(hmm(), X, Y, cv=3, scoring="roc_auc_ovr", error_score="raise").min() > 0.9
    few, labels = two_classes()
    model = hmm().fit(few, labels)
    by_margin, by_share = (
        roc_auc_score(np.array(labels) == "up", scores)
        for scores in (model.decision_function(few), model.predict_proba(few)[:, 1])
    )
    assert by_margin == pytest.approx(by_share, rel=1e-12)


def test_voting():
    members = [("hmm", hmm()), ("hcrf", chainfield.HiddenCRF(n_states=2, trainer="lbfgs", **FAST))]
    for voting in ("soft", "hard"):
        model = VotingClassifier(members, voting=voting).fit(X, Y)
        assert model.score(X_NEW, Y_NEW) > 0.9
        assert model.n_features_in_ == 2
    shares = VotingClassifier(members, voting="soft").fit(X, Y).predict_proba(X_NEW)
    wanted = np.mean([member.fit(X, Y).predict_proba(X_NEW) for _, member in members], axis=0)
    np.testing.assert_allclose(shares, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_calibration(method):
    model = chainfield.HiddenCRF(n_states=2, objective="perceptron", trainer="averaged", **FAST)
    sure = CalibratedClassifierCV(model, method=method, cv=3).fit(X, Y)
    assert sure.score(X_NEW, Y_NEW) > 0.9
    np.testing.assert_allclose(sure.predict_proba(X_NEW).sum(axis=1), 1.0, rtol=1e-9)


def halved(sequences):
    return [x[:, :1] for x in sequences]


def test_pipelines():
    flow = make_pipeline(FunctionTransformer(halved), hmm())
    assert flow.fit(X, Y).score(X_NEW, Y_NEW) > 0.9
    assert flow[-1].n_features_in_ == 1
    search = GridSearchCV(flow, {"hmmclassifier__n_states": [1, 2]}, cv=2, error_score="raise").fit(X, Y)
    assert search.best_params_["hmmclassifier__n_states"] in (1, 2)
    assert is_classifier(flow)
    assert "HMMClassifier" in flow._repr_html_()


def test_labels_in_files_and_json_are_plain(tmp_path):
    model = hmm().fit(X, np.array(Y))
    model.save(tmp_path / "a.cf")
    hmm().fit(X, Y).save(tmp_path / "b.cf")
    assert (tmp_path / "a.cf").read_bytes() == (tmp_path / "b.cf").read_bytes()
    assert all(type(label) is str for label in model.classifier_.task.labels)
    assert all(type(alignment.label) is str for alignment in model.align(X_NEW))


# ---- taggers -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crf():
    return chainfield.LinearCRF(**FAST).fit(X_TEXT, Y_TEXT)


def test_predictions_are_lists_that_become_arrays(crf):
    guess = crf.predict(X_TEXT_NEW)
    plain = [list(labels) for labels in guess]
    assert guess == plain
    assert plain == guess
    assert isinstance(guess, list)
    assert all(type(labels) is list for labels in guess)
    assert json.loads(json.dumps(guess)) == plain
    assert pickle.loads(pickle.dumps(guess)) == plain
    for some in (guess, crf.predict(X_TEXT_NEW[:1] * 3), crf.predict([])):  # ragged, of the same length, none
        array = np.asarray(some)
        assert array.dtype == object
        assert array.shape == (len(some),)
        assert array.tolist() == some
    assert np.array(guess, copy=True).shape == (len(guess),)


@pytest.mark.parametrize("length", [None, 1])
def test_taggers_predictions_of_all_folds(length):
    sequences, labels = ([one[:length] for one in data] for data in (X_TEXT, Y_TEXT))
    found = cross_val_predict(chainfield.LinearCRF(**FAST), sequences, labels, cv=3)
    assert found.shape == (len(sequences),)
    assert [len(one) for one in found] == [len(one) for one in labels]
    assert token_accuracy(labels, found) > 0.7
    assert 0.0 < span_f1(labels, found) < 1.0


def test_columns_seen_in_training(crf):
    assert chainfield.LinearCRF(**FAST).fit(X, EVERYWHERE).n_features_in_ == 2
    assert hmm().fit(X, Y).n_features_in_ == 2
    assert chainfield.LinearCRF(**FAST).fit([sparse.csr_array(x) for x in X], EVERYWHERE).n_features_in_ == 2
    for model in (crf, chainfield.LinearCRF(), hmm()):  # text has no columns; the others are not trained
        assert not hasattr(model, "n_features_in_")
    with pytest.raises(AttributeError, match="arrays and sparse matrices"):
        _ = crf.n_features_in_


SCORES = {"span_f1": span_f1, "token_accuracy": token_accuracy, "sequence_accuracy": sequence_accuracy}


@pytest.mark.parametrize("name", SCORES)
def test_scores_by_name(crf, name):
    assert get_scorer(name)(crf, X_TEXT, Y_TEXT) == SCORES[name](Y_TEXT, crf.predict(X_TEXT))
    assert pickle.loads(pickle.dumps(get_scorer(name))) == get_scorer(name)
    search = GridSearchCV(
        chainfield.LinearCRF(**FAST), {"l2": [0.1, 100.0]}, scoring=get_scorer(name), cv=2, error_score="raise"
    ).fit(X_TEXT, Y_TEXT)
    half = len(X_TEXT) // 2
    model = chainfield.LinearCRF(l2=0.1, **FAST).fit(X_TEXT[half:], Y_TEXT[half:])
    wanted = SCORES[name](Y_TEXT[:half], model.predict(X_TEXT[:half]))
    assert search.cv_results_["split0_test_score"][0] == wanted
    assert search.best_params_ == {"l2": 0.1}
    assert search.score(X_TEXT, Y_TEXT) == get_scorer(name)(search, X_TEXT, Y_TEXT)


def test_several_scores_at_once():
    found = cross_validate(
        chainfield.LinearCRF(**FAST), X_TEXT, Y_TEXT, cv=2, scoring={name: get_scorer(name) for name in SCORES}
    )
    assert {f"test_{name}" for name in SCORES} < set(found)
    assert (found["test_sequence_accuracy"] <= found["test_token_accuracy"]).all()


def test_unknown_labels_are_not_held_against_a_tagger(crf):
    guess = crf.predict(X_TEXT)
    holes = [[label if t % 2 else None for t, label in enumerate(labels)] for labels in Y_TEXT]
    assert get_scorer("token_accuracy")(crf, X_TEXT, holes) == pytest.approx(crf.score(X_TEXT, holes), rel=1e-12)
    filled = [
        [p if t is None else t for t, p in zip(gold, found, strict=True)]
        for gold, found in zip(holes, guess, strict=True)
    ]
    assert get_scorer("span_f1")(crf, X_TEXT, holes) == span_f1(filled, guess)
    assert get_scorer("sequence_accuracy")(crf, X_TEXT, holes) == sequence_accuracy(filled, guess)


def test_span_scores_read_labels_by_a_scheme(crf):
    strict = get_scorer("span_f1", scheme="iob2")
    assert strict(crf, X_TEXT, Y_TEXT) == span_f1(Y_TEXT, crf.predict(X_TEXT), "iob2")


# ---- tables ------------------------------------------------------------------------------------------------------


def test_a_padded_table_holds_the_sequences():
    table = pad(X)
    assert table.shape == (len(X), 2 * max(map(len, X)))
    model, rows = hmm().fit(X, Y), RowClassifier(hmm(), width=2).fit(table, Y)
    assert rows.predict_proba(pad(X_NEW + X[:1])).tobytes() == model.predict_proba(X_NEW + X[:1]).tobytes()
    assert rows.predict(pad(X)).tolist() == model.predict(X).tolist()
    assert rows.classes_.tolist() == model.classes_.tolist()
    assert rows.n_features_in_ == table.shape[1]


def test_tools_that_demand_tables():
    table = pad(X)
    bagged = BaggingClassifier(RowClassifier(hmm(), width=2), n_estimators=3, random_state=0).fit(table, Y)
    assert bagged.score(table, Y) > 0.9
    search = GridSearchCV(RowClassifier(hmm(), width=2), {"estimator__n_states": [1, 2]}, cv=2, error_score="raise")
    assert search.fit(table, Y).best_score_ > 0.9


def test_a_row_is_a_sequence_of_one_position_for_taggers():
    table = np.concatenate(X)
    labels = [label for x, label in zip(X, Y, strict=True) for _ in x]
    rows = RowClassifier(chainfield.LinearCRF(**FAST)).fit(table, labels)
    model = chainfield.LinearCRF(**FAST).fit([[row] for row in table], [[label] for label in labels])
    assert rows.predict(table).tolist() == [label for (label,) in model.predict([[row] for row in table])]
    assert rows.predict_proba(table).shape == (len(table), 3)


def test_bad_tables():
    table = pad(X)
    with pytest.raises(DataError, match="no whole positions of width 4"):
        RowClassifier(hmm(), width=4).fit(table[:, :9], Y)
    with pytest.raises(ValueError, match="NaN"):
        RowClassifier(hmm()).fit(table, Y)
    hole = table.copy()
    hole[2, 0] = np.nan
    with pytest.raises(DataError, match="Sequence 2"):
        RowClassifier(hmm(), width=2).fit(hole, Y)
    hole[2] = np.nan
    with pytest.raises(DataError, match="Sequence 2 is empty"):
        RowClassifier(hmm(), width=2).fit(hole, Y)
    for wrong in (0, -1, 2.5, "3", True):
        with pytest.raises(ConfigError, match=r"^width is "):
            RowClassifier(hmm(), width=wrong).fit(table, Y)
    with pytest.raises(ConfigError, match="LinearCRF, which labels positions"):
        RowClassifier(chainfield.LinearCRF(), width=2).fit(table, Y)
    with pytest.raises(ConfigError, match="not for text"):
        RowClassifier(hmm(), width=2, text=True).fit(table, Y)
    for wrong in (None, "LinearCRF", hmm):
        with pytest.raises(ConfigError, match="a model of chainfield is expected"):
            RowClassifier(wrong).fit(table, Y)
    for wrong in ([], [np.zeros((2, 3)), np.zeros((2, 2))], [np.zeros(3)]):
        with pytest.raises(DataError, match=r"same number of columns|\(positions, columns\) is expected"):
            pad(wrong)


# ---- parameters, copies, pages, metadata -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_bad_parameters(kind):
    with pytest.raises(SettingError, match="has no setting colour"):
        clone(kind()).set_params(colour="red")
    with pytest.raises(SettingError, match="has no setting n_jobs__deep"):
        kind().set_params(n_jobs__deep=1)
    model = kind().set_params(n_jobs="many")  # kept until fit, as scikit-learn has it
    assert clone(model).n_jobs == "many"
    with pytest.raises(ConfigError, match=r"^n_jobs is 'many'"):
        model.fit(X, Y if issubclass(kind, ClassifyingModel) else EVERYWHERE)


def test_bad_parameters_of_a_search():
    with pytest.raises(SettingError, match="did you mean n_jobs"):
        GridSearchCV(hmm(), {"n_job": [1]}, cv=2).fit(X, Y)
    with pytest.raises(ConfigError, match=r"^n_states is 0"):
        GridSearchCV(hmm(), {"n_states": [0]}, cv=2, error_score="raise").fit(X, Y)


@pytest.mark.parametrize(("labels", "message"), [("HCE", "mark no spans"), ((0, 1), "is 0, but spans are read from")])
def test_span_scores_are_of_span_labels(labels, message):
    truth = [[labels[t % len(labels)] for t in range(len(x))] for x in X_TEXT]
    model = chainfield.LinearCRF(**FAST).fit(X_TEXT, truth)
    with pytest.raises(DataError, match=message):
        get_scorer("span_f1")(model, X_TEXT, truth)
    assert 0.0 <= get_scorer("token_accuracy")(model, X_TEXT, truth) <= 1.0


@pytest.mark.parametrize("name", ["f1", "SPAN_F1", "", None, 3])
def test_bad_scores(name):
    with pytest.raises(ConfigError, match="choose one of span_f1, token_accuracy, sequence_accuracy"):
        get_scorer(name)


def test_bad_schemes_and_labels(crf):
    with pytest.raises(ConfigError, match="token_accuracy does not look at spans"):
        get_scorer("token_accuracy", scheme="iob2")
    with pytest.raises(ConfigError, match="nonsense"):
        get_scorer("span_f1", scheme="nonsense")
    with pytest.raises(DataError, match="y_true has 1 sequences but y_pred has 2"):
        get_scorer("span_f1")(crf, X_TEXT[:2], Y_TEXT[:1])
    with pytest.raises(DataError, match="is the string"):
        get_scorer("token_accuracy")(hmm().fit(X, Y), X, Y)


def test_copies_predict_the_same(crf):
    for model, data in ((crf, X_TEXT_NEW), (hmm().fit(X, Y), X_NEW)):
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(np.asarray(again.predict(data)), np.asarray(model.predict(data)))
        fresh = clone(model)
        assert not hasattr(fresh, "fitted_")
        assert fresh.get_params() == model.get_params()
        assert type(model).__name__ in model._repr_html_()


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted(model, sequences, labels, weight):
    return model.fit(sequences, labels, sample_weight=weight).fitted_.theta.tobytes()


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("whole", [True, False], ids=["classifier", "tagger"])
def test_weights_are_routed(whole):
    model, data = (hmm(), (X, Y)) if whole else (chainfield.LinearCRF(**FAST), (X_TEXT, Y_TEXT))
    weight = np.linspace(0.2, 3.0, len(data[0]))
    with pytest.raises(UnsetMetadataPassedError):
        GridSearchCV(model, {"max_iter": [3]}, cv=2).fit(*data, sample_weight=weight)
    asking = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    wanted = weighted(clone(model).set_params(max_iter=3), *data, weight)
    search = GridSearchCV(asking, {"max_iter": [3]}, cv=2).fit(*data, sample_weight=weight)
    assert search.best_estimator_.fitted_.theta.tobytes() == wanted
    flow = make_pipeline(FunctionTransformer(), clone(asking).set_params(max_iter=3))
    assert flow.fit(*data, sample_weight=weight)[-1].fitted_.theta.tobytes() == wanted
    assert weighted(clone(model).set_params(max_iter=3), *data, None) != wanted


@pytest.mark.usefixtures("routing")
def test_requests_are_kept_and_checked():
    asking = hmm().set_fit_request(sample_weight=True)
    assert clone(asking).get_metadata_routing().fit.requests["sample_weight"] is True
    assert pickle.loads(pickle.dumps(asking)).get_metadata_routing().fit.requests["sample_weight"] is True
    assert hmm().get_metadata_routing().fit.requests["sample_weight"] is None
    with pytest.raises(TypeError, match="colour"):
        hmm().set_fit_request(colour=True)
    with pytest.raises(AttributeError, match="set_transform_request"):
        _ = hmm().set_transform_request


@pytest.mark.usefixtures("routing")
def test_scores_by_name_under_routing():
    weight = np.ones(len(X_TEXT))
    asking = chainfield.LinearCRF(**FAST).set_fit_request(sample_weight=True)
    search = GridSearchCV(asking, {"l2": [0.1]}, cv=2, scoring=get_scorer("span_f1"), error_score="raise")
    assert search.fit(X_TEXT, Y_TEXT, sample_weight=weight).best_score_ > 0.5


# ---- and nothing of it where nobody asks -------------------------------------------------------------------------


def test_training_and_prediction_import_no_scikit_learn(tmp_path):
    """The compiler imports the top of SciPy to see its version, and nothing of it."""
    code = f"""
import sys, numpy as np, chainfield
from chainfield.metrics import get_scorer
rng = np.random.default_rng(0)
X = [rng.normal(size=(4, 2)) + i % 2 for i in range(8)]
model = chainfield.HMMClassifier(n_states=1, n_jobs=1, max_iter=3).fit(X, ["ab"[i % 2] for i in range(8)])
model.save({str(tmp_path / "m.cf")!r})
again = chainfield.load({str(tmp_path / "m.cf")!r})
again.predict(X), again.predict_proba(X), again.decision_function(X), again.classes_, again.n_features_in_, repr(again)
words = [["a", "b"], ["b"]]
tagger = chainfield.LinearCRF(n_jobs=1, max_iter=3).fit(words, words)
get_scorer("token_accuracy")(tagger, words, words)
print(sorted({{"sklearn", "scipy.sparse", "scipy.special", "scipy.optimize"}} & set(sys.modules)))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
