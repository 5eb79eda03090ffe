"""Transition scores, shared by all positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from chainfield.arrays import Bool, Float, Int32
from chainfield.features.batch import Batch
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Tensor, demand

from .model_files import register
from .origin import Origin
from .scorer import Params, Pullback, Scorer
from .shares import Place, Weight

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace


@final
@register
@dataclass(frozen=True, eq=False)
class Transition(Scorer):
    """score(e) = weight[tie[e]]: one weight per edge, or one for several edges that are tied; -1: no weight, score 0.

    Ties make the variants: each edge by itself; only the label pairs seen in training; the first-order edges below
    second-order ones; one weight for all state pairs of a label pair.
    """

    tie: Int32  # (E,)
    name: str = field(default="transition", kw_only=True)
    linear: bool = field(default=True, init=False)
    group = "transitions"
    schema = Part(
        (NAME,), (Tensor("tie", ("I32",), ("E",), "the weight of an edge; -1: none, score 0", least=-1, below="E"),)
    )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (T,): one weight per tie."""
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

    def fused(self) -> tuple[str, Any]:
        """The kernel looks ties up."""
        return "ties", self.tie

    def carry(self, old: Transition, origin: Origin, theirs: Params, ours: Params) -> None:
        """Edges that were there before, and had a weight, keep it."""
        there = origin.edges >= 0
        new, before = self.tie[there], old.tie[origin.edges[there]]
        both = (new >= 0) & (before >= 0)
        ours["weight"][new[both]] = theirs["weight"][before[both]]

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """The score of every edge."""
        if place == "transition":
            weight = params["weight"].tolist()
            yield from (Weight("", e, weight[i] if i >= 0 else 0.0) for e, i in enumerate(self.tie.tolist()))

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """One tie per edge; there are as many weights as ties say."""
        good = self.tie.dtype == np.int32 and self.tie.shape == (space.n_edges,)
        demand(good and self.tie.min(initial=0) >= -1, "the table of transitions")


def compact_ties(keep: Bool, tie: Int32) -> Int32:
    """Renumber ties so that only those with ``keep[tie]`` have a weight."""
    number = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    return number[tie]
