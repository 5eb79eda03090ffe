"""Stochastic gradient descent, with averaging; the averaged perceptron is this with a perceptron objective.

    θ ← θ - η_k ∇loss_s(θ)      one sequence (or a few) at a time, in fresh random order each pass

The way back of a sequence's gradient adds to θ itself, so a step touches only the weights of its features. An l2
penalty touches all of them, by the same factor: θ is kept as a factor times a vector during a pass (Bottou 2010). An l1
penalty is saved up and paid after some dozens of steps for all parameters at once (a move to zero that stops there).
The average of all iterates costs one more way back, not a pass over θ (see :mod:`chainfield.trainers.averaging`). With
θ_k = c_k v_k, Δ_k the change of v in step k, and C_k = c_1 + … + c_k:
sum over k of θ_k = C_K v_K - sum over k of C_{k-1} Δ_k.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import DivergenceError
from chainfield.problem import Steps, Trainable, move_back

from .averaging import AveragedState, averages, check_averaging, pieces, restarts
from .trainer import Record, State, Trainer, Window, check_pace, orders

# Paying the penalties costs a few passes over θ; it should not cost more than the steps in between.
PAY = 64
PARAMETERS_PER_STEP = 4000
# Where the search for a first step begins, and where it gives up.
FIRST_RATE, SMALLEST_RATE = 0.1, 1e-7


@dataclass
class OnlineState(AveragedState):
    """θ, its average, and how far a step goes."""

    rate: float = 0.0  # the first step size, once it is chosen
    history: list[float] = field(default_factory=list)


@final
@dataclass(frozen=True)
class SGD(Trainer[OnlineState]):
    """η_k = rate / (1 + rate · decay · k); ``rate`` None: chosen by trial on a sample.

    ``decay`` None: 2·l2 / S, the strong convexity of a term (Bottou 2010), so that likelihood training converges.
    ``average_from``: the pass from which iterates are averaged (burn-in), None for no averaging.
    ``restart_every``: every k-th pass begins at the average, which then begins with the first pass if nothing is said.
    """

    rate: float | None = None
    decay: float | None = None
    average_from: int | None = None
    restart_every: int | None = None
    batch_size: int = 1
    max_iter: int = 50
    tol: float = 1e-4
    seed: int = 0
    online: ClassVar[bool] = True
    handles_l1: ClassVar[bool] = True
    projects: ClassVar[bool] = True
    handles_single: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = OnlineState

    def begin(self, problem: Trainable, theta: Float) -> OnlineState:
        """Choose the first step size."""
        self.check(problem)
        check_averaging(self.average_from, self.restart_every)
        rate = calibrate(problem.windows, theta, self.seed) if self.rate is None else self.rate
        return OnlineState(
            theta.copy(), lag=np.zeros(theta.shape, theta.dtype), rate=rate
        )  # pages that nobody touches cost nothing

    def step(self, problem: Trainable, state: OnlineState) -> Record:
        """A pass over the data."""
        problem = problem.windows
        n = problem.n_sequences
        decay = 2.0 * problem.l2 / n if self.decay is None else self.decay
        averaging = averages(self.average_from, self.restart_every, state.iteration)
        if restarts(self.restart_every, state.iteration):
            state.restart()
        order = orders(self.seed, state.iteration, n)
        n_steps = -(-n // self.batch_size)
        before, of = (-(-count // self.batch_size) for count in problem.step_bounds)
        taken = (state.iteration * of + before + np.arange(n_steps)).astype(np.float64)
        rates = state.rate / (1.0 + state.rate * decay * taken)
        loss, mistakes = 0.0, 0
        sizes = np.minimum(self.batch_size, n - self.batch_size * np.arange(n_steps))
        shrink = 1.0 / (1.0 + 2.0 * problem.l2 * rates * sizes / n)
        # Where parameters have steps of their own, each has its own share of the penalties: they are saved up as well.
        shared = problem.even
        paying = bool(problem.l1) or bool(problem.l2 and not shared)
        every = pay_interval(problem) if paying else n_steps
        for lo in range(0, n_steps, every):
            hi = min(lo + every, n_steps)
            if self.batch_size == 1:
                steps = Steps(
                    state.theta,
                    order[lo:hi],
                    rates[lo:hi],
                    shrink=shrink[lo:hi] if problem.l2 and shared else None,
                    lag=state.lag if averaging else None,
                    mass=state.mass if averaging else 0.0,
                )
                part, wrong, state.mass = problem.walk(steps)
                loss += part
                mistakes += wrong
            else:
                for step in range(lo, hi):
                    chosen = order[step * self.batch_size : (step + 1) * self.batch_size]
                    value, d, pullback = problem.differentiate(state.theta, chosen)
                    loss += value
                    mistakes += 1
                    if averaging:  # first: a step changes the parameters that the way back may read
                        pullback(d, state.lag, -rates[step] * state.mass, paced=True)
                    pullback(d, state.theta, -rates[step], paced=True)
                    if problem.l2 and shared:
                        state.theta *= shrink[step]
                        state.mass /= shrink[step]
                    if problem.project is not None:
                        move_back(problem.project, state.theta, state.lag if averaging else None, state.mass)
                    state.mass += 1.0
            state.clock += averaging * (hi - lo)
            if paying:
                share = (min(hi * self.batch_size, n) - lo * self.batch_size) / n
                pay(problem, state, float(rates[lo:hi].mean()) * share, averaging)
        if not averaging:
            state.mass = 0.0
        state.iteration += 1
        check_pace(problem, state.theta, loss, f"SGD ran away in pass {state.iteration}", state.rate)
        objective = loss + (problem.penalty(self.parameters(state)) if problem.l1 or problem.l2 else 0.0)
        right = not problem.smooth and mistakes == 0 and not (problem.l1 or problem.l2)
        if right and self._average_is_right(problem, state):
            state.done, state.reason = True, "every training sequence is right, by its margin"
        elif problem.smooth and Window(5).update(state.history, objective, self.tol):
            state.done, state.reason = True, "the objective hardly improves any more"
        return Record(state.iteration, objective, None, {"updates": float(mistakes)})

    def _average_is_right(self, problem: Trainable, state: OnlineState) -> bool:
        """Whether the average, which is what training gives, gets nine in ten sequences right as well.

        Over few data it may not: passes that change nothing then bring it closer to the parameters that do.
        """
        if not state.clock or self.batch_size != 1:
            return True
        n = problem.n_sequences
        _, wrong, _ = problem.walk(Steps(state.average(), np.arange(n), np.zeros(n)))
        return wrong <= n // 10

    def parameters(self, state: OnlineState) -> Float:
        """The average once there is one."""
        return state.average()

    def finish(self, state: OnlineState) -> Float:
        """The average takes the place of what was behind it."""
        return state.settle()


def pay_interval(problem: Trainable) -> int:
    """How many steps go by between payments."""
    return max(PAY, problem.n_parameters // PARAMETERS_PER_STEP)


def pay(problem: Trainable, state: OnlineState, rate: float, averaging: bool) -> None:
    """A proximal step on the penalties, for a sum of step sizes ``rate``.

    l2 is paid here only where parameters have steps of their own; else every step shrinks all of them alike.
    """
    l2 = 0.0 if problem.even else problem.l2
    for block, pace, counts in problem.step_blocks:
        steps = rate * pace * counts
        for part in pieces(block):
            own = state.theta[part]
            paid = np.sign(own) * np.maximum(np.abs(own) - problem.l1 * steps, 0.0) / (1.0 + 2.0 * l2 * steps)
            if averaging:
                state.lag[part] += state.mass * (paid - own)
            own[...] = paid


def calibrate(problem: Trainable, theta: Float, seed: int, sample: int = 200) -> float:
    """The largest of the rates …, 1/4, 1/2, 1, 2, … that still lowers the loss of a sample most (Bottou 2010).

    Losses of steps that are far too large say nothing about which of them is better: the search is among those behind
    which the sample is better off than before.
    """
    chosen = orders(seed, 2**31, problem.n_sequences)[:sample]

    def loss_at(theta: Float) -> float:
        penalty = problem.penalty(theta) * len(chosen) / problem.n_sequences
        return problem.differentiate(theta, np.sort(chosen))[0] + penalty

    def loss_after(rate: float) -> float:
        trial = theta.copy()
        try:
            problem.walk(Steps(trial, chosen, np.full(len(chosen), rate)))
        except DivergenceError:
            return np.inf
        return loss_at(trial) if np.isfinite(trial).all() else np.inf

    rate, best = FIRST_RATE, loss_after(FIRST_RATE)
    before = loss_at(theta)
    while problem.smooth and not best < before and rate > SMALLEST_RATE:
        rate, best = 0.5 * rate, loss_after(0.5 * rate)
    factor = 2.0 if rate == FIRST_RATE and loss_after(2.0 * rate) < best else 0.5
    for _ in range(20):
        value = loss_after(rate * factor)
        if not value < best:
            break
        rate, best = rate * factor, value
    # A rate that is best for a short sample is too bold for a whole pass.
    return 0.5 * rate
