"""Piecewise training, pseudo-likelihood and local normalisation: special cases, bounds, and the estimators."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import chainfield
from chainfield import MEMM, LinearCRF
from chainfield.errors import ConfigError, NoPathError
from chainfield.inference import log_partition
from chainfield.models.departures import departures
from chainfield.models.hmm.flattened import Flattened
from chainfield.models.material import Examples
from chainfield.objectives import LocalLikelihood, Targets, objective_named
from chainfield.potentials import UNKNOWN, Potentials, clamp_labels
from chainfield.potentials.normalising import normalise
from support.catalogue import SPACES, compose, draw_theta
from support.strategies import problems

NEW = ("piecewise", "plain_piecewise", "pseudolikelihood", "local")


def label_bias(rng, n):
    """Lafferty et al.'s simulated data: [R1 I B] and [R2 O B], each symbol right with probability 29/32."""
    letters, X, Y = "riob", [], []
    for _ in range(n):
        tags = [["R1", "I", "B"], ["R2", "O", "B"]][rng.integers(2)]
        right = [tag[0].lower() for tag in tags]
        others = [rng.choice([c for c in letters if c != own]) for own in right]
        X.append([str(o) if rng.random() < 3 / 32 else own for own, o in zip(right, others, strict=True)])
        Y.append(tags)
    return X, Y


@pytest.mark.parametrize("objective", NEW)
@pytest.mark.parametrize("labelling", ["full", "unknown", "sets"])
@pytest.mark.parametrize("space", ["one per label", "latent", "second order"])
def test_sequences_of_one_position_are_those_of_likelihood(space, labelling, objective):
    parts = ("all pairs + boundary", "free")
    problem = compose(space, *parts, objective, labelling, lengths=(1, 1, 0, 1))
    like = chainfield.problem.Problem(
        problem.chain, objective_named("likelihood"), problem.batch, problem.targets, l2=0.3, offset=problem.offset
    )
    theta = draw_theta(problem)
    for ours, theirs in zip(problem.evaluate(theta), like.evaluate(theta), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("objective", NEW)
@pytest.mark.parametrize("labelling", ["full", "unknown"])
def test_without_transitions_all_are_the_likelihood(objective, labelling):
    """Positions are independent then: an MEMM is a CRF. A plain piece counts every label before it: log 3 per step."""
    problem = compose("one per label", "dense + boundary", "none", objective, labelling)
    like = chainfield.problem.Problem(
        problem.chain, objective_named("likelihood"), problem.batch, problem.targets, l2=0.3, offset=problem.offset
    )
    theta = draw_theta(problem)
    (value, gradient), (wanted, slope) = problem.evaluate(theta), like.evaluate(theta)
    lengths, weight = np.diff(problem.batch.offsets), problem.targets.weight
    if objective == "plain_piecewise" and labelling == "full":
        wanted += np.log(3) * (weight @ np.maximum(lengths - 1, 0))
    if objective == "piecewise" and labelling == "full":  # the labels' own shares, whatever the weights
        before = np.delete(np.arange(problem.batch.n_positions), problem.batch.offsets[1:][lengths > 0] - 1)
        wanted -= problem.objective.log_share[problem.path.states[before]] @ np.repeat(weight, lengths)[before]
    if "piecewise" not in objective or labelling == "full":
        np.testing.assert_allclose(value, wanted, rtol=1e-11)
        np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("space", SPACES)
def test_pieces_bound_the_likelihood(space, seed):
    options = {"labelling": "full", "lengths": (4, 2, 3), "l2": 0.0, "seed": seed}
    pieces = compose(space, "dense", "some + edge features", "plain_piecewise", **options)
    like = chainfield.problem.Problem(
        pieces.chain, objective_named("likelihood"), pieces.batch, pieces.targets, offset=pieces.offset
    )
    theta = draw_theta(pieces, seed)
    assert pieces.evaluate(theta)[0] >= like.evaluate(theta)[0] - 1e-12


@settings(max_examples=150, deadline=None)
@given(problems(names=("one label", "two labels", "latent", "second order", "second order latent")))
def test_normalised_steps_are_probabilities(drawn):
    space, potentials = drawn
    finite = Potentials(np.maximum(potentials.node, -50), np.maximum(potentials.edge, -50), potentials.offsets)
    found, _ = normalise(space, finite)
    np.testing.assert_allclose(log_partition(space, found), 0.0, atol=1e-9)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("space", SPACES)
def test_the_way_back_from_normalised_scores(space, shared):
    space, rng = SPACES[space](), np.random.default_rng(0)
    offsets = np.array([0, 3, 4, 4, 6])
    raw = Potentials(rng.normal(size=(6, space.n_rows)), rng.normal(size=(1 if shared else 6, space.n_edges)), offsets)
    found, pullback = normalise(space, raw)
    d = Potentials(rng.normal(size=found.node.shape), rng.normal(size=found.edge.shape), offsets)
    d.node[[1, 2, 5]] = 0.0  # nothing is scored there any more
    d.edge[[0, 3, 4]] = 0.0
    back = pullback(d)
    assert back.edge.shape == raw.edge.shape
    v = Potentials(rng.normal(size=raw.node.shape), rng.normal(size=raw.edge.shape), offsets)

    def value(step):
        moved, _ = normalise(space, Potentials(raw.node + step * v.node, raw.edge + step * v.edge, offsets))
        return float((d.node * moved.node).sum() + (d.edge * moved.edge).sum())

    slope = (value(1e-5) - value(-1e-5)) / 2e-5
    assert (back.node * v.node).sum() + (back.edge * v.edge).sum() == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("objective", NEW)
def test_labels_that_break_the_rules_are_named(objective):
    problem = compose("bio", "dense", "free", objective, lengths=(2, 3))
    space, chosen = problem.chain.space, LocalLikelihood() if objective == "local" else objective_named(objective)
    targets = Targets(clamp_labels(space, np.array([0, 1, 0, 2, 0])), np.ones(2))
    scores = Potentials(np.zeros((5, space.n_rows)), np.zeros((1, space.n_edges)), np.array([0, 2, 5]))
    with pytest.raises(NoPathError, match="Sequence 1 has no allowed path: the rules, its training labels"):
        chosen(space, scores, targets)


@pytest.mark.parametrize("objective", ["piecewise", "plain_piecewise", "pseudolikelihood"])
@pytest.mark.parametrize("options", [{}, {"trainer": "lbfgs"}, {"order": 2, "trainer": "lbfgs"}, {"scheme": "bio"}])
def test_crfs_train_by_them(objective, options):
    rng = np.random.default_rng(1)
    X = [[f"w{i}" for i in rng.integers(0, 6, 5)] for _ in range(40)]
    Y = [["B-X" if w in ("w0", "w1") else "O" for w in x] for x in X]
    if options.get("order") == 2:
        X, Y = X[:12], Y[:12]
    model = LinearCRF(objective=objective, max_iter=15, template="U:w=%x[0,0]\nB\n", **options).fit(X, Y)
    assert model.score(X, Y) == 1.0
    assert model.history_[-1]["objective"] < model.history_[0]["objective"]


def test_weighed_pieces_learn_how_often_labels_meet_by_chance_and_beyond():
    """Weights of pairs end at log p(i, j) / p(i) p(j), up to a number for each label behind."""
    rng = np.random.default_rng(2)
    labels = [["a"] for _ in range(400)]
    for own in labels:
        while len(own) < 6:
            own.append(
                str(
                    rng.choice(
                        ["a", "b", "c"], p=[[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]]["abc".index(own[-1])]
                    )
                )
            )
    X = [[{"bias": 1.0}] * len(own) for own in labels]
    model = LinearCRF(objective="piecewise", l2=1e-6, trainer="lbfgs", max_iter=300, tol=1e-9).fit(X, labels)
    steps = np.zeros((3, 3))
    for own in labels:
        np.add.at(steps, (["abc".index(x) for x in own[:-1]], ["abc".index(x) for x in own[1:]]), 1.0)
    wanted = np.log(steps / (steps.sum(axis=1, keepdims=True) + 1.0))
    found = np.array(
        [
            [model.tagger_.chain.views(model.tagger_.theta)["transition.weight"][3 * i + j] for j in range(3)]
            for i in range(3)
        ]
    )
    off = found - wanted
    np.testing.assert_allclose(off, off.mean(axis=0, keepdims=True) * np.ones((3, 1)), atol=0.02)


def test_flattened_pieces_know_frequencies_too():
    found = Flattened(objective_named("piecewise"), 0.5, "states").knowing(lambda: np.array([1.0, 2.0]))
    np.testing.assert_allclose(found.inner.log_share, np.log([0.4, 0.6]))


@pytest.mark.parametrize("objective", ["piecewise", "plain_piecewise"])
def test_states_that_are_left_are_counted_whatever_is_known(objective):
    """Unknown labels, sets of labels and data in pieces: the shares are those of all of them."""
    space = SPACES["one per label"]()
    clamp = clamp_labels(space, np.array([0, 1, 1, 2, 0]))
    offsets = np.array([0, 3, 5])
    batch = compose("one per label", "dense", "free", objective, lengths=(3, 2)).batch
    assert np.array_equal(batch.offsets, offsets)
    chain = compose("one per label", "dense", "free", objective, lengths=(3, 2)).chain
    np.testing.assert_allclose(departures(Examples(batch, clamp), chain), [1, 1, 1])
    open_clamp = clamp_labels(space, np.array([0, UNKNOWN, 1, 2, 0]))
    np.testing.assert_allclose(departures(Examples(batch, open_clamp), chain), [1 + 1 / 3, 1 / 3, 1 + 1 / 3])


# ---- the maximum-entropy Markov model ----------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_an_memms_likelihood_is_the_product_of_its_steps(order):
    X, Y = label_bias(np.random.default_rng(0), 60)
    model = MEMM(order=order, trainer="lbfgs", l2=0.1, max_iter=20).fit(X, Y)
    tagger = model.tagger_
    assert tagger.chain.normalised
    batch = tagger.features.encode(X)
    space = tagger.chain.space
    np.testing.assert_allclose(log_partition(space, tagger.potentials(batch)), 0.0, atol=1e-9)
    raw = chainfield.scorers.Chain(space, tagger.chain.emissions, tagger.chain.transitions)
    targets = Targets(tagger.task.clamp(space, Y, batch.offsets), np.ones(len(X)))
    loss, _ = LocalLikelihood()(space, raw.potentials(tagger.params, batch, "sum")[0], targets)
    assert -model.log_likelihood(X, Y).sum() == pytest.approx(loss, rel=1e-9)


def test_label_bias_is_there_in_an_memm_and_nowhere_else():
    """After R1 comes I and after R2 comes O, always: what the MEMM sees there cannot change its mind about R1 or R2."""
    X, Y = label_bias(np.random.default_rng(3), 1000)
    X_test, Y_test = label_bias(np.random.default_rng(4), 500)
    options = {"template": "U:x=%x[0,0]\nB\n", "trainer": "lbfgs", "l2": 1e-4, "max_iter": 100}
    assert MEMM(**options).fit(X, Y).score(X_test, Y_test) < 0.75
    for model in (LinearCRF(**options), LinearCRF(objective="piecewise", **options), chainfield.EmpiricalCRF()):
        assert model.fit(X, Y).score(X_test, Y_test) > 0.94


def test_memms_do_what_taggers_do(tmp_path):
    X, Y = label_bias(np.random.default_rng(5), 80)
    Y[0] = [None, "I", None]
    model = MEMM(max_iter=10).fit(X, Y)
    model.save(tmp_path / "m.cf")
    back = chainfield.load(tmp_path / "m.cf")
    assert type(back) is MEMM
    assert back.predict(X) == model.predict(X)
    for a, b in zip(back.predict_marginals(X), model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a.sum(axis=1), 1.0)
    assert back.predict_n_best(X[:1], 2)[0][0][0] == model.predict(X[:1])[0]
    assert "word" in str(model.explain(X[0]))
    assert back.partial_fit(X, Y).score(X, [y if y[0] else [None] * 3 for y in Y]) > 0.5
    assert MEMM(forbidden=[("R1", "O")], max_iter=5).fit(X, Y).predict([["r", "o", "b"]])[0][:2] != ["R1", "O"]
    with pytest.raises(ConfigError, match="order is 3"):
        MEMM(order=3).fit(X, Y)


def test_steps_through_python_are_left_out():
    """The default trainer of an MEMM begins with L-BFGS: passes over short sequences, one by one, take longer."""
    rng = np.random.default_rng(0)
    y = [rng.integers(0, 3, 8).tolist() for _ in range(300)]
    X = [[{f"w{label}": 1.0, "n": float(rng.normal())} for label in labels] for labels in y]
    assert "passes" not in MEMM(max_iter=60).fit(X, y).stop_reason_
    assert "passes of SDCA" in LinearCRF(max_iter=60).fit(X, y).stop_reason_
