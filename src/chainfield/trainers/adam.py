"""Adam (Kingma and Ba 2015) on mini-batches, with a step size that falls as 1 / sqrt(pass)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.problem import Trainable

from .averaging import AveragedState, averages, check_averaging, restarts
from .trainer import Record, State, Trainer, Window, check_pace, kept, orders


@dataclass
class AdamState(AveragedState):
    """First and second moments of the gradient, and what is behind the average."""

    mean: Float = kept("Adam's mean gradients", "P")
    square: Float = kept("Adam's mean squares of gradients", "P", least=0)
    steps: int = 0
    history: list[float] = field(default_factory=list)


@final
@dataclass(frozen=True)
class Adam(Trainer[AdamState]):
    """Penalties enter as their share of a mini-batch: l2 in the gradient, l1 as a proximal step.

    ``batch_size`` None: a fiftieth of the sequences, at least 1 and at most 32.
    ``average_from``, ``restart_every``: as for SGD. The moments are kept when θ restarts from the average.
    """

    rate: float = 0.05
    beta1: float = 0.9
    beta2: float = 0.999
    average_from: int | None = None
    restart_every: int | None = None
    batch_size: int | None = None
    max_iter: int = 50
    tol: float = 1e-4
    seed: int = 0
    online: ClassVar[bool] = True
    handles_l1: ClassVar[bool] = True
    projects: ClassVar[bool] = True
    handles_single: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = AdamState

    def begin(self, problem: Trainable, theta: Float) -> AdamState:
        """Moments start at zero."""
        self.check(problem)
        check_averaging(self.average_from, self.restart_every)
        lag, mean, square = (np.zeros_like(theta) for _ in range(3))
        return AdamState(theta.copy(), lag=lag, mean=mean, square=square)

    def step(self, problem: Trainable, state: AdamState) -> Record:
        """A pass over the data."""
        problem = problem.windows
        n = problem.n_sequences
        averaging = averages(self.average_from, self.restart_every, state.iteration)
        if restarts(self.restart_every, state.iteration):
            state.restart()
        order = orders(self.seed, state.iteration, n)
        rate = self.rate / np.sqrt(1.0 + state.iteration)
        size = min(max(n // 50, 1), 32) if self.batch_size is None else self.batch_size
        # As if every parameter were measured in units in which its relative step is 1.
        pace = None if problem.pace is None else np.sqrt(problem.pace)
        loss = 0.0
        gradient = np.empty_like(state.theta)
        for at in range(0, n, size):
            chosen = order[at : at + size]
            share = len(chosen) / n
            np.multiply(state.theta, 2.0 * problem.l2 * share, out=gradient)
            value, d, pullback = problem.differentiate(state.theta, chosen)
            pullback(d, gradient, 1.0)
            loss += value
            state.steps += 1
            state.mean += (1.0 - self.beta1) * (gradient - state.mean)
            state.square += (1.0 - self.beta2) * (gradient * gradient - state.square)
            scale = np.sqrt(state.square / (1.0 - self.beta2**state.steps)) + 1e-8
            step = rate / scale if pace is None else rate * pace / scale
            before = state.theta.copy() if averaging else None
            state.theta -= step * state.mean / (1.0 - self.beta1**state.steps)
            if problem.l1:
                shrunk = np.abs(state.theta) - step * (problem.l1 * share)
                state.theta = np.sign(state.theta) * np.maximum(shrunk, 0.0)
            if problem.project is not None:
                problem.project(state.theta)
            if before is not None:
                state.lag += state.mass * (state.theta - before)
                state.mass += 1.0
                state.clock += 1
        state.iteration += 1
        check_pace(problem, state.theta, loss, f"Adam ran away in pass {state.iteration}", self.rate)
        objective = loss + problem.penalty(self.parameters(state))
        if problem.smooth and Window(5).update(state.history, objective, self.tol):
            state.done, state.reason = True, "the objective hardly improves any more"
        return Record(state.iteration, objective, None)

    def parameters(self, state: AdamState) -> Float:
        """The average once there is one."""
        return state.average()
