"""Data in chunks: what ``partial_fit`` remembers of earlier ones, so that all of them count alike.

Of earlier data, their parameters and a curvature are kept: a weight that many positions have set is drawn back with
force, one that few have seen is free (:class:`~chainfield.problem.AnchoredProblem`). What is minimised must have a
curvature. A perceptron and a large margin have none; in a stream, sums over paths take the place of their maxima. Some
of the earlier data are kept as they are, as long as the model stays in memory (:mod:`chainfield.models.rehearsal`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from chainfield.arrays import Float, Single
from chainfield.errors import DataError
from chainfield.objectives import Targets
from chainfield.problem import AnchoredProblem, Problem, SummedProblem, half_curvature
from chainfield.scorers import Chain, SparseLinear
from chainfield.tasks import Task
from chainfield.trainers import LBFGS, OWLQN, Trainer

from .kinds import seed_of
from .material import Material
from .rehearsal import Rehearsal
from .trainers import STEPS
from .training_data import Held
from .transfer import carry_over
from .weights import sequence_weights

TOL = 1e-4
LEAST_VARIANCE = 0.01  # of a label at a position, on average, where scores have no scale


def streams(model: Any, chain: Chain) -> bool:
    """Whether ``partial_fit`` goes this way: that of a linear model that leaves the steps to the library."""
    chosen = model.trainer != "auto" or "forgetting" not in model.settings
    free = not chosen and all(getattr(model, step, None) in (None, "auto") for step in STEPS)
    return free and all(scorer.linear for scorer in chain.scorers)


def check_chunk(task: type[Task], targets: Sequence[Any]) -> None:
    """Refuse a chunk that teaches nothing."""
    if not task.labels_in(targets):
        raise DataError("y holds no label at all; a chunk needs at least one known label.")


def rehearses(model: Any) -> bool:
    """Whether earlier data are kept: weights of labels would depend on which of them."""
    return model.rehearsal > 0 and model.class_weight is None and model.forgetting < 1.0


def anchored_problem(model: Any, problem: SummedProblem, material: Material, theta: Float, task: Task) -> Any:
    """The new data, and what is remembered of the old ones: some of them as they are, of all others values that
    parameters are drawn to, and how firmly.

    Parameters that are new are drawn to 0 by the penalty alone, wherever training starts.
    """
    least = np.full(len(theta), problem.l2) if problem.penalised is None else problem.l2 * problem.penalised
    if material.previous is None:
        return AnchoredProblem(problem, np.zeros(len(theta)), least)
    anchor = _carried(material, problem.chain, material.previous.theta)
    old = _carried(material, problem.chain, np.ones(len(material.previous.theta))) > 0
    if model.firmness_ is None:
        known = _guessed(model, problem, material, theta) * old
    else:
        known = _carried(material, problem.chain, model.firmness_)
    known = (1.0 - model.forgetting) * known.clip(0.0)
    again = _rehearsed(model, problem, material, task)
    if again is None:
        return AnchoredProblem(problem, anchor, known + least)
    rehearsed, share = again
    if share >= 1.0:  # all old data are at hand: nothing is left for the bowl but the penalty
        return AnchoredProblem(problem, anchor, least, 2.0 * least * anchor, rehearsed)
    slope, curved = np.zeros(len(theta)), half_curvature(rehearsed, anchor)
    rehearsed.add(anchor, slope)
    others = (1.0 - share) / share  # of new parameters, what the others say is what those at hand say
    firm = np.where(old, (known - curved).clip(0.0), others * curved)
    return AnchoredProblem(problem, anchor, firm + least, np.where(old, -slope, others * slope), rehearsed)


def _rehearsed(model: Any, problem: SummedProblem, material: Material, task: Task) -> tuple[Problem, float] | None:
    """Earlier data that are gone through again, and which share of all old ones they are."""
    memory: Rehearsal | None = model.rehearsal_
    if memory is None or not rehearses(model) or not isinstance(problem, Problem) or problem.lattice is not None:
        return None
    drawn = memory.drawn(problem.n_positions)
    if not drawn.sequences:
        return None
    batch = material.features.encode(drawn.sequences, problem.n_jobs)
    clamp = task.clamp(problem.chain.space, drawn.targets, batch.offsets)
    cost = task.cost(problem.chain.space, clamp, model.margin) if problem.objective.uses_cost else None
    weight = drawn.weight * (1.0 - model.forgetting)
    return replace(problem, batch=batch, targets=Targets(clamp, weight, cost)), len(drawn.lot) / model.n_sequences_seen_


def _carried(material: Material, chain: Chain, old: Any) -> Float:
    """(P,) what the parameters of the older model had, by their new places; 0 where there was none."""
    assert material.previous is not None
    found = np.zeros(chain.n_parameters)
    before = replace(material.previous, theta=np.asarray(old, np.float64))
    carry_over(before, chain, material.origin(chain.space), found)
    return found


def _guessed(model: Any, problem: SummedProblem, material: Material, theta: Float) -> Float:
    """(P,) the same after a ``fit``, which keeps no curvature: that of the new data, times how much there was before.

    Features that the new data lack have the mean curvature of an occurrence, times how often they occurred.
    """
    before = model.n_sequences_seen_ / max(problem.n_sequences, 1)
    found = half_curvature(problem, theta) * max(before, 1.0)
    counts, views = model.feature_counts_, problem.chain.views(found)
    for scorer in problem.chain.scorers:
        if isinstance(scorer, SparseLinear) and counts is not None and not len(scorer.group_of):
            own = views[f"{scorer.name}.weight"]
            seen = np.zeros(scorer.pairs.n_features)
            now = material.origin(problem.chain.space).features
            there = (now >= 0) & (now < len(counts))
            seen[there] = counts[now[there]]
            often = seen[scorer.pairs.feature()]
            variance = max(float(own.sum() / max(often.sum(), 1.0)), LEAST_VARIANCE / 2)
            np.maximum(own, variance * often * scorer.pairs.exists(), out=own)
    return found


def stream_trainer(model: Any, problem: AnchoredProblem) -> Trainer[Any]:
    """What minimises it: to the end, since every chunk comes only once."""
    settings: dict[str, Any] = {"tol": TOL if model.tol is None else model.tol, "preconditioned": True}
    if model.max_iter is not None:
        settings["max_iter"] = model.max_iter
    return OWLQN(**settings) if problem.l1 else LBFGS(**settings)


def firmness(problem: AnchoredProblem, theta: Float) -> Single:
    """(P,) what is remembered from now on: half the curvature of old and new data, at θ where they are at hand."""
    penalised = 1.0 if problem.inner.penalised is None else problem.inner.penalised
    found = problem.firmness - problem.l2 * penalised + half_curvature(problem.inner, theta)
    if problem.rehearsed is not None:
        found += half_curvature(problem.rehearsed, theta)
    return found.clip(0.0).astype(np.float32)


def remembered(model: Any, data: Held) -> Rehearsal | None:
    """Data to go through again in later calls."""
    if not rehearses(model):
        return None
    memory: Rehearsal = model.rehearsal_ or Rehearsal()
    weight = sequence_weights(data.sample_weight, len(data.sequences))
    seed = seed_of(model.random_state)
    return memory.grown(data.sequences, data.label_sequences, weight, model.forgetting, model.rehearsal, seed)
