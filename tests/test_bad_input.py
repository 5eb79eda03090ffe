"""Bad input: the right class of error, and one clear sentence that names the place."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy import sparse

from chainfield import MEMM, ComposedTagger, HiddenUnitCRF, HMMClassifier, LinearCRF
from chainfield.errors import (
    ChainfieldError,
    ConfigError,
    DataError,
    DataWarning,
    DivergenceError,
    ModelFileError,
    NoPathError,
    SettingError,
    SettingWarning,
)
from chainfield.states import one_per_label
from chainfield.trainers import LBFGS

X = [[{"w": "a"}, {"w": "b"}], [{"w": "c"}], [{"w": "a"}, {"w": "c"}, {"w": "b"}]]
Y = [["O", "B-X"], ["O"], ["B-X", "I-X", "O"]]
WORDS = [["a", "b"], ["c"], ["a", "c", "b"]]
ROWS = [[("a", "x"), ("b", "y")], [("c", "x")], [("a", "y"), ("c", "x"), ("b", "x")]]
DENSE = [np.arange(2.0 * len(y)).reshape(-1, 2) for y in Y]
CSR = [sparse.csr_array(x + 1) for x in DENSE]


def assert_refused(kind, call, *parts):
    """The call is refused with this class of error, in one sentence or two that contain all parts."""
    with pytest.raises(Exception) as caught:
        call()
    error = caught.value
    assert type(error) is kind, f"{type(error).__name__}: {error}"
    message = str(error)
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 250
    for part in parts:
        assert re.search(part, message), message
    return error


def fit(x=X, y=Y, /, sample_weight=None, lengths=None, X_dev=None, y_dev=None, **settings):
    model = LinearCRF(**{"max_iter": 2, "n_jobs": 1, **settings})
    return model.fit(x, y, sample_weight, lengths=lengths, X_dev=X_dev, y_dev=y_dev)


def changed(data, s, item):
    """The same data with another sequence s."""
    return [item if i == s else sequence for i, sequence in enumerate(data)]


def test_the_errors_are_value_errors():
    for kind in (DataError, ConfigError, ModelFileError, NoPathError):
        assert issubclass(kind, ChainfieldError)
        assert issubclass(kind, ValueError)
    assert issubclass(DivergenceError, ChainfieldError)


def test_the_good_data_are_good():
    for data in (X, WORDS, ROWS, DENSE, CSR):
        assert len(fit(data).predict(data)) == 3


# ---- shapes of the data ------------------------------------------------------------------------------------------


def test_different_numbers_of_sequences():
    assert_refused(DataError, lambda: fit(X, Y[:2]), "3 sequences", "labels for 2")
    assert_refused(DataError, lambda: fit(X[:2], Y), "2 sequences", "labels for 3")


def test_different_lengths_name_the_sequence():
    assert_refused(DataError, lambda: fit(X, changed(Y, 2, ["O", "O"])), "Sequence 2", "3 positions", "2 labels")
    assert_refused(DataError, lambda: fit(X, changed(Y, 1, [])), "Sequence 1", "1 position", "0 labels")
    model = fit()
    assert_refused(DataError, lambda: model.log_likelihood(X, changed(Y, 0, ["O"])), "Sequence 0", "1 labels")
    assert_refused(DataError, lambda: model.predict(X, changed(Y, 0, ["O"])), "Sequence 0", "1 labels")
    assert_refused(DataError, lambda: model.predict(X, Y[:1]), "3 sequences", "labels for 1")


def test_score_checks_lengths():
    model = fit()
    assert_refused(DataError, lambda: model.score(X, Y[:2]), "3 sequences")
    assert_refused(DataError, lambda: model.score(X, changed(Y, 0, ["O"])), "Sequence 0")


def test_lengths_that_do_not_add_up():
    whole, labels = np.concatenate(DENSE), [label for y in Y for label in y]
    assert_refused(DataError, lambda: fit(whole, labels, lengths=[2, 1, 4]), "lengths add up to 7", "X has 6 positions")
    assert_refused(
        DataError, lambda: fit(whole, labels[:-1], lengths=[2, 1, 3]), "lengths add up to 6", "y has 5 positions"
    )


def test_negative_lengths():
    whole, labels = np.concatenate(DENSE), [label for y in Y for label in y]
    assert_refused(DataError, lambda: fit(whole, labels, lengths=[2, -1, 5]), "-1|negative")


@pytest.mark.parametrize("data", [[], [[], []], [np.empty((0, 2))], np.empty((0, 2, 2))], ids=repr)
def test_nothing_to_learn_from(data):
    assert_refused(DataError, lambda: fit(data, [[] for _ in data]), "nothing to learn from")


def test_no_label_is_known():
    assert_refused(DataError, lambda: fit(X, [[None] * len(y) for y in Y]), "no label", "at least one position")
    assert_refused(DataError, lambda: fit(X, [[set()] * len(y) for y in Y]), "no label")


def test_sets_of_no_label():
    assert_refused(NoPathError, lambda: fit(X, changed(Y, 2, ["O", set(), "O"])), "Sequence 2")


# ---- values ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(bad):
    place = ("Sequence 2", "position 1")
    dense = [x.copy() for x in DENSE]
    dense[2][1, 1] = bad
    matrices = [sparse.csr_array(x + 1) for x in dense]
    dicts = changed(X, 2, [{"w": "a"}, {"w": "c", "v": bad}, {"w": "b"}])
    nested = changed(X, 2, [{"w": "a"}, {"w": {"c": bad}}, {"w": "b"}])
    for good, data in ((DENSE, dense), (CSR, matrices), (X, dicts), (X, nested)):
        assert_refused(DataError, lambda data=data: fit(data), *place)
        model = fit(good)
        for call in (model.predict, model.predict_marginals, model.predict_n_best, model.predict_confidence):
            assert_refused(DataError, lambda call=call, data=data: call(data), *place)
        assert_refused(DataError, lambda model=model, data=data: model.partial_fit(data, Y), *place)


def test_bad_labels():
    assert_refused(DataError, lambda: fit(X, changed(Y, 1, [float("nan")])), "NaN", "None")
    assert_refused(DataError, lambda: fit(X, changed(Y, 1, [["O"]])), "hashable")
    assert_refused(
        DataError,
        lambda: fit(X, changed(Y, 1, "O")),
        r"y: sequence 1 is 'O' \(str\)",
        "list with one entry per position",
    )


@pytest.mark.parametrize(
    ("weights", "part"),
    [
        ([1.0, 2.0], r"shape \(2,\)"),
        ([1.0, -2.0, 1.0], "not negative"),
        ([1.0, np.nan, 1.0], "finite"),
        ([[1.0, 1.0, 1.0]], r"shape \(1, 3\)"),
    ],
)
def test_sample_weights(weights, part):
    assert_refused(DataError, lambda: fit(X, Y, weights), "sample_weight", part)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("settings", [{"trainer": "sgd"}, {"trainer": "adam"}, {"objective": "perceptron"}], ids=str)
def test_a_training_that_runs_away(settings):
    rng = np.random.default_rng(0)
    data = [rng.normal(size=(3, 1)) * 1e150 for _ in range(6)]
    labels = [["a" if v > 0 else "b" for v in rng.normal(size=3)] for _ in data]
    assert_refused(DivergenceError, lambda: fit(data, labels, learning_rate=1e200, max_iter=5, **settings), "smaller")


# ---- types -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["abc", b"abc", 3, None, {"w": "a"}], ids=repr)
def test_x_that_is_no_list(data):
    what = re.escape(f"X is {data!r} ({type(data).__name__})")
    assert_refused(DataError, lambda: fit(data), what, "list of sequences")
    assert_refused(DataError, lambda: fit().predict(data), what, "list of sequences")


@pytest.mark.parametrize("labels", ["abc", 3, None], ids=repr)
def test_y_that_is_no_list(labels):
    what = re.escape(f"y is {labels!r} ({type(labels).__name__})")
    assert_refused(DataError, lambda: fit(X, labels), what, "list of sequences")


def test_one_matrix_needs_lengths():
    for matrix in (np.ones((6, 2)), sparse.csr_array(np.ones((6, 2)))):
        assert_refused(DataError, lambda matrix=matrix: fit(matrix, [["a"] * 6]), "one matrix", "lengths=")


def test_flat_lists_are_not_sequences():
    entries = "list with one entry per position"
    assert_refused(DataError, lambda: fit([1.0, 2.0], [["a"], ["b"]]), r"X: sequence 0 is 1\.0 \(float\)", entries)
    assert_refused(DataError, lambda: fit(X, ["O", "B-X", "O"]), r"y: sequence 0 is 'O' \(str\)", entries)
    assert_refused(DataError, lambda: fit([np.ones(2)], [["a", "b"]]), "Sequence 0", "shape")
    model = fit()
    assert_refused(DataError, lambda: model.predict(X[0]), r"X: sequence 0 is {'w': 'a'} \(dict\)", entries)
    assert_refused(DataError, lambda: model.predict(["ab"]), r"X: sequence 0 is 'ab' \(str\)", entries)
    assert_refused(DataError, lambda: model.explain(X), "position 0", "strings")


def test_one_sequence_of_dicts_in_place_of_a_list_of_them():
    assert_refused(DataError, lambda: fit(X[0], ["O", "B-X"]), "(?i)sequence")
    assert_refused(DataError, lambda: fit(X[0], [["O"], ["B-X"]]), "(?i)sequence")


def test_strings_are_not_sequences_of_words():
    assert_refused(DataError, lambda: fit(["ab", "c"], [["O", "B-X"], ["O"]]), "(?i)sequence 0", "string|str")


def test_a_string_is_not_a_list_of_words_at_prediction():
    model = fit(WORDS)
    assert_refused(DataError, lambda: model.predict(["abc"]), r"X: sequence 0 is 'abc' \(str\)")


def test_flat_numbers_as_labels():
    assert_refused(DataError, lambda: fit(X, [0, 1, 0]), "(?i)sequence 0")


@pytest.mark.parametrize("where", ["X", "words", "y", "given"])
def test_none_in_place_of_a_sequence(where):
    model = fit()
    calls = {
        "X": lambda: fit(changed(X, 1, None), Y),
        "words": lambda: fit(changed(WORDS, 1, None), Y),
        "y": lambda: fit(X, changed(Y, 1, None)),
        "given": lambda: model.predict(X, changed(Y, 1, None)),
    }
    assert_refused(DataError, calls[where], "(?i)sequence 1")


def test_one_kind_of_input_at_a_time():
    assert_refused(DataError, lambda: fit(changed(DENSE, 2, X[2])), "Sequence 2", "numbers")
    assert_refused(DataError, lambda: fit(changed(CSR, 2, DENSE[2])), "Sequence 2", "sparse")
    assert_refused(DataError, lambda: fit(changed(X, 2, DENSE[2])), "Sequence 2, position 0", "strings")
    assert_refused(
        DataError, lambda: fit(changed(WORDS, 2, X[2])), "Sequence 2, position 0: {'w': 'a'} is not", "a string"
    )
    assert_refused(
        DataError, lambda: fit(changed(ROWS, 2, WORDS[2])), "Sequence 2, position 0: 'a' is not a row", "tuple"
    )


def test_words_are_not_rows_of_letters():
    assert_refused(DataError, lambda: fit(changed(ROWS, 1, ["ab"])), "Sequence 1, position 0")


@pytest.mark.parametrize("row", [None, 3], ids=repr)
def test_rows_that_are_no_rows(row):
    assert_refused(DataError, lambda: fit(changed(ROWS, 1, [row])), "Sequence 1, position 0")


def test_items_of_the_wrong_type():
    assert_refused(
        DataError, lambda: fit(changed(X, 2, [{"w": "a"}, "c", {"w": "b"}])), "Sequence 2, position 1", "dict"
    )
    assert_refused(DataError, lambda: fit(changed(X, 2, [{"w": "a"}, 3, {"w": "b"}])), "Sequence 2, position 1", "dict")
    assert_refused(DataError, lambda: fit(changed(X, 1, [{"w": None}])), "Sequence 1, position 0", "'w'", "None")
    assert_refused(DataError, lambda: fit(changed(X, 1, [{3: "a"}])), "Sequence 1, position 0", "strings")


# ---- columns and templates ---------------------------------------------------------------------------------------


def test_rows_of_different_widths():
    assert_refused(
        DataError, lambda: fit(changed(ROWS, 2, [("a", "y"), ("c",), ("b", "x")])), "Sequence 2, position 1", "1 col"
    )
    assert_refused(DataError, lambda: fit(changed(DENSE, 2, np.ones((3, 5)))), "Sequence 2 has 5 columns; expected 2")
    wide = sparse.csr_array(np.ones((3, 5)))
    assert_refused(DataError, lambda: fit(changed(CSR, 2, wide)), "Sequence 2 has 5 columns; expected 2")
    assert_refused(DataError, lambda: fit(changed(DENSE, 2, [[1.0, 2.0], [3.0], [4.0, 5.0]])), "Sequence 2", "numbers")


def test_other_columns_at_prediction():
    model = fit(DENSE)
    assert_refused(
        DataError, lambda: model.predict([np.ones((2, 2)), np.ones((1, 3))]), "Sequence 1 has 3 columns; expected 2"
    )
    assert_refused(DataError, lambda: model.predict([np.ones(2)]), "Sequence 0 has shape")
    model = fit(CSR)
    assert_refused(DataError, lambda: model.predict([sparse.csr_array((2, 3))]), "Sequence 0 has 3 columns; expected 2")
    model = fit(ROWS)
    assert_refused(
        DataError, lambda: model.predict([[("a", "b", "c")]]), "Sequence 0, position 0: there are 3 columns; 2"
    )
    assert_refused(DataError, lambda: model.predict(WORDS), "Sequence 0, position 0: 'a' is not a row", "tuple")


def test_a_template_that_asks_for_a_missing_column():
    assert_refused(
        DataError, lambda: fit(ROWS, template="U0:%x[0,0]\nU1:%x[0,2]\nB\n"), "line 2", "column 2", "2 columns"
    )
    assert_refused(DataError, lambda: fit(WORDS, template="U0:%x[0,1]\n"), "line 1", "column 1", "only column 0")


def test_templates_that_cannot_be_used():
    assert_refused(ConfigError, lambda: fit(X, template="U0:%x[0,0]\n"), "template needs rows of columns", "dict")
    assert_refused(ConfigError, lambda: fit(ROWS, template="U0:%x[0\nB\n"), "line 1")
    assert_refused(ConfigError, lambda: fit(ROWS, template="# nothing\n"), "no template")
    assert_refused(FileNotFoundError, lambda: fit(ROWS, template="nowhere.template"), "nowhere.template")


def test_a_template_of_the_wrong_type():
    assert_refused(ConfigError, lambda: fit(ROWS, template=3), "template")


# ---- settings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"objective": "hinge"}, ["objective is 'hinge'", "likelihood, perceptron"]),
        ({"trainer": "newton"}, ["trainer is 'newton'", "lbfgs, owlqn"]),
        ({"scheme": "bieos"}, ["scheme is 'bieos'", "iob2"]),
        ({"order": 3}, ["order is 3", "1, 2"]),
        ({"order": "1"}, ["order is '1'"]),
        ({"l2": -0.1}, ["l2 is -0.1", "at least 0"]),
        ({"l1": -1.0}, ["l1 is -1"]),
        ({"l2": np.nan}, ["l2 is nan"]),
        ({"l2": np.inf}, ["l2 is inf"]),
        ({"max_iter": 0}, ["max_iter is 0", "at least 1"]),
        ({"max_iter": -3}, ["max_iter is -3"]),
        ({"tol": 0.0}, ["tol is 0", "above 0"]),
        ({"tol": np.nan}, ["tol is nan", "above 0"]),
        ({"learning_rate": -1.0}, ["learning_rate is -1", "above 0"]),
        ({"min_count": -1}, ["min_count is -1"]),
        ({"margin": np.nan, "objective": "large_margin"}, ["margin is nan"]),
        ({"n_jobs": 0}, ["n_jobs is 0", "-1 for all"]),
        ({"class_weight": {"B-Y": 2.0}}, ["class_weight names 'B-Y'", "not a label"]),
        ({"class_weight": {"O": 0.0}}, ["(?i)class weights", "larger than 0"]),
        ({"class_weight": "fair"}, ["class_weight is 'fair'", "balanced"]),
        ({"class_weight": {"O": "much"}}, ["'O'", "'much'", "numbers"]),
        ({"class_weight": [1.0]}, ["dict", "balanced"]),
        ({"trainer": "lbfgs", "l1": 0.1}, ["l1", "owlqn"]),
        ({"trainer": "lbfgs", "objective": "perceptron"}, ["smooth", "averaged"]),
        ({"trainer": "sdca", "l2": 0.0}, ["l2 > 0"]),
        ({"forbidden": [("O", "B-Y")]}, ["'B-Y'", "training data do not have"]),
        ({"forbidden": [(None, None)]}, ["names none|at least one label"]),
        ({"forbidden": [(None, label) for label in ("O", "B-X", "I-X")]}, ["no label that may start"]),
    ],
    ids=str,
)
def test_settings_that_cannot_be(settings, parts):
    assert_refused(ConfigError, lambda: fit(**settings), *parts)


@pytest.mark.parametrize(
    "settings", [{"trainer": "newton"}, {"class_weight": "fair"}, {"class_weight": {"B-Y": 2.0}}, {"decoder": "beam"}]
)
def test_settings_are_refused_before_features_are_read(settings, monkeypatch):
    monkeypatch.setattr("chainfield.features.columns_map.TemplateFeatures.learn", lambda *args: pytest.fail("too late"))
    assert_refused(ConfigError, lambda: fit(ROWS, **settings), next(iter(settings)))


@pytest.mark.parametrize("trainer", ["sgd", "adam", "averaged"])
@pytest.mark.parametrize("size", [0, -1])
def test_batch_sizes(size, trainer):
    assert_refused(ConfigError, lambda: fit(trainer=trainer, batch_size=size), f"batch_size is {size}")


@pytest.mark.parametrize("settings", [{"patience": -1}, {"average_from": -1, "trainer": "averaged"}], ids=str)
def test_negative_counts(settings):
    assert_refused(ConfigError, lambda: fit(**settings), f"{next(iter(settings))} is -1")


@pytest.mark.parametrize("settings", [{"l2": "a"}, {"max_iter": "a"}, {"min_count": None}, {"tol": "a"}], ids=str)
def test_settings_of_the_wrong_type(settings):
    assert_refused(ConfigError, lambda: fit(**settings), f"{next(iter(settings))} is ")


@pytest.mark.parametrize("seed", [-1, "x"], ids=repr)
def test_seeds_that_cannot_be(seed):
    assert_refused(ConfigError, lambda: fit(random_state=seed), "random_state")


def test_a_scheme_needs_labels_that_are_strings():
    assert_refused(ConfigError, lambda: fit(X, [[1, 2], [1], [2, 1, 1]], scheme="bio"), "scheme|string")


def test_labels_that_no_scheme_has():
    assert_refused(ConfigError, lambda: fit(X, [["NP", "O"], ["O"], ["NP", "O", "O"]], scheme="bio"), "'NP'", "iob2")


@pytest.mark.parametrize("trainer", ["lbfgs", "sgd", "sdca"])
@pytest.mark.parametrize("order", [1, 2])
def test_training_labels_that_break_the_scheme_name_the_sequence(order, trainer):
    broken = changed(Y, 2, ["O", "I-X", "O"])
    error = assert_refused(
        NoPathError,
        lambda: fit(X, broken, scheme="bio", order=order, trainer=trainer),
        "Sequence 2",
        "training labels",
    )
    assert error.sequence == 2


def test_a_wrong_sequence_is_named_by_its_own_number_in_any_shard(monkeypatch):
    monkeypatch.setattr("chainfield.problem.problem.SHARD_POSITIONS", 10)
    monkeypatch.setattr("chainfield.problem.problem.POSITIONS_PER_PARAMETER", 0.0)
    monkeypatch.setattr("chainfield.scorers.chain.BLOCK_BYTES", 100)
    labels = changed(Y * 20, 43, ["I-X"])
    for n_jobs in (1, 3):
        assert_refused(NoPathError, lambda n=n_jobs: fit(X * 20, labels, scheme="bio", n_jobs=n), "Sequence 43")


# ---- prediction --------------------------------------------------------------------------------------------------


def test_unknown_labels_in_given():
    model = fit()
    given = changed([[None] * len(y) for y in Y], 2, [None, "B-Z", None])
    assert_refused(DataError, lambda: model.predict(X, given), "Sequence 2, position 1", "'B-Z'", "'B-X', 'I-X', 'O'")
    given[2][1] = {"O", "B-Z"}
    assert_refused(DataError, lambda: model.predict_marginals(X, given), "Sequence 2, position 1", "'B-Z'")
    assert_refused(
        DataError, lambda: model.log_likelihood(X, changed(Y, 1, ["B-Z"])), "Sequence 1, position 0", "'B-Z'"
    )


def test_given_labels_that_leave_no_path(monkeypatch):
    monkeypatch.setattr("chainfield.scorers.chain.BLOCK_BYTES", 30)
    model = fit(scheme="bio")
    given = changed([[None] * len(y) for y in Y], 2, ["O", "I-X", None])
    for call in (model.predict, model.predict_marginals):
        error = assert_refused(NoPathError, lambda call=call: call(X, given), "Sequence 2", "given labels")
        assert error.sequence == 2
    assert_refused(NoPathError, lambda: model.predict_n_best(X, given=given), "Sequence 2")


def test_no_best_at_all():
    model = fit()
    assert_refused(ConfigError, lambda: model.predict_n_best(X, n=0), "n ")


# ---- development data --------------------------------------------------------------------------------------------


def test_development_data_come_in_pairs():
    assert_refused(DataError, lambda: fit(X, Y, X_dev=X), "X_dev and y_dev go together", "missing")


def test_development_labels_without_data():
    assert_refused(DataError, lambda: fit(X, Y, y_dev=Y), "y_dev")


@pytest.mark.parametrize("labels", [Y, [[0, 1], [0], [1, 1, 0]]], ids=["spans", "numbers"])
def test_development_data_are_checked_before_training(labels):
    seen = []
    model = LinearCRF(max_iter=2, n_jobs=1)
    for wrong in (labels[:2], changed(labels, 1, [])):
        assert_refused(
            DataError, lambda y=wrong: model.fit(X, labels, X_dev=X, y_dev=y, callback=seen.append), "(?i)dev"
        )
    assert not seen
    assert not hasattr(model, "tagger_")


def test_unknown_development_labels_are_left_out():
    model = fit(X, Y, X_dev=X, y_dev=changed(Y, 0, [None, "B-X"]))
    assert 0.0 <= model.history_[0]["dev_score"] <= 1.0


@pytest.mark.filterwarnings("ignore:The development data have labels:chainfield.errors.DataWarning")
def test_unseen_development_labels_count_as_errors():
    model = fit(X, [["a"] * len(y) for y in Y], X_dev=X, y_dev=[["b"] * len(y) for y in Y])
    assert model.history_[0]["dev_score"] == 0.0


def scaled_labels(change):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(6, 3))
    X = [rng.normal(size=(5, 6)) for _ in range(12)]
    y = [[str(k) for k in (x @ weights).argmax(axis=1)] for x in X]
    return [change(x) for x in X], y


@pytest.mark.parametrize(
    ("change", "linear", "units"),
    [
        (lambda x: x, None, None),
        (lambda x: x * 300, None, None),
        (lambda x: np.c_[x, 1.7e9 + 60 * np.arange(len(x))], "scales: x6 goes up to 1.7e", "x6 goes up to"),
        (lambda x: np.c_[x, np.full(len(x), 1e200)], "x6 goes up to 1e\\+200", "x6 goes up to 1e\\+200"),
        (lambda x: 1e-3 * x, "All columns are tiny: none goes beyond 0.003", None),
        (lambda x: x + 10, None, "far from 0 for how little they vary: x\\d is 10"),
    ],
    ids=["as usual", "large alike", "a time", "huge", "tiny", "shifted"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::chainfield.errors.ConvergenceWarning")
def test_columns_that_training_cannot_serve_are_named(change, linear, units):
    X, y = scaled_labels(change)
    for model, told in ((LinearCRF(max_iter=3), linear), (HiddenUnitCRF(hidden_units=5, max_iter=2), units)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.set_params(n_jobs=1, scaling="none").fit(X, y)
        said = [str(one.message) for one in caught if issubclass(one.category, DataWarning)]
        assert len(said) == (told is not None), said
        assert told is None or re.search(told, said[0])


def test_patience_needs_development_data():
    X, y = [["a", "b"]] * 4, [["x", "y"]] * 4
    with pytest.warns(SettingWarning, match="patience=3 changes nothing without development data; give X_dev"):
        LinearCRF(patience=3, max_iter=2).fit(X, y)
    for model in (LinearCRF(max_iter=2), LinearCRF(patience=3, max_iter=2, objective="perceptron", tune_for=None)):
        model.fit(X, y, X_dev=X, y_dev=y)


def test_models_offer_the_trainers_that_they_can_have():
    with pytest.raises(ConfigError, match="trainer is 'mira'"):
        HMMClassifier(trainer="mira").fit([np.zeros((3, 2))] * 4, list("abab"))
    with pytest.raises(ConfigError, match="trainer is 'pa'"):
        MEMM(trainer="pa").fit([["a", "b"]], [["x", "y"]])


def test_a_number_that_drowns_all_attributes_is_named():
    X = [[{"word": "a", "position": 1000.0 * i} for i in range(4)] for _ in range(3)]
    with pytest.warns(
        DataWarning, match="position goes up to 3e\\+03, where an attribute without a number counts as 1"
    ):
        LinearCRF(max_iter=2, n_jobs=1).fit(X, [["x", "y"] * 2] * 3)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_space_for_other_labels_is_refused(more):
    model = ComposedTagger(space=lambda n: one_per_label(n + more))
    with pytest.raises(ConfigError, match=f"states for {2 + more} labels, but the data have 2"):
        model.fit([["a", "b"]] * 3, [["x", "y"]] * 3)


def test_settings_beside_a_trainer_of_ones_own_are_refused():
    model = ComposedTagger(trainer=LBFGS(max_iter=5), max_iter=3)
    with pytest.raises(SettingError, match="max_iter has no effect beside a trainer of your own"):
        model.fit([["a", "b"]] * 3, [["x", "y"]] * 3)
