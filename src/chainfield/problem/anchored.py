"""A problem together with what is remembered of earlier data: a quadratic bowl around the parameters of then.

    minimise over θ: loss of the data at hand + loss of earlier data that are gone through again + l1 ‖θ‖₁
                     + sum over i of firmness_i (θ_i - anchor_i)² + slope_i (θ_i - anchor_i)

With firmness = l2 + half the curvature of the other earlier losses, this is the loss of all data, old ones by their
second order around the anchor (Laplace's approximation, one parameter at a time; Spiegelhalter and Lauritzen 1990). The
anchor was the optimum of all old data: the slope of those in the bowl is the opposite of that of those at hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

from chainfield.arrays import Array, Float
from chainfield.objectives import Objective
from chainfield.scorers import Chain

from .summed import SummedProblem
from .trainable import Trainable


@final
@dataclass(frozen=True, eq=False)
class AnchoredProblem(Trainable):
    """``inner`` has the data at hand; its l2 is part of the firmness, which is nowhere smaller.

    ``rehearsed``: earlier data that are gone through again.
    """

    inner: SummedProblem
    anchor: Float  # (P,)
    firmness: Float  # (P,)
    slope: Float | None = None  # (P,)
    rehearsed: SummedProblem | None = None

    @property
    def chain(self) -> Chain:
        """That of the data at hand."""
        return self.inner.chain

    @property
    def objective(self) -> Objective:
        """That of the data at hand."""
        return self.inner.objective

    @property
    def batch(self) -> Any:
        """The data at hand."""
        return getattr(self.inner, "batch", None)

    @property
    def l1(self) -> float:  # type: ignore[override]
        """The penalty of all data."""
        return self.inner.l1

    @property
    def l2(self) -> float:  # type: ignore[override]
        """The penalty of all data: a part of the firmness."""
        return self.inner.l2

    @property
    def n_jobs(self) -> int:  # type: ignore[override]
        """Those of the data at hand."""
        return self.inner.n_jobs

    @property
    def n_parameters(self) -> int:
        """Length of θ."""
        return self.inner.n_parameters

    @property
    def n_sequences(self) -> int:
        """Those at hand."""
        return self.inner.n_sequences

    @property
    def n_positions(self) -> int:
        """Those at hand."""
        return self.inner.n_positions

    @property
    def smooth(self) -> bool:
        """As the objective is."""
        return self.inner.smooth

    @property
    def linear(self) -> bool:
        """As the scorers are."""
        return self.inner.linear

    @property
    def convex(self) -> bool:
        """As the data at hand: a bowl changes nothing."""
        return self.inner.convex

    @property
    def stepwise(self) -> bool:
        """The bowl is no sum over sequences."""
        return False

    @property
    def notes(self) -> dict[str, float]:
        """Those of the data at hand."""
        return self.inner.notes

    def arrays(self) -> Iterable[Array]:
        """The bowl as well."""
        for part in self._data:
            yield from part.arrays()
        yield from (array for array in (self.anchor, self.firmness, self.slope) if array is not None)

    @property
    def _data(self) -> list[SummedProblem]:
        return [self.inner] if self.rehearsed is None else [self.inner, self.rehearsed]

    def penalty(self, theta: Float) -> float:
        """l1 and the bowl."""
        return self._bowl(theta)[0] + (self.l1 * float(abs(theta).sum()) if self.l1 else 0.0)

    def _bowl(self, theta: Float) -> tuple[float, Float]:
        """Its value and gradient."""
        away = theta - self.anchor
        value, gradient = float(self.firmness @ away**2), 2.0 * self.firmness * away
        if self.slope is not None:
            value += float(self.slope @ away)
            gradient += self.slope
        return value, gradient

    def evaluate(self, theta: Float) -> tuple[float, Float]:
        """Everything but l1."""
        value, gradient = self._bowl(theta)
        return value + sum(part.add(theta, gradient) for part in self._data), gradient

    def curvature(self, theta: Float) -> Float:
        """That of the data, and of the bowl."""
        return sum((half_curvature(part, theta) for part in self._data), self.firmness) * 2.0


def half_curvature(problem: SummedProblem, theta: Float) -> Float:
    """(P,) half the curvature of the data alone, without penalties; at least 0."""
    penalised = 1.0 if problem.penalised is None else problem.penalised
    return (problem.curvature(theta) / 2.0 - problem.l2 * penalised).clip(0.0)
