"""Limited-memory BFGS (Nocedal 1980), and its orthant-wise variant for l1 (Andrew and Gao 2007).

SciPy has L-BFGS too; this one keeps its state in a value that can be written to disk and resumed to the last bit,
gives a record per iteration, and knows a stopping rule for penalised convex problems: with an l2 penalty the objective
is 2·l2-strongly convex, so its distance from the optimum is at most ‖gradient‖² / (4·l2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from chainfield.arrays import Float, Single
from chainfield.parallel import ordered_map
from chainfield.problem import Trainable

from .linesearch import weak_wolfe
from .trainer import Outlook, Record, State, Trainer, kept

CHUNK = 1 << 16  # parameters a thread takes at a time; sums over chunks are added in order
POWER = 0.65  # how far the diagonal of the curvature is trusted: 1 is fully, 0 not at all


@dataclass
class LBFGSState(State):
    """θ, its gradient, and the last pairs of steps s and gradient changes y (a ring of ``memory`` rows).

    The products of all pairs with each other are kept, so that a direction needs only those with the new gradient.
    """

    gradient: Float = kept("the gradient at θ", "P")
    value: float = 0.0
    steps: Single = kept("the steps s that L-BFGS remembers", "memory", "P", single=True)
    changes: Single = kept("the changes y of the gradient that go with them", "memory", "P", single=True)
    step_change: Float = kept("their products s_i · y_j", "memory", "memory")
    change_change: Float = kept("the products y_i · D y_j", "memory", "memory")
    pairs: int = 0  # how many pairs were ever stored
    since: int = 0  # the iteration at which it began
    metric: Float = kept("D, the inverse curvature that L-BFGS begins with; empty: 1", "P", optional=True, least=0)
    history: list[float] = field(default_factory=list)


def direction(state: LBFGSState, gradient: Float, n_jobs: int) -> tuple[Float, float]:
    """-H · gradient by the two-loop recursion, in terms of inner products; and its product with the gradient."""
    from chainfield.kernels.train.lbfgs import combine, weighted_products

    memory, n = len(state.steps), len(gradient)
    used = np.arange(max(0, state.pairs - memory), state.pairs) % max(memory, 1)
    chunks = chunks_of(n)
    of_steps, of_changes, of_gradient = np.zeros(len(used)), np.zeros(len(used)), -1.0
    if len(used):
        newest = int(used[-1])

        def products(bounds: tuple[int, int]) -> Float:
            out = np.zeros((len(used), 5))
            weighted_products(*bounds, state.steps, state.changes, used, newest, gradient, state.metric, out)
            return out

        table = np.zeros((len(used), 5))
        for part in ordered_map(products, chunks, n_jobs):
            table += part
        state.step_change[used, newest], state.step_change[newest, used] = table[:, 2], table[:, 4]
        state.change_change[used, newest] = state.change_change[newest, used] = table[:, 3]
        pairs = (used[:, None], used)
        sy, yy = state.step_change[pairs], state.change_change[pairs]
        # First loop: q = -g - sum of a_i y_i. Second loop: r = scale · D q + sum of (a_i - b_i) s_i.
        weights = np.zeros(len(used))
        for i in reversed(range(len(used))):
            weights[i] = (-table[i, 0] - weights @ sy[i]) / sy[i, i]
        scale = sy[-1, -1] / yy[-1, -1]
        for i in range(len(used)):
            product = scale * (-table[i, 1] - weights @ yy[i]) + of_steps @ sy[:, i]
            of_steps[i] = weights[i] - product / sy[i, i]
        of_changes, of_gradient = -scale * weights, -scale
    d = np.empty_like(gradient)

    def combined(bounds: tuple[int, int]) -> float:
        return float(
            combine(
                *bounds, state.steps, state.changes, used, of_steps, of_changes, of_gradient, gradient, state.metric, d
            )
        )

    return d, sum(ordered_map(combined, chunks, n_jobs))


def remember(state: LBFGSState, theta: Float, gradient: Float, n_jobs: int) -> None:
    """Keep the way from the state's θ and gradient to these as a pair, unless its curvature is not safely positive."""
    from chainfield.kernels.train.lbfgs import difference

    i = state.pairs % len(state.steps)

    def part(bounds: tuple[int, int]) -> Float:
        vectors = (theta, state.theta, gradient, state.gradient, state.steps[i], state.changes[i])
        return np.array(difference(*bounds, *vectors))

    product, steps, changes = sum(ordered_map(part, chunks_of(len(theta)), n_jobs), np.zeros(3))
    if product > 1e-10 * np.sqrt(steps * changes):
        state.pairs += 1
    else:  # the place may have held an older pair, which is gone now
        state.pairs = 0


def chunks_of(n: int) -> list[tuple[int, int]]:
    """Runs of parameters, for threads."""
    return [(lo, min(lo + CHUNK, n)) for lo in range(0, n, CHUNK)]


def metric_at(problem: Trainable, theta: Float) -> Float:
    """D, from the diagonal of the curvature at θ."""
    diagonal = problem.curvature(theta)
    if problem.l2 == 0:  # nothing keeps it from zero
        diagonal += max(float(diagonal.mean()) * 1e-3, 1e-8)
    return diagonal**-POWER


def begin_lbfgs(problem: Trainable, theta: Float, memory: int, preconditioned: bool = False) -> LBFGSState:
    """The state at θ, with nothing remembered."""
    value, gradient = problem.evaluate(theta)
    metric = metric_at(problem, theta) if preconditioned else np.empty(0)
    return LBFGSState(
        theta.copy(),
        gradient=gradient,
        value=value,
        steps=np.zeros((memory, len(theta)), np.float32),
        changes=np.zeros((memory, len(theta)), np.float32),
        step_change=np.zeros((memory, memory)),
        change_change=np.zeros((memory, memory)),
        metric=metric,
    )


def first_step(gradient: Float) -> float:
    """A step of length 1 at most, where nothing is known of the curvature."""
    return min(1.0, 1.0 / max(float(np.linalg.norm(gradient)), 1e-300))


def judge(problem: Trainable, state: LBFGSState, objective: float, norm: float, tol: float) -> None:
    """Set ``done`` when the objective is known or seen to be within ``tol`` of the optimum, relatively."""
    scale = max(abs(objective), 1e-300)
    if norm == 0.0:
        state.done, state.reason = True, "the gradient is zero"
    elif problem.convex and problem.l2 > 0 and norm**2 / (4 * problem.l2) <= tol * scale:
        state.done, state.reason = True, f"converged (proved to be within {100 * tol:g} % of the optimum)"
    elif Outlook().update(state.history, objective, tol, slow=0 if problem.l2 else state.iteration - state.since):
        state.done, state.reason = True, f"converged (within {100 * tol:g} % of the optimum)"


@dataclass(frozen=True)
class QuasiNewton(Trainer[LBFGSState]):
    """What both share: a memory of steps, and what happens when no step helps.

    ``preconditioned``: steps are measured by the curvature at the start.
    """

    memory: int = 10
    max_iter: int = 500
    tol: float = 1e-5
    preconditioned: bool = False
    online: ClassVar[bool] = False
    needs_smooth: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = LBFGSState

    def begin(self, problem: Trainable, theta: Float) -> LBFGSState:
        """Evaluate the start."""
        self.check(problem)
        return begin_lbfgs(problem, theta, self.memory, self.preconditioned)

    def sizes(self, problem: Trainable) -> dict[str, int]:
        """How many steps are remembered."""
        return super().sizes(problem) | {"memory": self.memory}

    def _stuck(self, state: LBFGSState, objective: float, gradient: Float) -> Record:
        """No step along the direction improves the objective: once more by steepest descent before giving up."""
        if state.pairs:
            state.pairs = 0
        else:
            state.done, state.reason = True, "no step improves the objective any more"
        return Record(state.iteration, objective, float(np.linalg.norm(gradient)))


@final
@dataclass(frozen=True)
class LBFGS(QuasiNewton):
    """For smooth objectives without l1."""

    def step(self, problem: Trainable, state: LBFGSState) -> Record:
        """One direction and a line search along it."""
        d, slope = direction(state, state.gradient, problem.n_jobs)
        if slope >= 0:  # rounding has spoilt the memory: forget it
            state.pairs = 0
            d = -state.gradient
            slope = -float(state.gradient @ state.gradient)
        first = 1.0 if state.pairs or len(state.metric) else first_step(state.gradient)
        found = weak_wolfe(problem.evaluate, state.theta, state.value, d, slope, first)
        state.iteration += 1
        if found is None:
            return self._stuck(state, state.value, state.gradient)
        theta, value, gradient, trials = found
        remember(state, theta, gradient, problem.n_jobs)
        state.theta, state.value, state.gradient = theta, value, gradient
        norm = float(np.linalg.norm(gradient))
        judge(problem, state, value, norm, self.tol)
        return Record(state.iteration, value, norm, {"evaluations": trials})


@final
@dataclass(frozen=True)
class OWLQN(QuasiNewton):
    """For smooth objectives with l1: L-BFGS that never crosses zero in one step, so that weights become exactly 0."""

    handles_l1: ClassVar[bool] = True

    def step(self, problem: Trainable, state: LBFGSState) -> Record:
        """Direction from the pseudo-gradient, projected backtracking."""
        l1, theta = problem.l1, state.theta
        pseudo = pseudo_gradient(theta, state.gradient, l1)
        d, _ = direction(state, pseudo, problem.n_jobs)
        d[d * pseudo >= 0] = 0.0
        orthant = np.where(theta != 0, np.sign(theta), -np.sign(pseudo))
        objective = state.value + l1 * float(np.abs(theta).sum())
        rate = 1.0 if state.pairs or len(state.metric) else first_step(pseudo)
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
            return self._stuck(state, objective, pseudo)
        remember(state, moved, gradient, problem.n_jobs)
        state.theta, state.value, state.gradient = moved, value, gradient
        pseudo = pseudo_gradient(moved, gradient, l1)
        norm = float(np.linalg.norm(pseudo))
        judge(problem, state, reached, norm, self.tol)
        active = float(np.count_nonzero(moved))
        return Record(state.iteration, reached, norm, {"evaluations": evaluations, "active": active})


def pseudo_gradient(theta: Float, gradient: Float, l1: float) -> Float:
    """The subgradient of smallest norm of f + l1 ‖θ‖₁."""
    right, left = gradient + l1, gradient - l1
    at_zero = np.where(right < 0, right, np.where(left > 0, left, 0.0))
    return np.where(theta > 0, right, np.where(theta < 0, left, at_zero))
