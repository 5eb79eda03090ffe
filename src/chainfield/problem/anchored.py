"""A problem together with what is remembered of earlier data: a quadratic bowl around the parameters of then.

    minimise over θ: loss of the data at hand + l1 ‖θ‖₁ + sum over i of firmness_i (θ_i - anchor_i)²

With firmness = l2 + half the curvature of the earlier losses, this is the loss of all data, old ones by their second
order around the anchor (Laplace's approximation, one parameter at a time; Spiegelhalter and Lauritzen 1990).
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
    """``inner`` has the data at hand; its l2 is part of the firmness, which is nowhere smaller."""

    inner: SummedProblem
    anchor: Float  # (P,)
    firmness: Float  # (P,)

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
        yield from self.inner.arrays()
        yield from (self.anchor, self.firmness)

    def penalty(self, theta: Float) -> float:
        """l1 and the bowl."""
        away = theta - self.anchor
        return float(self.firmness @ away**2) + (self.l1 * float(abs(theta).sum()) if self.l1 else 0.0)

    def evaluate(self, theta: Float) -> tuple[float, Float]:
        """Everything but l1."""
        away = theta - self.anchor
        gradient = 2.0 * self.firmness * away
        total = self.inner.add(theta, gradient)
        return total + float(self.firmness @ away**2), gradient

    def curvature(self, theta: Float) -> Float:
        """That of the data, and of the bowl."""
        return self.of_data(theta) + 2.0 * self.firmness

    def of_data(self, theta: Float) -> Float:
        """The curvature of the data at hand alone, at least 0."""
        found: Float = self.inner.curvature(theta) - 2.0 * self.inner.l2 * (
            1.0 if self.inner.penalised is None else self.inner.penalised
        )
        return found.clip(0.0)
