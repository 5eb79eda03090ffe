"""Starts for hidden units that are better than chance (section 5 of the hidden-unit paper).

frames: a discriminative restricted Boltzmann machine (Larochelle and Bengio 2008) on single positions. That is the
same model over sequences of one position, without transitions.

contrastive: a restricted Boltzmann machine of features and labels together, p(x, y, z) ∝ exp(aᵀx + xᵀW z + bᵀz + V_y z
+ c_y), by one step of contrastive divergence (Hinton 2002). The kind of features decides how they are reconstructed: 0
or 1, -1 or 1, or numbers with a deviation of 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chainfield.arrays import Float, distinct
from chainfield.errors import ConfigError
from chainfield.objectives import Targets, objective_named
from chainfield.problem import Problem
from chainfield.scorers import Chain, HiddenUnits
from chainfield.states import one_per_label
from chainfield.trainers import SGD, begin, run
from chainfield.trainers.trainer import orders

PRETRAININGS = ("frames", "contrastive")
PASSES = 5
STEP = 0.2  # as for training by likelihood
FRAMES = 100  # of a mini-batch
RATE, MOMENTUM, START = 0.1, 0.5, 0.05
UPDATES = 500  # at least
SAMPLE = 5000  # positions that tell the scale of scores


def pretrain(kind: str, problem: Problem, theta: Float, seed: int, gap: float) -> Float:
    """θ with the parameters of its hidden units trained; all others as they were.

    Scores of max objectives have no scale of their own, those of probabilities have: theirs are brought down to the
    ``gap`` that the objective asks for, or its steps would be too small for them to learn any more. (Where they tell
    little, a gap of 1 stands for theirs.)
    """
    units = next(scorer for scorer in problem.chain.scorers if isinstance(scorer, HiddenUnits))
    views = problem.chain.views(theta)
    own = {name: views[f"{units.name}.{name}"] for name in units.shapes()}
    found = by_frames(problem, units, own, seed) if kind == "frames" else by_contrast(problem, units, own, seed)
    factor = 1.0 if problem.objective.smooth else gap / max(1.0, mean_gap(problem, units, found))
    for name, value in found.items():
        own[name][...] = factor * value
    return theta


def mean_gap(problem: Problem, units: HiddenUnits, params: dict[str, Float]) -> float:
    """How far, on average, the score of the right row is from the best of all others, units at their best."""
    n_sequences = int(np.searchsorted(problem.batch.offsets, SAMPLE))
    batch, clamp = problem.batch.window(0, min(max(n_sequences, 1), problem.batch.n_sequences)), problem.targets.clamp
    right = clamp.table[clamp.index[: batch.n_positions]]
    scores = np.zeros(right.shape)
    units.forward(params, batch, "max", scores)
    best = np.where(right, scores, -np.inf).max(axis=1)
    others = np.where(right, -np.inf, scores).max(axis=1)
    gaps = np.abs(best - others)[np.isfinite(best) & np.isfinite(others)]
    return float(gaps.mean()) if len(gaps) else 0.0


def by_frames(problem: Problem, units: HiddenUnits, start: dict[str, Float], seed: int) -> dict[str, Float]:
    """Every position as a sequence of its own, by likelihood."""
    single = frames_problem(problem, units)
    theta = np.concatenate([start[name].ravel() for name in units.shapes()])
    trainer = SGD(rate=STEP, max_iter=PASSES, average_from=1, seed=seed)
    found = single.chain.views(run(trainer, single, begin(trainer, single, theta)).best)
    return {name: found[f"{units.name}.{name}"] for name in units.shapes()}


def frames_problem(problem: Problem, units: HiddenUnits) -> Problem:
    """The discriminative restricted Boltzmann machine of a problem's positions."""
    batch, targets = problem.batch, problem.targets
    chain = Chain(one_per_label(problem.chain.space.n_rows), (units,), (), dtype=problem.chain.dtype)
    weight = np.repeat(targets.weight, np.diff(batch.offsets))
    frames = replace(batch, offsets=np.arange(batch.n_positions + 1), edges=None)
    return Problem(
        chain,
        objective_named("likelihood"),
        frames,
        Targets(targets.clamp, weight),
        offset=problem.offset,
        n_jobs=problem.n_jobs,
    )


def by_contrast(problem: Problem, units: HiddenUnits, start: dict[str, Float], seed: int) -> dict[str, Float]:
    """Contrastive divergence over the positions whose row is known."""
    x, clamp = problem.batch.dense, problem.targets.clamp
    if units.source != "dense" or x is None:
        raise ConfigError('pretraining="contrastive" reconstructs features and needs dense arrays; use "frames".')
    known = np.flatnonzero(clamp.table[clamp.index].sum(axis=1) == 1)
    if not len(known):
        raise ConfigError('pretraining="contrastive" needs positions whose label (and state) is known; use "frames".')
    rows = clamp.table[clamp.index[known]].astype(np.float64)
    data = x[known]
    rng = np.random.default_rng([seed, 1])
    mean = _reconstruction(data)
    params = {name: rng.normal(scale=START, size=value.shape) for name, value in start.items()}
    params["visible"] = np.zeros(data.shape[1])
    velocity = {name: np.zeros_like(value) for name, value in params.items()}
    rate = RATE / max(1.0, float(np.mean(np.sum(data**2, axis=1))) / data.shape[1])
    if mean is _same:  # nothing bounds the reconstruction, a sum over all units
        rate = min(rate, 1.0 / units.n_units)
    for sweep in range(max(PASSES, UPDATES * FRAMES // len(data))):
        order = orders(seed, sweep, len(data))
        for at in range(0, len(data), FRAMES):
            some = order[at : at + FRAMES]
            step = _divergence(data[some], rows[some], params, mean, rng)
            for name, change in step.items():
                velocity[name] = MOMENTUM * velocity[name] + rate / len(some) * change
                params[name] += velocity[name]
    return {name: params[name] for name in units.shapes()}


def _reconstruction(data: Float):  # type: ignore[no-untyped-def]
    """The mean of features, by their inputs: which values there are decides."""
    values = set(distinct(data[: 10 * FRAMES]).tolist())
    if values <= {0.0, 1.0}:
        return _sigmoid
    return np.tanh if values <= {-1.0, 1.0} else _same


def _divergence(x: Float, y: Float, p: dict[str, Float], mean, rng) -> dict[str, Float]:  # type: ignore[no-untyped-def]
    """What data show of each pair, less what the model's own reconstruction of them shows."""
    on = _sigmoid(x @ p["input"] + p["unit"] + y @ p["output"])
    drawn = (rng.random(on.shape) < on).astype(np.float64)
    x2 = mean(drawn @ p["input"].T + p["visible"])
    scores = drawn @ p["output"].T + p["row"]
    y2 = np.exp(scores - scores.max(axis=1, keepdims=True))
    y2 /= y2.sum(axis=1, keepdims=True)
    on2 = _sigmoid(x2 @ p["input"] + p["unit"] + y2 @ p["output"])
    return {
        "input": x.T @ on - x2.T @ on2,
        "unit": (on - on2).sum(0),
        "output": y.T @ on - y2.T @ on2,
        "row": (y - y2).sum(0),
        "visible": (x - x2).sum(0),
    }


def _same(o: Float) -> Float:
    return o


def _sigmoid(o: Float) -> Float:
    return 1.0 / (1.0 + np.exp(-np.clip(o, -700.0, 700.0)))
