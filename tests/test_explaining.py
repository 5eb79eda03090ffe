"""Explanations: rivals that are possible, contributions that add up to what another label would cost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from chainfield import MEMM, LinearCRF
from chainfield.errors import DataError, NoPathError
from chainfield.inference import viterbi
from chainfield.inspection.rivals import Rivals
from support.explaining import path_score
from support.models import LatentTagger

WORDS = ["a", "b", "c", "d"]
NAMES = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def corpus(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        length = int(rng.integers(1, 7))
        words = rng.choice(WORDS, length)
        labels = ["O"]
        for word in words:
            inside = [f"I-{labels[-1][2:]}"] if labels[-1] != "O" else []
            choice = {"a": ["O"], "b": ["B-X"], "c": ["B-Y", *inside], "d": [*inside, "O"]}[word]
            labels.append(str(rng.choice(choice)) if rng.random() < 0.8 else str(rng.choice(["O", "B-X", *inside])))
        X.append([{"w": str(w), "i": float(i % 3)} for i, w in enumerate(words)])
        y.append(labels[1:])
    return X, y


X, Y = corpus()
MODELS = {
    "first order": lambda: LinearCRF(max_iter=8, scheme="bio"),
    "second order": lambda: LinearCRF(max_iter=8, order=2, scheme="bio"),
    "hidden states": lambda: LatentTagger(max_iter=8),
    "hidden states, second order": lambda: LatentTagger(max_iter=4, order=2),
    "MEMM": lambda: MEMM(max_iter=8, scheme="bio"),
}


@pytest.fixture(scope="module", params=MODELS, ids=str)
def model(request):
    return MODELS[request.param]().fit(X, Y)


def best_with(tagger, potentials, labels):
    """The score of the best state path that shows these labels, by listing all paths."""
    space = tagger.chain.space
    states = [np.flatnonzero(space.label_of == tagger.task.number[label]).tolist() for label in labels]
    paths = itertools.product(*states)
    edges = {pair: e for e, pair in enumerate(zip(space.src.tolist(), space.dst.tolist(), strict=True))}
    best = -np.inf
    for path in paths:
        steps = list(itertools.pairwise(path))
        if space.start[path[0]] and space.end[path[-1]] and all(pair in edges for pair in steps):
            score = sum(potentials.node[t, space.row_of[k]] for t, k in enumerate(path))
            for t, pair in enumerate(steps):
                score += potentials.edge[0 if potentials.shared else t + 1, edges[pair]]
            best = max(best, float(score))
    return best


def test_contributions_add_up_to_what_the_rival_would_cost(model):
    tagger = model.tagger_
    one_state = tagger.chain.space.one_path
    for x, _ in zip(X[:12], Y, strict=False):
        if len(x) > 4:
            x = x[:4]
        potentials = tagger.potentials(tagger.features.encode([x]))
        best = viterbi(tagger.chain.space, potentials)
        explanation = model.explain(x)
        labels = [p.label for p in explanation.positions]
        for t, position in enumerate(explanation.positions):
            others = {
                label: best_with(tagger, potentials, [*labels[:t], label, *labels[t + 1 :]])
                for label in model.classes_
                if label != position.label
            }
            if one_state:  # hidden states around the position could move as well
                top = max(others.values())
                assert position.possible == (top > -np.inf)
                if position.possible:
                    assert others[position.runner_up] == pytest.approx(top, rel=1e-9)
                    assert position.difference == pytest.approx(float(best.score[0]) - top, rel=1e-6, abs=1e-7)
                else:
                    assert position.difference == np.inf
            elif position.possible:
                cost = float(best.score[0]) - others[position.runner_up]
                assert position.difference >= cost - 1e-7
        if not tagger.chain.normalised:
            assert path_score(explanation) == pytest.approx(float(best.score[0]), rel=1e-9)


def test_the_search_of_routes_finds_the_direct_ones():
    tagger = MODELS["first order"]().fit(X, Y).tagger_
    for x in X[:10]:
        potentials = tagger.potentials(tagger.features.encode([x]))
        rivals = Rivals(tagger.chain.space, potentials, viterbi(tagger.chain.space, potentials).states)
        for t in range(len(x)):
            quick, slow = rivals._direct(t), rivals._searched(t)
            np.testing.assert_allclose(quick.score, slow.score, rtol=1e-12)
            np.testing.assert_array_equal(quick.edges, slow.edges)


def test_against_names_the_rival(model):
    x, gold = X[0], Y[0]
    for t, position in enumerate(model.explain(x, against=gold).positions):
        assert position.runner_up == gold[t] or position.label == gold[t]
        assert position.runner_up != position.label
    for position in model.explain(x, against="B-Y").positions:
        assert "B-Y" in (position.label, position.runner_up)
    first = model.explain(x, against=[*["B-X"], *[None] * (len(x) - 1)])
    assert "B-X" in (first[0].label, first[0].runner_up)


def test_a_rival_that_the_rules_forbid_says_so():
    crf = MODELS["first order"]().fit(X, Y)
    position = crf.explain([{"w": "a"}], against="I-X")[0]
    assert not position.possible
    assert position.runner_up == "I-X"
    lonely = LinearCRF(max_iter=2).fit([[{"w": "a"}]], [["only"]])
    assert lonely.explain([{"w": "a"}])[0].runner_up == "only"


def test_given_labels_are_explained_as_given(model):
    x = [{"w": "a", "i": 0.0}, {"w": "d", "i": 1.0}, {"w": "a", "i": 2.0}]
    pinned = [None, "B-Y", None]
    explanation = model.explain(x, given=pinned)
    assert [p.label for p in explanation.positions] == model.predict([x], given=[pinned])[0]
    assert explanation[1].label == "B-Y"
    assert explanation[1].probability == pytest.approx(1.0, abs=1e-9)
    # The pin itself is explained by what the model would have said.
    assert explanation[1].possible


def test_confidence_around_given_labels(model):
    x = [{"w": "a", "i": 0.0}, {"w": "d", "i": 1.0}, {"w": "a", "i": 2.0}]
    pinned = [None, "B-Y", None]
    (sure,) = model.predict_confidence([x], given=[pinned])
    assert sure.labels == model.predict([x], given=[pinned])[0]
    marginals = model.predict_marginals([x], given=[pinned])[0]
    expected = [marginals[t, model.classes_.index(label)] for t, label in enumerate(sure.labels)]
    np.testing.assert_allclose(sure.tokens, expected, rtol=1e-9)
    whole, known = model.log_likelihood([x, x], [sure.labels, pinned])
    assert sure.sequence == pytest.approx(np.exp(whole - known), rel=1e-9)
    for span in sure.spans:
        partly = [label if span.start <= t < span.end else pinned[t] for t, label in enumerate(sure.labels)]
        assert span.probability == pytest.approx(np.exp(model.log_likelihood([x], [partly])[0] - known), rel=1e-9)


def test_bad_requests():
    crf = MODELS["first order"]().fit(X, Y)
    x = [{"w": "a"}, {"w": "b"}]
    with pytest.raises(DataError, match=r"2 positions, but against has 1"):
        crf.explain(x, against=["O"])
    with pytest.raises(DataError, match=r"Position 0: the model has no label 'PER' to compare with; it knows"):
        crf.explain(x, against="PER")
    with pytest.raises(DataError, match=r"Sequence 0 has 2 positions but 1 labels"):
        crf.explain(x, given=["O"])
    with pytest.raises(NoPathError, match="1"):
        crf.predict_confidence([x, x], given=[[None, None], ["O", "I-X"]])
    assert crf.explain([], against="O").positions == ()
