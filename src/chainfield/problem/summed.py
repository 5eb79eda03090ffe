"""A sum over data with penalties: what the problems of a chain have in common, wherever their data lie."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, DivergenceError
from chainfield.objectives import Objective
from chainfield.scorers import Chain

from .kernel_view import RAN_AWAY
from .trainable import Trainable


class SummedProblem(Trainable):
    """A chain, its objective and penalties. Who adds up the data is not said here.

    Penalties and paces of parameters are what the scorers want.
    """

    chain: Chain
    objective: Objective

    @abstractmethod
    def add(self, theta: Float, into: Float, *, variances: bool = False) -> float:
        """The loss of all sequences; its gradient is added to a vector, or with ``variances`` its curvature.

        Terms are added in an order that the data alone decide.
        """

    @abstractmethod
    def restated(
        self, chain: Chain, project: Callable[[Float], None] | None = None, l2: float | None = None
    ) -> SummedProblem:
        """The same data for another chain over the same states; ``l2``: another penalty."""

    def _check(self) -> None:
        """Refuse problems that mean nothing."""
        if self.n_sequences == 0 or self.n_positions == 0:
            raise ConfigError("There is nothing to train on: no sequence has a position.")
        for name in ("l1", "l2"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise ConfigError(f"{name} is {value}; a penalty must be a finite number, 0 or larger.")

    @property
    def n_parameters(self) -> int:
        """Length of θ."""
        return self.chain.n_parameters

    @property
    def dtype(self) -> str:
        """The chain's."""
        return self.chain.dtype

    @property
    def smooth(self) -> bool:
        """As the objective is."""
        return self.objective.smooth

    @property
    def has_costs(self) -> bool:
        """As the objective says."""
        return self.objective.uses_cost

    @property
    def pace(self) -> Float | None:
        """(P,) relative steps, or None: all alike."""
        return self.chain.pace

    @property
    def penalised(self) -> Float | None:
        """(P,) 1 or 0, or None: the penalties count all parameters."""
        return self.chain.penalised

    @property
    def even(self) -> bool:
        """Whether all parameters have the same relative step."""
        return self.chain.even

    @property
    def step_blocks(self) -> list[tuple[slice, float, float]]:
        """Those of the scorers."""
        return self.chain.step_blocks

    @property
    def linear(self) -> bool:
        """Whether all scorers are."""
        return all(scorer.linear for scorer in self.chain.scorers)

    def evaluate(self, theta: Float) -> tuple[float, Float]:
        """The smooth part (everything but l1) and its gradient."""
        counted = theta if self.penalised is None else self.penalised * theta
        gradient = (2.0 * self.l2) * counted
        total = self.add(theta, gradient)
        if self.l2:
            total += self.l2 * float(counted @ counted)
        if not np.isfinite(total):
            raise DivergenceError(RAN_AWAY)
        return total, gradient

    def curvature(self, theta: Float) -> Float:
        """An estimate of the Hessian's diagonal: variances of rows and edges, pulled back, and the penalty's share."""
        diagonal = np.zeros(self.n_parameters)
        self.add(theta, diagonal, variances=True)
        return np.abs(diagonal) + 2.0 * self.l2 * (1.0 if self.penalised is None else self.penalised)
