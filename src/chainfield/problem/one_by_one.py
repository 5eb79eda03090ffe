"""Steps of stochastic training for any chain: sequence by sequence, part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from chainfield.arrays import Float

from .steps import Steps, Walked

if TYPE_CHECKING:
    from .problem import Problem


def one_by_one(problem: Problem, steps: Steps) -> Walked:
    """Move θ (and the lag, and what is kept) along."""
    theta, lag, mass, kept = steps.theta, steps.lag, steps.mass, steps.kept
    loss, updates = 0.0, 0
    for step, (s, rate) in enumerate(zip(steps.order.tolist(), steps.rates.tolist(), strict=True)):
        value, d, pullback = problem.differentiate(theta, slice(s, s + 1))
        loss += value
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


def move_back(project: Callable[[Float], None], theta: Float, lag: Float | None, mass: float) -> None:
    """Project θ; an average takes the change for one of the step's."""
    before = None if lag is None else theta.copy()
    project(theta)
    if lag is not None and before is not None:
        lag += mass * (theta - before)
