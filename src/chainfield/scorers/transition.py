"""Transition scores, shared by all positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from chainfield.features.batch import Batch
from chainfield.potentials import How

from .scorer import Float, Params, Pullback, Scorer


@final
@dataclass(frozen=True, eq=False)
class Transition(Scorer):
    """score(e) = weight[tie[e]]: a weight an edge, or one for several edges that are tied; -1: no weight, score 0.

    Ties make the variants: each edge by itself; only the label pairs seen in training; the first-order edges below
    second-order ones; one weight for all state pairs of a label pair.
    """

    tie: NDArray[np.int32]  # (E,)
    name: str = field(default="transition", kw_only=True)
    linear: bool = field(default=True, init=False)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (T,): a weight a tie."""
        return {"weight": (int(self.tie.max(initial=-1)) + 1,)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Look the weights up; the way back adds up over tied edges and positions."""
        weight, tie = params["weight"], self.tie
        if len(weight):
            scores += np.where(tie >= 0, weight[tie], 0.0)

        def pullback(d: Float, into: Params, scale: float) -> None:
            summed = d[0] if len(d) == 1 else d.sum(0)
            counted = np.bincount(tie + 1, weights=summed, minlength=len(weight) + 1)[1:]
            into["weight"][...] += scale * counted

        return pullback


def compact_ties(keep: NDArray[np.bool_], tie: NDArray[np.int32]) -> NDArray[np.int32]:
    """Renumber ties so that only those with ``keep[tie]`` have a weight."""
    number = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    return number[tie]
