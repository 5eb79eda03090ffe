"""Limited-memory BFGS (Nocedal 1980), and its orthant-wise variant for l1 (Andrew and Gao 2007).

SciPy has L-BFGS too; this one keeps its state in a value that can be written to disk and resumed to the last bit,
gives a record an iteration, and knows a stopping rule for penalised convex problems: with an l2 penalty the objective
is 2·l2-strongly convex, so its distance from the optimum is at most ‖gradient‖² / (4·l2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from chainfield.problem import Problem

from .linesearch import weak_wolfe
from .trainer import Float, Record, State, Trainer, Window


@dataclass
class LBFGSState(State):
    """θ, its gradient, and the last pairs of steps and gradient changes (a ring of ``memory`` rows)."""

    gradient: Float = field(default_factory=lambda: np.empty(0))
    value: float = 0.0
    steps: Float = field(default_factory=lambda: np.empty((0, 0)))  # (memory, P)
    changes: Float = field(default_factory=lambda: np.empty((0, 0)))  # (memory, P)
    curvature: Float = field(default_factory=lambda: np.empty(0))  # (memory,) step · change
    pairs: int = 0  # how many pairs were ever stored
    metric: Float = field(
        default_factory=lambda: np.empty(0)
    )  # (P,) inverse curvature at the start, or empty: all alike
    history: list[float] = field(default_factory=list)


def direction(state: LBFGSState, gradient: Float) -> Float:
    """-H · gradient by the two-loop recursion."""
    memory = len(state.curvature)
    d = -gradient
    ring = [i % memory for i in range(max(0, state.pairs - memory), state.pairs)]
    weights = {}
    for i in reversed(ring):
        weights[i] = float(state.steps[i] @ d) / state.curvature[i]
        d -= weights[i] * state.changes[i]
    newest = ring[-1] if ring else -1
    if len(state.metric):
        if ring:
            change = state.changes[newest]
            d *= state.curvature[newest] / float(np.einsum("i,i,i->", change, change, state.metric))
        d *= state.metric
    elif ring:
        d *= state.curvature[newest] / float(state.changes[newest] @ state.changes[newest])
    for i in ring:
        d += (weights[i] - float(state.changes[i] @ d) / state.curvature[i]) * state.steps[i]
    return d


def remember(state: LBFGSState, step: Float, change: Float) -> None:
    """Keep a pair, unless its curvature is not safely positive."""
    curvature = float(step @ change)
    if curvature > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        i = state.pairs % len(state.curvature)
        state.steps[i], state.changes[i], state.curvature[i] = step, change, curvature
        state.pairs += 1


def begin_lbfgs(problem: Problem, theta: Float, memory: int) -> LBFGSState:
    """The state at θ, with nothing remembered."""
    value, gradient = problem.evaluate(theta)
    n = len(theta)
    return LBFGSState(
        theta.copy(),
        0,
        False,
        "",
        gradient,
        value,
        np.zeros((memory, n)),
        np.zeros((memory, n)),
        np.zeros(memory),
    )


def judge(problem: Problem, state: LBFGSState, objective: float, norm: float, tol: float, convex_gap: bool) -> None:
    """Set ``done`` when the objective is known or seen to be within ``tol`` of the optimum, relatively."""
    scale = max(abs(objective), 1e-300)
    if norm == 0.0:
        state.done, state.reason = True, "the gradient is zero"
    elif convex_gap and problem.l2 > 0 and norm**2 / (4 * problem.l2) <= tol * scale:
        state.done, state.reason = True, f"the objective is proved to be within {tol:g} of its optimum"
    elif Window().update(state.history, objective, 0.1 * tol):
        state.done, state.reason = True, "the objective hardly improves any more"


@final
@dataclass(frozen=True)
class LBFGS(Trainer[LBFGSState]):
    """For smooth objectives without l1."""

    memory: int = 10
    max_iter: int = 500
    tol: float = 1e-5
    online: ClassVar[bool] = False
    needs_smooth: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = LBFGSState

    def begin(self, problem: Problem, theta: Float) -> LBFGSState:
        """Evaluate the start."""
        self.check(problem)
        return begin_lbfgs(problem, theta, self.memory)

    def step(self, problem: Problem, state: LBFGSState) -> Record:
        """One direction and a line search along it."""
        d = direction(state, state.gradient)
        slope = float(state.gradient @ d)
        if slope >= 0:  # rounding has spoilt the memory: forget it
            state.pairs = 0
            d = -state.gradient
            slope = -float(state.gradient @ state.gradient)
        first = 1.0 if state.pairs else min(1.0, 1.0 / max(float(np.linalg.norm(state.gradient)), 1e-300))
        found = weak_wolfe(problem.evaluate, state.theta, state.value, d, slope, first)
        state.iteration += 1
        if found is None:
            if state.pairs:
                state.pairs = 0  # try again with steepest descent before giving up
            else:
                state.done, state.reason = True, "no step improves the objective any more"
            return Record(state.iteration, state.value, float(np.linalg.norm(state.gradient)))
        theta, value, gradient, trials = found
        remember(state, theta - state.theta, gradient - state.gradient)
        state.theta, state.value, state.gradient = theta, value, gradient
        norm = float(np.linalg.norm(gradient))
        judge(problem, state, value, norm, self.tol, convex_gap=True)
        return Record(state.iteration, value, norm, {"evaluations": trials})


@final
@dataclass(frozen=True)
class OWLQN(Trainer[LBFGSState]):
    """For smooth objectives with l1: L-BFGS that never crosses zero in one step, so that weights become exactly 0."""

    memory: int = 10
    max_iter: int = 500
    tol: float = 1e-5
    online: ClassVar[bool] = False
    needs_smooth: ClassVar[bool] = True
    handles_l1: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = LBFGSState

    def begin(self, problem: Problem, theta: Float) -> LBFGSState:
        """Evaluate the start."""
        self.check(problem)
        return begin_lbfgs(problem, theta, self.memory)

    def step(self, problem: Problem, state: LBFGSState) -> Record:
        """Direction from the pseudo-gradient, projected backtracking."""
        l1, theta = problem.l1, state.theta
        pseudo = pseudo_gradient(theta, state.gradient, l1)
        d = direction(state, pseudo)
        d[d * pseudo >= 0] = 0.0
        orthant = np.where(theta != 0, np.sign(theta), -np.sign(pseudo))
        objective = state.value + l1 * float(np.abs(theta).sum())
        rate = 1.0 if state.pairs else min(1.0, 1.0 / max(float(np.linalg.norm(pseudo)), 1e-300))
        state.iteration += 1
        evaluations = 0
        while evaluations < 30:
            evaluations += 1
            moved = theta + rate * d
            moved[moved * orthant < 0] = 0.0
            value, gradient = problem.evaluate(moved)
            reached = value + l1 * float(np.abs(moved).sum())
            if reached <= objective + 1e-4 * float(pseudo @ (moved - theta)):
                break
            rate *= 0.5
        else:
            if state.pairs:
                state.pairs = 0
            else:
                state.done, state.reason = True, "no step improves the objective any more"
            return Record(state.iteration, objective, float(np.linalg.norm(pseudo)))
        remember(state, moved - theta, gradient - state.gradient)
        state.theta, state.value, state.gradient = moved, value, gradient
        pseudo = pseudo_gradient(moved, gradient, l1)
        norm = float(np.linalg.norm(pseudo))
        judge(problem, state, reached, norm, self.tol, convex_gap=True)
        active = float(np.count_nonzero(moved))
        return Record(state.iteration, reached, norm, {"evaluations": evaluations, "active": active})


def pseudo_gradient(theta: Float, gradient: Float, l1: float) -> Float:
    """The subgradient of smallest norm of f + l1 ‖θ‖₁."""
    right, left = gradient + l1, gradient - l1
    at_zero = np.where(right < 0, right, np.where(left > 0, left, 0.0))
    return np.where(theta > 0, right, np.where(theta < 0, left, at_zero))
