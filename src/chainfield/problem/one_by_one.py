"""Steps of stochastic training for any chain: sequence by sequence, part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Float
from chainfield.potentials import Potentials

from .steps import MarginRule, Steps, Walked

if TYPE_CHECKING:
    from .problem import Problem
    from .trainable import Pullback


def one_by_one(problem: Problem, steps: Steps) -> Walked:
    """Move θ (and the lag, and what is kept) along."""
    theta, lag, mass, kept = steps.theta, steps.lag, steps.mass, steps.kept
    loss, updates = 0.0, 0
    for step, (s, rate) in enumerate(zip(steps.order.tolist(), steps.rates.tolist(), strict=True)):
        value, d, pullback = problem.differentiate(theta, slice(s, s + 1))
        loss += value
        if steps.margin is not None:
            if problem.targets.weight[s] and (d.node.any() or d.edge.any()):
                loss += margin_step(problem, steps, steps.margin, s, value, d, pullback, mass)
                updates += 1
            mass += 1.0
            continue
        if kept is not None:
            positions = problem.batch.ragged.slice_of(s, s + 1)
            own = positions if problem.chain.per_position else slice(s, s + 1)
            d = replace(d, node=d.node - kept.node[positions], edge=d.edge - kept.edge[own])
            kept.node[positions] += kept.share * d.node
            kept.edge[own] += kept.share * d.edge
        # A perceptron whose best path is the right one has no gradient; a tie of scores is a mistake all the same.
        if problem.smooth or d.node.any() or d.edge.any():
            updates += 1
            if lag is not None:  # first: a step changes the parameters that the way back may read
                pullback(d, lag, -rate * mass, paced=True)
            pullback(d, theta, -rate, paced=True)
        if steps.shrink is not None:
            theta *= steps.shrink[step]
            mass /= steps.shrink[step]
        if problem.project is not None:
            move_back(problem.project, theta, lag, mass)
        mass += 1.0
    return Walked(loss, updates, mass)


def margin_step(
    problem: Problem,
    steps: Steps,
    rule: MarginRule,
    s: int,
    value: float,
    d: Potentials,
    pullback: Pullback,
    mass: float,
) -> float:
    """Move θ as far as the margin of sequence s demands; returns what its mistakes cost beyond its loss."""
    weight = float(problem.targets.weight[s])
    wrong = int(np.count_nonzero(d.node.any(axis=1)))
    cost = 0.0 if rule.power is None else float(wrong) ** rule.power
    change = np.zeros(problem.n_parameters)
    pullback(d, change, -1.0 / weight)
    touched = change.nonzero()[0]
    delta = change[touched]
    spread = np.ones(len(touched)) if rule.variance is None else rule.variance[touched]
    step = step_length(rule, s, value / weight + cost, float(spread @ delta**2))
    move = weight * step * spread * delta
    steps.theta[touched] += move
    if steps.lag is not None:
        steps.lag[touched] += mass * move
    if rule.variance is not None:
        rule.variance[touched] = 1.0 / (1.0 / spread + delta**2 / rule.slack)
    if problem.project is not None:
        move_back(problem.project, steps.theta, steps.lag, mass)
    return weight * cost


def step_length(rule: MarginRule, s: int, loss: float, norm: float) -> float:
    """τ; 0 where the two paths have the same features."""
    if rule.slack + norm <= 0.0:
        return 0.0
    limit = rule.limit if rule.spent is None else rule.limit - float(rule.spent[s])
    step = min(loss / (rule.slack + norm), limit)
    if rule.spent is not None:
        rule.spent[s] += step
    return step


def move_back(project: Callable[[Float], None], theta: Float, lag: Float | None, mass: float) -> None:
    """Project θ; an average takes the change for one of the step's."""
    before = None if lag is None else theta.copy()
    project(theta)
    if lag is not None and before is not None:
        lag += mass * (theta - before)
