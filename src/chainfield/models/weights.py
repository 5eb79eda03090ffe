"""Weights of sequences and of labels, as users give them, and the problem that they make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.checking import weights_of
from chainfield.errors import ConfigError, DataError
from chainfield.objectives import Objective, Targets
from chainfield.parallel import count_jobs
from chainfield.problem import Piece, Problem, SpreadProblem, SummedProblem
from chainfield.scorers import Chain
from chainfield.states import StateSpace
from chainfield.tasks import Task

from .departures import departures
from .material import Examples, Material

MOST_ODDS = 3.0  # of a rare label against the most frequent one, with "balanced"


def sequence_weights(given: Any, n_sequences: int) -> Float:
    """(S,) the weights of sequences; 1 each if none are given."""
    if given is None:
        return np.ones(n_sequences)
    weight = weights_of(given, n_sequences)
    if not weight.any():
        raise DataError("sample_weight is zero for every sequence; at least one must count.")
    return weight


def check_class_weight(given: Any, labels: tuple[Any, ...]) -> None:
    """Refuse weights of labels that the training data do not have."""
    unknown = [label for label in given if label not in labels] if isinstance(given, dict) else []
    if unknown:
        raise ConfigError(f"class_weight names {unknown[0]!r}, which is not a label of the training data.")


def label_weights(given: Any, labels: tuple[Any, ...], counts: Int, *, tempered: bool) -> Float:
    """(L,) the weights of labels; "balanced" makes each label count the same, whatever its count.

    Odds at every position of a sequence are another matter than a loss that counts several times: where one position
    in a hundred belongs to a span, full balance would label everything. ``tempered``: the root of the imbalance, and
    never more than MOST_ODDS.
    """
    if isinstance(given, str):
        counts = np.maximum(counts, 1)
        if tempered:
            return np.minimum(np.sqrt(counts.max() / counts), MOST_ODDS)
        return counts.sum() / (len(labels) * counts)
    return np.array([float(given.get(label, 1.0)) for label in labels])


def weighted_problem(
    model: Any, task: Task, chain: Chain, material: Material, objective: Objective, sample_weight: Any
) -> SummedProblem:
    """The problem of a model's settings; over pieces, where the data are."""
    space, favoured = chain.space, None
    if model.class_weight is not None:
        counts = material.fold(_count_labels, np.add, task, space)
        favoured = label_weights(model.class_weight, task.labels, counts, tempered=task.every_position)
    usual = objective.usual_l2[int(material.extent.dense)] if objective.smooth else 0.0
    l2 = usual if model.l2 is None else model.l2
    settings = {"l1": model.l1 * material.share, "l2": material.share * l2, "n_jobs": count_jobs(model.n_jobs)}
    if material.whole is None and sample_weight is not None:
        raise ConfigError("sample_weight is for data in memory; data in pieces have no weights of sequences.")
    weight = None if material.whole is None else sequence_weights(sample_weight, material.extent.n_sequences)
    objective = objective.knowing(lambda: material.fold(departures, np.add, chain))
    return problem_of(material, chain, objective, task, favoured, model.margin, weight, **settings)


def problem_of(
    material: Material,
    chain: Chain,
    objective: Objective,
    task: Task,
    favoured: Float | None = None,
    margin: float = 0.0,
    weight: Float | None = None,
    **settings: Any,
) -> SummedProblem:
    """A problem over the data where they are; ``settings``: penalties and threads."""
    shared = (task, chain, objective, favoured, margin)
    if material.whole is None:
        return SpreadProblem(chain, objective, material.examples.derive(piece_of, *shared), **settings)
    return replace(_problem(material.whole, *shared, weight), **settings)


def _count_labels(examples: Examples, task: Task, space: StateSpace) -> Int:
    return task.count(space, examples.clamp, examples.batch.offsets)


def piece_of(examples: Examples, *shared: Any) -> Piece:
    """Some of the data as a piece of a problem."""
    return Piece(_problem(examples, *shared), examples.first)


def _problem(
    examples: Examples,
    task: Task,
    chain: Chain,
    objective: Objective,
    favoured: Float | None,
    margin: float,
    weight: Float | None = None,
) -> Problem:
    """Some of the data as a problem of its own, without penalties."""
    space, batch, clamp, shift = chain.space, examples.batch, examples.clamp, None
    weight = np.ones(batch.n_sequences) if weight is None else weight
    if favoured is not None:
        shift, factor = task.favour(space, clamp, batch.offsets, favoured)
        weight = weight if factor is None else weight * factor
    cost = task.cost(space, clamp, margin) if objective.uses_cost else None
    targets = Targets(clamp, weight, cost)
    return Problem(chain, objective, batch, targets, offset=shift, cuttable=task.every_position)
