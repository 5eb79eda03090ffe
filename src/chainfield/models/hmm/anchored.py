"""A scorer that is trained by its distance from where it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from chainfield.arrays import Float
from chainfield.features.batch import Batch
from chainfield.potentials import How
from chainfield.scorers.scorer import Params, Pullback, Scorer


@final
@dataclass(frozen=True, eq=False)
class Anchored(Scorer):
    """Scores of ``inner`` at anchor + parameters: parameters start at 0, and penalties draw them to the anchor.

    For training only; a fitted model has the inner scorer, with the sum as its parameters.
    """

    inner: Scorer
    anchor: dict[str, Float]

    @property
    def name(self) -> str:  # type: ignore[override]
        """The inner scorer's."""
        return self.inner.name

    @property
    def per_position(self) -> bool:  # type: ignore[override]
        """As the inner scorer."""
        return self.inner.per_position

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """As the inner scorer: a constant is added to its scores."""
        return self.inner.linear

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the inner scorer."""
        return self.inner.shapes()

    def width(self) -> int:
        """As the inner scorer."""
        return self.inner.width()

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """At the sum; the derivative is the same."""
        return self.inner.forward({k: v + self.anchor[k] for k, v in params.items()}, batch, how, scores)

    def jitter(self, rng: np.random.Generator, scale: float) -> dict[str, Float]:
        """As the inner scorer."""
        return self.inner.jitter(rng, scale)

    def pace(self, parameter: str) -> float:
        """As the inner scorer."""
        return self.inner.pace(parameter)

    def penalised(self, parameter: str) -> bool:
        """As the inner scorer."""
        return self.inner.penalised(parameter)
