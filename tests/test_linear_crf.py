"""LinearCRF as its users meet it: scikit-learn's conventions, inputs, labels, constraints, answers, going on."""

from __future__ import annotations

import itertools
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

import chainfield
from chainfield import LinearCRF
from chainfield.errors import ConfigError
from chainfield.fitted.names import boundary_weights
from chainfield.models.weights import label_weights
from support.explaining import path_score

CLOSE = {"rtol": 1e-9, "atol": 1e-12}
WORDS = ["the", "old", "man", "saw", "new", "times", "in", "a", "boat", "sails"]


def corpus(n=40, seed=0):
    """Short sentences with names in them: "new york", "san jose", "new york times", "york"; some labels are wrong."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words, labels = [], []
        while len(words) < rng.integers(1, 7):
            if rng.random() < 0.4:
                name = [["new", "york"], ["san", "jose"], ["new", "york", "times"], ["york"]][rng.integers(4)]
                words += name
                labels += ["B-LOC"] + ["I-LOC"] * (len(name) - 1)
            else:
                words.append(WORDS[rng.integers(len(WORDS))])
                labels.append("O" if rng.random() < 0.95 else "B-LOC")
        X.append(words)
        y.append(labels)
    return X, y


def attributes(sentences):
    """The words of a sentence as dicts of attributes."""
    return [
        [{"word": w, "before": s[t - 1] if t else "-", "length": 0.1 * len(w)} for t, w in enumerate(s)]
        for s in sentences
    ]


SENTENCES, Y = corpus()
X = attributes(SENTENCES)
X_NEW = attributes(corpus(15, seed=1)[0])
FAST = {"max_iter": 30, "n_jobs": 1}


@pytest.fixture(scope="module")
def crf():
    return LinearCRF(l2=0.1, n_jobs=1).fit(X, Y)


def every_labelling(labels, length):
    return [list(labelling) for labelling in itertools.product(labels, repeat=length)]


def legal(labels):
    """IOB2: I-LOC only behind B-LOC or I-LOC."""
    return all(b != "I-LOC" or a in ("B-LOC", "I-LOC") for a, b in zip(["O", *labels], labels, strict=False))


# ---- scikit-learn's conventions ----------------------------------------------------------------------------------


def test_clone_parameters_and_repr():
    model = LinearCRF(l2=0.3, order=2, scheme="bio", class_weight={"O": 2.0}, forbidden=[("O", "O")])
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert copy.set_params(l2=0.7) is copy
    assert copy.l2 == 0.7
    assert model.l2 == 0.3
    assert repr(model).startswith("LinearCRF(")
    assert "l2=0.3" in repr(model)
    with pytest.raises(ValueError, match="wrong"):
        model.set_params(wrong=1)


def test_fit_changes_no_constructor_argument():
    weights, rules = {"O": 2.0}, [("I-LOC", "B-LOC")]
    model = LinearCRF(class_weight=weights, forbidden=rules, l2=0.5, max_iter=5)
    before = dict(model.get_params())
    sentences, labels = X[:12], [[x if x != "I-LOC" else "B-LOC" for x in s] for s in Y[:12]]
    labels[0] = ["I-LOC"] * len(labels[0])
    assert model.fit(sentences, labels) is model
    after = model.get_params()
    assert after == before
    assert all(after[key] is before[key] for key in before)
    assert weights == {"O": 2.0}
    assert rules == [("I-LOC", "B-LOC")]
    assert {key for key in vars(model) if key not in before} == {k for k in vars(model) if k.endswith("_")}


def test_the_data_are_not_changed(crf):
    features, labels = pickle.dumps(X), pickle.dumps(Y)
    LinearCRF(**FAST).fit(X, Y).predict(X)
    assert (pickle.dumps(X), pickle.dumps(Y)) == (features, labels)
    matrix = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    before = (matrix.indptr.copy(), matrix.indices.copy(), matrix.data.copy())
    LinearCRF(**FAST).fit(matrix, ["a", "b", "a"], lengths=[2, 1])
    for old, new in zip(before, (matrix.indptr, matrix.indices, matrix.data), strict=True):
        np.testing.assert_array_equal(old, new)


def test_not_fitted():
    model = LinearCRF()
    calls = [
        lambda: model.predict(X),
        lambda: model.predict_marginals(X),
        lambda: model.predict_n_best(X),
        lambda: model.predict_confidence(X),
        lambda: model.log_likelihood(X, Y),
        lambda: model.score(X, Y),
        lambda: model.explain(X[0]),
        lambda: model.save("nowhere.cf"),
        lambda: model.classes_,
        lambda: model.feature_weights_,
        lambda: model.transition_weights_,
        lambda: check_is_fitted(model),
    ]
    for call in calls:
        with pytest.raises(NotFittedError):
            call()
    check_is_fitted(model.fit(X[:5], Y[:5]))


def test_grid_search():
    grid = {"l2": [0.01, 1.0, 1000.0], "min_count": [1, 2]}
    search = GridSearchCV(LinearCRF(**FAST), grid, cv=3, error_score="raise").fit(X, Y)
    results = search.cv_results_
    assert len(results["mean_test_score"]) == 6
    assert search.best_params_["l2"] < 1000.0
    assert 0.6 < search.best_score_ <= 1.0
    assert search.predict(X_NEW) == search.best_estimator_.predict(X_NEW)


def test_score_is_token_accuracy(crf):
    guess = crf.predict(X)
    pairs = [(a, b) for t, g in zip(Y, guess, strict=True) for a, b in zip(t, g, strict=True)]
    np.testing.assert_allclose(crf.score(X, Y), sum(a == b for a, b in pairs) / len(pairs), rtol=1e-12)
    weight = np.arange(len(X), dtype=float)
    repeated_x = [x for x, w in zip(X, weight, strict=True) for _ in range(int(w))]
    repeated_y = [y for y, w in zip(Y, weight, strict=True) for _ in range(int(w))]
    np.testing.assert_allclose(crf.score(X, Y, weight), crf.score(repeated_x, repeated_y), rtol=1e-12)


@pytest.mark.parametrize("kind", ["attributes", "columns", "dense", "sparse"])
def test_pickle(kind):
    rng = np.random.default_rng(0)
    data = {
        "attributes": X,
        "columns": SENTENCES,
        "dense": [rng.normal(size=(len(s), 3)) for s in SENTENCES],
        "sparse": [sparse.csr_array(rng.integers(0, 2, (len(s), 4)).astype(float)) for s in SENTENCES],
    }[kind]
    model = LinearCRF(**FAST).fit(data, Y)
    model.predict_marginals(data)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.get_params() == model.get_params()
    assert copy.predict(data) == model.predict(data)
    for ours, theirs in zip(copy.predict_marginals(data), model.predict_marginals(data), strict=True):
        assert ours.tobytes() == theirs.tobytes()
    assert copy.partial_fit(data[:3], Y[:3]).predict(data[:1])


def test_names_in_the_package():
    assert chainfield.LinearCRF is LinearCRF
    assert set(chainfield.__all__) <= set(dir(chainfield))
    with pytest.raises(AttributeError, match="LinearSVM"):
        _ = chainfield.LinearSVM


# ---- inputs ------------------------------------------------------------------------------------------------------


def same_features():
    """The same 0/1 features in every kind of input."""
    rng = np.random.default_rng(3)
    dense = [(rng.random((len(s), 6)) < 0.4).astype(float) for s in SENTENCES]
    for array in dense:
        array[:, 0] = 1.0
    lengths = [len(a) for a in dense]
    lists = [[[f"x{i}" for i in np.flatnonzero(row)] for row in array] for array in dense]
    dicts = [[dict.fromkeys(names, 1.0) for names in sequence] for sequence in lists]
    whole = np.concatenate(dense)
    flat = [label for labels in Y for label in labels]
    return {
        "dense": (dense, Y, None),
        "dense with lengths": (whole, flat, lengths),
        "float32": ([a.astype(np.float32) for a in dense], Y, None),
        "rows of arrays": ([list(a) for a in dense], Y, None),
        "lists of strings": (lists, Y, None),
        "dicts": (dicts, Y, None),
        "truth values": ([[{k: True for k in item} for item in s] for s in dicts], Y, None),
        "bytes": ([[[name.encode() for name in item] for item in s] for s in lists], Y, None),
        "csr": ([sparse.csr_array(a) for a in dense], Y, None),
        "csr with lengths": (sparse.csr_matrix(whole), flat, lengths),
        "coo with lengths": (sparse.coo_array(whole), np.array(flat), lengths),
        "tuples": (tuple(map(tuple, lists)), tuple(map(tuple, Y)), None),
    }


@pytest.mark.parametrize("kind", list(same_features())[1:])
def test_every_kind_of_input_says_the_same(kind):
    settings = {"all_features": True, "l2": 0.2, "tol": 1e-9, "n_jobs": 1}
    dense, y, _ = same_features()["dense"]
    reference = LinearCRF(**settings).fit(dense, y)
    data, targets, lengths = same_features()[kind]
    model = LinearCRF(**settings).fit(data, targets, lengths=lengths)
    assert model.predict(data, lengths=lengths) == reference.predict(dense)
    for ours, theirs in zip(
        model.predict_marginals(data, lengths=lengths), reference.predict_marginals(dense), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)
    np.testing.assert_allclose(
        model.log_likelihood(data, targets, lengths=lengths), reference.log_likelihood(dense, y), rtol=0, atol=1e-4
    )


def test_columns_of_text_are_the_same_as_strings_of_one_column():
    one = LinearCRF(**FAST).fit(SENTENCES, Y)
    two = LinearCRF(**FAST).fit([[(w,) for w in s] for s in SENTENCES], Y)
    assert one.tagger_.theta.tobytes() == two.tagger_.theta.tobytes()
    assert one.predict(SENTENCES) == two.predict([[(w,) for w in s] for s in SENTENCES])


def test_a_template_is_text_a_set_or_a_file(tmp_path):
    text = "U0:%x[0,0]\nU1:%x[-1,0]\nB\n"
    path = tmp_path / "words.template"
    path.write_text(text)
    models = [
        LinearCRF(template=t, **FAST).fit(SENTENCES, Y)
        for t in (text, chainfield.parse_template(text), str(path), path)
    ]
    assert len({m.tagger_.theta.tobytes() for m in models}) == 1
    assert "U0:york" in models[0].feature_names_


def test_input_conditioned_transitions():
    model = LinearCRF(template="U0:%x[0,0]\nB0:%x[0,0]\n", **FAST).fit(SENTENCES, Y)
    assert model.tagger_.chain.per_position
    check_against_enumeration(model, [["the", "york"], ["new", "york", "times"]])
    assert not any(model.transition_weights_.values())


@pytest.mark.parametrize(
    "names",
    [
        {"O": "O", "B-LOC": "B-LOC", "I-LOC": "I-LOC"},
        {"O": 0, "B-LOC": 7, "I-LOC": -3},
        {"O": False, "B-LOC": True, "I-LOC": False},
        {"O": b"o", "B-LOC": b"\xff", "I-LOC": b"i"},
        {"O": ("x", 1), "B-LOC": ("y", 1), "I-LOC": ("y", 2)},
        {"O": 0.5, "B-LOC": "b", "I-LOC": 3},
    ],
    ids=["str", "int", "bool", "bytes", "tuples", "mixed"],
)
def test_labels_of_any_plain_type(names, tmp_path):
    renamed = [[names[label] for label in s] for s in Y]
    model = LinearCRF(l2=0.1, n_jobs=1).fit(X, renamed)
    predicted = model.predict(X_NEW)
    kinds = {type(value) for value in names.values()}
    assert {type(label) for s in predicted for label in s} <= kinds
    assert set(model.classes_) == set(names.values())
    assert model.score(X, renamed) > 0.85
    np.testing.assert_allclose(np.exp(model.log_likelihood(X[:1], [[None] * len(X[0])])), 1.0, rtol=1e-12)
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf")
    assert loaded.classes_ == model.classes_
    assert [type(c) for c in loaded.classes_] == [type(c) for c in model.classes_]
    assert loaded.predict(X_NEW) == predicted
    assert len(model.predict_confidence(X_NEW[:2])) == 2


def test_labels_as_numpy_arrays():
    numbers = {"O": 0, "B-LOC": 1, "I-LOC": 2}
    lists = [[numbers[label] for label in s] for s in Y]
    one = LinearCRF(**FAST).fit(X, lists)
    two = LinearCRF(**FAST).fit(X, [np.array(s, dtype=np.int64) for s in lists])
    assert one.tagger_.theta.tobytes() == two.tagger_.theta.tobytes()
    assert two.classes_ == [0, 1, 2]
    assert all(type(label) is int for s in two.predict(X_NEW) for label in s)


def test_sequences_of_one_length_may_come_as_one_array_of_labels():
    """y = np.array(list of equally long lists) is what NumPy users have in hand."""
    short = [s[:1] for s in X]
    labels = [s[:1] for s in Y]
    one = LinearCRF(**FAST).fit(short, labels)
    two = LinearCRF(**FAST).fit(short, np.array(labels, dtype=object))
    assert one.predict(short) == two.predict(short)
    three = LinearCRF(**FAST).fit(short, np.array(labels))
    assert one.predict(short) == three.predict(short)


@pytest.mark.parametrize("kind", ["attributes", "columns", "dense", "sparse"])
def test_empty_sequences(kind):
    rng = np.random.default_rng(0)
    data = {
        "attributes": X,
        "columns": SENTENCES,
        "dense": [rng.normal(size=(len(s), 3)) for s in SENTENCES],
        "sparse": [sparse.csr_array(rng.integers(0, 2, (len(s), 4)).astype(float)) for s in SENTENCES],
    }[kind]
    empty = {"attributes": [], "columns": [], "dense": np.empty((0, 3)), "sparse": sparse.csr_array((0, 4))}[kind]
    plain = LinearCRF(**FAST).fit(data, Y)
    mixed = [empty, *data[:7], empty, empty, *data[7:], empty]
    labels = [[], *Y[:7], [], [], *Y[7:], []]
    model = LinearCRF(**FAST).fit(mixed, labels)
    np.testing.assert_allclose(model.tagger_.theta, plain.tagger_.theta, rtol=1e-6, atol=1e-6)
    predicted = model.predict(mixed)
    assert [len(p) for p in predicted] == [len(s) for s in labels]
    assert predicted[1:8] == model.predict(data[:7])
    assert [len(m) for m in model.predict_marginals(mixed)] == [len(s) for s in labels]
    assert model.predict_n_best([empty], n=3) == [[([], 1.0)]]
    np.testing.assert_allclose(model.log_likelihood([empty, data[0]], [[], Y[0]])[0], 0.0, rtol=0, atol=1e-12)
    confidence = model.predict_confidence([empty])[0]
    assert (confidence.labels, confidence.tokens, confidence.spans, confidence.sequence) == ([], [], [], 1.0)
    assert len(model.explain(empty)) == 0
    assert 0.0 <= model.score(mixed, labels) <= 1.0


@pytest.mark.parametrize("kind", ["attributes", "columns", "dense", "sparse"])
def test_no_sequences_give_no_answers(kind):
    rng = np.random.default_rng(0)
    data = {
        "attributes": X,
        "columns": SENTENCES,
        "dense": [rng.normal(size=(len(s), 3)) for s in SENTENCES],
        "sparse": [sparse.csr_array(rng.integers(0, 2, (len(s), 4)).astype(float)) for s in SENTENCES],
    }[kind]
    model = LinearCRF(max_iter=3).fit(data, Y)
    assert model.predict([]) == []
    assert model.predict_n_best([]) == []
    assert model.predict_confidence([]) == []
    assert len(model.log_likelihood([], [])) == 0


def test_no_sequences_give_no_marginals(crf):
    assert crf.predict_marginals([]) == []


# ---- answers -----------------------------------------------------------------------------------------------------


def check_against_enumeration(model, data):
    """log_likelihood, marginals, n-best and prediction tell one story."""
    for x in data:
        labellings = every_labelling(model.classes_, len(x))
        log_p = model.log_likelihood([x] * len(labellings), labellings)
        p = np.exp(log_p)
        np.testing.assert_allclose(p.sum(), 1.0, **CLOSE)
        order = np.argsort(-p, kind="stable")
        assert model.predict([x])[0] == labellings[order[0]]
        possible = [i for i in order if p[i] > 0]
        several = model.predict_n_best([x], n=6)[0]
        np.testing.assert_allclose([q for _, q in several], p[possible[:6]], **CLOSE)
        for labels, q in several:
            np.testing.assert_allclose(q, p[labellings.index(labels)], **CLOSE)
        wanted = np.zeros((len(x), len(model.classes_)))
        for labelling, q in zip(labellings, p, strict=True):
            for t, label in enumerate(labelling):
                wanted[t, model.classes_.index(label)] += q
        np.testing.assert_allclose(model.predict_marginals([x])[0], wanted, **CLOSE)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"order": 2},
        {"boundary": False, "all_transitions": False},
        {"scheme": "bio"},
        {"scheme": "bio", "order": 2, "all_transitions": False},
        {"objective": "large_margin"},
        {"all_features": True, "forbidden": [("O", "O"), (None, "O")]},
    ],
    ids=str,
)
def test_answers_tell_one_story(settings):
    labels = [[a if t % 2 else "B-LOC" for t, a in enumerate(s)] for s in Y] if "forbidden" in settings else Y
    model = LinearCRF(**FAST, **settings).fit(X, labels)
    check_against_enumeration(model, [x[:length] for x, length in zip(X_NEW[:6], (1, 2, 3, 3, 4, 4), strict=True)])


def test_marginals_sum_to_one_and_agree_with_partial_labels(crf):
    for x, marginals in zip(X_NEW, crf.predict_marginals(X_NEW), strict=True):
        assert marginals.shape == (len(x), 3)
        np.testing.assert_allclose(marginals.sum(1), 1.0, **CLOSE)
        for t, i in itertools.product(range(len(x)), range(3)):
            known = [None] * len(x)
            known[t] = crf.classes_[i]
            np.testing.assert_allclose(np.exp(crf.log_likelihood([x], [known])), marginals[t, i], **CLOSE)
            known[t] = {crf.classes_[i], crf.classes_[0]}
            either = marginals[t, i] + (marginals[t, 0] if i else 0.0)
            np.testing.assert_allclose(np.exp(crf.log_likelihood([x], [known])), either, **CLOSE)


def test_forced_decoding(crf):
    for x, free in zip(X_NEW, crf.predict(X_NEW), strict=True):
        assert crf.predict([x], [[None] * len(x)])[0] == free
        assert crf.predict([x], [free])[0] == free
        for t, label in itertools.product(range(min(len(x), 3)), crf.classes_):
            given = [None] * len(x)
            given[t] = label
            forced = crf.predict([x], [given])[0]
            assert forced[t] == label
            agreeing = [s for s in every_labelling(crf.classes_, len(x)) if s[t] == label] if len(x) <= 5 else []
            if agreeing:
                likely = crf.log_likelihood([x] * len(agreeing), agreeing)
                assert forced == agreeing[int(np.argmax(likely))]


def test_forced_marginals_and_n_best_are_conditional(crf):
    x = next(x for x in X_NEW if len(x) == 4)
    given = [{"O", "B-LOC"}, None, "I-LOC", None]
    agreeing = [s for s in every_labelling(crf.classes_, 4) if s[0] != "I-LOC" and s[2] == "I-LOC"]
    p = np.exp(crf.log_likelihood([x] * len(agreeing), agreeing))
    p /= p.sum()
    several = crf.predict_n_best([x], n=len(agreeing) + 5, given=[given])[0]
    assert len(several) == len(agreeing)
    np.testing.assert_allclose([q for _, q in several], np.sort(p)[::-1], **CLOSE)
    marginals = crf.predict_marginals([x], [given])[0]
    np.testing.assert_allclose(marginals[2], [0.0, 1.0, 0.0], **CLOSE)
    wanted = sum(q for s, q in zip(agreeing, p, strict=True) if s[1] == "O")
    np.testing.assert_allclose(marginals[1, 2], wanted, **CLOSE)


def test_labels_that_break_the_rules_have_probability_zero():
    model = LinearCRF(scheme="bio", **FAST).fit(X, Y)
    x = next(x for x in X_NEW if len(x) == 2)
    broken, fine = model.log_likelihood([x, x], [["O", "I-LOC"], ["O", "B-LOC"]])
    assert broken == -np.inf
    assert np.isfinite(fine)


def test_confidence(crf):
    for x, confidence in zip(X_NEW[:8], crf.predict_confidence(X_NEW[:8]), strict=True):
        everything = crf.predict_n_best([x], n=3 ** len(x))[0] if len(x) <= 5 else []
        assert confidence.labels == crf.predict([x])[0]
        marginals = crf.predict_marginals([x])[0]
        wanted = [marginals[t, crf.classes_.index(label)] for t, label in enumerate(confidence.labels)]
        np.testing.assert_allclose(confidence.tokens, wanted, **CLOSE)
        np.testing.assert_allclose(
            confidence.sequence, math.exp(crf.log_likelihood([x], [confidence.labels])[0]), **CLOSE
        )
        assert len(confidence.spans) == sum(label == "B-LOC" for label in confidence.labels)
        for span in confidence.spans:
            assert span.type == "LOC"
            inside = confidence.labels[span.start : span.end]
            assert inside == ["B-LOC"] + ["I-LOC"] * (span.end - span.start - 1)
            if everything:
                same = sum(p for labels, p in everything if labels[span.start : span.end] == inside)
                np.testing.assert_allclose(span.probability, same, **CLOSE)
    assert any(c.spans for c in crf.predict_confidence(X_NEW[:8]))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["attributes", "columns", "edge features", "dense", "csr"])
def test_explanations_add_up_to_the_score(kind, order):
    rng = np.random.default_rng(0)
    data = {
        "attributes": X,
        "columns": SENTENCES,
        "edge features": SENTENCES,
        "dense": [rng.normal(size=(len(s), 3)) for s in SENTENCES],
        "csr": [sparse.csr_array(rng.normal(size=(len(s), 3))) for s in SENTENCES],
    }[kind]
    template = "U0:%x[0,0]\nB\nB0:%x[-1,0]\n" if kind == "edge features" else None
    model = LinearCRF(order=order, template=template, **FAST).fit(data, Y)
    for x in data[:10]:
        explanation = model.explain(x)
        labels = model.predict([x])[0]
        marginals = model.predict_marginals([x])[0]
        assert [p.label for p in explanation.positions] == labels
        tagger = model.tagger_
        potentials = tagger.potentials(tagger.features.encode([x]))
        score = chainfield.inference.viterbi(tagger.chain.space, potentials).score[0]
        added = path_score(explanation)
        np.testing.assert_allclose(added, score, rtol=1e-9, atol=1e-9)
        for t, position in enumerate(explanation.positions):
            assert explanation[t] is position
            np.testing.assert_allclose(
                position.probability, marginals[t, model.classes_.index(position.label)], **CLOSE
            )
            assert position.runner_up != position.label
            rival = marginals[t, model.classes_.index(position.runner_up)]
            np.testing.assert_allclose(position.runner_up_probability, rival, **CLOSE)
            strengths = [abs(c.difference) for c in position.contributions]
            assert strengths == sorted(strengths, reverse=True)
    assert len(str(explanation).splitlines()) >= len(explanation)


def test_an_explanation_names_features_and_weights(crf):
    x = [{"word": "york", "before": "new", "length": 0.4}]
    position = crf.explain(x)[0]
    named = {c.feature: c for c in position.contributions}
    assert named["length"].value == 0.4
    weight = crf.feature_weights_[("word:york", position.label)]
    np.testing.assert_allclose(named["word:york"].chosen, weight, **CLOSE)
    np.testing.assert_allclose(named["length"].chosen, 0.4 * crf.feature_weights_[("length", position.label)], **CLOSE)


def unrestricted(model):
    """Scores of labellings from nothing but the weights by name."""
    features, transitions, boundary = model.feature_weights_, model.transition_weights_, boundary_weights(model.tagger_)

    def score(x, labels):
        total = boundary["start"][labels[0]] + boundary["end"][labels[-1]]
        for item, label in zip(x, labels, strict=True):
            total += features.get((f"word:{item['word']}", label), 0.0)
            total += features.get((f"before:{item['before']}", label), 0.0)
            total += item["length"] * features.get(("length", label), 0.0)
        return total + sum(transitions[pair] for pair in itertools.pairwise(labels))

    return score


def test_weights_by_name_make_up_the_score(crf):
    score = unrestricted(crf)
    for x in X[:10]:
        labellings = every_labelling(crf.classes_, len(x))
        scores = np.array([score(x, s) for s in labellings])
        np.testing.assert_allclose(
            crf.log_likelihood([x] * len(labellings), labellings), scores - np.logaddexp.reduce(scores), **CLOSE
        )
    assert set(crf.feature_weights_) <= set(itertools.product(crf.feature_names_, crf.classes_))


# ---- decoders ----------------------------------------------------------------------------------------------------


def test_posterior_decoding_takes_the_most_probable_label_of_each_position(crf):
    model = LinearCRF(decoder="posterior", **FAST).fit(X, Y)
    marginals = model.predict_marginals(X_NEW)
    assert model.predict(X_NEW) == [[model.classes_[i] for i in m.argmax(axis=1)] for m in marginals]
    assert [c.labels for c in model.predict_confidence(X_NEW)] == model.predict(X_NEW)
    for x, labels in zip(X_NEW, model.predict(X_NEW), strict=True):
        assert [p.label for p in model.explain(x).positions] == labels
    assert model.set_params(decoder="viterbi").predict(X_NEW) == LinearCRF(**FAST).fit(X, Y).predict(X_NEW)


def test_explanations_and_confidence_where_posterior_decoding_breaks_the_rules():
    model = LinearCRF(scheme="bio", decoder="posterior", **FAST).fit(X, Y)
    # O wins first and I second, but I cannot follow O.
    odds = {("O", "O"): 0.3, ("O", "B-LOC"): 0.25, ("B-LOC", "O"): 0.05, ("B-LOC", "I-LOC"): 0.4}
    (transition,) = model.tagger_.chain.transitions
    theta = np.zeros_like(model.tagger_.theta)
    weight = model.tagger_.chain.views(theta)["transition.weight"]
    for e, name in enumerate(model.transition_weights_):
        weight[transition.tie[e]] = math.log(odds.get(name, 1e-9))
    model.fitted_ = replace(model.tagger_, theta=theta)
    (sure,) = model.predict_confidence([X[0][:1] * 2])
    assert sure.labels == ["O", "I-LOC"]
    assert sure.sequence == 0.0
    explanation = model.explain(X[0][:1] * 2)
    assert [p.label for p in explanation.positions] == sure.labels
    assert not any(np.isnan(c.difference) for p in explanation.positions for c in p.contributions)


@pytest.mark.parametrize("decoder", ["beam", "latent-dynamic"])
def test_decoders_that_the_model_does_not_have_are_refused(decoder, crf):
    with pytest.raises(ConfigError, match="choose one of viterbi, posterior"):
        LinearCRF(decoder=decoder).fit(X, Y)
    changed = pickle.loads(pickle.dumps(crf)).set_params(decoder=decoder)
    with pytest.raises(ConfigError, match="choose one of viterbi, posterior"):
        changed.predict(X)


# ---- weights of sequences and classes ----------------------------------------------------------------------------


def test_sample_weight_equals_repetition():
    weight = np.array([i % 3 for i in range(len(X))], dtype=float)
    repeated = [i for i, w in enumerate(weight) for _ in range(int(w))]
    settings = {"tol": 1e-10, "l2": 0.5, "n_jobs": 1, "all_features": True}
    weighted = LinearCRF(**settings).fit(X, Y, sample_weight=weight)
    doubled = LinearCRF(**settings).fit([X[i] for i in repeated], [Y[i] for i in repeated])
    # Sequences of weight 0 still number their features: compare by name.
    ours, theirs = weighted.feature_weights_, doubled.feature_weights_
    assert set(theirs) <= set(ours)
    for name, value in ours.items():
        np.testing.assert_allclose(value, theirs.get(name, 0.0), rtol=0, atol=1e-3)
    assert weighted.predict(X_NEW) == doubled.predict(X_NEW)
    for a, b in zip(weighted.predict_marginals(X_NEW), doubled.predict_marginals(X_NEW), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-3)


def test_balanced_weights_are_bounded():
    counts = np.array([100_000, 900, 25_000, 0])
    tempered = label_weights("balanced", ("O", "B", "I", "none"), counts, tempered=True)
    np.testing.assert_allclose(tempered, [1.0, 3.0, 2.0, 3.0])
    whole = label_weights("balanced", ("a", "b"), np.array([30, 10]), tempered=False)
    np.testing.assert_allclose(whole, [40 / 60, 2.0])


def counts(model, data):
    predicted = [label for s in model.predict(data) for label in s]
    return {label: predicted.count(label) for label in model.classes_}


@pytest.mark.parametrize("objective", ["likelihood", "large_margin"])
def test_class_weights_shift_predictions(objective):
    rng = np.random.default_rng(0)
    data = [rng.normal(size=(6, 1)) for _ in range(60)]
    labels = [["rare" if v + 1.5 * rng.normal() > 1.5 else "often" for v in x[:, 0]] for x in data]
    settings = {"objective": objective, "n_jobs": 1, "random_state": 1}
    plain = LinearCRF(**settings).fit(data, labels)
    more = LinearCRF(class_weight={"rare": 8.0}, **settings).fit(data, labels)
    less = LinearCRF(class_weight={"rare": 0.05}, **settings).fit(data, labels)
    balanced = LinearCRF(class_weight="balanced", **settings).fit(data, labels)
    found = [counts(model, data)["rare"] for model in (less, plain, more)]
    assert found == sorted(found)
    assert found[0] < found[2]
    assert counts(balanced, data)["rare"] > counts(plain, data)["rare"]
    same = LinearCRF(class_weight={"rare": 1.0, "often": 1.0}, **settings).fit(data, labels)
    np.testing.assert_allclose(same.tagger_.theta, plain.tagger_.theta, rtol=1e-6, atol=1e-9)


def test_a_class_weight_multiplies_the_odds():
    """With a bias feature and nothing else, the odds of labels in prediction are those of the data times the weight."""
    data, labels = [[["bias"]]] * 100, [["a"]] * 80 + [["b"]] * 20
    settings = {"l2": 1e-6, "tol": 1e-12, "boundary": False, "n_jobs": 1}
    for weight in (1.0, 4.0):
        model = LinearCRF(class_weight={"b": weight}, **settings).fit(data, labels)
        p = model.predict_marginals(data[:1])[0][0]
        np.testing.assert_allclose(p[1] / p[0], weight * 20 / 80, rtol=1e-3)


# ---- constraints -------------------------------------------------------------------------------------------------


def test_a_scheme_holds_in_training():
    """The objective is the likelihood among legal sequences only."""
    model = LinearCRF(scheme="bio", l2=0.3, **FAST).fit(X, Y)
    objective = model.history_[-1]["objective"] - 0.3 * float(model.tagger_.theta @ model.tagger_.theta)
    total = 0.0
    rules_free = unrestricted(model)
    for x, y in zip(X, Y, strict=True):
        scores = {tuple(s): rules_free(x, s) for s in every_labelling(model.classes_, len(x)) if legal(s)}
        total -= scores[tuple(y)] - np.logaddexp.reduce(list(scores.values()))
    np.testing.assert_allclose(objective, total, rtol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_a_scheme_holds_in_prediction(order):
    rng = np.random.default_rng(0)
    strange = [[{"word": WORDS[i], "before": WORDS[j]} for i, j in rng.integers(10, size=(8, 2))] for _ in range(100)]
    free, model = (LinearCRF(order=order, scheme=s, **FAST).fit(X, Y) for s in (None, "bio"))
    for tempted in (free, model):  # only the features count, and they know no rules
        theta = tempted.tagger_.theta.copy()
        weights = tempted.tagger_.chain.views(theta)
        weights["features.weight"][...] = rng.normal(size=weights["features.weight"].shape)
        for name in (name for name in weights if name.startswith("transition")):
            weights[name][...] = 0.0
        tempted.fitted_ = replace(tempted.tagger_, theta=theta)
    assert not all(legal(s) for s in free.predict(strange))
    assert all(legal(s) for s in model.predict(strange))
    assert all(legal(s) for several in model.predict_n_best(strange[:20], n=5) for s, _ in several)


def test_schemes_by_name_and_by_themselves():
    models = [LinearCRF(scheme=s, max_iter=5, n_jobs=1).fit(X, Y) for s in ("bio", "iob2", "auto")]
    assert len({m.tagger_.theta.tobytes() for m in models}) == 1
    assert ("O", "I-LOC") not in models[0].transition_weights_
    plain = LinearCRF(scheme="auto", max_iter=5).fit(X, [[label == "O" for label in s] for s in Y])
    assert len(plain.transition_weights_) == 4


@pytest.mark.parametrize("order", [1, 2])
def test_forbidden_transitions(order):
    rules = [("O", "O"), (None, "B-LOC"), ("O", None)]
    obeying = [["O" if t % 2 == 0 else "B-LOC" for t in range(2 * ((len(s) + 1) // 2))] for s in Y]
    data = [(x * 2)[: len(s)] for x, s in zip(X, obeying, strict=True)]
    model = LinearCRF(order=order, forbidden=rules, **FAST).fit(data, obeying)
    for several in model.predict_n_best([x for x in X_NEW if len(x) > 1], n=4):
        for labels, p in several:
            assert p > 0
            assert labels[0] != "B-LOC"
            assert labels[-1] != "O"
            assert ("O", "O") not in itertools.pairwise(labels)
    with pytest.raises(ConfigError, match="'Z'"):
        LinearCRF(forbidden=[("O", "Z")]).fit(X, Y)


def test_second_order_sees_two_labels_back():
    """a a b b a a b b …: with a single feature only the two labels before tell which comes next."""
    y = ["a", "a", "b", "b"]
    data, labels = [[["bias"]] * 16] * 10, [(y * 5)[i % 4 :][:16] for i in range(10)]
    first = LinearCRF(order=1, l2=0.01, n_jobs=1).fit(data, labels)
    second = LinearCRF(order=2, l2=0.01, n_jobs=1).fit(data, labels)
    given = [[*labels[3][:2], *[None] * 14]]
    assert second.predict(data[:1], given)[0] == labels[3]
    assert first.predict(data[:1], given)[0] != labels[3]
    assert second.log_likelihood(data, labels).sum() > first.log_likelihood(data, labels).sum() + 10
    assert (None, "a", "a") in second.transition_weights_
    assert ("a", "a", "b") in second.transition_weights_


# ---- partly labelled data ----------------------------------------------------------------------------------------


def test_partly_labelled_sequences():
    rng = np.random.default_rng(0)
    partial = [[label if rng.random() < 0.6 else None for label in s] for s in Y]
    model = LinearCRF(l2=0.1, all_features=True, n_jobs=1).fit(X, partial)
    assert set(model.classes_) == {"O", "B-LOC", "I-LOC"}
    assert model.score(X, Y) > 0.8
    objective = model.history_[-1]["objective"]
    penalty = 0.1 * float(model.tagger_.theta @ model.tagger_.theta)
    np.testing.assert_allclose(-model.log_likelihood(X, partial).sum() + penalty, objective, rtol=1e-9)


def test_sets_of_labels():
    vague = [[{"B-LOC", "I-LOC"} if label != "O" else "O" for label in s] for s in Y]
    model = LinearCRF(l2=0.1, **FAST).fit(X, vague)
    assert model.classes_ == ["B-LOC", "I-LOC", "O"]
    predicted = model.predict(X)
    right = [(a == "O") == (b == "O") for s, p in zip(Y, predicted, strict=True) for a, b in zip(s, p, strict=True)]
    assert np.mean(right) > 0.85
    objective = model.history_[-1]["objective"] - 0.1 * float(model.tagger_.theta @ model.tagger_.theta)
    np.testing.assert_allclose(-model.log_likelihood(X, vague).sum(), objective, rtol=1e-9)
    single = LinearCRF(l2=0.1, **FAST).fit(X, [[{label} for label in s] for s in Y])
    assert single.predict(X_NEW) == LinearCRF(l2=0.1, **FAST).fit(X, Y).predict(X_NEW)


@pytest.mark.parametrize("objective", ["perceptron", "large_margin", "softmax_margin"])
def test_other_objectives_learn(objective):
    model = LinearCRF(objective=objective, n_jobs=1).fit(X, Y)
    assert model.trainer_ == ("averaged" if objective != "softmax_margin" else "auto")
    assert model.score(X, Y) > 0.85


@pytest.mark.parametrize("trainer", ["auto", "lbfgs", "owlqn", "sgd", "averaged", "adam", "rprop", "sdca"])
def test_every_trainer_learns(trainer):
    model = LinearCRF(trainer=trainer, max_iter=15, n_jobs=1, l2=0.5).fit(X, Y)
    assert model.score(X, Y) > 0.85
    assert len(model.history_) == model.n_iter_ <= 15
    assert model.stop_reason_


# ---- development data, interruption, going on --------------------------------------------------------------------


def test_development_data():
    seen = []
    model = LinearCRF(patience=3, max_iter=60, tol=1e-12, n_jobs=1)
    model.fit(X[:25], Y[:25], X_dev=X[25:], y_dev=Y[25:], callback=seen.append)
    scores = [p.dev_score for p in seen]
    assert scores == [h["dev_score"] for h in model.history_]
    assert model.best_iteration_ == int(np.argmax(scores)) + 1
    assert model.n_iter_ == len(seen)
    assert model.n_iter_ == model.best_iteration_ + 3 or model.n_iter_ == 60
    report = chainfield.evaluate(Y[25:], model.predict(X[25:]))
    np.testing.assert_allclose(report.spans.micro.f1, max(scores), rtol=1e-12)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("trainer", ["lbfgs", "sgd", "rprop"])
def test_an_interrupt_leaves_a_fitted_model(trainer, error):
    def callback(progress):
        if progress.iteration == 4:
            raise error

    model = LinearCRF(trainer=trainer, n_jobs=1)
    with pytest.raises(error):
        model.fit(X, Y, callback=callback)
    assert model.n_iter_ == 4
    assert model.stop_reason_ == "interrupted"
    short = LinearCRF(trainer=trainer, n_jobs=1, max_iter=4).fit(X, Y)
    assert model.tagger_.theta.tobytes() == short.tagger_.theta.tobytes()
    assert model.predict(X_NEW) == short.predict(X_NEW)


def test_partial_fit_adds_features_and_labels_without_forgetting():
    model = LinearCRF(l2=0.01, n_jobs=1).fit(X, Y)
    before, n_features = model.predict(X), len(model.feature_names_)
    new = [[{"word": "berlin", "fresh": 1.0}], [{"word": "the"}, {"word": "berlin", "fresh": 1.0}]]
    for _ in range(3):
        assert model.partial_fit(new, [["B-CITY"], ["O", "B-CITY"]]) is model
    assert model.classes_ == ["B-CITY", "B-LOC", "I-LOC", "O"]
    assert len(model.feature_names_) == n_features + 2
    assert model.predict([[{"word": "berlin", "fresh": 1.0}]]) == [["B-CITY"]]
    after = model.predict(X)
    same = [a == b for s, t in zip(before, after, strict=True) for a, b in zip(s, t, strict=True)]
    assert np.mean(same) > 0.95


def test_many_small_partial_fits_do_not_wear_the_model_out():
    model = LinearCRF(n_jobs=1).fit(X, Y)
    before = model.score(X, Y)
    for _ in range(30):
        model.partial_fit([[{"word": "berlin"}]], [["O"]])
    assert model.predict([[{"word": "berlin"}]]) == [["O"]]
    assert model.score(X, Y) > before - 0.1


def test_partial_fit_from_the_beginning():
    model = LinearCRF(n_jobs=1, l2=0.1)
    for lo in range(0, 40, 10):
        model.partial_fit(X[lo : lo + 10], Y[lo : lo + 10], classes=["O", "B-LOC", "I-LOC", "B-PER"])
    assert "B-PER" in model.classes_
    assert model.score(X, Y) > 0.75


def test_partial_fit_makes_one_pass_of_a_chosen_trainer_whatever_warm_start_says():
    def passes(warm_start):
        model = LinearCRF(n_jobs=1, trainer="sgd", warm_start=warm_start).fit(X, Y)
        model.partial_fit(X[:5], Y[:5])
        return model.trainer_, model.n_iter_

    assert passes(False) == ("sgd", 1)
    assert passes(True) == ("sgd", 1)


@pytest.mark.parametrize("kind", ["attributes", "columns"])
def test_a_failed_partial_fit_leaves_the_model_as_it_was(kind):
    data = {"attributes": X, "columns": SENTENCES}[kind]
    model = LinearCRF(**FAST).fit(data, Y)
    unseen = {"attributes": [[{"word": f"w{i}"} for i in range(50)]], "columns": [[f"w{i}" for i in range(50)]]}[kind]
    labels, marginals = model.predict(data), model.predict_marginals(data + unseen)
    with pytest.raises(ValueError, match="50 positions but 1 labels"):
        model.partial_fit(unseen, [["O"]])
    assert model.tagger_.features.n_features == model.tagger_.chain.emissions[0].pairs.n_features
    assert model.predict(data) == labels
    for before, now in zip(marginals, model.predict_marginals(data + unseen), strict=True):
        assert before.tobytes() == now.tobytes()


def test_a_failed_fit_leaves_the_old_model_as_it_was():
    model = LinearCRF(trainer="sgd", learning_rate=0.1, scheme="bio", max_iter=3, n_jobs=1)
    model.fit(X, Y)
    theta = model.tagger_.theta.copy()
    with pytest.raises(ValueError, match="Sequence 0 has no allowed path"):
        model.fit([[{"word": "a"}, {"word": "b"}]] * 2, [["O", "I-LOC"], ["B-LOC", "I-LOC"]])
    assert model.tagger_.theta.tobytes() == theta.tobytes()


def test_warm_start():
    cold = LinearCRF(max_iter=200, n_jobs=1, tol=1e-8).fit(X, Y)
    warm = LinearCRF(max_iter=200, n_jobs=1, tol=1e-8, warm_start=True).fit(X, Y)
    assert warm.tagger_.theta.tobytes() == cold.tagger_.theta.tobytes()
    first = warm.n_iter_
    warm.fit(X, Y)
    assert warm.n_iter_ < first / 2
    assert warm.history_[0]["objective"] <= cold.history_[-1]["objective"] * (1 + 1e-6)
    cold.fit(X, Y)
    assert cold.n_iter_ == first
    more_x, more_y = attributes([["never", "seen"]]), [["B-NEW", "O"]]
    warm.fit(X + more_x, Y + more_y)
    assert "B-NEW" in warm.classes_


def test_fit_forgets_without_warm_start():
    model = LinearCRF(**FAST).fit(attributes([["never", "seen"]]), [["B-NEW", "O"]])
    again = model.fit(X, Y)
    fresh = LinearCRF(**FAST).fit(X, Y)
    assert again.classes_ == fresh.classes_
    assert again.tagger_.theta.tobytes() == fresh.tagger_.theta.tobytes()


# ---- threads and seeds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trainer", ["lbfgs", "sgd", "adam", "sdca", "averaged"])
def test_the_same_seed_gives_the_same_bits(trainer, monkeypatch):
    monkeypatch.setattr("chainfield.problem.problem.SHARD_POSITIONS", 20)
    monkeypatch.setattr("chainfield.problem.problem.POSITIONS_PER_PARAMETER", 0.0)
    models = [
        LinearCRF(trainer=trainer, random_state=7, max_iter=5, n_jobs=jobs).fit(X, Y) for jobs in (1, 1, 2, 5, None)
    ]
    assert len({m.tagger_.theta.tobytes() for m in models}) == 1
    if trainer != "lbfgs":
        other = LinearCRF(trainer=trainer, random_state=8, max_iter=5, n_jobs=1).fit(X, Y)
        assert other.tagger_.theta.tobytes() != models[0].tagger_.theta.tobytes()


def test_seeds_of_any_kind():
    for one, two in [
        (np.random.RandomState(3), np.random.RandomState(3)),
        (np.random.default_rng(3), np.random.default_rng(3)),
        (3, np.int64(3)),
        (None, None),
    ]:
        a, b = (LinearCRF(trainer="sgd", random_state=s, max_iter=2, n_jobs=1).fit(X, Y) for s in (one, two))
        assert a.tagger_.theta.tobytes() == b.tagger_.theta.tobytes()


@pytest.mark.parametrize("kind", ["attributes", "columns"])
def test_many_threads_share_one_model(kind, monkeypatch):
    monkeypatch.setattr("chainfield.scorers.chain.BLOCK_BYTES", 200)
    data, new = {"attributes": (X, X_NEW), "columns": (SENTENCES, corpus(15, seed=1)[0])}[kind]
    trained = LinearCRF(max_iter=10, n_jobs=2).fit(data, Y)
    new = [*new, *([["unheard", "of"]] if kind == "columns" else [[{"word": "unheard"}]])]
    labels, marginals = trained.predict(new), [m.tobytes() for m in trained.predict_marginals(new)]
    fresh = pickle.loads(pickle.dumps(trained))  # nothing is cached in it yet

    def work(i):
        if i % 2:
            return fresh.predict(new) == labels
        return [m.tobytes() for m in fresh.predict_marginals(new)] == marginals

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(work, range(128)))


def test_prediction_does_not_depend_on_company(crf):
    """A sequence gets the same answer alone, among others, and in any order."""
    together = crf.predict_marginals(X_NEW)
    backwards = crf.predict_marginals(X_NEW[::-1])[::-1]
    for x, a, b in zip(X_NEW, together, backwards, strict=True):
        assert a.tobytes() == b.tobytes() == crf.predict_marginals([x])[0].tobytes()


# ---- settings that change the model ------------------------------------------------------------------------------


def test_min_count_leaves_rare_features_out():
    data = [[["rare", "often"]], [["often"]], [["often", "twice"]], [["twice"]]]
    labels = [["a"], ["b"], ["a"], ["b"]]
    assert list(LinearCRF(min_count=2).fit(data, labels).feature_names_) == ["often", "twice"]
    assert list(LinearCRF(min_count=3).fit(data, labels).feature_names_) == ["often"]
    model = LinearCRF(min_count=2).fit(data, labels)
    assert model.predict([[["rare"]]]) == model.predict([[["unknown"]]])


def test_min_count_counts_positions():
    """An attribute that one item gives twice occurs at one position."""
    model = LinearCRF(min_count=2).fit([[["twice", "twice"]], [["once"]]], [["a"], ["b"]])
    assert list(model.feature_names_) == []


def test_weights_for_seen_pairs_or_for_all():
    data, labels = [[["x"], ["y"]], [["y"], ["x"]]], [["a", "b"], ["b", "a"]]
    seen = LinearCRF().fit(data, labels)
    assert set(seen.feature_weights_) == {("x", "a"), ("y", "b")}
    everything = LinearCRF(all_features=True).fit(data, labels)
    assert set(everything.feature_weights_) == set(itertools.product("xy", "ab"))
    assert seen.transition_weights_.keys() == everything.transition_weights_.keys()
    few = LinearCRF(all_transitions=False).fit(data, labels)
    assert few.transition_weights_[("a", "a")] == 0.0
    assert few.transition_weights_[("a", "b")] != 0.0


def test_more_l2_means_smaller_weights():
    norms = [float(np.linalg.norm(LinearCRF(l2=l2, **FAST).fit(X, Y).tagger_.theta)) for l2 in (0.01, 0.1, 1.0, 10.0)]
    assert norms == sorted(norms, reverse=True)


def test_l1_leaves_weights_out():
    model = LinearCRF(l1=1.0, l2=0.0, n_jobs=1).fit(X, Y)
    assert model.trainer_ == "auto"
    zero = np.mean(model.tagger_.theta == 0)
    assert 0.2 < zero < 1.0


def test_verbose_prints_a_line_an_iteration(capsys):
    LinearCRF(verbose=True, max_iter=3, n_jobs=1).fit(X, Y)
    assert len(capsys.readouterr().out.splitlines()) == 3
    LinearCRF(max_iter=3, n_jobs=1).fit(X, Y)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("objective", ["perceptron", "large_margin"])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([["a"], ["b"], ["c"], ["d"]], [["X"], ["Y"], ["X"], ["Y"]]),
        ([["a", "b"], ["c", "d"]], [["1", "2"], ["2", "1"]]),
        (
            [["a", "b", "c", "d"], ["e", "f", "g", "h"], ["i", "j", "k", "l"]],
            [list("XYXY"), list("YYXX"), list("XYYX")],
        ),
    ],
)
def test_the_average_of_few_steps_is_right_where_the_steps_are(objective, X, y):
    model = LinearCRF(objective=objective, n_jobs=1).fit(X, y)
    assert model.stop_reason_.startswith("every training sequence is right")
    assert model.score(X, y) == 1.0
