"""Weights of sequences and of labels, as users give them, and the problem that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError, DataError
from chainfield.objectives import Objective, Targets
from chainfield.parallel import count_jobs
from chainfield.problem import Problem
from chainfield.scorers import Chain
from chainfield.tasks import Task

from .compose import Material

DEFAULT_L2 = 0.5


def sequence_weights(given: Any, n_sequences: int) -> Float:
    """(S,) the weights of sequences; 1 each if none are given."""
    weight = np.ones(n_sequences) if given is None else np.asarray(given, np.float64)
    if weight.shape != (n_sequences,):
        raise DataError(f"sample_weight has shape {weight.shape}; one weight for each of {n_sequences} sequences.")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise DataError("sample_weight must be finite and not negative.")
    if not weight.any():
        raise DataError("sample_weight is zero for every sequence; at least one must count.")
    return weight


def check_class_weight(given: Any, labels: tuple[Any, ...]) -> None:
    """Refuse weights of labels that the training data do not have."""
    unknown = [label for label in given if label not in labels] if isinstance(given, dict) else []
    if unknown:
        raise ConfigError(f"class_weight names {unknown[0]!r}, which is not a label of the training data.")


def label_weights(given: Any, labels: tuple[Any, ...], counts: Int) -> Float:
    """(L,) the weights of labels; "balanced" makes each label count the same, whatever its count."""
    if isinstance(given, str):
        counts = np.maximum(counts, 1)
        return counts.sum() / (len(labels) * counts)
    return np.array([float(given.get(label, 1.0)) for label in labels])


def weighted_problem(
    model: Any, task: Task, chain: Chain, material: Material, objective: Objective, sample_weight: Any
) -> Problem:
    """The problem of a model's settings."""
    space, batch, clamp = chain.space, material.batch, material.clamp
    weight, shift = sequence_weights(sample_weight, batch.n_sequences), None
    if model.class_weight is not None:
        counts = task.count(space, clamp, batch.offsets)
        favoured = label_weights(model.class_weight, task.labels, counts)
        shift, factor = task.favour(space, clamp, batch.offsets, favoured)
        weight = weight if factor is None else weight * factor
    l2 = (DEFAULT_L2 if objective.smooth else 0.0) if model.l2 is None else model.l2
    return Problem(
        chain,
        objective,
        batch,
        Targets(clamp, weight, task.cost(space, clamp, model.margin) if objective.uses_cost else None),
        l1=model.l1 * material.share,
        l2=material.share * l2,
        offset=shift,
        n_jobs=count_jobs(model.n_jobs),
    )
