"""What training minimises, in score space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Bool, Float
from chainfield.inference import Paths
from chainfield.potentials import Clamp, How, Potentials
from chainfield.states import StateSpace


@dataclass(frozen=True, eq=False)
class Targets:
    """What is known of a batch: the allowed rows, one weight per sequence, and what a wrong row costs."""

    clamp: Clamp
    weight: Float  # (S,)
    cost: Float | None = None  # (M, R): cost[clamp.index[t], r] of row r at position t, for margin objectives
    path: Paths | None = None  # the only path that the clamp allows, if it is known to be the only one
    given: Bool | None = None  # (M,) sets that bind the free side as well: positions that are not learned from

    def extra(self, uses_cost: bool) -> Float | None:
        """(M, R) what the free side has on top of scores: costs if they count, and -inf beside what is given."""
        cost = self.cost if uses_cost else None
        if self.given is None:
            return cost
        shut = self.given[:, None] & ~self.clamp.table
        return np.where(shut, -np.inf, 0.0 if cost is None else cost)


class Objective(ABC):
    """Potentials and targets → loss and its gradient with respect to the scores."""

    #: How hidden variables inside a position are eliminated.
    how: How
    #: Whether the gradient is continuous: second-order methods need that.
    smooth: bool
    #: Whether it uses ``Targets.cost``.
    uses_cost: bool

    @property
    def usual_l2(self) -> tuple[float, float]:
        """The penalty l2 that suits it where there is nothing to choose by: for sparse features, and for arrays.

        Found by ``benchmarks/run.py defaults``, as those of other objectives; what is not smooth has none.
        """
        return 0.15, 0.5

    @abstractmethod
    def __call__(self, space: StateSpace, potentials: Potentials, targets: Targets) -> tuple[float, Potentials]:
        """The weighted sum of the sequences' losses, and d loss / d scores (same shapes as the potentials)."""

    def softened(self) -> Objective:
        """The same with sums over paths in place of maxima, where it has maxima: it has a curvature then."""
        return self

    def knowing(self, departures: Callable[[], Float]) -> Objective:
        """The same for data in which each state is left so often (K,); most objectives do not ask."""
        return self
