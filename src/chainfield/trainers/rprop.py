"""Resilient propagation (Riedmiller and Braun 1993), in the variant iRprop+ (Igel and Hüsken 2003).

Every weight has its own step size, which grows while the sign of its gradient stays and shrinks when it flips; only
signs are used, so that no scale matters. A flip is undone if the objective rose. With l1 the pseudo-gradient takes the
gradient's place and no weight crosses zero in one step, as in OWL-QN.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from chainfield.problem import Problem

from .lbfgs import pseudo_gradient
from .trainer import Float, Record, State, Trainer, Window


@dataclass
class RPropState(State):
    """The last gradient, step sizes and moves of every weight."""

    gradient: Float = field(default_factory=lambda: np.empty(0))
    sizes: Float = field(default_factory=lambda: np.empty(0))
    moves: Float = field(default_factory=lambda: np.empty(0))
    value: float = np.inf
    best: Float = field(default_factory=lambda: np.empty(0))
    best_value: float = np.inf
    history: list[float] = field(default_factory=list)


@final
@dataclass(frozen=True)
class RProp(Trainer[RPropState]):
    """Step sizes start at ``first`` and stay within [smallest, largest]."""

    first: float = 0.1
    grow: float = 1.2
    shrink: float = 0.5
    smallest: float = 1e-8
    largest: float = 5.0
    max_iter: int = 500
    tol: float = 1e-5
    online: ClassVar[bool] = False
    handles_l1: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = RPropState

    def begin(self, problem: Problem, theta: Float) -> RPropState:
        """All steps equal."""
        self.check(problem)
        zeros = np.zeros_like(theta)
        sizes = np.full_like(theta, self.first)
        return RPropState(theta.copy(), gradient=zeros, sizes=sizes, moves=zeros.copy(), best=theta.copy())

    def step(self, problem: Problem, state: RPropState) -> Record:
        """Evaluate, then move every weight by its own step."""
        value, gradient = problem.evaluate(state.theta)
        value += problem.l1 * float(np.abs(state.theta).sum())
        if problem.l1:
            gradient = pseudo_gradient(state.theta, gradient, problem.l1)
        if value < state.best_value:
            state.best_value = value
            state.best = state.theta.copy()
        same = gradient * state.gradient
        state.sizes[same > 0] *= self.grow
        state.sizes[same < 0] *= self.shrink
        np.clip(state.sizes, self.smallest, self.largest, out=state.sizes)
        flipped = same < 0
        moves = -np.sign(gradient) * state.sizes
        moves[flipped] = -state.moves[flipped] if value > state.value else 0.0
        gradient = np.where(flipped, 0.0, gradient)
        moved = state.theta + moves
        if problem.l1:
            orthant = np.where(state.theta != 0, np.sign(state.theta), -np.sign(gradient))
            moved[moved * orthant < 0] = 0.0
        state.moves = moved - state.theta
        state.theta, state.gradient, state.value = moved, gradient, value
        state.iteration += 1
        norm = float(np.linalg.norm(gradient))
        if problem.objective.smooth and Window().update(state.history, state.best_value, 0.1 * self.tol):
            state.done, state.reason = True, "the objective hardly improves any more"
        return Record(state.iteration, value, norm)

    def parameters(self, state: RPropState) -> Float:
        """The best point that was evaluated: the last move has not been judged yet."""
        return state.best
