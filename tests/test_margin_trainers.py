"""Passive-aggressive training, MIRA and AROW: their updates by hand, every model, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import chainfield
from chainfield.errors import ConfigError
from chainfield.objectives import Targets, objective_named
from chainfield.problem import Problem
from chainfield.trainers import AROW, MIRA, PassiveAggressive, begin, run

TRAINERS = ("pa", "pa-i", "pa-ii", "mira", "arow")
OBJECTIVES = ("perceptron", "large_margin")


def corpus(seed=0, n=30):
    rng = np.random.default_rng(seed)
    X = [[{f"w{rng.integers(9)}": 1.0, "x": float(rng.normal())} for _ in range(rng.integers(1, 7))] for _ in range(n)]
    return X, [["B" if item.get("x", 0) > 0 else "O" for item in x] for x in X], rng.uniform(0.5, 2.0, n)


X, Y, WEIGHT = corpus()


def problem_of(objective, weight=WEIGHT):
    crf = chainfield.LinearCRF(objective="perceptron", max_iter=1, boundary=True).fit(X, Y)
    tagger = crf.tagger_
    batch = tagger.features.encode(X)
    space = tagger.chain.space
    clamp = tagger.task.clamp(space, Y, batch.offsets)
    cost = tagger.task.cost(space, clamp, 1.0) if objective == "large_margin" else None
    return Problem(tagger.chain, objective_named(objective), batch, Targets(clamp, weight, cost)), tagger


def by_hand(trainer, problem, tagger, objective):
    """One pass, written out: best labels by enumeration of the library's own predictions, Δ by its pullback."""
    theta = np.zeros(problem.n_parameters)
    variance = np.ones(problem.n_parameters)
    spent = np.zeros(problem.n_sequences)
    for s in np.random.default_rng([trainer.seed, 0]).permutation(problem.n_sequences):
        value, d, pullback = problem.differentiate(theta, slice(int(s), int(s) + 1))
        if not d.node.any():
            continue
        weight = problem.targets.weight[s]
        delta = np.zeros(problem.n_parameters)
        pullback(d, delta, -1.0 / weight)
        wrong = np.count_nonzero(d.node.any(axis=1))
        loss = value / weight + (wrong**trainer.power if objective == "perceptron" else 0.0)
        if isinstance(trainer, AROW):
            step = loss / (variance @ delta**2 + trainer.gamma)
            theta += weight * step * variance * delta
            variance = 1.0 / (1.0 / variance + delta**2 / trainer.gamma)
            continue
        norm, c = delta @ delta, trainer.aggressiveness
        if isinstance(trainer, MIRA):
            step = min(loss / norm, c - spent[s])
            spent[s] += step
        else:
            step = {0: loss / norm, 1: min(c, loss / norm), 2: loss / (norm + 0.5 / c)}[trainer.variant]
        theta += weight * step * delta
    return theta


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    "trainer",
    [
        *(PassiveAggressive(variant=v, aggressiveness=0.3, average=False, max_iter=1) for v in (0, 1, 2)),
        MIRA(aggressiveness=0.2, max_iter=1),
        AROW(gamma=0.5, max_iter=1),
    ],
    ids=TRAINERS,
)
def test_a_pass_is_what_the_equations_say(trainer, objective):
    problem, tagger = problem_of(objective)
    session = run(trainer, problem, begin(trainer, problem, np.zeros(problem.n_parameters)))
    np.testing.assert_allclose(session.best, by_hand(trainer, problem, tagger, objective), atol=1e-12)


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("settings", [{"order": 2}, {"n_states": 2}, {}], ids=["second order", "latent", "linear"])
def test_every_model_learns(settings, trainer):
    kind = chainfield.LatentCRF if "n_states" in settings else chainfield.LinearCRF
    model = kind(objective="perceptron", trainer=trainer, max_iter=6, **settings).fit(X, Y)
    assert model.score(X, Y) > 0.85


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trainer": "pa"}, "best paths"),
        ({"trainer": "mira", "objective": "perceptron", "l2": 0.1}, "no penalties"),
        ({"trainer": "pa", "objective": "perceptron", "aggressiveness": 2.0}, "no effect"),
        ({"trainer": "averaged", "objective": "perceptron", "aggressiveness": 2.0}, "no effect"),
        ({"trainer": "arow", "objective": "perceptron", "aggressiveness": 0.0}, "aggressiveness"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        chainfield.LinearCRF(**settings).fit(X, Y)


@pytest.mark.parametrize("trainer", [lambda: PassiveAggressive(variant=3), lambda: AROW(gamma=0.0), lambda: MIRA(-1.0)])
def test_trainers_that_cannot_be_are_refused(trainer):
    with pytest.raises(ConfigError):
        trainer()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("settings", [{}, {"order": 2, "all_transitions": False}, {"all_features": True}])
def test_the_kernel_steps_as_the_definition_does(settings, trainer, objective, monkeypatch):
    model = chainfield.LinearCRF(objective=objective, trainer=trainer, max_iter=3, **settings)
    fast = model.fit(X, Y, WEIGHT)
    theta, history = fast.tagger_.theta.copy(), [h["objective"] for h in fast.history_]
    monkeypatch.setattr(Problem, "fast", None)
    slow = model.fit(X, Y, WEIGHT)
    np.testing.assert_allclose(theta, slow.tagger_.theta, atol=1e-12)
    np.testing.assert_allclose(history, [h["objective"] for h in slow.history_], rtol=1e-12)
