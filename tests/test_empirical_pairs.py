"""Exponential functions of pairs of words: EP2's joint function and its conditional halves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainfield
from chainfield import EmpiricalCRF
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch, Sparse
from chainfield.inference.viterbi import viterbi
from chainfield.models.empirical.pair_functions import JointProblem, word_pairs
from chainfield.objectives import Targets, objective_named
from chainfield.potentials import clamp_labels
from chainfield.problem import Problem
from chainfield.scorers import Chain, SparseLinear, Transition
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.states import one_per_label
from support.empirical import draw_corpus
from support.explaining import path_score

KINDS = ("exponential", "halves")


def corpus(seed: int, n: int = 25, n_labels: int = 3):
    return draw_corpus(np.random.default_rng(seed), n, n_labels=n_labels)


def fitted(seed: int, pairs: str, **others):
    X, Y = corpus(seed)
    return EmpiricalCRF(oov="exponential", pairs=pairs, **others).fit(X, Y)


# ---- the joint function --------------------------------------------------------------------------------------------


def joint_problem(seed: int, l2: float = 0.1) -> JointProblem:
    model = fitted(seed, "ladder", min_count=1)
    rates = model.tagger_.chain.transitions[0]
    return JointProblem(word_pairs(model.counts_.forms, rates), l2)


def brute_force(problem: JointProblem, theta: np.ndarray) -> float:
    """-Σ count log v + l2 ‖θ‖², one pair of words after the other, by a sum over all label pairs."""
    pairs, r = problem.pairs, problem.pairs.n_rows
    sizes = np.cumsum([problem.left.n_pairs, r, problem.right.n_pairs, r])
    left, left_bias, right, right_bias, table = np.split(theta, sizes)

    def scores(form, side, weight, bias):
        found = bias.copy()
        for f in problem.sparse.indices[problem.sparse.indptr[form] : problem.sparse.indptr[form + 1]]:
            for p in range(side.first[f], side.first[f + 1]):
                found[side.row[p]] += weight[p]
        return found

    total = 0.0
    for l_, r_, y, z, n in zip(pairs.left, pairs.right, pairs.row, pairs.next_row, pairs.count, strict=True):
        a = scores(l_, problem.left, left, left_bias)
        b = scores(r_, problem.right, right, right_bias)
        joint = a[:, None] + b[None] + table.reshape(r, r)
        total -= n * (joint[y, z] - np.log(np.exp(joint).sum()))
    return total + problem.l2 * float(theta @ theta)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_joint_objective_is_that_of_plain_loops(seed):
    problem = joint_problem(seed)
    rng = np.random.default_rng(seed)
    theta, way = rng.normal(size=problem.n_parameters), rng.normal(size=problem.n_parameters)
    value, gradient = problem.evaluate(theta)
    assert value == pytest.approx(brute_force(problem, theta), rel=1e-12)
    slope = (problem.evaluate(theta + 1e-5 * way)[0] - problem.evaluate(theta - 1e-5 * way)[0]) / 2e-5
    assert gradient @ way == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_the_joint_objective_is_the_likelihood_of_chains_of_two():
    """The same function by the engine: sequences of two positions, whose features are told apart by their side."""
    problem = joint_problem(5)
    pairs, r, f = problem.pairs, problem.pairs.n_rows, problem.pairs.n_features
    rows = np.split(problem.sparse.indices, problem.sparse.indptr[1:-1])
    positions = [
        own for l_, r_ in zip(pairs.left, pairs.right, strict=True)
        for own in (np.append(rows[l_], 2 * f), np.append(rows[r_] + f, 2 * f + 1))
    ]  # fmt: skip
    indptr = np.concatenate([[0], np.cumsum([len(own) for own in positions])]).astype(np.int64)
    sparse = Sparse(indptr, np.concatenate(positions).astype(np.int32), None, 2 * f + 2)
    code = np.concatenate(
        [
            problem.left.feature() * r + problem.left.row,
            (problem.right.feature() + f) * r + problem.right.row,
            2 * f * r + np.arange(2 * r),
        ]
    )
    space = one_per_label(r)
    chain = Chain(space, (SparseLinear(pairs_from_codes(code, 2 * f + 2, r), r),), (Transition(space.edge_row),))
    labels = np.column_stack([pairs.row, pairs.next_row]).ravel()
    batch = Batch(np.arange(len(pairs.count) + 1, dtype=np.int64) * 2, sparse=sparse)
    targets = Targets(clamp_labels(space, labels), pairs.count)
    engine = Problem(chain, objective_named("likelihood"), batch, targets, l2=problem.l2)
    theta = np.random.default_rng(0).normal(size=problem.n_parameters)
    left, left_bias, right, right_bias, table = np.split(
        theta, np.cumsum([problem.left.n_pairs, r, problem.right.n_pairs, r])
    )
    order = np.concatenate([left, right, left_bias, right_bias, table])
    assert problem.evaluate(theta)[0] == pytest.approx(engine.evaluate(order)[0], rel=1e-10)


# ---- scores --------------------------------------------------------------------------------------------------------


def own_parameters(model):
    tagger = model.tagger_
    return tagger.own(tagger.chain.transitions[0])


def side_scores(model, word: str, side: str) -> np.ndarray:
    """Weights of the word's features, summed by name."""
    tagger = model.tagger_
    scorer, params = tagger.chain.transitions[0], own_parameters(model)
    found, pairs = params[f"{side}_bias"].copy(), getattr(scorer, side)
    batch = tagger.features.encode([[word]])
    for f in batch.sparse.indices:
        if f >= 0:
            for p in range(pairs.first[f], pairs.first[f + 1]):
                found[pairs.row[p]] += params[side][p]
    return found


def test_pairs_that_were_never_met_have_the_joint_probability():
    X, Y = corpus(11, 40)
    model = EmpiricalCRF(oov="exponential", pairs="exponential", min_count=1).fit(X, Y)
    steps = [step for xs, ys in zip(X, Y, strict=True) for step in pairwise(zip(xs, ys, strict=True))]
    met = {(x, x2) for (x, y), (x2, y2) in steps if y is not None and y2 is not None}
    every = sorted({word for words in X for word in words})
    tagger, params = model.tagger_, own_parameters(model)
    n_unmet = 0
    for x, x2 in [*product(every, every), ("w3", "new7"), ("new7", "w3"), ("new7", "new8")]:
        scores = tagger.potentials(tagger.features.encode([[x, x2]]))
        if (x, x2) in met:
            continue
        n_unmet += 1
        joint = side_scores(model, x, "left")[:, None] + side_scores(model, x2, "right")[None] + params["pair"]
        expected = joint - np.log(np.exp(joint).sum())
        total = scores.node[0][:, None] + scores.edge[1].reshape(expected.shape) + scores.node[1][None]
        possible = (scores.node[0] > -np.inf)[:, None] & (scores.node[1] > -np.inf)[None]
        np.testing.assert_allclose(total[possible], expected[possible], rtol=1e-10, atol=1e-12)
    assert n_unmet > 5


def test_pairs_that_were_met_keep_their_counts():
    X, Y = corpus(11, 40)
    plain = EmpiricalCRF(oov="exponential", min_count=1).fit(X, Y).tagger_
    joint = EmpiricalCRF(oov="exponential", pairs="exponential", min_count=1).fit(X, Y).tagger_
    at = 0
    for words, labels in zip(X, Y, strict=True):
        ours, theirs = (t.potentials(t.features.encode([words])).edge for t in (joint, plain))
        for t, pair in enumerate(pairwise(labels), 1):
            if None not in pair:
                np.testing.assert_array_equal(ours[t], theirs[t])
                at += 1
    assert at > 10


def test_halves_move_the_rates_beside_unseen_words():
    X, Y = corpus(4, 40)
    plain = EmpiricalCRF(oov="exponential", min_count=1).fit(X, Y).tagger_
    model = EmpiricalCRF(oov="exponential", pairs="halves", min_count=1).fit(X, Y)
    tagger, params = model.tagger_, own_parameters(model)
    scorer = tagger.chain.transitions[0]
    r0 = scorer.rates.log_base

    def log_softmax(x):
        return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))

    for words in (["w1", "x5"], ["x5", "w2"], ["x5", "y6"], ["w1", "w2"]):
        batch = tagger.features.encode([words])
        ours, theirs = tagger.potentials(batch), plain.potentials(batch)
        left_half = log_softmax(side_scores(model, words[0], "left")[None] + params["before"]).T - ours.node[0][:, None]
        right_half = log_softmax(side_scores(model, words[1], "right")[None] + params["after"]) - ours.node[1][None]
        unseen = [word[0] != "w" for word in words]
        halves = [half for half, is_new in zip((left_half, right_half), unseen, strict=True) if is_new]
        moved = sum(halves) / len(halves) - r0 if halves else 0.0
        expected = theirs.edge[1].reshape(r0.shape) + 0.3 * moved
        possible = (ours.node[0] > -np.inf)[:, None] & (ours.node[1] > -np.inf)[None]
        np.testing.assert_allclose(ours.edge[1].reshape(r0.shape)[possible], expected[possible], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_way_back(kind, monkeypatch):
    monkeypatch.setattr("chainfield.models.empirical.unseen.LEAST", 1e-300)  # no label is left out
    tagger = fitted(3, kind, min_count=4).tagger_
    batch = tagger.features.encode([["w0", "w9", "x1", "w77", "w2"], ["new"], [], ["n1", "n2"]])
    rng = np.random.default_rng(0)
    theta = rng.normal(size=len(tagger.theta))
    way = rng.normal(size=len(theta))
    start, _ = tagger.chain.potentials(tagger.chain.views(theta), batch, "sum")
    d = replace(start, node=rng.normal(size=start.node.shape), edge=rng.normal(size=start.edge.shape))
    possible = np.isfinite(start.node)  # no path goes through the other labels: nothing comes back from there
    before = np.concatenate([possible[:1], possible[:-1]])
    d.node[~possible] = 0.0
    d.edge[~(before[:, :, None] & possible[:, None]).reshape(d.edge.shape)] = 0.0
    d.edge[~np.isfinite(start.edge)] = 0.0

    def value(point):
        scores, _ = tagger.chain.potentials(tagger.chain.views(point), batch, "sum")
        node = np.where(np.isfinite(scores.node), scores.node, 0.0)
        edge = np.where(np.isfinite(scores.edge), scores.edge, 0.0)
        return float((d.node * node).sum() + (d.edge * edge).sum())

    gradient = np.zeros_like(theta)
    _, back = tagger.chain.potentials(tagger.chain.views(theta), batch, "sum")
    back(d, tagger.chain.views(gradient), 1.0)
    for block, at in tagger.chain.places.items():
        size = int(np.prod(tagger.chain.shapes[block]))
        own = np.zeros_like(way)
        own[at : at + size] = way[at : at + size]
        slope = (value(theta + 1e-5 * own) - value(theta - 1e-5 * own)) / 2e-5
        assert gradient @ own == pytest.approx(slope, rel=1e-6, abs=1e-7), block


# ---- the estimator -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("oov", ["empirical", "exponential"])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_quick_recursion_finds_what_the_dense_one_finds(kind, oov, seed):
    rng = np.random.default_rng(seed)
    X, Y = draw_corpus(rng, 20, n_labels=4)
    model = EmpiricalCRF(oov=oov, pairs=kind, l2=1.0).fit(X, Y)
    tagger = model.tagger_
    test = [[f"w{i}" for i in rng.integers(0, 11, n)] for n in (0, 1, 2, 5, 70)]
    states = viterbi(tagger.chain.space, tagger.potentials(tagger.features.encode(test))).states
    assert [label for labels in model.predict(test) for label in labels] == [tagger.task.labels[k] for k in states]


@pytest.mark.parametrize("kind", KINDS)
def test_saved_models_say_the_same(kind, tmp_path):
    model = fitted(2, kind)
    test = [["w1", "w9", "x"], ["new", "w2", "w2"]]
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf")
    assert loaded.get_params() == model.get_params()
    assert loaded.predict(test) == model.predict(test)
    np.testing.assert_array_equal(loaded.tagger_.theta, model.tagger_.theta)
    assert [e.label for e in loaded.explain(test[0])] == [e.label for e in model.explain(test[0])]


@pytest.mark.parametrize("kind", KINDS)
def test_explanations_add_up(kind):
    model = fitted(2, kind)
    tagger, words = model.tagger_, ["w1", "w9", "x", "w2"]
    best = viterbi(tagger.chain.space, tagger.potentials(tagger.features.encode([words])))
    told = path_score(model.explain(words))
    assert told == pytest.approx(best.score[0], rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_parts_add_up_and_can_be_taken_back(kind):
    X, Y = corpus(9, 40)
    test = [["w1", "w9", "x"], ["new", "w2", "w2"]]

    def fit(n):
        return EmpiricalCRF(oov="exponential", pairs=kind).fit(X[:n], Y[:n])

    def scores(model):
        found = model.tagger_.potentials(model.tagger_.features.encode(test))
        return found.node, found.edge

    parts = fit(20).partial_fit(X[20:], Y[20:])
    for ours, theirs in zip(scores(parts), scores(fit(40)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(scores(parts.forget(X[20:], Y[20:])), scores(fit(20)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_strict_setting_of_the_paper():
    """No smoothing at all: what was met is counted, what was not is fitted."""
    X, Y = corpus(1, 60)
    strict = {"label_strength": 0.0, "word_strength": 0.0, "pair_strength": 0.0, "min_count": 1}
    model = EmpiricalCRF(oov="exponential", pairs="exponential", **strict).fit(X, Y)
    assert model.score(X, [[y or "L0" for y in ys] for ys in Y]) > 0.4
    assert all(len(labels) == 2 for labels in model.predict([["new", "newer"], ["w1", "new"]]))


def test_features_of_neighbours_are_refused():
    X, Y = [["a", "b", "a", "c"]] * 3, [["x", "y", "y", "x"]] * 3
    template = "U:%x[0,0]\nU:%x[-1,0]\n"
    for kind in KINDS:
        with pytest.raises(ConfigError, match="features of the word by itself"):
            EmpiricalCRF(pairs=kind, template=template).fit(X, Y)
    assert EmpiricalCRF(template=template).fit(X, Y).predict(X)


def test_one_label_and_single_words():
    for kind in KINDS:
        model = EmpiricalCRF(oov="exponential", pairs=kind).fit([["a"], ["b", "a"]], [["x"], ["x", "x"]])
        assert model.predict([["a", "c", "d"], ["z"]]) == [["x"] * 3, ["x"]]
        model = EmpiricalCRF(oov="exponential", pairs=kind).fit([["a"], ["b"]], [["x"], ["y"]])  # no pair at all
        assert [len(y) for y in model.predict([["a", "c", "b"]])] == [3]
