"""Trainers: one optimum for all, resuming to the last bit, averaging, early stopping, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from chainfield.errors import ConfigError
from chainfield.features.batch import Batch, Sparse
from chainfield.objectives import OBJECTIVES, Targets
from chainfield.potentials import clamp_labels
from chainfield.problem import Problem, Trainable
from chainfield.scorers import Boundary, Chain, EdgeFeatures, Scorer, SparseLinear, Transition, all_pairs
from chainfield.states import one_per_label
from chainfield.tasks import label_cost
from chainfield.trainers import (
    AROW,
    LBFGS,
    MIRA,
    OWLQN,
    SDCA,
    SGD,
    TRAINERS,
    Adam,
    Auto,
    PassiveAggressive,
    RProp,
    Session,
    begin,
    calibrate,
    make_trainer,
    resolve_trainer,
    run,
)
from chainfield.trainers.trainer import orders

N_LABELS, N_FEATURES = 3, 12


def make_problem(objective="likelihood", *, l1=0.0, l2=2.0, n=40, seed=0, separable=False, edges=False):
    """Sequences of random sparse features; labels follow hidden weights, exactly or with noise."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 8, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    positions = int(offsets[-1])
    indptr = np.arange(positions + 1, dtype=np.int64) * 3
    indices = rng.integers(0, N_FEATURES, 3 * positions).astype(np.int32)
    features = Sparse(indptr, indices, rng.choice([0.5, 1.0, 2.0], len(indices)), N_FEATURES)
    truth = rng.normal(size=(N_FEATURES, N_LABELS))
    scores = np.add.reduceat(features.values[:, None] * truth[indices], indptr[:-1])
    scores += 0.0 if separable else rng.gumbel(size=scores.shape)
    space = one_per_label(N_LABELS)
    transitions = [Transition(np.arange(space.n_edges, dtype=np.int32))]
    if edges:
        transitions.append(EdgeFeatures(all_pairs(N_FEATURES, space.n_edge_rows), space.edge_row))
    chain = Chain(
        space, (SparseLinear(all_pairs(N_FEATURES, N_LABELS), N_LABELS), Boundary(N_LABELS)), tuple(transitions)
    )
    clamp = clamp_labels(space, scores.argmax(1))
    targets = Targets(clamp, np.ones(n), label_cost(space, clamp.table, 1.0))
    batch = Batch(offsets, features, edges=features if edges else None)
    return Problem(chain, OBJECTIVES[objective], batch, targets, l1=l1, l2=l2)


def train(trainer, problem, theta=None):
    return run(trainer, problem, begin(trainer, problem, np.zeros(problem.n_parameters) if theta is None else theta))


def total(problem, theta):
    return problem.evaluate(theta)[0] + problem.l1 * np.abs(theta).sum()


@cache
def reference(objective="likelihood", edges=False):
    problem = make_problem(objective, edges=edges)
    options = {"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    found = minimize(problem.evaluate, np.zeros(problem.n_parameters), jac=True, method="L-BFGS-B", options=options)
    assert np.abs(found.jac).max() < 1e-4
    return float(found.fun)


# ---- one optimum -------------------------------------------------------------------------------------------------

EXACT = {
    "auto": Auto(tol=1e-9, small=0),
    "auto, small": Auto(tol=1e-9),
    "lbfgs": LBFGS(tol=1e-9),
    "owlqn": OWLQN(tol=1e-9),
    "rprop": RProp(tol=1e-10, max_iter=3000),
    "sdca": SDCA(tol=1e-8, max_iter=300),
}
ROUGH = {
    "sgd": SGD(max_iter=60, tol=1e-9),
    "averaged": SGD(average_from=5, max_iter=60, tol=1e-9),
    "sgd in batches": SGD(batch_size=4, max_iter=60, tol=1e-9),
    "adam": Adam(max_iter=100, tol=1e-9),
}


def test_the_problem_is_not_trivial():
    best = reference()
    problem = make_problem()
    at_zero = problem.evaluate(np.zeros(problem.n_parameters))[0]
    assert 0.1 * at_zero < best < 0.8 * at_zero


@pytest.mark.parametrize("objective", ["likelihood", "softmax_margin"])
@pytest.mark.parametrize("name", EXACT)
def test_exact_trainers_reach_the_optimum(name, objective):
    problem, best = make_problem(objective), reference(objective)
    session = train(EXACT[name], problem)
    value = total(problem, session.best)
    assert best * (1 - 1e-9) <= value <= best * (1 + 1e-6)
    assert session.state.done
    assert session.reason


@pytest.mark.parametrize("name", ["lbfgs", "sdca"])
def test_edges_of_every_position(name):
    problem = make_problem(edges=True)
    value = total(problem, train(EXACT[name], problem).best)
    assert value <= reference(edges=True) * (1 + 1e-6)


@pytest.mark.parametrize("name", EXACT)
def test_the_optimum_does_not_depend_on_the_start(name):
    problem = make_problem()
    start = np.random.default_rng(3).normal(size=problem.n_parameters)
    value = total(problem, train(EXACT[name], problem, start).best)
    assert value <= reference() * (1 + 1e-6)


@pytest.mark.parametrize("name", ROUGH)
def test_stochastic_trainers_come_close(name):
    problem = make_problem()
    value = total(problem, train(ROUGH[name], problem).best)
    assert value <= reference() * 1.01


def test_default_settings_come_close_to_the_optimum():
    problem = make_problem()
    within = {"lbfgs": 1e-4, "owlqn": 1e-4, "rprop": 1e-3, "sdca": 1e-4, "sgd": 0.02, "averaged": 0.02, "adam": 0.02}
    for name, share in within.items():
        value = total(problem, train(make_trainer(name), problem).best)
        assert value <= reference() * (1 + share), name


def test_a_tolerance_is_kept():
    problem, best = make_problem(), reference()
    for tol in (1e-2, 1e-4, 1e-6):
        for trainer in (LBFGS(tol=tol), SDCA(tol=tol, max_iter=200)):
            session = train(trainer, problem)
            if "proved" in session.reason:
                assert total(problem, session.best) <= best * (1 + tol)
    assert train(LBFGS(tol=1e-2), problem).state.iteration < train(LBFGS(tol=1e-6), problem).state.iteration


# ---- l1 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("l2", [0.0, 0.2])
def test_owlqn_ends_where_the_subgradient_contains_zero(l2):
    problem = make_problem(l1=2.0, l2=l2)
    theta = train(OWLQN(tol=1e-13, max_iter=3000), problem).best
    _, gradient = problem.evaluate(theta)
    zero = theta == 0
    assert 0 < zero.sum() < len(theta)
    assert np.all(np.abs(gradient[zero]) <= problem.l1 + 1e-4)
    np.testing.assert_allclose(gradient[~zero], -problem.l1 * np.sign(theta[~zero]), rtol=0, atol=1e-3)


def test_owlqn_without_l1_is_a_plain_minimiser():
    problem = make_problem(l1=0.0)
    assert total(problem, train(OWLQN(tol=1e-9), problem).best) <= reference() * (1 + 1e-6)


@pytest.mark.parametrize(
    "trainer",
    [SGD(max_iter=200, tol=1e-12), SGD(max_iter=100, average_from=30, tol=1e-12), Adam(max_iter=150), RProp()],
    ids=["sgd", "averaged", "adam", "rprop"],
)
def test_other_trainers_with_l1(trainer):
    problem = make_problem(l1=2.0, l2=0.2)
    best = total(problem, train(OWLQN(tol=1e-9), problem).best)
    value = total(problem, train(trainer, problem).best)
    assert best * (1 - 1e-6) <= value <= best * 1.02


@pytest.mark.parametrize("trainer", [OWLQN(), SGD(), Adam(), RProp()], ids=["owlqn", "sgd", "adam", "rprop"])
def test_a_large_l1_leaves_nothing(trainer):
    problem = make_problem(l1=1e4, l2=0.0)
    assert not train(trainer, problem).best.any()


# ---- stopping and going on ---------------------------------------------------------------------------------------

RESUMED = {
    "lbfgs": (LBFGS(max_iter=14), "likelihood", 0.0),
    "auto": (Auto(max_iter=14, small=0, tol=1e-9), "likelihood", 0.0),
    "auto with l1": (Auto(max_iter=14, small=0, tol=1e-9), "likelihood", 0.1),
    "owlqn": (OWLQN(max_iter=14), "likelihood", 1.0),
    "rprop": (RProp(max_iter=25), "likelihood", 0.0),
    "rprop l1": (RProp(max_iter=25), "likelihood", 1.0),
    "sdca": (SDCA(max_iter=9, tol=1e-12, share=0.9), "softmax_margin", 0.0),
    "adam": (Adam(max_iter=9, seed=3), "likelihood", 0.5),
    "sgd": (SGD(max_iter=9, seed=5), "likelihood", 0.5),
    "averaged": (SGD(max_iter=9, average_from=3, batch_size=3), "likelihood", 0.0),
    "restarted": (SGD(max_iter=9, restart_every=2), "likelihood", 0.0),
    "restarted adam": (Adam(max_iter=9, restart_every=3, batch_size=5), "likelihood", 0.0),
    "perceptron": (make_trainer("averaged", smooth=False, max_iter=9), "perceptron", 0.0),
    "large margin": (make_trainer("averaged", smooth=False, max_iter=9), "large_margin", 0.0),
    "passive-aggressive": (PassiveAggressive(max_iter=9), "perceptron", 0.0),
    "mira": (MIRA(max_iter=9), "perceptron", 0.0),
    "arow": (AROW(max_iter=9), "perceptron", 0.0),
}


@pytest.mark.parametrize("dev", [False, True], ids=["", "development score"])
@pytest.mark.parametrize("stop", [1, 4, 7])
@pytest.mark.parametrize("name", RESUMED)
def test_a_packed_session_goes_on_as_if_never_stopped(name, stop, dev):
    trainer, objective, l1 = RESUMED[name]
    problem = make_problem(objective, l1=l1, l2=0.1 if objective != "perceptron" else 0.0)
    score = (lambda theta: float(np.sin(1e3 * theta.sum()))) if dev else None

    whole = begin(trainer, problem, np.zeros(problem.n_parameters))
    run(trainer, problem, whole, dev_score=score)

    def interrupt(progress):
        if progress.iteration == stop:
            raise KeyboardInterrupt

    part = begin(trainer, problem, np.zeros(problem.n_parameters))
    with pytest.raises(KeyboardInterrupt):
        run(trainer, problem, part, dev_score=score, watch=interrupt)
    arrays, plain = part.pack()
    frozen = {name: array.tobytes() for name, array in arrays.items()}
    resumed = Session.unpack(trainer, problem, arrays, json.loads(json.dumps(plain)))
    run(trainer, problem, resumed, dev_score=score)

    assert {name: array.tobytes() for name, array in arrays.items()} == frozen  # resuming does not write to its source
    assert resumed.state.iteration == whole.state.iteration
    assert resumed.best.tobytes() == whole.best.tobytes()
    assert resumed.state.theta.tobytes() == whole.state.theta.tobytes()
    assert resumed.best_iteration == whole.best_iteration
    assert resumed.reason == whole.reason
    for ours, theirs in zip(resumed.history, whole.history, strict=True):
        assert {k: v for k, v in ours.items() if k != "seconds"} == {k: v for k, v in theirs.items() if k != "seconds"}


@pytest.mark.parametrize("name", RESUMED)
def test_the_start_is_not_changed(name):
    trainer, objective, l1 = RESUMED[name]
    problem = make_problem(objective, l1=l1, l2=0.1 if objective != "perceptron" else 0.0)
    start = np.full(problem.n_parameters, 0.1)
    train(trainer, problem, start)
    assert (start == 0.1).all()


def test_the_seed_decides_the_order():
    problem = make_problem()
    for kind in (SGD, Adam, SDCA):
        one, same, other = (train(kind(max_iter=2, seed=seed), problem).best for seed in (1, 1, 2))
        assert one.tobytes() == same.tobytes()
        assert one.tobytes() != other.tobytes()


# ---- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["perceptron", "large_margin"])
@pytest.mark.parametrize("trainer", [LBFGS(), OWLQN(), SDCA()], ids=["lbfgs", "owlqn", "sdca"])
def test_smooth_trainers_refuse_objectives_with_a_maximum(trainer, objective):
    with pytest.raises(ConfigError, match=r'needs a smooth objective.*use trainer="averaged"'):
        begin(trainer, make_problem(objective), np.zeros(1))


@pytest.mark.parametrize("trainer", [LBFGS(), SDCA()], ids=["lbfgs", "sdca"])
def test_l1_is_refused_by_those_who_cannot(trainer):
    with pytest.raises(ConfigError, match='l1 > 0; use trainer="owlqn"'):
        begin(trainer, make_problem(l1=0.1), np.zeros(1))


def test_sdca_needs_l2():
    with pytest.raises(ConfigError, match=r'needs l2 > 0.*use trainer="lbfgs"'):
        begin(SDCA(), make_problem(l2=0.0), np.zeros(1))


@pytest.mark.parametrize(("name", "value"), [("l1", -1.0), ("l2", -0.1), ("l1", np.nan), ("l2", np.inf)])
def test_penalties_are_finite_and_not_negative(name, value):
    with pytest.raises(ConfigError, match=f"{name} is "):
        make_problem(**{name: value})


def test_names_of_trainers():
    assert resolve_trainer("auto", OBJECTIVES["likelihood"]) == "auto"
    assert resolve_trainer("auto", OBJECTIVES["large_margin"]) == "averaged"
    for name in TRAINERS[1:]:
        assert resolve_trainer(name, OBJECTIVES["likelihood"]) == name
        assert make_trainer(name, max_iter=3).max_iter == 3
    with pytest.raises(ConfigError, match="Unknown trainer 'newton'; choose one of auto, lbfgs"):
        resolve_trainer("newton", OBJECTIVES["likelihood"])
    with pytest.raises(ConfigError, match="Unknown trainer"):
        make_trainer("newton")


# ---- averaging and perceptrons -----------------------------------------------------------------------------------


@pytest.mark.parametrize("average_from", [0, 2])
@pytest.mark.parametrize("objective", ["perceptron", "large_margin"])
def test_the_average_is_that_of_all_iterates(objective, average_from):
    problem = make_problem(objective, l2=0.0)
    trainer = SGD(rate=1.0, decay=0.0, average_from=average_from, max_iter=5, seed=4)
    session = train(trainer, problem)

    theta, summed, count = np.zeros(problem.n_parameters), np.zeros(problem.n_parameters), 0
    for iteration in range(trainer.max_iter):
        for s in orders(trainer.seed, iteration, problem.n_sequences):
            _, d, pullback = problem.differentiate(theta, slice(int(s), int(s) + 1))
            gradient = np.zeros_like(theta)
            pullback(d, gradient, 1.0)
            theta = theta - gradient  # all values are powers of two: ties break the same way in exact arithmetic
            if iteration >= average_from:
                summed, count = summed + theta, count + 1
    assert session.state.iteration == trainer.max_iter
    np.testing.assert_allclose(session.state.theta, theta, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(session.best, summed / count, rtol=1e-10, atol=1e-12)
    assert np.abs(session.best - theta).max() > 0.1


def test_passes_restart_from_the_average_of_all_iterates():
    """Passes k, 2k, … begin at the average; it goes on, as if all iterates before had been the average."""
    problem = make_problem("perceptron", l2=0.0)
    trainer = SGD(rate=1.0, decay=0.0, restart_every=2, max_iter=5, seed=4)
    session = train(trainer, problem)

    theta, summed, count = np.zeros(problem.n_parameters), np.zeros(problem.n_parameters), 0
    for iteration in range(trainer.max_iter):
        if iteration in (1, 3):
            theta = summed / count
        for s in orders(trainer.seed, iteration, problem.n_sequences):
            _, d, pullback = problem.differentiate(theta, slice(int(s), int(s) + 1))
            gradient = np.zeros_like(theta)
            pullback(d, gradient, 1.0)
            theta = theta - gradient
            summed, count = summed + theta, count + 1
    np.testing.assert_allclose(session.state.theta, theta, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(session.best, summed / count, rtol=1e-9, atol=1e-9)
    plain = train(replace(trainer, restart_every=None, average_from=0), problem)
    assert np.abs(plain.best - session.best).max() > 0.01


@pytest.mark.parametrize("l1", [0.0, 0.3])
def test_adam_averages_and_restarts(l1):
    """The dense average of what the steps leave behind, checked against every single step."""
    problem = make_problem(l1=l1, l2=0.2)
    trainer = Adam(average_from=1, restart_every=3, max_iter=4, batch_size=8)
    state = trainer.begin(problem, np.zeros(problem.n_parameters))
    seen = []
    differentiate = Problem.differentiate

    def spy(self, theta, sequences):
        seen.append(theta.copy())
        return differentiate(self, theta, sequences)

    summed, count = np.zeros(problem.n_parameters), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "differentiate", spy)
        for iteration in range(trainer.max_iter):
            seen.clear()
            before = trainer.parameters(state).copy()
            trainer.step(problem, state)
            if iteration == 2:
                np.testing.assert_allclose(seen[0], before, rtol=1e-12)
            if iteration >= 1:
                steps = [*seen[1:], state.theta]
                summed, count = summed + np.sum(steps, axis=0), count + len(steps)
    np.testing.assert_allclose(trainer.parameters(state), summed / count, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("settings", [{"restart_every": 0}, {"average_from": -1}], ids=str)
@pytest.mark.parametrize("kind", [SGD, Adam])
def test_averaging_that_makes_no_sense(kind, settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        begin(kind(**settings), make_problem(), np.zeros(make_problem().n_parameters))


def test_the_average_with_penalties_is_that_of_all_iterates(monkeypatch):
    """l2 is paid at every step, l1 every few steps; the iterates are those after each gradient step."""
    monkeypatch.setattr("chainfield.trainers.online.PAY", 6)
    problem = make_problem(l1=0.3, l2=0.2)
    trainer = SGD(rate=0.1, average_from=1, max_iter=4)
    session = train(trainer, problem)

    n, k = problem.n_sequences, 0
    theta, summed, count = np.zeros(problem.n_parameters), np.zeros(problem.n_parameters), 0
    for iteration in range(trainer.max_iter):
        owed = 0.0
        for i, s in enumerate(orders(trainer.seed, iteration, n)):
            rate = 0.1 / (1 + 0.1 * (2 * problem.l2 / n) * k)
            k += 1
            owed += rate / n
            _, d, pullback = problem.differentiate(theta, slice(int(s), int(s) + 1))
            pullback(d, theta, -rate)
            theta = theta / (1 + 2 * problem.l2 * rate / n)
            if iteration >= 1:
                summed, count = summed + theta, count + 1
            if (i + 1) % 6 == 0 or i + 1 == n:
                theta = np.sign(theta) * np.maximum(np.abs(theta) - problem.l1 * owed, 0)
                owed = 0.0
    np.testing.assert_allclose(session.best, summed / count, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["averaged", "sgd"])
@pytest.mark.parametrize("objective", ["perceptron", "large_margin"])
def test_separable_data_end_without_mistakes(objective, name):
    problem = make_problem(objective, l2=0.0, separable=True)
    trainer = make_trainer(name, smooth=False, rate=1.0, max_iter=300)
    session = train(trainer, problem)
    assert session.state.done
    assert "every training sequence is right" in session.reason
    assert session.history[-1]["updates"] == 0
    np.testing.assert_allclose(problem.evaluate(session.state.theta)[0], 0.0, rtol=0, atol=1e-9)


def test_a_tie_is_a_mistake():
    """At zero every path is best; the one that is found must not pass for right."""
    problem = make_problem("perceptron", l2=0.0)
    session = begin(SGD(rate=1.0), problem, np.zeros(problem.n_parameters))
    record = SGD(rate=1.0).step(problem, session.state)
    assert record.notes["updates"] > 0
    assert session.state.theta.any()


# ---- development data --------------------------------------------------------------------------------------------


def test_early_stopping_keeps_the_best_parameters():
    problem = make_problem()
    scores = [0.1, 0.5, 0.7, 0.6, 0.7, 0.65, 0.9]
    seen = []

    def dev_score(theta):
        seen.append(theta.copy())
        return scores[len(seen) - 1]

    trainer = LBFGS(max_iter=50, tol=1e-12)
    session = begin(trainer, problem, np.zeros(problem.n_parameters))
    run(trainer, problem, session, dev_score=dev_score, patience=3)
    assert len(seen) == session.state.iteration == 6  # the best is the third; an equal score is not better
    assert session.best_iteration == 3
    assert session.best_score == 0.7
    assert session.best.tobytes() == seen[2].tobytes()
    assert session.best.tobytes() != seen[-1].tobytes()
    assert "development score" in session.reason
    assert [h["dev_score"] for h in session.history] == scores[:6]


def test_without_patience_the_best_of_all_is_kept():
    problem = make_problem()
    trainer = SGD(max_iter=8)
    seen = []

    def dev_score(theta):
        seen.append(theta.copy())
        return -abs(len(seen) - 4.0)

    session = begin(trainer, problem, np.zeros(problem.n_parameters))
    run(trainer, problem, session, dev_score=dev_score)
    assert session.state.iteration == 8
    assert session.best.tobytes() == seen[3].tobytes()


def test_progress_is_data():
    problem = make_problem()
    trainer = LBFGS(max_iter=5)
    reports = []
    run(trainer, problem, begin(trainer, problem, np.zeros(problem.n_parameters)), watch=reports.append)
    assert [p.iteration for p in reports] == [1, 2, 3, 4, 5]
    assert all(p.max_iter == 5 and p.gradient_norm > 0 and p.seconds > 0 for p in reports)
    falling = [p.objective for p in reports]
    assert falling == sorted(falling, reverse=True)
    assert json.loads(json.dumps(reports[0].to_dict()))["iteration"] == 1


def test_an_interrupt_passes_through_and_leaves_the_best():
    problem = make_problem()
    trainer = LBFGS()
    session = begin(trainer, problem, np.zeros(problem.n_parameters))

    def watch(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(trainer, problem, session, watch=watch)
    assert session.state.iteration == session.best_iteration == 3
    assert session.best.tobytes() == session.state.theta.tobytes()


class Squared(Scorer):
    """A scorer that is not linear: score(r) = weight(r)²."""

    name = "squared"

    def shapes(self):
        return {"weight": (3,)}

    def start(self, rng):
        return {"weight": np.array([0.3, 0.5, 0.7])}

    def forward(self, params, batch, how, scores):
        weight = params["weight"]
        scores += weight**2

        def pullback(d, into, scale):
            into["weight"][...] += scale * 2.0 * weight * d.sum(0)

        return pullback


class Bowl(Trainable):
    """‖A θ - b‖² + l1 ‖θ‖₁ + l2 ‖θ‖²: a problem that knows its value and gradient, and nothing else."""

    def __init__(self, l1=0.0, l2=0.0):
        rng = np.random.default_rng(0)
        self.a, self.b, self.l1, self.l2 = rng.normal(size=(9, 3)), rng.normal(size=9), l1, l2

    n_parameters, n_sequences, n_positions = 3, 9, 9

    def arrays(self):
        return self.a, self.b

    def evaluate(self, theta):
        rest = self.a @ theta - self.b
        return rest @ rest + self.l2 * theta @ theta, 2.0 * (self.a.T @ rest + self.l2 * theta)


@pytest.mark.parametrize("trainer", [LBFGS(tol=1e-9), RProp(tol=1e-9), Auto(tol=1e-9)], ids=lambda t: type(t).__name__)
def test_batch_trainers_ask_for_values_and_gradients_alone(trainer):
    problem = Bowl(l2=0.3)
    found = run(trainer, problem, begin(trainer, problem, np.zeros(3))).best
    best = np.linalg.solve(problem.a.T @ problem.a + 0.3 * np.eye(3), problem.a.T @ problem.b)
    np.testing.assert_allclose(found, best, rtol=1e-4, atol=1e-4)


def test_a_problem_with_l1_needs_no_more():
    problem = Bowl(l1=2.0)
    found = run(OWLQN(tol=1e-9), problem, begin(OWLQN(), problem, np.zeros(3))).best
    _, gradient = problem.evaluate(found)
    assert np.abs(gradient).max() <= 2.0 + 1e-3
    np.testing.assert_allclose(gradient[found != 0], -2.0 * np.sign(found[found != 0]), atol=1e-3)


@pytest.mark.parametrize("trainer", [SGD(), SGD(rate=0.1), SGD(batch_size=2, rate=0.1), Adam()], ids=str)
def test_a_problem_says_what_it_does_not_offer(trainer):
    problem = Bowl()
    with pytest.raises(ConfigError, match=r"Bowl does not offer .* single sequences; use another trainer"):
        run(trainer, problem, begin(trainer, problem, np.zeros(3)))


def squared_problem():
    space = one_per_label(3)
    batch = Batch(np.array([0, 2, 3, 6]), sparse=Sparse(np.arange(7), np.zeros(6, np.int32), None, 1))
    clamp = clamp_labels(space, np.array([0, 1, 2, 1, 1, 0]))
    chain = Chain(space, (Squared(),), ())
    return Problem(chain, OBJECTIVES["likelihood"], batch, Targets(clamp, np.ones(3)), l2=0.1)


@pytest.mark.parametrize("batch_size", [1, 2])
def test_averages_of_scorers_that_are_not_linear(batch_size):
    problem = squared_problem()
    theta = problem.chain.start(np.random.default_rng(0))
    trainer = SGD(rate=0.3, decay=0.0, average_from=0, batch_size=batch_size, max_iter=1, seed=1)
    session = run(trainer, problem, begin(trainer, problem, theta))
    order = np.random.default_rng([1, 0]).permutation(3)
    now, summed, steps = theta.copy(), np.zeros(3), 0
    for lo in range(0, 3, batch_size):
        _, d, pullback = problem.differentiate(now.copy(), order[lo : lo + batch_size])
        step = np.zeros(3)
        pullback(d, step, -0.3)
        now = (now + step) / (1 + 2 * 0.1 * 0.3 * len(order[lo : lo + batch_size]) / 3)
        summed += now
        steps += 1
    np.testing.assert_allclose(session.state.theta, now, rtol=1e-12)
    np.testing.assert_allclose(session.best, summed / steps, rtol=1e-12)


def test_convexity_is_not_claimed_where_there_is_none():
    assert make_problem().convex
    problem = squared_problem()
    assert not problem.convex
    session = train(LBFGS(tol=1e-3), problem, problem.chain.start(np.random.default_rng(0)))
    assert "proved" not in session.reason
    open_clamp = clamp_labels(one_per_label(3), np.array([0, -1, 2, 1, 1, 0]))
    assert not replace(problem, targets=replace(problem.targets, clamp=open_clamp)).convex


def test_auto_ends_where_there_is_nothing_to_learn():
    space = one_per_label(1)
    batch = Batch(np.array([0, 3]), sparse=Sparse(np.arange(4), np.zeros(3, np.int32), None, 1))
    chain = Chain(space, (SparseLinear(all_pairs(1, 1), 1),), (Transition(np.zeros(1, np.int32)),))
    targets = Targets(clamp_labels(space, np.zeros(3, np.int32)), np.ones(1))
    problem = Problem(chain, OBJECTIVES["likelihood"], batch, targets, l2=1.0)
    assert train(Auto(), problem).state.iteration < 10
    assert train(Auto(small=0), problem).state.iteration < 20


class Landscape:
    """A problem of one number, whose steps go as far as their rate; below ``cliff`` losses fall, above they jump."""

    n_sequences, smooth = 1, True

    def __init__(self, best, cliff):
        self.best, self.cliff = best, cliff

    def walk(self, steps):
        steps.theta[...] += steps.rates.sum()

    def differentiate(self, theta, chosen):
        rate = float(theta[0])
        if rate > self.cliff:
            return 1e3 + 1e2 * np.cos(np.pi * np.log2(rate / 0.1)), None, None  # 0.2 is better than 0.1 and than 0.4
        return 10.0 + (np.log((rate + 1e-6) / self.best)) ** 2, None, None

    def penalty(self, theta):
        return 0.0


@pytest.mark.parametrize("best", [1e-5, 4e-4, 0.01, 0.05, 3.0])
def test_a_first_step_is_not_chosen_among_steps_that_make_everything_worse(best):
    rate = calibrate(Landscape(best, cliff=10 * best), np.zeros(1), seed=0)
    assert best / 3 < rate < 1.5 * best
