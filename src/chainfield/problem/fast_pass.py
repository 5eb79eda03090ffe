"""The contract of fast paths: a kernel that knows the chain of a problem as a whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from chainfield.arrays import Float

from .steps import Steps, Walked


class FastPass(ABC):
    """A problem as one kernel sees it. It may know how to walk, how to sum over all sequences, or both.

    Scoring, inference and the way back of a sequence take microseconds; going through arrays of scores, part by part,
    would cost as much again. A new one is a class, and a line in :data:`chainfield.problem.problem.FAST_PASSES`.
    """

    @abstractmethod
    def walk(self, steps: Steps) -> Walked | None:
        """Take the steps; None: steps of this kind are not known here."""

    def total(self, theta: Float, *, variances: bool = False) -> tuple[float, Callable[[Float], None]] | None:
        """The loss of all sequences, and a function that adds its gradient (or curvature) to a vector.

        None: nothing would be gained here.
        """
        return None
