"""The contract of everything that makes scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from chainfield.features.batch import Batch
from chainfield.potentials import How

Float = NDArray[np.float64]
Params = Mapping[str, Float]
# pullback(d_scores, into, scale): into[name] += scale * (d loss / d parameter), for every parameter.
Pullback = Callable[[Float, Params, float], None]


class Scorer(ABC):
    """Adds log-scores of a batch to an array, and pulls gradients back to its parameters.

    Emissions write node scores (N, R), transitions edge scores (1 | N, E); both obey this one contract. A chain adds
    up any number of them. Whatever hides inside a position (hidden units, mixture components) is eliminated here,
    with the same ``how`` as the chain: summed over, or maximised.
    """

    #: Distinguishes the parameters of the scorers of one chain; short, unique in a chain.
    name: str
    #: For transitions: whether every position needs its own edge scores.
    per_position: bool = False
    #: Whether scores are linear in the parameters: some trainers need that.
    linear: bool = False

    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters."""

    def start(self, rng: np.random.Generator) -> dict[str, Float]:
        """Where training starts: zeros, unless symmetry has to be broken."""
        return {name: np.zeros(shape) for name, shape in self.shapes().items()}

    @abstractmethod
    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Add this scorer's scores to ``scores`` and return the way back.

        The pullback *adds* to the arrays it is given and touches only what the batch touches, so that a trainer
        may hand it the parameters themselves: a step of stochastic gradient descent is one pullback.
        """
