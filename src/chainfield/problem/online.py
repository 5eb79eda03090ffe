"""A pass of online training, in one kernel where there is one for the chain, else sequence by sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from chainfield.arrays import Float, Int

from .memory import Memory
from .problem import Problem


@dataclass(frozen=True, eq=False)
class OnlinePass:
    """Steps θ -= rate · pace · (gradient of a sequence), for as many sequences as are given.

    shrink: a factor for θ after each step, the share of an l2 penalty. It costs nothing: where the chain is linear, θ
    is kept as a factor times a vector during the pass.
    lag, mass: what an average needs. With Δ_k the change of step k, and θ_k what follows from it by shrinking, the sum
    of the iterates θ_1 … θ_K is mass · θ_K - lag.
    memory, share: what every sequence keeps of its gradient, and the share of a change that is added to it; a step
    goes along the difference.
    """

    problem: Problem

    def __call__(
        self,
        theta: Float,
        order: Int,
        rates: Float,
        *,
        shrink: Float | None = None,
        lag: Float | None = None,
        mass: float = 0.0,
        memory: Memory | None = None,
        share: float = 0.0,
    ) -> tuple[float, int, float]:
        """Move θ (and lag, and the memory) along; returns the loss met on the way, the number of updates, the mass."""
        fused, units = self.problem.fused, self.problem.fused_units
        if fused is not None and self.problem.project is None:
            return fused.walk(theta, order, rates, shrink, lag, mass, memory, share)
        if units is not None and shrink is None and memory is None and self.problem.project is None:
            return units.walk(theta, order, rates, lag, mass)
        return self._one_by_one(theta, order, rates, shrink, lag, mass, memory, share)

    def _one_by_one(
        self,
        theta: Float,
        order: Int,
        rates: Float,
        shrink: Float | None,
        lag: Float | None,
        mass: float,
        memory: Memory | None,
        share: float,
    ) -> tuple[float, int, float]:
        problem, loss, updates = self.problem, 0.0, 0
        offsets = problem.batch.offsets
        for step, (s, rate) in enumerate(zip(order.tolist(), rates.tolist(), strict=True)):
            value, d, pullback = problem.differentiate(theta, slice(s, s + 1))
            loss += value
            if memory is not None:
                positions = slice(int(offsets[s]), int(offsets[s + 1]))
                own = positions if problem.chain.per_position else slice(s, s + 1)
                d = replace(d, node=d.node - memory.node[positions], edge=d.edge - memory.edge[own])
                memory.node[positions] += share * d.node
                memory.edge[own] += share * d.edge
            # A perceptron whose best path is the right one has no gradient; a tie of scores is a mistake all the same.
            if problem.objective.smooth or d.node.any() or d.edge.any():
                updates += 1
                if lag is not None:  # first: a step changes the parameters that the way back may read
                    pullback(d, lag, -rate * mass, paced=True)
                pullback(d, theta, -rate, paced=True)
            if shrink is not None:
                theta *= shrink[step]
                mass /= shrink[step]
            if problem.project is not None:
                move_back(problem.project, theta, lag, mass)
            mass += 1.0
        return loss, updates, mass


def move_back(project: Callable[[Float], None], theta: Float, lag: Float | None, mass: float) -> None:
    """Project θ; an average takes the change for one of the step's."""
    before = None if lag is None else theta.copy()
    project(theta)
    if lag is not None and before is not None:
        lag += mass * (theta - before)
