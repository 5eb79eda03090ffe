"""Resilient propagation (Riedmiller and Braun 1993), on all data or on mini-batches.

Every weight has its own step size, which grows while the sign of its gradient stays and shrinks when it flips; only
signs are used, so that no scale matters. A flip tells that the last step jumped over a minimum: the authors take that
weight back to where it was, and do not count the gradient in between (``backtrack="always"``). Igel and Hüsken (2003)
do so only if the objective rose as well (``"worse"``, their iRprop+), which makes sense on all data only.

With a ``batch_size``, an iteration is a pass in random order, and signs are compared from batch to batch (Mahajan,
Gunawardana and Acero 2006). Signs of small batches are noise, so batches must be larger than those of gradient steps.

With l1 the pseudo-gradient takes the gradient's place and no weight crosses zero in one step, as in OWL-QN.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, DivergenceError
from chainfield.problem import Trainable

from .lbfgs import pseudo_gradient
from .trainer import Record, State, Trainer, Window, kept, orders


@dataclass
class RPropState(State):
    """The last gradient, step sizes and moves of every weight."""

    gradient: Float = kept("the gradient at θ", "P")
    sizes: Float = kept("the step size of each parameter", "P", least=0)
    moves: Float = kept("the last move of each parameter", "P")
    value: float = np.inf
    best: Float = kept("the best parameters so far", "P")
    best_value: float = np.inf
    history: list[float] = field(default_factory=list)


@final
@dataclass(frozen=True)
class RProp(Trainer[RPropState]):
    """Step sizes start at ``first`` and stay within [smallest, largest].

    ``largest`` None: 5 (the authors allow 50) on all data, ten times ``first`` on batches.
    ``batch_size`` None: all data at once.
    """

    first: float | None = None
    grow: float = 1.2
    shrink: float = 0.5
    smallest: float = 1e-8
    largest: float | None = None
    backtrack: Literal["always", "worse", "never"] = "always"
    batch_size: int | None = None
    max_iter: int = 500
    tol: float = 1e-5
    seed: int = 0
    handles_l1: ClassVar[bool] = True
    projects: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = RPropState

    @property
    def online(self) -> bool:  # type: ignore[override]
        """With batches an iteration has many steps."""
        return self.batch_size is not None

    @property
    def _first(self) -> float:
        return (0.1 if self.batch_size is None else 1e-3) if self.first is None else self.first

    @property
    def _largest(self) -> float:
        return (5.0 if self.batch_size is None else 10.0 * self._first) if self.largest is None else self.largest

    def check(self, problem: Trainable) -> None:
        """Backtracking by the objective needs the same objective at every step."""
        super().check(problem)
        if self.backtrack == "worse" and self.batch_size is not None:
            raise ConfigError('RProp cannot compare objectives of batches; use backtrack="always" or "never".')

    def begin(self, problem: Trainable, theta: Float) -> RPropState:
        """All steps equal."""
        self.check(problem)
        zeros = np.zeros_like(theta)
        sizes = np.full_like(theta, self._first)
        return RPropState(theta.copy(), gradient=zeros, sizes=sizes, moves=zeros.copy(), best=theta.copy())

    def step(self, problem: Trainable, state: RPropState) -> Record:
        """Evaluate, then move every weight by its own step; with batches, again and again for a pass."""
        if self.batch_size is not None:
            return self._pass(problem, state, self.batch_size)
        value, gradient = problem.evaluate(state.theta)
        value += problem.l1 * float(np.abs(state.theta).sum())
        if value < state.best_value:
            state.best_value = value
            state.best = state.theta.copy()
        self._move(problem, state, value, gradient, problem.l1)
        state.iteration += 1
        norm = float(np.linalg.norm(gradient))
        if problem.smooth and Window().update(state.history, state.best_value, 0.1 * self.tol):
            state.done, state.reason = True, "the objective hardly improves any more"
        return Record(state.iteration, value, norm)

    def _pass(self, problem: Trainable, state: RPropState, size: int) -> Record:
        problem = problem.windows
        n, loss = problem.n_sequences, 0.0
        order = orders(self.seed, state.iteration, n)
        # Batches of about one size: signs of a small rest would count as much as those of the others.
        for chosen in np.array_split(order, max(1, round(n / size))):
            share = len(chosen) / n
            counted = state.theta if problem.penalised is None else problem.penalised * state.theta
            gradient = (2.0 * problem.l2 * share) * counted
            value, d, pullback = problem.differentiate(state.theta, chosen)
            pullback(d, gradient, 1.0)
            loss += value
            self._move(problem, state, value, gradient, problem.l1 * share)
        if not np.isfinite(state.theta).all():
            raise DivergenceError(f"RProp ran away in pass {state.iteration + 1}; use smaller steps.")
        state.best = state.theta.copy()
        state.iteration += 1
        objective = loss + problem.penalty(state.theta)
        if problem.smooth and Window(5).update(state.history, objective, self.tol):
            state.done, state.reason = True, "the objective hardly improves any more"
        return Record(state.iteration, objective)

    def _move(self, problem: Trainable, state: RPropState, value: float, gradient: Float, l1: float) -> None:
        if l1:
            gradient = pseudo_gradient(state.theta, gradient, l1)
        same = gradient * state.gradient
        state.sizes[same > 0] *= self.grow
        state.sizes[same < 0] *= self.shrink
        np.clip(state.sizes, self.smallest, self._largest, out=state.sizes)
        moves = -np.sign(gradient) * state.sizes
        rule = self.backtrack
        if rule != "never":
            flipped = same < 0
            moves[flipped] = -state.moves[flipped] if rule == "always" or value > state.value else 0.0
            gradient = np.where(flipped, 0.0, gradient)
        moved = state.theta + moves
        if l1:
            orthant = np.where(state.theta != 0, np.sign(state.theta), -np.sign(gradient))
            moved[moved * orthant < 0] = 0.0
        if problem.project is not None:
            problem.project(moved)
        state.moves = moved - state.theta
        state.theta, state.gradient, state.value = moved, gradient, value

    def parameters(self, state: RPropState) -> Float:
        """The best point that was evaluated (the last move has not been judged yet); with batches, the last."""
        return state.best
