"""How a trainer's objective falls with time, and when it passes a mark."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

TOLERANCE = 1e-3  # "trained" means: within 0.1 % of the optimum
CAP = 2000  # iterations of a peer: generous, so that the mark is reached if it can be


class Enough(Exception):
    """Stops a training whose objective is low enough."""


@dataclass
class Trajectory:
    """Seconds since training began on encoded data, and the objective that was reached by then."""

    seconds: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    evaluations: list[int] = field(default_factory=list)  # of loss and gradient, in each iteration

    def add(self, seconds: float, objective: float, evaluations: int = 1) -> None:
        """An iteration has ended."""
        self.seconds.append(seconds)
        self.objective.append(objective)
        self.evaluations.append(evaluations)

    @property
    def best(self) -> float:
        """The lowest objective."""
        return min(self.objective, default=math.inf)

    def per_evaluation(self, skip: int = 2) -> float:
        """Seconds an evaluation, all work of an iteration included; the first iterations are left out."""
        return (self.seconds[-1] - self.seconds[skip - 1]) / sum(self.evaluations[skip:])

    def when(self, optimum: float, tolerance: float = TOLERANCE) -> tuple[float, bool]:
        """The moment at which the objective is within 0.1 % of the optimum; all the time spent, and False, if never.

        Between two iterations the gap to the optimum is taken to shrink by a constant factor a second, which favours
        the peer a little: in truth it had nothing to show before the iteration ended.
        """
        target = (1.0 + tolerance) * optimum
        for i, reached in enumerate(self.objective):
            if reached > target:
                continue
            if i == 0 or reached <= optimum:
                return self.seconds[i], True
            before, above = self.seconds[i - 1], self.objective[i - 1] - optimum
            share = math.log(above / (target - optimum)) / math.log(above / (reached - optimum))
            return before + share * (self.seconds[i] - before), True
        return (self.seconds[-1] if self.seconds else math.inf), False
