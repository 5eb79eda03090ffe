"""HMMs and hidden CRFs for whole sequences: equal posteriors, EM, extended Baum-Welch, flattening, files, bad input."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import chainfield
from chainfield.corpora import SourceCorpus
from chainfield.corpora.source import ListSource
from chainfield.errors import ConfigError, DataError
from chainfield.features.batch import Batch
from chainfield.inference import class_scores
from chainfield.models import HiddenCRF, HMMClassifier
from chainfield.models.hmm import hidden_crf
from chainfield.models.hmm.chains import in_moments
from chainfield.models.hmm.ebw import EBW
from chainfield.models.hmm.em import EM
from chainfield.models.hmm.expectations import Counts, expected_counts
from chainfield.models.hmm.flattened import Flattened
from chainfield.models.hmm.hmm import HMM
from chainfield.models.hmm.joint import JointLikelihood
from chainfield.models.hmm.mixture import GaussianMixture
from chainfield.models.hmm.renormalising import renormaliser
from chainfield.models.hmm.sizing import auto_states
from chainfield.models.hmm.starting import cluster, split
from chainfield.objectives import Contrast, Targets, objective_named
from chainfield.potentials import Clamp
from chainfield.problem import HeldPieces, Problem
from chainfield.scorers import Boundary, Chain, Transition
from chainfield.states import class_blocks, left_to_right, one_per_label, partitioned, topology
from chainfield.tasks import Classifying
from chainfield.trainers import LBFGS, SGD, Adam, RProp, begin, run
from support import enumeration


def melodies(n=60, d=3, seed=0):
    """Classes that differ in how their means move over three parts."""
    rng = np.random.default_rng(seed)
    ways = {"up": [-1, 0, 1], "down": [1, 0, -1], "arch": [-1, 1, -1]}
    X, y = [], []
    for i in range(n):
        name = list(ways)[i % 3]
        parts = [int(rng.integers(2, 5)) for _ in range(3)]
        level = np.repeat(ways[name], parts)
        X.append(10 + 3 * (level[:, None] + rng.normal(scale=0.9, size=(len(level), d))))
        y.append(name)
    return X, y


X, Y = melodies()
X_TEST, Y_TEST = melodies(60, seed=1)


def make_chain(space, m=2, d=2):
    emission = GaussianMixture(d, space.n_rows, m, np.array([0.5, -1.0])[:d], np.array([2.0, 0.5])[:d])
    return Chain(space, (emission, Boundary(space.n_rows)), (Transition(np.arange(space.n_edges, dtype=np.int32)),))


def draw_hmm(space, rng, m=2, d=2):
    k = space.n_states
    weight = rng.dirichlet(np.ones(m), k)
    start = np.where(space.start, rng.random(k) + 0.1, 0.0)
    move, end = rng.random(space.n_edges) + 0.1, np.where(space.end, rng.random(k) + 0.1, 0.0)
    sums = np.bincount(space.src, move, k) + end
    return HMM(
        weight, rng.normal(size=(k, m, d)), rng.uniform(0.5, 2.0, (k, m, d)), start / start.sum(), end / sums,
        move / sums[space.src],
    )  # fmt: skip


SPACE = class_blocks([left_to_right(2), partitioned([2]), left_to_right(3, skip=2)])


def draw_problem(objective, lengths=(3, 4, 3, 5), targets=(0, 1, 2, 1), seed=0, m=2, **options):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    batch = Batch(offsets, dense=rng.normal(size=(int(offsets[-1]), 2)))
    task = Classifying((0, 1, 2))
    targets = Targets(task.clamp(SPACE, list(targets), offsets), rng.uniform(0.5, 2.0, len(lengths)))
    return Problem(make_chain(SPACE, m), objective, batch, targets, **options)


def density(hmm, s, i, x):
    v = hmm.variance[s, i]
    return -0.5 * float(np.sum(np.log(2 * np.pi * v) + (x - hmm.mean[s, i]) ** 2 / v))


def joint_paths(space, hmm, x, label):
    """(log-probability, states, components) of every path of a class, by the definition of an HMM."""
    m = hmm.weight.shape[1]
    edges = {(int(a), int(b)): e for e, (a, b) in enumerate(zip(space.src, space.dst, strict=True))}
    own = np.flatnonzero(space.label_of == label).tolist()
    for states in itertools.product(own, repeat=len(x)):
        steps = list(itertools.pairwise(states))
        if not space.start[states[0]] or not space.end[states[-1]] or any(s not in edges for s in steps):
            continue
        value = np.log(hmm.start[states[0]]) + np.log(hmm.end[states[-1]])
        value += sum(np.log(hmm.move[edges[s]]) for s in steps)
        for parts in itertools.product(range(m), repeat=len(x)):
            emitted = [
                np.log(hmm.weight[s, i]) + density(hmm, s, i, o) for s, i, o in zip(states, parts, x, strict=True)
            ]
            yield value + sum(emitted), states, parts


# ---- the HMM behind the weights ----------------------------------------------------------------------------------


def test_text_is_trained_by_the_trainer_that_is_told():
    X, y = [["play", "it"], ["book", "it"]] * 10, ["music", "travel"] * 10
    told = HiddenCRF(n_jobs=1).fit(X, y)
    assert told.trainer_ == told.training_.trainer == "auto"
    assert HiddenCRF(n_jobs=1, learning_rate=0.1, max_iter=2).fit(X, y).trainer_ == "sgd"
    low = HiddenCRF(n_jobs=1, rank=1, objective="perceptron").fit(X, y)
    assert low.score(X, y) == 1.0


def test_class_scores_and_counts_equal_enumeration_over_states_and_components():
    problem = draw_problem(JointLikelihood())
    hmm = draw_hmm(SPACE, np.random.default_rng(3))
    theta = hmm.theta(problem.chain)
    potentials, _ = problem.chain.potentials(problem.chain.views(theta), problem.batch, "sum")
    scores = class_scores(SPACE, potentials)
    occupancy, first = np.zeros((SPACE.n_states, 2)), np.zeros((SPACE.n_states, 2, 2))
    second, move = np.zeros((SPACE.n_states, 2, 2)), np.zeros(SPACE.n_edges)
    edges = {(int(a), int(b)): e for e, (a, b) in enumerate(zip(SPACE.src, SPACE.dst, strict=True))}
    for s, target in enumerate((0, 1, 2, 1)):
        x = problem.batch.dense[problem.batch.offsets[s] : problem.batch.offsets[s + 1]]
        for label in range(3):
            paths = list(joint_paths(SPACE, hmm, x, label))
            total = enumeration.log_sum([p for p, _, _ in paths])
            np.testing.assert_allclose(scores[s, label], total, rtol=1e-10, atol=1e-10)
            if label == target:
                z = (x - problem.chain.emissions[0].centre) / problem.chain.emissions[0].spread
                for value, states, parts in paths:
                    p = problem.targets.weight[s] * np.exp(value - total)
                    for t, (k, i) in enumerate(zip(states, parts, strict=True)):
                        occupancy[k, i] += p
                        first[k, i] += p * z[t]
                        second[k, i] += p * z[t] ** 2
                    for step in itertools.pairwise(states):
                        move[edges[step]] += p
    counts = Counts.read(problem.chain, expected_counts(problem, theta, JointLikelihood())[1])
    for mine, slow in (
        (counts.occupancy, occupancy),
        (counts.first, first),
        (counts.second, second),
        (counts.move, move),
    ):
        np.testing.assert_allclose(mine, slow, rtol=1e-9, atol=1e-10)


def test_counts_by_class_are_those_of_the_whole_chain():
    problem = draw_problem(JointLikelihood(), targets=(0, None, 2, {0, 1}))
    theta = draw_hmm(SPACE, np.random.default_rng(4)).theta(problem.chain)
    value, counts = expected_counts(problem, theta, JointLikelihood())
    whole, gradient = problem.evaluate(theta)
    np.testing.assert_allclose(value, whole, rtol=1e-12)
    np.testing.assert_allclose(counts, -gradient, rtol=1e-10, atol=1e-12)


def test_reading_is_the_inverse_of_writing():
    chain = make_chain(SPACE)
    hmm = draw_hmm(SPACE, np.random.default_rng(5))
    for form in (chain, in_moments(chain)):
        again = HMM.read(form, hmm.theta(form))
        for name in ("weight", "mean", "variance", "start", "end", "move"):
            np.testing.assert_allclose(getattr(again, name), getattr(hmm, name), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("m", [1, 3])
def test_an_hmm_and_the_hidden_crf_mapped_from_it_have_the_same_posteriors(m):
    hmm = HMMClassifier(n_components=m, max_iter=20, tol=1e-6, n_jobs=1).fit(X, Y)
    crf = HiddenCRF(n_components=m, flatten=None, trainer="sgd", learning_rate=1e-300, max_iter=1, n_jobs=1).fit(X, Y)
    direct = np.array(
        [[log_density(hmm.hmm_, hmm.classifier_.chain.space, x, c) for c in range(3)] for x in X_TEST[:6]]
    )
    direct = np.exp(direct - np.logaddexp.reduce(direct, axis=1, keepdims=True))
    np.testing.assert_allclose(hmm.predict_proba(X_TEST[:6]), direct, rtol=0, atol=1e-9)
    start = HMM.read(crf.classifier_.chain, crf.classifier_.theta)
    assert start.move[SPACE_OF(crf).src == 0].sum() <= 1.0 + 1e-9
    mapped = np.array([[log_density(start, SPACE_OF(crf), x, c) for c in range(3)] for x in X_TEST[:6]])
    mapped = np.exp(mapped - np.logaddexp.reduce(mapped, axis=1, keepdims=True))
    np.testing.assert_allclose(crf.predict_proba(X_TEST[:6]), mapped, rtol=0, atol=1e-9)


def SPACE_OF(model):
    return model.classifier_.chain.space


def log_density(hmm, space, x, label):
    """Forward recursion in plain NumPy, in the units of the data."""
    own = np.flatnonzero(space.label_of == label)
    emitted = np.array(
        [[np.logaddexp.reduce([np.log(hmm.weight[k, i]) + density(hmm, k, i, o) for i in range(hmm.weight.shape[1])])
          for k in own] for o in x]
    )  # fmt: skip
    with np.errstate(divide="ignore"):
        matrix = np.full((len(own), len(own)), -np.inf)
        for e, (a, b) in enumerate(zip(space.src, space.dst, strict=True)):
            if a in own and b in own:
                matrix[np.searchsorted(own, a), np.searchsorted(own, b)] = np.log(hmm.move[e])
        alpha = np.log(hmm.start[own]) + emitted[0]
        for row in emitted[1:]:
            alpha = np.logaddexp.reduce(alpha[:, None] + matrix, axis=0) + row
        return float(np.logaddexp.reduce(alpha + np.log(hmm.end[own])))


# ---- EM ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("form", ["left-to-right", "ergodic"])
def test_em_never_lowers_the_likelihood(form, smoothing):
    model = HMMClassifier(
        topology=form, n_components=2, smoothing=smoothing, max_iter=25, tol=1e-12, n_jobs=1, variance_floor=0.05
    ).fit(X, Y)
    values = [record["objective"] for record in model.history_]
    assert len(values) > 5
    assert all(b <= a + 1e-9 * abs(a) for a, b in itertools.pairwise(values))
    hmm, space = model.hmm_, SPACE_OF(model)
    np.testing.assert_allclose(hmm.start.sum(), 1.0, rtol=1e-9)
    np.testing.assert_allclose(hmm.weight.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.bincount(space.src, hmm.move, space.n_states) + hmm.end, 1.0, rtol=1e-9)
    assert (hmm.variance / np.concatenate(X).var(axis=0) >= 0.05 - 1e-9).all()


def em_beside(peer_of, m, iterations):
    """Our HMM and hmmlearn's after the same iterations from the same start, with both histories of the likelihood."""
    rng = np.random.default_rng(0)
    lengths = [20, 15, 30, 25]
    data = rng.normal(size=(sum(lengths), 2)) + 2.0 * rng.integers(0, 3, sum(lengths))[:, None]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    space = partitioned([3])
    hmm = draw_hmm(space, rng, m)
    flat = np.bincount(space.src, hmm.move, 3)
    hmm = HMM(hmm.weight, hmm.mean + 1.0, hmm.variance, hmm.start, np.ones(3), hmm.move / flat[space.src])
    chain = make_chain(space, m)
    clamp = Clamp(np.zeros(len(data), np.int32), np.ones((1, 3), np.bool_))
    problem = Problem(chain, JointLikelihood(), Batch(offsets, dense=data), Targets(clamp, np.ones(4)))
    trainer = EM(max_iter=iterations, tol=1e-300, floor=1e-12, smoothing=0.0, ends=False)
    session = run(trainer, problem, begin(trainer, problem, hmm.theta(chain)))
    peer = peer_of(hmm)
    peer.startprob_, peer.transmat_ = hmm.start, hmm.move.reshape(3, 3)
    peer.fit(data, lengths)
    theirs = [-value for value in peer.monitor_.history]
    assert len(theirs) == iterations
    np.testing.assert_allclose([r["objective"] for r in session.history], theirs, rtol=1e-9)
    return HMM.read(chain, session.best), peer, hmm


def test_em_equals_hmmlearn():
    hmmlearn = pytest.importorskip("hmmlearn.hmm")

    def make(hmm):
        peer = hmmlearn.GaussianHMM(3, "diag", n_iter=6, tol=0.0, init_params="", covars_prior=0.0, min_covar=0.0)
        peer.means_, peer.covars_ = hmm.mean[:, 0], hmm.variance[:, 0]
        return peer

    ours, peer, _ = em_beside(make, 1, 6)
    pairs = ((ours.start, peer.startprob_), (ours.move.reshape(3, 3), peer.transmat_), (ours.mean[:, 0], peer.means_))
    for mine, other in pairs:
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.variance[:, 0], np.array([np.diag(c) for c in peer.covars_]), rtol=1e-6)


def test_em_of_mixtures_equals_hmmlearn_but_for_its_variances():
    """hmmlearn takes variances of mixtures around the means before the step: too large by the square of the move."""
    hmmlearn = pytest.importorskip("hmmlearn.hmm")

    def make(hmm):
        peer = hmmlearn.GMMHMM(3, 2, covariance_type="diag", n_iter=1, tol=0.0, init_params="", min_covar=0.0)
        peer.weights_, peer.means_, peer.covars_ = hmm.weight, hmm.mean, hmm.variance
        return peer

    ours, peer, old = em_beside(make, 2, 1)
    for mine, other in (
        (ours.start, peer.startprob_), (ours.move.reshape(3, 3), peer.transmat_), (ours.weight, peer.weights_),
        (ours.mean, peer.means_), (ours.variance + (ours.mean - old.mean) ** 2, peer.covars_),
    ):  # fmt: skip
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)


def test_splitting_doubles_the_heaviest():
    hmm = draw_hmm(left_to_right(2), np.random.default_rng(0))
    three, many = split(hmm, 3), split(hmm, 8)
    assert three.weight.shape == (2, 3)
    assert many.weight.shape == (2, 4)
    np.testing.assert_allclose(three.weight.sum(axis=1), 1.0, rtol=1e-12)
    model = HMMClassifier(n_components=3, init="split", max_iter=5, n_jobs=1).fit(X, Y)
    assert model.hmm_.mean.shape == (9, 3, 3)


def test_clusters():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(20, 2)) - 9, rng.normal(size=(20, 2)) + 9])
    of, means = cluster(x, 2, rng)
    assert len(set(of[:20])) == len(set(of[20:])) == 1
    assert of[0] != of[-1]
    np.testing.assert_allclose(means[of[0]], x[:20].mean(axis=0), rtol=1e-12)
    assert len(cluster(np.zeros((4, 2)), 3, rng)[1]) == 3


# ---- discriminative training of HMMs -----------------------------------------------------------------------------


@pytest.mark.parametrize(("flatten", "kappa"), [(None, 1.0), ("classes", 0.3), ("states", 0.4)])
def test_ebw_raises_the_conditional_likelihood_at_every_iteration(flatten, kappa):
    model = HMMClassifier(
        trainer="ebw", n_components=2, flatten=flatten, kappa=kappa, max_iter=8, tol=1e-12, n_jobs=1
    ).fit(X, Y)
    values = [record["objective"] for record in model.history_]
    assert all(b <= a for a, b in itertools.pairwise(values))
    assert values[-1] < values[0]
    hmm, space = model.hmm_, SPACE_OF(model)
    assert (hmm.variance > 0).all()
    assert model.classifier_.chain.emissions[0].sharpness == 1.0
    np.testing.assert_allclose(hmm.weight.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.bincount(space.src, hmm.move, space.n_states) + hmm.end, 1.0, rtol=1e-9)


def counts_by_enumeration(hmm, space, x, labels):
    """Occupancy, sums of o and of o², starts, ends and moves, expected over all paths of some classes."""
    edge = {(int(a), int(b)): e for e, (a, b) in enumerate(zip(space.src, space.dst, strict=True))}
    counts = [np.zeros(shape) for shape in (hmm.weight.shape, hmm.mean.shape, hmm.mean.shape)]
    counts += [np.zeros(n) for n in (space.n_states, space.n_states, space.n_edges)]
    paths = [path for label in labels for path in joint_paths(space, hmm, x, label)]
    total = np.logaddexp.reduce([value for value, _, _ in paths])
    for value, states, components in paths:
        p = np.exp(value - total)
        counts[3][states[0]] += p
        counts[4][states[-1]] += p
        for step in itertools.pairwise(states):
            counts[5][edge[step]] += p
        for o, s, c in zip(x, states, components, strict=True):
            for power in range(3):
                counts[power][s, c] += p * o**power if power else p
    return counts


def test_ebw_moves_by_the_formulas():
    """Counts by enumeration; each Gaussian and each set of probabilities has one constant that explains its move."""
    problem = draw_problem(Contrast("sum"), lengths=(2, 3, 2), targets=(0, 1, 2))
    chain, space = problem.chain, problem.chain.space
    old = draw_hmm(space, np.random.default_rng(1))
    state = EBW(floor=1e-9).begin(problem, old.theta(chain))
    EBW(floor=1e-9).step(problem, state)
    new = HMM.read(chain, state.theta)
    gain = [0.0] * 6
    for label, x in enumerate(np.split(problem.batch.dense, problem.batch.offsets[1:-1])):
        right, every = (counts_by_enumeration(old, space, x, own) for own in ([label], range(3)))
        weight = problem.targets.weight[label]
        gain = [total + weight * (a - b) for total, a, b in zip(gain, right, every, strict=True)]
    zeroth, first, second, start, end, move = gain
    # μ' (num⁰ - den⁰ + D) = num¹ - den¹ + D μ
    d = (first - new.mean * zeroth[..., None]) / (new.mean - old.mean)
    np.testing.assert_allclose(d, np.broadcast_to(d[..., :1], d.shape), rtol=1e-6)
    assert (d > 0).all()
    variance = (second + d * (old.variance + old.mean**2)) / (zeroth[..., None] + d) - new.mean**2
    np.testing.assert_allclose(new.variance, variance, rtol=1e-6)
    # p' ∝ num - den + C p: components of a state, starts, and what may follow a state
    sets = [(zeroth[k], old.weight[k], new.weight[k]) for k in range(space.n_states)]
    sets.append(tuple(own[space.start] for own in (start, old.start, new.start)))
    for k in range(space.n_states):
        edges, tail = np.flatnonzero(space.src == k), [k] if space.end[k] else []
        both = ((move, end), (old.move, old.end), (new.move, new.end))
        sets.append(tuple(np.concatenate([a[edges], b[tail]]) for a, b in both))
    for gained, before, after in sets:
        if len(before) > 1:
            c = (gained[0] - after[0] * gained.sum()) / (after[0] - before[0])
            assert c > 0
            np.testing.assert_allclose(after, (gained + c * before) / (gained.sum() + c), rtol=1e-6)


def test_ebw_starts_below_maximum_likelihood():
    problem = draw_problem(Contrast("sum"))
    theta = draw_hmm(SPACE, np.random.default_rng(1)).theta(problem.chain)
    before = problem.evaluate(theta)[0]
    session = run(EBW(max_iter=5), problem, begin(EBW(), problem, theta))
    assert session.history[0]["objective"] < before


def test_whitened_steps_are_gradients_times_variances():
    problem = draw_problem(Contrast("sum"))
    hmm = draw_hmm(SPACE, np.random.default_rng(1))
    found = []
    for whitened in (False, True):
        chain = in_moments(problem.chain, whitened=whitened)
        theta = hmm.theta(chain)
        gradient = replace(problem, chain=chain).evaluate(theta)[1]
        found.append({name: values.copy() for name, values in chain.views(gradient).items()})
    variance = np.exp(chain.views(theta)["mixture.log_variance"])
    for name, values in found[0].items():
        factor = variance if name == "mixture.mean" else 1.0
        np.testing.assert_allclose(found[1][name], factor * values, rtol=1e-10, atol=1e-12)


def test_training_by_whitened_steps():
    settings = {"trainer": "sgd", "learning_rate": 0.01, "kappa": 0.3, "max_iter": 4, "n_jobs": 1}
    plain, whitened = (HMMClassifier(**settings, mean_steps=steps).fit(X, Y) for steps in ("gradient", "whitened"))
    assert whitened.history_[-1]["objective"] < whitened.history_[0]["objective"]
    assert np.abs(plain.hmm_.mean - whitened.hmm_.mean).max() > 1e-6
    for trainer in ("em", "ebw", "lbfgs", "rprop"):
        with pytest.raises(ConfigError, match=r"mean_steps=.whitened. has no effect"):
            HMMClassifier(trainer=trainer, mean_steps="whitened").fit(X, Y)


@pytest.mark.parametrize("trainer", ["sgd", "rprop", "lbfgs", "adam"])
@pytest.mark.parametrize("constraints", ["free", "renormalised"])
def test_gradient_training_of_an_hmm(trainer, constraints):
    settings = {"sgd": {"learning_rate": 0.01}, "rprop": {"batch_size": 20, "learning_rate": 0.01}}
    model = HMMClassifier(
        trainer=trainer, constraints=constraints, n_components=2, kappa=0.3, max_iter=4, n_jobs=1,
        **settings.get(trainer, {}),
    )  # fmt: skip
    if (trainer, constraints) == ("lbfgs", "renormalised"):
        with pytest.raises(ConfigError, match="constraints after every step"):
            model.fit(X, Y)
        return
    model.fit(X, Y)
    assert model.history_[-1]["objective"] < model.history_[0]["objective"]
    hmm, space = model.hmm_, SPACE_OF(model)
    sums = np.bincount(space.src, hmm.move, space.n_states) + hmm.end
    if constraints == "renormalised":
        np.testing.assert_allclose(sums, 1.0, rtol=1e-9)
        np.testing.assert_allclose(hmm.weight.sum(axis=1), 1.0, rtol=1e-9)
        np.testing.assert_allclose(hmm.start.sum(), 1.0, rtol=1e-9)
    else:
        assert np.abs(sums - 1.0).max() > 1e-6


def test_renormalising_keeps_averages_right():
    """The average of projected iterates, by the mass and the lag, equals the plain mean."""
    chain = in_moments(make_chain(SPACE))
    plain = draw_problem(Contrast("sum"))
    theta = draw_hmm(SPACE, np.random.default_rng(2)).theta(chain)
    project = renormaliser(chain, np.zeros(chain.n_parameters), ends=True)
    problem = Problem(chain, Contrast("sum"), plain.batch, plain.targets, l2=0.1, project=project)
    for size in (1, 2):
        iterates = []

        def watch(vector, kept=iterates):
            project(vector)
            kept.append(vector.copy())

        object.__setattr__(problem, "project", watch)
        trainer = SGD(rate=0.1, average_from=0, max_iter=2, batch_size=size, tol=1e-300)
        session = run(trainer, problem, begin(trainer, problem, theta))
        np.testing.assert_allclose(session.best, np.mean(iterates, axis=0), rtol=1e-9, atol=1e-10)


# ---- flattening --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["classes", "states"])
@pytest.mark.parametrize("inner", [Contrast("sum"), Contrast("max", uses_cost=True), JointLikelihood()])
def test_flattened_losses_and_gradients(of, inner):
    problem = draw_problem(Flattened(inner, 0.3, of), targets=(0, None, {0, 2}, 1), m=1)
    if inner.uses_cost:
        cost = Classifying((0, 1, 2)).cost(SPACE, problem.targets.clamp, 0.7)
        object.__setattr__(problem.targets, "cost", cost)
    theta = np.random.default_rng(1).normal(scale=0.5, size=problem.n_parameters)
    value, gradient = problem.evaluate(theta)
    for direction in np.random.default_rng(2).normal(size=(5, len(theta))):
        up, down = (problem.evaluate(theta + step * direction)[0] for step in (1e-5, -1e-5))
        np.testing.assert_allclose((up - down) / 2e-5, gradient @ direction, rtol=1e-6, atol=1e-7)
    if inner == Contrast("sum"):
        potentials, _ = problem.chain.potentials(problem.chain.views(theta), problem.batch, "sum")
        gathered = class_scores(SPACE, potentials)
        if of == "states":
            node, edge = 0.3 * potentials.node, 0.3 * potentials.edge
            gathered = class_scores(SPACE, type(potentials)(node, edge, potentials.offsets)) / 0.3
        log_p = 0.3 * gathered - np.logaddexp.reduce(0.3 * gathered, axis=1, keepdims=True)
        known = [np.logaddexp.reduce(row[list(k)]) for row, k in zip(log_p, ([0], range(3), [0, 2], [1]), strict=True)]
        np.testing.assert_allclose(value, -problem.targets.weight @ known, rtol=1e-10)


@pytest.mark.parametrize("m", [1, 3])
def test_flattening_states_is_a_scaling_of_the_start(m):
    """κ on all paths (and components) at θ is the plain model at κ θ."""
    kappa = 0.2
    plain = draw_problem(Contrast("sum"), m=m)
    emission = plain.chain.emissions[0]
    flat_emission = GaussianMixture(2, emission.n_rows, m, emission.centre, emission.spread, sharpness=kappa)
    chain = Chain(SPACE, (flat_emission, plain.chain.emissions[1]), plain.chain.transitions)
    flat = Problem(chain, Flattened(Contrast("sum"), kappa, "states"), plain.batch, plain.targets)
    theta = np.random.default_rng(0).normal(size=plain.n_parameters)
    value, gradient = flat.evaluate(theta)
    scaled, its_gradient = plain.evaluate(kappa * theta)
    np.testing.assert_allclose(value, scaled, rtol=1e-11)
    np.testing.assert_allclose(gradient, kappa * its_gradient, rtol=1e-9, atol=1e-11)


def test_flattening_classes_keeps_their_order():
    sharp = HiddenCRF(flatten=None, trainer="sgd", learning_rate=1e-300, max_iter=1, n_jobs=1).fit(X, Y)
    flat = HiddenCRF(flatten="classes", kappa=0.1, learning_rate=1e-300, max_iter=1, n_jobs=1).fit(X, Y)
    assert sharp.predict(X_TEST).tolist() == flat.predict(X_TEST).tolist()


# ---- RProp -------------------------------------------------------------------------------------------------------


def test_rprop_takes_back_what_jumped_over_a_minimum():
    """Riedmiller and Braun's rules, step by step, beside a plain implementation."""
    problem = draw_problem(Contrast("sum"), m=1, l2=0.5)
    theta = np.random.default_rng(0).normal(size=problem.n_parameters)
    trainer = RProp(first=0.3, max_iter=12, tol=1e-300)
    state = trainer.begin(problem, theta)
    w, size, before, move = theta.copy(), np.full_like(theta, 0.3), np.zeros_like(theta), np.zeros_like(theta)
    flips = 0
    for _ in range(12):
        gradient = problem.evaluate(w)[1]
        for i in range(len(w)):
            if gradient[i] * before[i] > 0:
                size[i] = min(1.2 * size[i], 5.0)
                move[i] = -np.sign(gradient[i]) * size[i]
                before[i] = gradient[i]
            elif gradient[i] * before[i] < 0:
                flips += 1
                size[i] = max(0.5 * size[i], 1e-8)
                move[i] = -move[i]
                before[i] = 0.0
            else:
                move[i] = -np.sign(gradient[i]) * size[i]
                before[i] = gradient[i]
        w = w + move
        trainer.step(problem, state)
        np.testing.assert_allclose(state.theta, w, rtol=1e-12, atol=1e-12)
    assert flips > 5


def test_rprop_on_batches_comes_near_the_optimum_for_a_linear_crf():
    rng = np.random.default_rng(0)
    rows = [[{f"w{rng.integers(6)}": 1.0} for _ in range(5)] for _ in range(60)]
    tags = [["odd" if int(next(iter(d))[1:]) % 2 else "even" for d in row] for row in rows]
    best = chainfield.LinearCRF(trainer="lbfgs", l2=0.5, n_jobs=1).fit(rows, tags).history_[-1]["objective"]
    model = chainfield.LinearCRF(trainer="rprop", batch_size=20, learning_rate=0.05, max_iter=60, n_jobs=1)
    model.fit(rows, tags)
    again = chainfield.LinearCRF(trainer="rprop", batch_size=20, learning_rate=0.05, max_iter=60, n_jobs=1)
    assert again.fit(rows, tags).history_[-1]["objective"] == model.history_[-1]["objective"]
    assert model.history_[-1]["objective"] < 1.3 * best
    with pytest.raises(ConfigError, match="cannot compare objectives"):
        RProp(backtrack="worse", batch_size=5).check(draw_problem(Contrast("sum")))


# ---- the classifiers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_components": 2, "trainer": "lbfgs", "max_iter": 30},
        {"topology": "ergodic", "trainer": "rprop", "max_iter": 30},
        {"objective": "large_margin", "trainer": "averaged", "max_iter": 5},
        {"start": "random", "max_iter": 20},
        {"start": "random", "rank": 2, "topology": "ergodic", "trainer": "lbfgs", "max_iter": 40, "l2": 0.1},
        {"topology": ([[1, 1], [0, 1]], [1, 0], None), "max_iter": 20},
        {"objective": "perceptron", "n_components": 2, "max_iter": 5},
    ],
)
def test_a_hidden_crf_learns(settings):
    model = HiddenCRF(n_jobs=1, **settings).fit(X, Y)
    assert model.score(X_TEST, Y_TEST) > 0.8


def test_what_a_hidden_crf_decides_by_itself():
    """A step that depends on the data, batches and averages; a penalty that draws to the HMM; and only if not given."""
    model = HiddenCRF(max_iter=8, n_jobs=1).fit(X, Y)
    assert model.score(X_TEST, Y_TEST) > 0.95
    assert model.history_[0]["updates"] == len(X) / 10
    near = HiddenCRF(max_iter=8, l2=1000.0, n_jobs=1).fit(X, Y)
    start = HiddenCRF(max_iter=1, learning_rate=1e-300, n_jobs=1).fit(X, Y).classifier_.theta
    moved, held = (np.linalg.norm(m.classifier_.theta - start) for m in (model, near))
    assert 0 < held < 0.2 * moved
    one = HiddenCRF(max_iter=2, batch_size=1, average_from=0, learning_rate=0.01, n_jobs=1).fit(X, Y)
    assert one.history_[0]["updates"] == len(X)
    low = HiddenCRF(objective="perceptron", max_iter=2, n_jobs=1).fit(X, Y)  # as ever: one by one, no penalty
    assert low.history_[0]["updates"] <= len(X)


def test_how_sure_hmms_may_be(monkeypatch):
    """Independent columns are what HMMs assume; copies of one column make them too sure."""
    found = []
    real = hidden_crf.flattening
    monkeypatch.setattr(hidden_crf, "flattening", lambda *parts: found.append(real(*parts)) or found[-1])
    noise = np.random.default_rng(0)
    data, labels = melodies(120, d=1)
    for copies in (1, 8):
        many = [np.repeat(x, copies, axis=1) + noise.normal(scale=0.1, size=(len(x), copies)) for x in data]
        HiddenCRF(max_iter=1, n_jobs=1).fit(many, labels)
    HiddenCRF(n_states=2, max_iter=1, n_jobs=1).fit(X[:3], Y[:3])  # nothing to divide
    assert found[0] > 0.5
    assert found[1] < 0.5 * found[0]
    assert found[2] == 0.1


def test_models_from_data_to_file(tmp_path):
    for model in (
        HMMClassifier(n_components=2, max_iter=5, n_jobs=1),
        HiddenCRF(n_components=2, max_iter=2, topology=np.array([[1, 1], [0, 1]], bool), n_jobs=1),
    ):
        model = clone(model).fit(X, Y)
        path = tmp_path / "model.cf"
        model.save(path)
        again = chainfield.load(path, n_jobs=1)
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.predict_proba(X_TEST), model.predict_proba(X_TEST))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
        assert again.get_params()["n_components"] == 2
        names = {feature for feature, _ in model.feature_weights_}
        assert "x1², component 1" in names
        found = model.align(X_TEST[:3], Y_TEST[:3])
        assert [a.label for a in found] == Y_TEST[:3]
        for a, x in zip(found, X_TEST, strict=False):
            assert len(a.states) == len(a.components) == len(x)
            assert a.states[0] == 0 or isinstance(model, HiddenCRF)
            assert (np.diff(a.states) >= 0).all()
            assert set(a.components.tolist()) <= {0, 1}
        assert [a.label for a in model.align(X_TEST)] == model.predict(X_TEST).tolist()
        occupancy = model.predict_state_marginals(X_TEST[:2])
        np.testing.assert_allclose(occupancy[0].sum(axis=1), 1.0, rtol=1e-9)


def test_the_best_component_is_the_one_with_the_largest_density():
    model = HMMClassifier(n_components=3, max_iter=5, n_jobs=1).fit(X, Y)
    hmm, space = model.hmm_, SPACE_OF(model)
    [a] = model.align(X_TEST[:1], Y_TEST[:1])
    first = int(np.flatnonzero(space.label_of == model.classes_.tolist().index(Y_TEST[0]))[0])
    for o, s, i in zip(X_TEST[0], a.states, a.components, strict=True):
        k = first + int(s)
        assert int(i) == int(np.argmax([np.log(hmm.weight[k, j]) + density(hmm, k, j, o) for j in range(3)]))


def test_intents_from_words_and_dicts():
    texts = ["play a song", "play the new album", "book a table", "book a table for two", "play jazz", "book it"]
    labels = ["music", "music", "food", "food", "music", "food"]
    for data in ([t.split() for t in texts], [[{"w": w} for w in t.split()] for t in texts]):
        model = HiddenCRF(n_states=2, topology="ergodic", trainer="lbfgs", l2=0.05, n_jobs=1).fit(data, labels)
        assert model.score(data, labels) == 1.0
        low = HiddenCRF(n_states=3, rank=1, topology="ergodic", trainer="lbfgs", l2=0.05, n_jobs=1).fit(data, labels)
        assert low.score(data, labels) == 1.0
        with pytest.raises(ConfigError, match="n_components is for arrays"):
            HiddenCRF(n_components=2, topology="ergodic").fit(data, labels)
        with pytest.raises(ConfigError, match="needs arrays of numbers"):
            HMMClassifier(topology="ergodic").fit(data, labels)


def test_going_on_from_a_fitted_model():
    model = HiddenCRF(max_iter=2, warm_start=True, learning_rate=0.001, n_jobs=1).fit(X, Y)
    before = model.classifier_.theta.copy()
    model.set_params(learning_rate=1e-300, max_iter=1).fit(X, Y)
    np.testing.assert_allclose(model.classifier_.theta, before, rtol=0, atol=1e-12)
    model.partial_fit(X[:10], Y[:10])
    assert model.classes_.tolist() == ["arch", "down", "up"]
    hmm = HMMClassifier(max_iter=3, tol=1e-12, warm_start=True, n_jobs=1).fit(X, Y)
    last = hmm.history_[-1]["objective"]
    assert hmm.fit(X, Y).history_[0]["objective"] < last
    with pytest.raises(ConfigError, match="all data at once"):
        hmm.partial_fit(X, Y)


def test_unknown_labels_take_part():
    known = [label if i % 4 else None for i, label in enumerate(Y)]
    for model in (HMMClassifier(max_iter=5, n_jobs=1), HiddenCRF(max_iter=2, n_jobs=1)):
        assert model.fit(X, known).score(X_TEST, Y_TEST) > 0.8


def test_results_do_not_depend_on_threads():
    for make in (
        lambda n: HMMClassifier(n_components=2, max_iter=4, n_jobs=n),
        lambda n: HiddenCRF(max_iter=2, n_jobs=n),
    ):
        one, two = (make(n).fit(X, Y).classifier_.theta for n in (1, 2))
        assert one.tobytes() == two.tobytes()


# ---- topologies --------------------------------------------------------------------------------------------------


def test_topologies():
    own = topology([[1, 1, 0], [0, 1, 1], [0, 0, 1]], [1, 0, 0], [0, 0, 1])
    plain = left_to_right(3)
    for name in ("src", "dst", "start", "end"):
        np.testing.assert_array_equal(getattr(own, name), getattr(plain, name))
    assert class_blocks([own, left_to_right(4, skip=2), partitioned([2])]).shortest.tolist() == [3, 3, 1]
    for bad in ([[1, 0]], [], [[1]]):
        with pytest.raises(ConfigError, match="topology"):
            topology(bad, [0]) if bad == [[1]] else topology(bad)
    assert one_per_label(2).n_states == 2


# ---- sizes by the data -------------------------------------------------------------------------------------------


def test_states_by_lengths():
    assert auto_states({}, 1) == 1
    assert auto_states({9: 10}, 1) == 3
    assert auto_states({30: 10, 2: 1}, 1) == 2  # the shortest has to go through all of them
    assert auto_states({30: 10, 2: 1}, 3) == 4
    assert auto_states({30: 10, 2: 1}, None) == 5  # ergodic
    assert auto_states({400: 10}, 1) == 8
    assert auto_states({12: 1}, 1) == 2  # five positions for each
    assert auto_states({1: 3}, 1) == 1


@pytest.mark.parametrize("kind", [HMMClassifier, HiddenCRF])
def test_every_class_has_states_by_its_own_lengths(kind, tmp_path):
    rng = np.random.default_rng(0)
    labels = ["long", "short"] * 20 + ["once"]
    lengths = [36 if y == "long" else 5 if y == "short" else 1 for y in labels]
    data = [rng.normal(size=(n, 2)) + (y == "long") for n, y in zip(lengths, labels, strict=True)]
    model = kind(max_iter=2, n_jobs=1).fit(data, labels)
    sizes = {model.classes_[block.label]: len(block.states) for block in model.fitted_.chain.space.blocks}
    assert sizes == {"long": 6, "short": 2, "once": 1}
    assert model.n_states == "auto"
    model.save(tmp_path / "model.cf")
    answers = chainfield.load(tmp_path / "model.cf").predict(data[:4])
    assert list(answers) == list(model.predict(data[:4]))
    if kind is HiddenCRF:  # a class that is known keeps its states
        model.partial_fit([x[:12] for x in data[:8:2]], labels[:8:2])
        assert len(model.fitted_.chain.space.blocks[0].states) == 6


@pytest.mark.parametrize("kind", [HMMClassifier, HiddenCRF])
def test_sizes_by_data_that_do_not_fit(kind):
    """By default; labels may be tuples, unknown, or several."""
    for data, labels in ((X, Y[:-1]), (X[:-1], Y)):
        with pytest.raises(DataError, match=r"sequences|labels"):
            kind(n_jobs=1).fit(data, labels)
    for data in ([*X[:2], np.empty((0, 3)), *X[3:]], [*X[:2], X[2][:, :2], *X[3:]], [*X[:2], X[2] * np.nan, *X[3:]]):
        with pytest.raises(DataError, match="Sequence"):
            kind(n_jobs=1).fit(data, Y)
    pairs, plain = (kind(max_iter=1, n_jobs=1).fit(X, labels) for labels in ([(y, 1) for y in Y], Y))
    assert pairs.fitted_.chain.space.n_states == plain.fitted_.chain.space.n_states > len(set(Y))
    partly = kind(max_iter=1, n_jobs=1).fit(X, [None, set(Y[:2]) | set(Y), *Y[2:]])
    assert list(partly.classes_) == list(plain.classes_)


def test_gaussians_by_the_amount_of_data():
    rng = np.random.default_rng(0)
    few, many = ([rng.normal(size=(9, 2)) + k % 2 for k in range(n)] for n in (20, 400))
    for data, n in ((few, 1), (many, 8)):
        model = HMMClassifier(max_iter=1, n_jobs=1).fit(data, [k % 2 for k in range(len(data))])
        assert model.fitted_.chain.emissions[0].n_components == n
    odd = [*many, np.ones((4, 2))]  # the smallest class has a say in it
    model = HMMClassifier(max_iter=1, n_jobs=1).fit(odd, [*(k % 2 for k in range(400)), 2])
    assert model.fitted_.chain.emissions[0].n_components == 4


def test_sizes_of_data_in_pieces_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    labels = [k % 3 for k in range(60)]
    data = [rng.normal(size=(4 + 9 * y + k % 3, 2)) for k, y in enumerate(labels)]
    cuts = ((0, 20), (20, 41), (41, 60))
    sources = [ListSource(data[a:b], [[y] * len(x) for x, y in zip(data[a:b], labels[a:b], strict=True)], "", k)
               for k, (a, b) in enumerate(cuts)]  # fmt: skip
    pieces = SourceCorpus(HeldPieces(sources))
    whole, spread = (HMMClassifier(max_iter=2, n_jobs=1).fit(*given) for given in ((data, labels), (pieces,)))
    for model in (whole, spread):
        assert [len(block.states) for block in model.fitted_.chain.space.blocks] == [2, 4, 5]
    assert spread.fitted_.chain.emissions[0].n_components == whole.fitted_.chain.emissions[0].n_components


# ---- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [HMMClassifier(n_states=3, n_jobs=1), HiddenCRF(n_states=3, n_jobs=1)], ids=["hmm", "hcrf"]
)
def test_bad_input(model):
    def refuse(match, data, labels=None, kind=DataError, **settings):
        with pytest.raises(kind, match=match):
            clone(model).set_params(**settings).fit(data, Y if labels is None else labels)

    refuse(
        "Sequence 2 has 2 positions, but the shortest path of its class 'arch' has 3 states", [*X[:2], X[2][:2], *X[3:]]
    )
    refuse("Sequence 1 is empty", [X[0], np.empty((0, 3)), *X[2:]])
    refuse(r"Column 1 \(x1\) has the same value", [np.c_[x[:, 0], np.ones(len(x)), x[:, 2]] for x in X])
    refuse("Sequence 4, position 0: the array has a value that is NaN", [*X[:4], np.full((5, 3), np.nan), *X[5:]])
    refuse("Sequence 3 has 2 columns; expected 3", [*X[:3], X[3][:, :2], *X[4:]])
    refuse("The class 'rare' has 4 positions; 3 states of 2 Gaussians need at least 6", [*X, X[0][:4]], [*Y, "rare"],
           n_components=2)  # fmt: skip
    refuse("n_states is 0", X, kind=ConfigError, n_states=0)
    refuse("n_states is 'many'", X, kind=ConfigError, n_states="many")
    refuse("n_components is 0", X, kind=ConfigError, n_components=0)
    refuse("topology is 'ring'", X, kind=ConfigError, topology="ring")
    refuse("kappa is 0", X, kind=ConfigError, kappa=0.0)
    refuse("kappa is 'low'", X, kind=ConfigError, kappa="low")
    refuse("variance_floor is 0", X, kind=ConfigError, variance_floor=0)
    refuse("smoothing is -1", X, kind=ConfigError, smoothing=-1)
    for scale in (1e200, 1e-200):
        refuse(r"Column 0 \(x0\) has values of up to .*: they cannot be squared", [scale * x for x in X])
    refuse("flatten is 'paths'", X, kind=ConfigError, flatten="paths")
    refuse("init is 'magic'", X, kind=ConfigError, init="magic")
    if isinstance(model, HiddenCRF):
        refuse("with rank, use start", X, kind=ConfigError, rank=2)
        refuse("rank is 0", X, kind=ConfigError, rank=0)
    fitted = clone(model).set_params(max_iter=1).fit(X, Y)
    with pytest.raises(DataError, match="Sequence 1 has 1 positions, but the shortest path of any class has 3"):
        fitted.predict([X[0], X[1][:1]])
    with pytest.raises(DataError, match="Sequence 0 is empty"):
        fitted.predict([np.empty((0, 3))])
    with pytest.raises(DataError, match="expected 3"):
        fitted.predict([np.zeros((5, 2))])


def test_data_that_could_collapse():
    """Constant within a class, and repeated observations: a floor, no NaN."""
    data = [np.c_[np.full(6, float(i % 2)), np.arange(6.0)] for i in range(12)]
    names = ["a" if i % 2 else "b" for i in range(12)]
    model = HMMClassifier(n_components=2, n_jobs=1).fit(data, names)
    assert np.isfinite(model.hmm_.variance).all()
    assert (model.hmm_.variance > 0).all()
    assert model.score(data, names) == 1.0


def test_trainers_refuse_what_they_cannot_do():
    problem = draw_problem(Contrast("sum"))
    with pytest.raises(ConfigError, match="joint likelihood"):
        EM().check(problem)
    with pytest.raises(ConfigError, match="likelihood of labels"):
        EBW().check(draw_problem(objective_named("softmax_margin")))
    for trainer in (EM(), EBW()):
        with pytest.raises(ConfigError, match="no l2"):
            trainer.check(draw_problem(JointLikelihood() if isinstance(trainer, EM) else Contrast("sum"), l2=1.0))
    with pytest.raises(ConfigError, match="no effect with trainer='em'"):
        HMMClassifier(learning_rate=0.1).fit(X, Y)
    with pytest.raises(ConfigError, match="trainer is 'magic'; choose one of em, ebw, auto"):
        HMMClassifier(trainer="magic").fit(X, Y)
    assert Adam().projects
    assert not LBFGS().projects


def test_texts_of_one_word_are_classified_by_default():
    requests = ["play some jazz", "play the new album now please", "book a table for two", "is there a table tonight"]
    X, intents = [words.split() for words in requests], ["music", "music", "food", "food"]
    model = HiddenCRF(random_state=0, n_jobs=1).fit(X * 5, intents * 5)
    assert model.predict([["play"], ["table"], *X]).tolist() == ["music", "food", *intents]
    assert "L-BFGS" in model.stop_reason_ or "converged" in model.stop_reason_
    # Stochastic steps where steps are set, and a form of one's own where it is named.
    steps = HiddenCRF(batch_size=2, topology="left-to-right", n_states=3, max_iter=3, random_state=0).fit(X, intents)
    assert steps.n_iter_ == 3
    with pytest.raises(DataError, match="the shortest path of any class has"):
        steps.predict([["play"]])
    with pytest.raises(ConfigError, match="auto, left-to-right, ergodic"):
        HiddenCRF(topology="ring").fit(X, intents)
