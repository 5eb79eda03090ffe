"""The default for smooth objectives: a stochastic start, then quasi-Newton steps in a metric that suits the data.

Few stochastic passes come within some per cent of the optimum, which takes L-BFGS dozens of evaluations; after that,
L-BFGS is better: exact, parallel, and with a sound test for the end. Its first metric is the diagonal of the curvature
at the point where it starts, to the power -0.65 (-1 would trust the diagonal fully, 0 not at all).

Stochastic passes are dual-free SDCA if there is an l2 penalty (and no l1), else SGD. Where each step would go through
Python, they take longer than they save, and are left out. Data in pieces have fewer passes, of SGD in strands that are
mixed: SDCA would have to keep numbers for every position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from chainfield.arrays import Float, Single
from chainfield.problem import KeptGradients, SpreadProblem, Steps, Trainable

from .lbfgs import LBFGS, OWLQN, LBFGSState, begin_lbfgs, metric_at
from .mixing import MixedState, Mixing
from .online import SGD, OnlineState
from .sdca import EDGES, NODES, kept_sizes, safe_share
from .trainer import Record, State, Trainer, kept, orders

SNAPSHOTS = 8
MIXED = 4  # passes over pieces: on CoNLL-2000 in 15 of them, they save a third of the time
MOST_BYTES = 2 << 30  # what SDCA may keep


@dataclass
class AutoState(LBFGSState):
    """Both stages in one: ``passes`` counts the stochastic ones, and what SDCA keeps is empty afterwards."""

    passes: int = 0
    share: float = 0.0
    node: Single = kept("what SDCA keeps of the gradients of positions", *NODES, single=True)
    edge: Single = kept("what SDCA keeps of the gradients of transitions", *EDGES, single=True)
    rate: float = 0.0


@final
@dataclass(frozen=True)
class Auto(Trainer[AutoState]):
    """``passes`` stochastic ones, then L-BFGS, or OWL-QN if l1 > 0."""

    passes: int = 8
    small: int = 2000  # with fewer positions the stochastic start is not worth it
    memory: int = 8
    max_iter: int = 500
    tol: float = 1e-3
    seed: int = 0
    online: ClassVar[bool] = False
    needs_smooth: ClassVar[bool] = True
    handles_l1: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = AutoState

    def begin(self, problem: Trainable, theta: Float) -> AutoState:
        """Choose the stages."""
        self.check(problem)
        state = AutoState(theta.copy())
        spread = isinstance(problem, SpreadProblem)
        steps = problem.linear and (spread or problem.stepwise) and problem.quick_steps
        if not steps or problem.n_positions < self.small or self.passes == 0:
            self._settle(problem, state)
        elif spread:
            state.rate = self._mixing().begin(problem, theta).rate
        elif problem.l2 > 0 and problem.l1 == 0 and not theta.any() and self._keeps(problem):
            state.node, state.edge = (np.zeros(shape, np.float32) for shape in problem.windows.kept_shapes())
            state.share = safe_share(problem.windows, theta, self.seed)
        else:
            state.rate = SGD(seed=self.seed).begin(problem, theta).rate
        return state

    def sizes(self, problem: Trainable) -> dict[str, int]:
        """Those of both stages, where there can be two."""
        there = problem.linear and problem.stepwise and problem.windows.keeps
        return super().sizes(problem) | {"memory": self.memory} | (kept_sizes(problem) if there else {})

    def absent(self, state: AutoState) -> frozenset[str]:
        """In the first stage what L-BFGS needs, in the second what SDCA keeps."""
        if len(state.gradient):
            return frozenset({"node", "edge"})
        later = frozenset({"gradient", "steps", "changes", "step_change", "change_change", "metric"})
        return later if state.share else later | {"node", "edge"}

    def step(self, problem: Trainable, state: AutoState) -> Record:
        """A stochastic pass, or an iteration of L-BFGS."""
        if len(state.gradient) == 0:  # never evaluated: still in the first stage
            record = self._pass(problem, state)
            if state.passes == (min(MIXED, self.passes) if isinstance(problem, SpreadProblem) else self.passes):
                self._settle(problem, state)
            return record
        finish: LBFGS | OWLQN = (
            LBFGS(self.memory, tol=self.tol) if problem.l1 == 0 else OWLQN(self.memory, tol=self.tol)
        )
        record = finish.step(problem, state)
        if state.done and state.passes:
            start = "SDCA" if state.share else "SGD"
            state.reason = f"after {state.passes} passes of {start}, {type(finish).__name__}: {state.reason}"
        return record

    def _keeps(self, problem: Trainable) -> bool:
        return problem.windows.keeps and kept_bytes(problem) <= MOST_BYTES

    def _mixing(self) -> Mixing:
        return Mixing.of(SGD(seed=self.seed))

    def _pass(self, problem: Trainable, state: AutoState) -> Record:
        objective = self._mixed(problem, state) if isinstance(problem, SpreadProblem) else self._walked(problem, state)
        state.iteration += 1
        state.passes += 1
        return Record(state.iteration, objective, None)

    def _mixed(self, problem: SpreadProblem, state: AutoState) -> float:
        nothing = np.empty(0)
        mixed = MixedState(
            state.theta, iteration=state.iteration, total=np.zeros_like(state.theta), memory=nothing, rate=state.rate
        )
        objective = self._mixing().step(problem, mixed).objective
        state.theta = mixed.theta
        return objective

    def _walked(self, problem: Trainable, state: AutoState) -> float:
        problem = problem.windows
        if state.share:
            order = orders(self.seed, state.iteration, problem.n_sequences)
            own = KeptGradients(state.node, state.edge, state.share)
            # The last pass is averaged over snapshots, which takes out the noise of single steps.
            last = state.passes == self.passes - 1
            parts = np.array_split(order, min(SNAPSHOTS, len(order))) if last else [order]
            mean, loss = np.zeros_like(state.theta) if last else state.theta, 0.0
            for part in parts:
                rates = np.full(len(part), state.share / (2.0 * problem.l2))
                loss += problem.walk(Steps(state.theta, part, rates, kept=own)).loss
                if last:
                    mean += state.theta / len(parts)
            state.theta = mean
            return loss + problem.penalty(state.theta)
        inner = OnlineState(state.theta, iteration=state.iteration, lag=np.empty(0), rate=state.rate)
        return SGD(seed=self.seed).step(problem, inner).objective

    def _settle(self, problem: Trainable, state: AutoState) -> None:
        """The state in which L-BFGS begins."""
        started = begin_lbfgs(problem, state.theta, self.memory)
        state.since = state.iteration
        for name in ("gradient", "value", "steps", "changes", "step_change", "change_change"):
            setattr(state, name, getattr(started, name))
        if state.passes:
            state.metric = metric_at(problem, state.theta)
        state.node, state.edge = np.empty((0, 0), np.float32), np.empty((0, 0), np.float32)


def kept_bytes(problem: Trainable) -> int:
    """What SDCA would keep."""
    return 4 * sum(a * b for a, b in problem.windows.kept_shapes())
