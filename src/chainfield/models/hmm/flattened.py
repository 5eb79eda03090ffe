"""Flattened models: posteriors that start too sharp leave wrong hypotheses without influence (Mahajan et al. 2006).

With S_w the score of class w (gathered over its paths), hypothesis flattening takes S_w to κ S_w:

    P(w) ∝ exp(κ S_w) = P(w)^κ       the order of classes stays, and posteriors of paths within a class

State-sequence flattening takes every path's score to κ times it:

    P(w) ∝ sum over paths s of w of exp(κ score(s))         the paths of a class come closer together as well

The first is a shift: (κ - 1) S_w is added to the rows of class w at the first position. A path of w then has the score
s + (κ - 1) S_w, and class w κ S_w; the derivative is κ times the posterior of the shifted scores.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.inference import class_scores
from chainfield.objectives.objective import Objective, Targets
from chainfield.potentials import How, Potentials
from chainfield.states import StateSpace

Flattening = Literal["classes", "states"]


@final
@dataclass(frozen=True)
class Flattened(Objective):
    """``inner`` on flattened scores. "classes" needs a space of class blocks."""

    inner: Objective
    kappa: float
    of: Flattening = "classes"

    def __post_init__(self) -> None:
        kappa: Any = self.kappa  # users may have given anything
        if not isinstance(kappa, numbers.Real) or not 0.0 < float(kappa) < np.inf:
            raise ConfigError(f"kappa is {self.kappa!r}; a number above 0 is expected (1: nothing is flattened).")
        if self.of not in ("classes", "states"):
            raise ConfigError(f"Flattening is of classes or of states, not of {self.of!r}.")

    @property
    def how(self) -> How:  # type: ignore[override]
        """As the inner objective."""
        return self.inner.how

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """As the inner objective."""
        return self.inner.smooth

    @property
    def uses_cost(self) -> bool:  # type: ignore[override]
        """As the inner objective."""
        return self.inner.uses_cost

    def knowing(self, departures: Callable[[], Float]) -> Flattened:
        """As the inner objective."""
        return replace(self, inner=self.inner.knowing(departures))

    def __call__(self, space: StateSpace, potentials: Potentials, targets: Targets) -> tuple[float, Potentials]:
        """Loss and gradient in score space."""
        kappa = self.kappa
        if self.of == "states":
            flat = Potentials(kappa * potentials.node, kappa * potentials.edge, potentials.offsets)
        else:
            scores = class_scores(space, potentials, self.how)
            shift = (kappa - 1.0) * np.where(np.isfinite(scores), scores, 0.0)  # a class without a path stays so
            node = potentials.node.copy()
            node[potentials.offsets[:-1]] += shift[:, space.label_of_row]
            flat = replace(potentials, node=node)
        value, d = self.inner(space, flat, targets)
        return value, Potentials(kappa * d.node, kappa * d.edge, d.offsets)
