"""Weights of unseen words that are trained together with the known words beside them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainfield import EmpiricalCRF
from chainfield.errors import ConfigError
from chainfield.models.empirical.pair_functions import word_pairs
from chainfield.models.empirical.together import TogetherProblem
from support.empirical import draw_corpus

UNSMOOTHED = {"label_strength": 0.0, "word_strength": 0.0, "pair_strength": 0.0}


def problem_of(model: EmpiricalCRF, l2: float) -> TogetherProblem:
    unseen, rates = model.tagger_.chain.emissions[1], model.tagger_.chain.transitions[0]
    pairs = word_pairs(model.counts_.forms, rates)
    return TogetherProblem(pairs, rates, unseen.form, unseen.row, unseen.weight, l2)


def neighbours(X, Y):
    """For every position: its word and label, the word beside it, and whether that stands before it."""
    for xs, ys in zip(X, Y, strict=True):
        known = list(zip(xs, ys, strict=True))
        for (x, y), (x2, y2) in pairwise(known):
            if y is not None and y2 is not None:
                yield x2, y2, x, True
                yield x, y, x2, False


def log_m(model: EmpiricalCRF, beside: str, before: bool) -> np.ndarray:
    """What the engine says of an unseen word without features beside this one: its own scores are left out."""
    tagger = model.tagger_
    found = tagger.potentials(tagger.features.encode([[beside, "?"] if before else ["?", beside]]))
    r = len(tagger.task.labels)
    edge = found.edge[1].reshape(r, r)
    both = found.node[0][:, None] + edge if before else (edge + found.node[1][None]).T
    return np.logaddexp.reduce(both, axis=0)


def brute_force(model: EmpiricalCRF, problem: TogetherProblem, theta: np.ndarray, X, Y) -> float:
    """-Σ weight log P + l2 ‖θ‖², one neighbour of one word after the other."""
    tagger, unseen = model.tagger_, model.tagger_.chain.emissions[1]
    labels, n = list(tagger.task.labels), problem.weights.n_pairs
    names = tagger.features.feature_names()
    number = {names[w]: form for form, w in enumerate(unseen.observation.tolist()) if w >= 0}
    whole = {(f, r): w for f, r, w in zip(unseen.form, unseen.row, unseen.weight, strict=True)}

    def scores(form):
        found = theta[n:].copy()
        for f in problem.sparse.indices[problem.sparse.indptr[form] : problem.sparse.indptr[form + 1]]:
            for p in range(problem.weights.first[f], problem.weights.first[f + 1]):
                found[problem.weights.row[p]] += theta[p]
        return found

    met: dict = {}
    for word, label, beside, before in neighbours(X, Y):
        key = number[f"word={word}"], labels.index(label)
        met.setdefault(key, []).append(log_m(model, beside, before))
    total = 0.0
    for key, weight in whole.items():
        offsets = met.get(key, [np.zeros(len(labels))])
        for offset in offsets:
            own = scores(key[0]) + offset
            total -= weight / len(offsets) * (own[key[1]] - np.logaddexp.reduce(own))
    return total + problem.l2 * float(theta @ theta)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), counted=st.sampled_from(["types", "tokens"]), smooth=st.booleans())
def test_the_objective_is_that_of_plain_loops(seed, counted, smooth):
    X, Y = draw_corpus(np.random.default_rng(seed), 15)
    strengths = {} if smooth else UNSMOOTHED
    model = EmpiricalCRF(min_count=1, counted=counted, **strengths).fit(X, Y)
    problem = problem_of(model, 0.1)
    rng = np.random.default_rng(seed)
    theta, way = rng.normal(size=problem.n_parameters), rng.normal(size=problem.n_parameters)
    value, gradient = problem.evaluate(theta)
    assert value == pytest.approx(brute_force(model, problem, theta, X, Y), rel=1e-10)
    slope = (problem.evaluate(theta + 1e-5 * way)[0] - problem.evaluate(theta - 1e-5 * way)[0]) / 2e-5
    assert gradient @ way == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_unseen_words_beside_their_neighbours_become_more_probable():
    """Weights that are fitted to words alone are no optimum beside neighbours; those that are trained together are."""
    X, Y = draw_corpus(np.random.default_rng(5), 60)
    alone, both = (EmpiricalCRF(oov=oov, min_count=1).fit(X, Y) for oov in ("exponential", "together"))
    problem = problem_of(both, 0.3)
    assert problem.weights.n_pairs == both.tagger_.chain.emissions[1].pairs.n_pairs
    value, gradient = problem.evaluate(both.tagger_.theta)
    apart, steep = problem.evaluate(alone.tagger_.theta)
    assert value < apart
    assert np.linalg.norm(gradient) < 0.2 * np.linalg.norm(steep)


def test_features_of_neighbours_are_refused():
    X, Y = [["a", "b", "a", "c"]] * 3, [["x", "y", "y", "x"]] * 3
    with pytest.raises(ConfigError, match="features of the word by itself"):
        EmpiricalCRF(oov="together", template="U:%x[0,0]\nU:%x[-1,0]\n").fit(X, Y)


def test_chunks_give_the_same_sums(monkeypatch):
    X, Y = draw_corpus(np.random.default_rng(3), 40)
    model = EmpiricalCRF(min_count=1).fit(X, Y)
    whole = problem_of(model, 0.1)
    theta = np.random.default_rng(0).normal(size=whole.n_parameters)
    monkeypatch.setattr("chainfield.models.empirical.together.CHUNK", 7)
    parts = problem_of(model, 0.1)
    np.testing.assert_allclose(parts.offsets, whole.offsets, rtol=1e-14)
    assert parts.evaluate(theta)[0] == pytest.approx(whole.evaluate(theta)[0], rel=1e-13)
    np.testing.assert_allclose(parts.evaluate(theta)[1], whole.evaluate(theta)[1], rtol=1e-10, atol=1e-12)
