"""python-crfsuite as a peer: the same weights give the same numbers, the same data the same optimum."""

from __future__ import annotations

import itertools
import struct
from dataclasses import replace

import numpy as np
import pytest

from chainfield import LinearCRF

pycrfsuite = pytest.importorskip("pycrfsuite")

L2 = 1.0
EQUAL = {"rtol": 1e-9, "atol": 1e-9}


def make_corpus(n, seed):
    """Sentences of a small grammar: a hidden chain of tags, words by tag, some of them ambiguous."""
    rng = np.random.default_rng(seed)
    tags = ["DET", "ADJ", "NOUN", "VERB", "."]
    follow = np.array([[0, 4, 6, 0, 0], [0, 2, 7, 0, 1], [1, 0, 2, 6, 3], [5, 2, 2, 0, 1], [4, 1, 3, 1, 1]], float)
    words = {
        "DET": ["the", "a", "this", "that"],
        "ADJ": ["old", "red", "light", "fast"],
        "NOUN": ["man", "light", "saw", "run", "boat", "that"],
        "VERB": ["saw", "run", "fast", "sails"],
        ".": [".", ",", "!"],
    }
    X, y = [], []
    for _ in range(n):
        at, labels = 4, []
        for _ in range(rng.integers(1, 9)):
            at = int(rng.choice(5, p=follow[at] / follow[at].sum()))
            labels.append(tags[at])
        sentence = [words[tag][rng.integers(len(words[tag]))] for tag in labels]
        X.append([features(sentence, t) for t in range(len(sentence))])
        y.append(labels)
    return X, y


def features(sentence, t):
    word = sentence[t]
    item = {"word": word, "suffix": word[-1:], "length": len(word) / 4, "bias": True}
    item["before"] = sentence[t - 1] if t else {"start": 1.0}
    return item


X, Y = make_corpus(300, seed=0)
X_NEW, Y_NEW = make_corpus(60, seed=1)


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    """A trained CRFsuite model: (path, final loss)."""
    path = str(tmp_path_factory.mktemp("crfsuite") / "model.crfsuite")
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {"c1": 0.0, "c2": L2, "feature.possible_transitions": 1, "max_iterations": 500, "epsilon": 1e-9, "delta": 1e-12}
    )
    for x, y in zip(X, Y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(x), y)
    trainer.train(path)
    return path, trainer.logparser.last_iteration["loss"]


@pytest.fixture(scope="module")
def tagger(peer):
    opened = pycrfsuite.Tagger()
    opened.open(peer[0])
    return opened


def read_weights(path):
    """Weights as exact doubles: state {(attribute, label): w} and transition {(label, label): w}."""
    with open(path, "rb") as file:
        data = file.read()
    magic, _, kind, version, _, n_labels, n_attributes, at_features, at_labels, at_attributes, *_ = struct.unpack_from(
        "<4sI4s9I", data
    )
    assert (magic, kind, version) == (b"lCRF", b"FOMC", 100)
    labels, attributes = (read_names(data, at, n) for at, n in ((at_labels, n_labels), (at_attributes, n_attributes)))
    chunk, size, n = struct.unpack_from("<4sII", data, at_features)
    assert (chunk, size) == (b"FEAT", 12 + 20 * n)
    states, transitions = {}, {}
    for i in range(n):
        what, source, target, weight = struct.unpack_from("<IIId", data, at_features + 12 + 20 * i)
        if what == 0:
            states[attributes[source], labels[target]] = weight
        else:
            transitions[labels[source], labels[target]] = weight
    return states, transitions


def read_names(data, at, n):
    """The strings of a CQDB chunk, by number."""
    chunk, _, _, order, length, offset = struct.unpack_from("<4s5I", data, at)
    assert (chunk, order, length) == (b"CQDB", 0x62445371, n)
    names = []
    for i in range(n):
        record = at + struct.unpack_from("<I", data, at + offset + 4 * i)[0]
        number, size = struct.unpack_from("<II", data, record)
        assert number == i
        names.append(data[record + 8 : record + 8 + size - 1].decode("utf-8"))
    return names


@pytest.fixture(scope="module")
def ours(peer):
    """A LinearCRF with CRFsuite's weights."""
    states, transitions = read_weights(peer[0])
    model = LinearCRF(boundary=False, all_transitions=True, max_iter=1, n_jobs=1).fit(X, Y)
    model_tagger = model.tagger_
    theta = model_tagger.theta.copy()
    views = model_tagger.chain.views(theta)
    pairs = model_tagger.chain.emissions[0].pairs
    names, labels = list(model.feature_names_), model.classes_
    keys = [(names[f], labels[r]) for f, r in zip(pairs.feature(), pairs.row, strict=True)]
    assert set(states) <= set(keys)
    views["features.weight"][...] = [states.get(key, 0.0) for key in keys]
    space = model_tagger.chain.space
    edges = [(labels[i], labels[j]) for i, j in zip(space.src, space.dst, strict=True)]
    views["transition.weight"][...] = [transitions.get(edge, 0.0) for edge in edges]
    model.fitted_ = replace(model_tagger, theta=theta)
    return model


def test_weights_are_read_as_they_are(peer, tagger, ours):
    states, transitions = read_weights(peer[0])
    info = tagger.info()
    assert set(info.transitions) == set(transitions)
    assert set(info.state_features) == set(states)
    for name, weight in info.state_features.items():
        np.testing.assert_allclose(states[name], weight, rtol=0, atol=1e-6)
    assert {k: v for k, v in ours.feature_weights_.items() if v} == {k: v for k, v in states.items() if v}
    assert {k: v for k, v in ours.transition_weights_.items() if v} == {k: v for k, v in transitions.items() if v}
    assert len(transitions) == len(ours.classes_) ** 2


def test_the_same_weights_give_the_same_likelihood(tagger, ours):
    guessed = ours.predict(X_NEW)
    for labels in (Y_NEW, guessed, [list(reversed(y)) for y in Y_NEW]):
        found = ours.log_likelihood(X_NEW, labels)
        for x, y, value in zip(X_NEW, labels, found, strict=True):
            tagger.set(pycrfsuite.ItemSequence(x))
            np.testing.assert_allclose(np.exp(value), tagger.probability(y), **EQUAL)
            np.testing.assert_allclose(value, np.log(tagger.probability(y)), **EQUAL)


def test_the_same_weights_give_the_same_marginals(tagger, ours):
    for x, marginals in zip(X_NEW, ours.predict_marginals(X_NEW), strict=True):
        tagger.set(pycrfsuite.ItemSequence(x))
        for t, i in itertools.product(range(len(x)), range(len(ours.classes_))):
            np.testing.assert_allclose(marginals[t, i], tagger.marginal(ours.classes_[i], t), **EQUAL)


def test_the_same_weights_give_the_same_tags(tagger, ours):
    assert ours.predict(X_NEW) == [tagger.tag(pycrfsuite.ItemSequence(x)) for x in X_NEW]
    accuracy = ours.score(X_NEW, Y_NEW)
    assert 0.7 < accuracy < 1.0  # neither side is right by chance


def test_unknown_attributes_are_left_out_on_both_sides(tagger, ours):
    x = [{"word": "unheard", "of": 3.0}, {"word": "the", "new": "x"}]
    tagger.set(pycrfsuite.ItemSequence(x))
    for labels in itertools.product(ours.classes_, repeat=2):
        np.testing.assert_allclose(
            np.exp(ours.log_likelihood([x], [list(labels)])[0]), tagger.probability(list(labels)), **EQUAL
        )


def test_the_loss_is_the_same_function(peer, ours):
    """CRFsuite's own loss at its own weights: negative log-likelihood + c2 · ‖w‖²."""
    theta = ours.tagger_.theta
    loss = -ours.log_likelihood(X, Y).sum() + L2 * float(theta @ theta)
    np.testing.assert_allclose(loss, peer[1], rtol=1e-6)


def test_training_reaches_the_peer_s_optimum(peer, tagger):
    model = LinearCRF(l2=L2, boundary=False, all_transitions=True, tol=1e-9, max_iter=1000, n_jobs=1).fit(X, Y)
    objective = model.history_[-1]["objective"]
    assert objective <= peer[1] * (1 + 1e-6)
    np.testing.assert_allclose(objective, peer[1], rtol=1e-4)
    assert model.predict(X_NEW) == [tagger.tag(pycrfsuite.ItemSequence(x)) for x in X_NEW]
    for x, marginals in zip(X_NEW[:20], model.predict_marginals(X_NEW[:20]), strict=True):
        tagger.set(pycrfsuite.ItemSequence(x))
        theirs = [[tagger.marginal(label, t) for label in model.classes_] for t in range(len(x))]
        np.testing.assert_allclose(marginals, theirs, rtol=0, atol=1e-3)


def test_without_possible_transitions_and_with_all_states(tmp_path):
    """feature.possible_states and no possible_transitions: our all_features and not all_transitions."""
    path = str(tmp_path / "model.crfsuite")
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c2": L2, "feature.possible_states": 1, "epsilon": 1e-9, "delta": 1e-12})
    for x, y in zip(X[:100], Y[:100], strict=True):
        trainer.append(pycrfsuite.ItemSequence(x), y)
    trainer.train(path)
    settings = {"all_features": True, "all_transitions": False, "boundary": False, "tol": 1e-9, "n_jobs": 1}
    model = LinearCRF(l2=L2, max_iter=1000, **settings).fit(X[:100], Y[:100])
    assert len(model.tagger_.theta) == trainer.logparser.featgen_num_features
    np.testing.assert_allclose(model.history_[-1]["objective"], trainer.logparser.last_iteration["loss"], rtol=1e-5)
