"""Dual-free stochastic dual coordinate ascent (Shalev-Shwartz 2016): variance-reduced, linear convergence.

Every sequence keeps the gradient of its loss in score space, as last seen; θ is their sum pulled back, over -2·l2. A
step on sequence s sees the new gradient, moves what is kept by a fraction γ towards it, and θ along:

    d = new - kept;   kept += γ d;   θ -= γ / (2·l2) · pullback(d)

At the optimum new = kept, so steps vanish by themselves and no step size has to fall. It needs l2 > 0, a smooth
objective, and scorers that are linear in their parameters (then a kept score gradient is worth a kept gradient).
The bound on γ depends on the data; it starts bold and is halved, from the last good point, whenever a pass makes the
objective worse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from chainfield.arrays import Float, Single
from chainfield.errors import ConfigError
from chainfield.problem import KeptGradients, Steps, Trainable

from .smoothness import smoothness
from .trainer import Record, State, Trainer, Window, kept, orders

# (N, R), and (S, E) or, where positions have edges of their own, (N, E)
NODES, EDGES = ("positions", "R"), ("sequences or positions", "E")


def kept_sizes(problem: Trainable) -> dict[str, int]:
    """The sizes of what is kept."""
    return {name: size for names, shape in zip((NODES, EDGES), problem.windows.kept_shapes(), strict=True)
            for name, size in zip(names, shape, strict=True)}  # fmt: skip


@dataclass
class SDCAState(State):
    """What every sequence keeps, and the last good point to go back to."""

    node: Single = kept("what SDCA keeps of the gradients of positions", *NODES, single=True)
    edge: Single = kept("what SDCA keeps of the gradients of transitions", *EDGES, single=True)
    rest: Float = kept("the part of the start that no sequence explains", "P")
    share: float = 0.0
    value: float = np.inf
    good_theta: Float = kept("θ at the last good point", "P")
    good_node: Single = kept("`node` at the last good point", *NODES, single=True)
    good_edge: Single = kept("`edge` at the last good point", *EDGES, single=True)
    good_rest: Float = kept("`rest` at the last good point", "P")
    history: list[float] = field(default_factory=list)


def safe_share(problem: Trainable, theta: Float, seed: int) -> float:
    """γ = 2·l2 / (2·l2 + L) (Shalev-Shwartz 2016), with L, the smoothness of a sequence's loss, doubled for safety."""
    return 2.0 * problem.l2 / (2.0 * problem.l2 + 2.0 * smoothness(problem, theta, seed))


@final
@dataclass(frozen=True)
class SDCA(Trainer[SDCAState]):
    """``share`` is the first γ; None: from the smoothness of the losses."""

    share: float | None = None
    max_iter: int = 100
    tol: float = 1e-5
    seed: int = 0
    online: ClassVar[bool] = True
    needs_smooth: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = SDCAState

    def check(self, problem: Trainable) -> None:
        """Needs l2 and linear scorers besides."""
        super().check(problem)
        if problem.l2 <= 0:
            raise ConfigError('trainer="sdca" needs l2 > 0; give a penalty, or use trainer="lbfgs".')
        if not problem.linear:
            raise ConfigError(
                'trainer="sdca" needs scores that are linear in the parameters, and these are not; use trainer="lbfgs".'
            )

    def begin(self, problem: Trainable, theta: Float) -> SDCAState:
        """Nothing is kept; what θ contains besides is kept in ``rest`` and fades away."""
        self.check(problem)
        problem = problem.windows
        node, edge = (np.zeros(shape, np.float32) for shape in problem.kept_shapes())
        share = safe_share(problem, theta, self.seed) if self.share is None else self.share
        state = SDCAState(theta.copy(), node=node, edge=edge, rest=-2.0 * problem.l2 * theta, share=share)
        self._keep(state)
        return state

    def sizes(self, problem: Trainable) -> dict[str, int]:
        """Those of what is kept besides."""
        return super().sizes(problem) | kept_sizes(problem)

    def _keep(self, state: SDCAState) -> None:
        state.good_theta, state.good_rest = state.theta.copy(), state.rest.copy()
        state.good_node, state.good_edge = state.node.copy(), state.edge.copy()

    def _return(self, state: SDCAState) -> None:
        state.theta, state.rest = state.good_theta.copy(), state.good_rest.copy()
        state.node, state.edge = state.good_node.copy(), state.good_edge.copy()

    def step(self, problem: Trainable, state: SDCAState) -> Record:
        """A pass over the data, then the exact objective and gradient."""
        problem = problem.windows
        share = state.share
        pace = share / (2.0 * problem.l2)
        order = orders(self.seed, state.iteration, problem.n_sequences)
        own = KeptGradients(state.node, state.edge, share)
        problem.walk(Steps(state.theta, order, np.full(len(order), pace), kept=own))
        if state.rest.any():
            state.theta += pace * state.rest
            state.rest *= 1.0 - share
            if np.linalg.norm(state.rest) <= 1e-12 * np.linalg.norm(state.theta):
                state.rest[:] = 0.0
        state.iteration += 1
        value, gradient = problem.evaluate(state.theta)
        norm = float(np.linalg.norm(gradient))
        record = Record(state.iteration, value, norm, {"share": share})
        if value > state.value and state.share > 1e-4:
            state.share *= 0.5
            self._return(state)
            return record
        state.value = value
        self._keep(state)
        if problem.convex and norm**2 / (4 * problem.l2) <= self.tol * abs(value):
            state.done, state.reason = (
                True,
                f"converged (proved to be within {100 * self.tol:g} % of the optimum)",
            )
        elif Window().update(state.history, value, 0.1 * self.tol):
            state.done, state.reason = True, "the objective hardly improves any more"
        return record

    def parameters(self, state: SDCAState) -> Float:
        """The last good point."""
        return state.good_theta
