"""Data in chunks: what ``partial_fit`` remembers of earlier ones, so that all of them count alike.

Of earlier data, their parameters and a curvature are kept: a weight that many positions have set is drawn back with
force, one that few have seen is free (:class:`~chainfield.problem.AnchoredProblem`). What is minimised must have a
curvature. A perceptron and a large margin have none; in a stream, sums over paths take the place of their maxima.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from chainfield.arrays import Float, Single
from chainfield.errors import DataError
from chainfield.problem import AnchoredProblem, SummedProblem
from chainfield.scorers import Chain, SparseLinear
from chainfield.tasks import Task
from chainfield.trainers import LBFGS, OWLQN, Trainer

from .material import Material
from .trainers import STEPS
from .transfer import carry_over

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


def anchored_problem(model: Any, problem: SummedProblem, material: Material, theta: Float) -> AnchoredProblem:
    """The new data, and what is remembered of the old ones: values that parameters are drawn to, and how firmly.

    Parameters that are new are drawn to 0 by the penalty alone, wherever training starts.
    """
    anchor, known = np.zeros(len(theta)), np.zeros(len(theta))
    if material.previous is not None:
        anchor = _carried(material, problem.chain, material.previous.theta)
        if model.firmness_ is None:
            known = _guessed(model, problem, material, theta)
            known *= _carried(material, problem.chain, np.ones(len(material.previous.theta)))
        else:
            known = _carried(material, problem.chain, model.firmness_)
    penalised = 1.0 if problem.penalised is None else problem.penalised
    firm = (1.0 - model.forgetting) * known.clip(0.0) + problem.l2 * penalised
    return AnchoredProblem(problem, anchor, firm)


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
    found = AnchoredProblem(problem, theta, theta).of_data(theta) / 2.0 * max(before, 1.0)
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
    """(P,) what is remembered from now on: the old firmness and half the curvature of the new data."""
    penalised = 1.0 if problem.inner.penalised is None else problem.inner.penalised
    found = problem.firmness - problem.l2 * penalised + problem.of_data(theta) / 2.0
    return found.clip(0.0).astype(np.float32)
