"""Empirical training: formulas against plain loops, the paper's theory, counts that can be added and taken back."""

from __future__ import annotations

import pickle
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import chainfield
from chainfield import EmpiricalCRF
from chainfield.errors import ConfigError, DataError, ModelFileError, NoPathError
from chainfield.features import lafferty_template
from chainfield.inference import log_partition, marginals, viterbi
from chainfield.models.empirical.unseen import UnseenAverage, UnseenExponential
from chainfield.objectives import Targets, objective_named
from chainfield.potentials import Potentials, clamp_labels
from chainfield.states import one_per_label
from support import enumeration
from support.empirical import TOY_X, TOY_Y, SlowCounts, draw_corpus, log
from support.explaining import path_score

STRENGTHS = [(1.0, 0.3, 1.0), (0.5, 2.0, 3.0), (0.1, 0.0, 0.7)]
PAPER = {"label_strength": 0.0, "word_strength": 0.0, "pair_strength": 0.0, "min_count": 1}


def strengths(values):
    return dict(zip(("label_strength", "word_strength", "pair_strength"), values, strict=True))


def potentials(model, X):
    """The scores as they are, even where they leave no path."""
    tagger = model.tagger_
    return tagger.chain.potentials(tagger.params, tagger.features.encode(X), "sum")[0]


# ---- formulas ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", STRENGTHS)
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_plain_loops(values, seed):
    X, Y = draw_corpus(np.random.default_rng(seed), 25)
    model, slow = EmpiricalCRF(min_count=1, **strengths(values)).fit(X, Y), SlowCounts(X, Y)
    sentences = [[f"w{i}" for i in p] for p in product(range(8), repeat=2) if all(slow.word[f"w{i}"] for i in p)]
    scores = potentials(model, sentences)
    labels = model.classes_
    for s, (x, x2) in enumerate(sentences):
        for k, y in enumerate(labels):
            assert scores.node[2 * s, k] == pytest.approx(log(slow.psi(x, y)), rel=1e-12)
            for m, y2 in enumerate(labels):
                if slow.tagged[x, y] and slow.tagged[x2, y2]:
                    wanted = log(slow.phi(x, y, x2, y2, *values))
                    assert scores.edge[2 * s + 1, k * len(labels) + m] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("values", [*STRENGTHS, (0.0, 0.0, 0.0)])
def test_the_papers_constraints_hold(values):
    """Equations 7 to 9: whatever the strengths, pairs of words that were met have a proper distribution."""
    X, Y = draw_corpus(np.random.default_rng(7), 40)
    model, slow = EmpiricalCRF(min_count=1, **strengths(values)).fit(X, Y), SlowCounts(X, Y)
    pairs = [list(pair) for pair in slow.words_pair]
    scores = potentials(model, pairs)
    psi, n = np.exp(scores.node).reshape(len(pairs), 2, -1), len(model.classes_)
    phi = np.exp(scores.edge[1::2]).reshape(len(pairs), n, n)
    np.testing.assert_allclose(psi.sum(axis=2), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.einsum("pi,pij,pj->p", psi[:, 0], phi, psi[:, 1]), 1.0, rtol=1e-9)
    assert (psi >= 0).all()
    assert (phi >= 0).all()


@pytest.mark.parametrize("values", STRENGTHS)
def test_rare_words_are_judged_by_their_counts_and_by_their_features(values):
    """ψ is drawn to what the features say; rates are those of one word, which a label that is new for it has not."""
    X, Y = draw_corpus(np.random.default_rng(2), 12, n_words=10)
    settings = {"oov": "empirical", **strengths(values)}
    model = EmpiricalCRF(min_count=4, feature_strength=0.7, **settings).fit(X, Y)
    features = EmpiricalCRF(min_count=10**6, feature_strength=1e9, **settings).fit(X, Y)
    slow, labels = SlowCounts(X, Y), model.classes_
    rare = [w for w, n in slow.word.items() if n < 4]
    known = [w for w, n in slow.word.items() if n >= 4]
    assert len(rare) > 1
    assert known
    for x, x2 in [*product(rare, rare), *product(rare, known), *product(known, rare)]:
        scores, told = potentials(model, [[x, x2]]), np.exp(potentials(features, [[x, x2]]).node)
        for k, y in enumerate(labels):
            if x in rare:
                wanted = (slow.tagged[x, y] + 0.7 * told[0, k]) / (slow.word[x] + 0.7)
                assert np.exp(scores.node[0, k]) == pytest.approx(wanted if wanted > 1e-4 else 0.0, rel=1e-6)
            for m, y2 in enumerate(labels):
                if (x in rare or slow.tagged[x, y]) and (x2 in rare or slow.tagged[x2, y2]):
                    wanted = log(slow.backed_off(x, y, x2, y2, *values[:2]))
                    assert scores.edge[1, k * len(labels) + m] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_functions_are_fitted_by_default_where_that_is_quick(monkeypatch):
    X, Y = draw_corpus(np.random.default_rng(3), 30)
    fitted = EmpiricalCRF(oov="exponential").fit(X, Y)
    same(EmpiricalCRF().fit(X, Y), fitted, X)
    assert isinstance(EmpiricalCRF().fit(X, Y).tagger_.chain.emissions[1], UnseenExponential)
    monkeypatch.setattr("chainfield.models.empirical.chain.MOST_SCORES", 8)
    same(EmpiricalCRF().fit(X, Y), EmpiricalCRF(oov="empirical").fit(X, Y), X)
    assert isinstance(EmpiricalCRF().fit(X, Y).tagger_.chain.emissions[1], UnseenAverage)
    small = EmpiricalCRF().fit([["a", "b"]], [["x", "y"]])
    assert isinstance(small.tagger_.chain.emissions[1], UnseenExponential)
    same(small.partial_fit(X, Y), EmpiricalCRF(oov="empirical").fit([["a", "b"], *X], [["x", "y"], *Y]), X)


def test_unseen_words_get_the_mean_of_their_features_shares():
    X, Y = [["walking", "talking", "red", "talking"]], [["V", "V", "A", "N"]]
    for counted, share in (("tokens", 2 / 3), ("types", 3 / 4)):
        model = EmpiricalCRF(oov="empirical", template=lafferty_template(), counted=counted).fit(X, Y)
        found = dict(zip(model.classes_, np.exp(potentials(model, [["sing"]]).node[0]), strict=True))
        assert found == pytest.approx({"A": 0.0, "N": 1 - share, "V": share})
        found = dict(zip(model.classes_, np.exp(potentials(model, [["Ended"]]).node[0]), strict=True))
        assert found == pytest.approx({"A": 1.0, "N": 0.0, "V": 0.0})  # a capital was never met: it says nothing


def test_words_without_a_known_feature_are_judged_by_those_that_have_none():
    template = lafferty_template()
    X, Y = [["walking", "cat", "dog", "the"]], [["V", "N", "N", "D"]]
    model = EmpiricalCRF(oov="empirical", template=template).fit(X, Y)
    found = dict(zip(model.classes_, np.exp(potentials(model, [["tree"]]).node[0]), strict=True))
    assert found == pytest.approx({"D": 1 / 3, "N": 2 / 3, "V": 0.0})
    model = EmpiricalCRF(oov="empirical", template=template).fit([["walking", "talking"]], [["V", "N"]])
    found = dict(zip(model.classes_, np.exp(potentials(model, [["tree"]]).node[0]), strict=True))
    assert found == pytest.approx({"N": 1 / 2, "V": 1 / 2})


def test_exponential_functions_fit_the_shares_of_known_words():
    """Without a penalty, a set of features that words share gets their label shares (the paper's section 3.7.2)."""
    X = [["walking", "talking", "singing", "red", "wed", "Bed"]]
    Y = [["V", "V", "N", "A", "V", "A"]]
    model = EmpiricalCRF(oov="exponential", template=lafferty_template(), l2=0.0, counted="tokens").fit(X, Y)
    found = np.exp(potentials(model, [["ring", "fed"]]).node)
    assert dict(zip(model.classes_, found[0], strict=True)) == pytest.approx({"A": 0, "N": 1 / 3, "V": 2 / 3}, abs=1e-3)
    assert dict(zip(model.classes_, found[1], strict=True)) == pytest.approx({"A": 1 / 2, "N": 0, "V": 1 / 2}, abs=1e-3)


def test_the_exponential_scorers_way_back(monkeypatch):
    monkeypatch.setattr("chainfield.models.empirical.unseen.LEAST", 1e-300)  # no label is left out
    X, Y = draw_corpus(np.random.default_rng(3), 30)
    X, Y = [*X, ["w9"]], [*Y, ["L1"]]  # a rare word
    fitted = EmpiricalCRF(oov="exponential", counted="tokens").fit(X, Y).tagger_
    scorer, batch = fitted.chain.emissions[1], fitted.features.encode([["w0", "w9", "x1", "w77"]])
    rng = np.random.default_rng(0)
    theta, v = rng.normal(size=len(fitted.theta)), rng.normal(size=len(fitted.theta))
    d = rng.normal(size=(4, scorer.n_rows))

    def value(point):
        scores, params = np.zeros((4, scorer.n_rows)), fitted.chain.views(point)
        back = scorer.forward({k.split(".")[1]: a for k, a in params.items()}, batch, "sum", scores)
        return float((d * scores).sum()), back

    gradient = np.zeros_like(theta)
    value(theta)[1](d, {k.split(".")[1]: a for k, a in fitted.chain.views(gradient).items()}, 1.0)
    slope = (value(theta + 1e-5 * v)[0] - value(theta - 1e-5 * v)[0]) / 2e-5
    assert abs(slope) > 1e-3
    assert gradient @ v == pytest.approx(slope, rel=1e-6)


# ---- the paper's theory ------------------------------------------------------------------------------------------


def toy_likelihood(node, edge):
    """Loss of standard training on the toy data, and its gradient in score space, from log ψ and log φ of [a b c d]."""
    space = one_per_label(2)
    scores = Potentials(np.tile(node, (5, 1)), np.tile(edge, (5, 1)), np.arange(6) * 4)
    targets = Targets(clamp_labels(space, np.array(TOY_Y).ravel()), np.ones(5))
    loss, d = objective_named("likelihood")(space, scores, targets)
    return loss, d.node.reshape(5, 4, 2).sum(axis=0), d.edge.reshape(5, 4, 4).sum(axis=0)


def test_the_estimate_is_a_maximum_likelihood_estimate_of_standard_training():
    """Theorem 1, and section 4.3: the gradient of standard training is zero, its objective 2.50202."""
    model = EmpiricalCRF(**PAPER).fit(TOY_X, TOY_Y)
    scores = potentials(model, [["a", "b", "c", "d"]])
    loss, d_node, d_edge = toy_likelihood(scores.node, scores.edge)
    assert loss == pytest.approx(2.50202, abs=1e-5)
    np.testing.assert_allclose(d_node, 0.0, atol=1e-12)
    np.testing.assert_allclose(d_edge, 0.0, atol=1e-12)
    assert log_partition(model.tagger_.chain.space, scores)[0] == pytest.approx(0.0, abs=1e-12)


def test_another_maximum_likelihood_estimate_has_the_test_time_problem():
    """Section 3.4.3: t̂p has the same likelihood and no gradient, but takes [b, c] for [1, 1]; EP1 and EP2 do not."""
    with np.errstate(divide="ignore"):
        first = np.log([0.8, 0.2, 0.0, 0.0])  # P(y, y' | a b): 0 is always first
        middle = np.log([0.8 / 0.64, 0.0, 0.0, 0.2 / 0.04])  # the rate
        last = np.log([0.8, 0.0, 0.2, 0.0])
    edge = np.stack([np.zeros(4), first, middle, last])
    loss, d_node, d_edge = toy_likelihood(np.zeros((4, 2)), edge)
    assert loss == pytest.approx(2.50202, abs=1e-5)
    np.testing.assert_allclose(d_node, 0.0, atol=1e-12)
    np.testing.assert_allclose(d_edge, 0.0, atol=1e-12)
    scores = Potentials(np.zeros((2, 2)), np.stack([np.zeros(4), middle]), np.array([0, 2]))
    assert viterbi(one_per_label(2), scores).states.tolist() == [1, 1]
    for oov in ("empirical", "exponential", "together"):
        for smoothing in (PAPER, {}):
            assert EmpiricalCRF(oov=oov, **smoothing).fit(TOY_X, TOY_Y).predict([["b", "c"]]) == [[0, 0]]


def test_marginals_of_a_corpus_that_the_model_can_express_are_empirical():
    """The MLE conditions (16, 17): estimated marginals equal the empirical ones."""
    X = [["a", "b", "c"]] * 4
    Y = [["1", "1", "2"], ["1", "2", "2"], ["2", "1", "1"], ["1", "1", "1"]]
    model = EmpiricalCRF(**PAPER).fit(X, Y)
    found = marginals(model.tagger_.chain.space, potentials(model, X[:1])).expected
    for t in range(3):
        share = np.mean([[y[t] == label for label in model.classes_] for y in Y], axis=0)
        np.testing.assert_allclose(found.node[t], share, atol=1e-12)
    for t in range(1, 3):
        share = np.mean([[(y[t - 1], y[t]) == pair for pair in product("12", repeat=2)] for y in Y], axis=0)
        np.testing.assert_allclose(found.edge[t], share, atol=1e-12)


# ---- inference ---------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), rules=st.booleans(), oov=st.sampled_from(["empirical", "exponential", "together"]))
def test_the_quick_recursion_finds_what_the_dense_one_finds(seed, rules, oov):
    rng = np.random.default_rng(seed)
    X, Y = draw_corpus(rng, 20, n_labels=4)
    forbidden = [("L0", "L1"), (None, "L2"), ("L3", None)] if rules else None
    if rules:
        allowed = [all((a, b) != ("L0", "L1") for a, b in pairwise(y)) for y in Y]
        keep = [ok and not (y and (y[0] == "L2" or y[-1] == "L3")) for ok, y in zip(allowed, Y, strict=True)]
        X, Y = ([s for s, k in zip(part, keep, strict=True) if k] for part in (X, Y))
    if not {y for ys in Y for y in ys} >= {"L0", "L1", "L2", "L3"}:
        return
    model = EmpiricalCRF(oov=oov, forbidden=forbidden).fit(X, Y)
    tagger = model.tagger_
    test = [[f"w{i}" for i in rng.integers(0, 11, n)] for n in (0, 1, 2, 5, 70)]
    batch = tagger.features.encode(test)
    states = viterbi(tagger.chain.space, tagger.potentials(batch)).states
    assert [label for labels in model.predict(test) for label in labels] == [tagger.task.labels[k] for k in states]
    for s in (1, 2):
        scores = tagger.potentials(batch.window(s, s + 1))
        best = max(enumeration.paths(tagger.chain.space, scores, 0), key=lambda path: path.score)
        assert model.predict([test[s]])[0] == [tagger.task.labels[k] for k in best.states]


def test_everything_a_tagger_can_do():
    X, Y = draw_corpus(np.random.default_rng(5), 60)
    for oov in ("empirical", "exponential", "together"):
        model = EmpiricalCRF(oov=oov).fit(X, Y)
        test = [["w0", "w1", "new", "w2"], ["new"], []]
        for p in model.predict_marginals(test):
            np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        for found, best in zip(model.predict_n_best(test, 3), model.predict(test), strict=True):
            assert found[0][0] == best
            assert sum(p for _, p in found) <= 1 + 1e-12
        assert model.predict(test, given=[[None, "L2", None, None], ["L1"], []])[0][1] == "L2"
        sure = model.predict_confidence(test)
        assert sure[0].sequence == pytest.approx(model.predict_n_best(test, 1)[0][0][1])
        told = str(model.explain(test[0]))
        assert "word=w0" in told
        assert "transition from" in told
        assert np.isfinite(model.log_likelihood(test, model.predict(test))).all()
        assert model.score(X, Y) > 0.5
        assert all(np.isfinite(w) for w in model.feature_weights_.values())
        assert len(model.transition_weights_) == 9
        assert set(model.set_params(decoder="posterior").predict(test)[0]) <= set(model.classes_)


def test_explanations_add_up():
    X, Y = draw_corpus(np.random.default_rng(8), 60)
    for oov in ("empirical", "exponential", "together"):
        model = EmpiricalCRF(oov=oov).fit(X, Y)
        x = ["w1", "new", "w3"]
        scores = potentials(model, [x])
        best = viterbi(model.tagger_.chain.space, scores)
        told = path_score(model.explain(x))
        assert told == pytest.approx(best.score[0], rel=1e-9)


# ---- counts are additive -----------------------------------------------------------------------------------------


def same(a, b, X):
    """Two models say the same, to the last bit."""
    assert a.classes_ == b.classes_
    first, second = potentials(a, X), potentials(b, X)
    np.testing.assert_array_equal(first.node, second.node)
    np.testing.assert_allclose(first.edge, second.edge, rtol=0, atol=1e-12)
    assert a.predict(X) == b.predict(X)


CONTEXT = "U:word=%x[0,0]\nU:before=%x[-1,0]\nU:both=%x[0,0]|%x[1,0]\nB\n"
KINDS = {
    "spelling": ({}, lambda X: X),
    "context": ({"template": CONTEXT}, lambda X: X),
    "attributes": ({}, lambda X: [[{"w": w, "last": w[-1]} for w in x] for x in X]),
    "lists": ({}, lambda X: [[["w=" + w, "last=" + w[-1]] for w in x] for x in X]),
    "columns": ({}, lambda X: [[(w, w[-1]) for w in x] for x in X]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_parts_add_up_and_can_be_taken_back(kind, seed):
    options, shape = KINDS[kind]
    rng = np.random.default_rng(seed)
    X, Y = draw_corpus(rng, 40, n_words=12, n_labels=4)
    X, test = shape(X), shape([[f"w{i}" for i in rng.integers(0, 15, 6)] for _ in range(8)])
    whole = EmpiricalCRF(**options).fit(X, Y)
    a, b = EmpiricalCRF(**options).fit(X[:17], Y[:17]), EmpiricalCRF(**options).fit(X[17:], Y[17:])
    same(a + b, whole, test)
    same(clone(a).fit(X[:17], Y[:17]).partial_fit(X[17:], Y[17:]), whole, test)
    same(whole - b, a, test)
    same(clone(a).fit(X, Y).forget(X[17:], Y[17:]), a, test)
    same(EmpiricalCRF(**options).fit_stream(zip(X, Y, strict=True)), whole, test)
    again = EmpiricalCRF(**options).fit_stream(zip(X[:9], Y[:9], strict=True))
    same(again.partial_fit_stream(zip(X[9:], Y[9:], strict=True)), whole, test)


def test_sample_weights_are_repetitions():
    X, Y = draw_corpus(np.random.default_rng(4), 30)
    weight = np.random.default_rng(5).integers(0, 4, 30)
    repeated = [[s for s, w in zip(part, weight, strict=True) for _ in range(w)] for part in (X, Y)]
    same(EmpiricalCRF().fit(X, Y, weight), EmpiricalCRF().fit(*repeated), X)


def test_chunks_of_a_stream_do_not_matter(monkeypatch):
    X, Y = draw_corpus(np.random.default_rng(6), 80)
    whole = EmpiricalCRF().fit(X, Y)
    monkeypatch.setattr("chainfield.models.empirical.empirical_crf.CHUNK", 3)
    same(EmpiricalCRF().fit_stream(zip(X, Y, strict=True)), whole, X)
    same(EmpiricalCRF(template=CONTEXT).fit_stream(zip(X, Y, strict=True)), EmpiricalCRF(template=CONTEXT).fit(X, Y), X)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_files_are_counted_like_lists(columns, tmp_path, monkeypatch):
    monkeypatch.setattr("chainfield.data.column_blocks.BYTES", 200)
    rng = np.random.default_rng(columns)
    X, Y = draw_corpus(rng, 60, n_words=12, n_labels=4)
    X, Y = ([s for s in part if s] for part in (X, Y))
    rows = [[(w, w[-1], w[:1] + str(len(x)))[:columns] for w in x] for x in X]
    text = "".join(
        "".join(f"{' '.join(r)} {k}\n" for r, k in zip(x, y, strict=True)) + "\n" for x, y in zip(rows, Y, strict=True)
    )
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    for options in ({}, {"template": CONTEXT}):
        whole = EmpiricalCRF(**options).fit(rows, Y)
        stream = chainfield.stream_corpus([path, path], unknown="None")
        same(EmpiricalCRF(**options).fit_stream(stream), whole + whole, rows)
        corpus = chainfield.load_corpus(path, unknown="None")
        same(EmpiricalCRF(**options).fit(corpus.rows, corpus.labels), whole, rows)
    assert stream.n_sentences == 2 * len(X)
    assert stream.n_positions == 2 * sum(map(len, X))


def test_rows_may_be_tuples_and_lists():
    mixed = EmpiricalCRF().fit([[("a", "1"), ["b", "2"]]], [["x", "y"]])
    same(mixed, EmpiricalCRF().fit([[("a", "1"), ("b", "2")]], [["x", "y"]]), [[("a", "1"), ("b", "2"), ("c", "3")]])


@pytest.mark.parametrize("oov", ["empirical", "exponential", "together"])
def test_saved_models_keep_their_counts(oov, tmp_path):
    X, Y = draw_corpus(np.random.default_rng(9), 40)
    model = EmpiricalCRF(oov=oov, min_count=2).fit(X[:20], Y[:20])
    model.save(tmp_path / "m.cf")
    back = chainfield.load(tmp_path / "m.cf")
    same(back, model, X)
    same(pickle.loads(pickle.dumps(model)), model, X)
    same(back.partial_fit(X[20:], Y[20:]), EmpiricalCRF(oov=oov, min_count=2).fit(X, Y), X)
    if oov == "empirical":
        same(back.forget(X[:20], Y[:20]), EmpiricalCRF(oov=oov, min_count=2).fit(X[20:], Y[20:]), X)


def test_counting_is_quick_to_refuse_damaged_files(tmp_path):
    X, Y = draw_corpus(np.random.default_rng(9), 40)
    model = EmpiricalCRF().fit(X, Y)
    rates = model.tagger_.chain.transitions[0]
    for name in ("behind", "pair_count", "row", "n_pairs"):
        kept = getattr(rates, name).copy()
        object.__setattr__(rates, name, kept * -1 - 1)
        model.save(tmp_path / "m.cf")
        with pytest.raises(ModelFileError, match="does not describe a model: the tensor"):
            chainfield.load(tmp_path / "m.cf")
        object.__setattr__(rates, name, kept)


# ---- bad input ---------------------------------------------------------------------------------------------------


def test_rare_words_are_judged_by_their_features():
    X, Y = [["cat", "cats", "dogs"], ["cat"]], [["N", "P", "P"], ["N"]]
    model = EmpiricalCRF(oov="empirical", template=lafferty_template(), min_count=2).fit(X, Y)
    assert np.exp(potentials(model, [["dogs"]]).node[0]).tolist() == [0.0, 1.0]
    model = EmpiricalCRF(oov="empirical", template=lafferty_template(), min_count=1000).fit(X, Y)  # every word is rare
    assert model.predict([["cats", "cat", "unheard"]]) == [["P", "N", "N"]]


def test_no_sequence_is_left_without_a_path():
    """Labels that a word never had become possible where rules, given labels or zero rates leave nothing else."""
    X, Y = [["a", "b"], ["b", "c"]], [["B-X", "I-X"], ["O", "O"]]
    model = EmpiricalCRF(scheme="bio").fit(X, Y)
    assert model.predict([["b"]]) == [["O"]]
    labels = model.predict([["c", "b"], ["b", "b", "a"]], given=[["B-X", None], ["O", "B-X", "I-X"]])
    assert labels == [["B-X", "I-X"], ["O", "B-X", "I-X"]]
    assert np.isfinite(model.predict_marginals([["c"]], given=[["B-X"]])[0]).all()
    X, Y = [["a", "b", "c"], ["a", "b", "c"]], [["1", "1", "1"], ["2", "2", "2"]]
    model = EmpiricalCRF(**PAPER).fit([*X, ["a", "c", "a"]], [*Y, ["1", "2", "1"]])
    assert len(model.predict([["a", "c", "b"]], given=[["2", "1", "2"]])[0]) == 3
    model = EmpiricalCRF(forbidden=[("1", "2")]).fit([["a", "b"], ["a"]], [["1", "1"], ["2"]])
    with pytest.raises(NoPathError, match="Sequence 1 has no allowed path"):
        model.predict([["a"], ["a", "b"]], given=[["1"], ["1", "2"]])


@pytest.mark.parametrize("X", [["zzz", "yyy"], ["Q9-", ""], [""]])
@pytest.mark.parametrize("oov", ["empirical", "exponential", "together"])
def test_sentences_of_unknown_words_only(X, oov):
    model = EmpiricalCRF(oov=oov).fit([["aa", "bb"]], [["1", "2"]])
    assert set(model.predict([X])[0]) <= {"1", "2"}
    assert np.isfinite(model.predict_marginals([X])[0]).all()


@pytest.mark.parametrize("oov", ["empirical", "exponential", "together"])
def test_no_count_is_left_after_a_cut_off(oov):
    """No word is met often enough, no form has a feature, no two positions follow each other: still an answer."""
    bare = "U:word=%x[0,0]\n"
    for X, Y in (([["a", "b"]], [["1", "2"]]), ([["a"], ["b"]], [["1"], ["2"]]), ([["a"]], [["1"]])):
        model = EmpiricalCRF(oov=oov, template=bare, min_count=10**6, feature_strength=0.0).fit(X, Y)
        for test in (X, [["new", "b", "new"]]):
            assert [len(found) for found in model.predict(test)] == [len(x) for x in test]
            assert all(np.isfinite(p).all() for p in model.predict_marginals(test))
    assert model.predict([["a", "new"]]) == [["1", "1"]]


@pytest.mark.parametrize("oov", ["empirical", "exponential", "together"])
def test_label_pairs_that_were_never_seen_have_an_answer(oov):
    X, Y = [["a", "b"], ["c", "d"]], [["1", "2"], ["3", "4"]]
    test = [["a", "d"], ["b", "a"], ["d", "d", "a"]]
    assert EmpiricalCRF(oov=oov, min_count=1).fit(X, Y).predict(test) == [["1", "4"], ["2", "1"], ["4", "4", "1"]]
    for options in ({}, {"min_count": 1}, PAPER):  # the paper's rates are 0, so that every label becomes possible
        model = EmpiricalCRF(oov=oov, **options).fit(X, Y)
        assert [len(found) for found in model.predict(test)] == [2, 2, 3]
        assert all(np.isfinite(p).all() for p in model.predict_marginals(test))
        assert np.isfinite(model.log_likelihood([["b", "a"]], [["2", "1"]])).all()


def test_streams_whose_labels_break_the_rules_are_refused(monkeypatch):
    stream = [(["a", "b"], ["O", "I-X"]), (["a"], ["B-X"])]
    with pytest.raises(NoPathError, match=r"Sequence 0 .* at position 1, 'I-X' cannot follow 'O'; correct the labels"):
        EmpiricalCRF(scheme="bio").fit_stream(stream)
    monkeypatch.setattr("chainfield.models.empirical.empirical_crf.CHUNK", 1)
    with pytest.raises(DataError, match="'I-X' cannot follow 'O', but does so 1 times; correct the labels"):
        EmpiricalCRF(scheme="bio").fit_stream(stream)
    assert EmpiricalCRF(scheme="auto").fit_stream([(["a", "b"], ["B-X", "I-X"]), (["a"], ["O"])]).scheme_ == "iob2"


def test_one_label_and_unknown_labels():
    model = EmpiricalCRF().fit([["a", "b"], ["c"]], [["x", None], [None]])
    assert model.classes_ == ["x"]
    assert model.predict([["a", "zz", "b"], []]) == [["x", "x", "x"], []]
    model = EmpiricalCRF().fit([["a", "b", "a"]], [[{"x"}, {"x", "y"}, "y"]])
    assert model.classes_ == ["x", "y"]
    assert model.counts_.samples.total == 2
    assert EmpiricalCRF().fit([["a"]], [["x"]]).partial_fit([["a"]], [["x"]], classes=["z"]).classes_ == ["x", "z"]


def counted(X, Y, **options):
    return EmpiricalCRF(**options).fit(X, Y)


A, XY = [["a"]], [["x"]]
BAD: list = [
    (DataError, "no label at all", lambda: counted(A, [[None]])),
    (DataError, "every sequence is empty", lambda: counted([[]], [[]])),
    (DataError, "every sequence is empty", lambda: EmpiricalCRF().fit_stream([])),
    (DataError, "every sequence is empty", lambda: EmpiricalCRF().fit_stream([([], [])])),
    (DataError, "Item 0 of the stream", lambda: EmpiricalCRF().fit_stream([["a", "b", "c"]])),
    (DataError, "Sequence 1 has 1 positions but 2 labels", lambda: counted([["a"], ["b"]], [["x"], ["x", "y"]])),
    (DataError, "there are labels for 2", lambda: counted(A, [["x"], ["y"]])),
    (DataError, "labels must be hashable", lambda: counted(A, [[["x"]]])),
    (DataError, "A label is NaN", lambda: counted(A, [[float("nan")]])),
    (DataError, "Sequence 1, position 1: 3 is not a row", lambda: counted([["a"], ["a", 3]], [["x"], ["x", "y"]])),
    (DataError, "Sequence 0, position 1: .* not a row", lambda: counted([["a", {}]], [["x", "y"]])),
    (DataError, "Sequence 0, position 1: there are 1 columns", lambda: counted([[("a", "b"), ("a",)]], [["x", "y"]])),
    (DataError, "Sequence 0, position 1: a column holds 3", lambda: counted([[("a",), (3,)]], [["x", "y"]])),
    (ConfigError, "X holds numbers", lambda: counted([np.eye(2)], [["x", "y"]])),
    (ConfigError, "oov is 'both'", lambda: counted(A, XY, oov="both")),
    (ConfigError, "counted is 7", lambda: counted(A, XY, counted=7)),
    (ConfigError, "word_strength is -1", lambda: counted(A, XY, word_strength=-1)),
    (ConfigError, "l2 is True", lambda: counted(A, XY, l2=True)),
    (ConfigError, "feature_strength is nan", lambda: counted(A, XY, feature_strength=float("nan"))),
    (ConfigError, "min_count is 0.5", lambda: counted(A, XY, min_count=0.5)),
    (ConfigError, "leave out 'B:", lambda: counted(A, XY, template="U:%x[0,0]\nB:%x[0,0]\n")),
    (ConfigError, "Only another EmpiricalCRF", lambda: counted(A, XY) + 3),
    (ConfigError, "different templates", lambda: counted(A, XY) + counted(A, XY, template=CONTEXT)),
    (ConfigError, "kind templates", lambda: counted(A, XY) + counted([[["a"]]], XY)),
    (DataError, "Nothing would be left", lambda: counted(A, XY).forget(A, XY)),
    (DataError, "never counted", lambda: counted(A, XY).forget([["b"]], XY)),
    (DataError, "the label 'y'", lambda: counted(A, XY).forget(A, [["y"]])),
    (DataError, "count would become negative", lambda: counted([["a", "b"]], [["x", "x"]]).forget(A * 2, XY * 2)),
    (
        DataError,
        "count would become negative",
        lambda: counted([["a", "b"]], [["x", "x"]]).forget([["b", "a"]], [["x", "x"]]),
    ),
]


@pytest.mark.parametrize(("error", "words", "act"), BAD)
def test_bad_input_is_refused_in_one_sentence(error, words, act):
    with pytest.raises(error, match=words):
        act()


def test_a_refused_change_leaves_the_model_as_it_was():
    model = EmpiricalCRF().fit([["a", "b"]] * 2, [["x", "y"]] * 2)
    before = potentials(model, [["a", "b"]]).node
    for bad in (lambda: model.forget([["a"]] * 3, [["x"]] * 3), lambda: model.partial_fit([["a"]], [["x", "y"]])):
        with pytest.raises(DataError):
            bad()
        np.testing.assert_array_equal(potentials(model, [["a", "b"]]).node, before)
