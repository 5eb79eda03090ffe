"""EP2's pair function (Zhu, Hiemstra, Apers and Wombacher, 3.7.2): steps between words never met side by side.

    v(y, y' | x, x') ∝ exp(a(x, y) + b(x', y') + T(y, y')),      φ = v / (ψ ψ')

with weights a and b of the words' features. ψ φ ψ' = v: what the nodes say is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from chainfield.arrays import Float, Int, Int32, distinct
from chainfield.features.batch import Batch
from chainfield.scorers.model_files import register
from chainfield.scorers.scorer import Params

from .sided_rates import SidedRates, less, steps_of
from .word_rates import StepPullback

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace


@final
@register
@dataclass(frozen=True, eq=False)
class JointRates(SidedRates):
    """Rates of counts for pairs of words that were met; joint probabilities of their features for all others."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """pair (R, R): T."""
        return {**super().shapes(), "pair": (self.n_rows, self.n_rows)}

    @cached_property
    def met(self) -> Int:
        """Pairs of observations that were met side by side, as codes observation · F + observation, ascending."""
        before, behind = self.observation[self.before].astype(np.int64), self.observation[self.behind]
        return distinct(before * self.n_features + behind)

    def unmet(self, batch: Batch, words: Int32) -> Int:
        """Positions with a step between words that were not met side by side, or one of which is rare or unknown."""
        steps = steps_of(batch)
        before, behind = words[steps - 1].astype(np.int64), words[steps]
        code = before * self.n_features + behind
        place = np.minimum(np.searchsorted(self.met, code), max(len(self.met) - 1, 0))
        known = (before >= 0) & (behind >= 0)
        return steps[~(known & (self.met[place] == code))] if len(self.met) else steps

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As all rates with weights of features."""
        super().check(space, features)

    def beyond(self, params: Params, batch: Batch, words: Int32, node: Float) -> tuple[Any, StepPullback]:
        """log v less both nodes takes the place of the rates."""
        from chainfield.kernels.counting.rates import Beyond

        at = self.unmet(batch, words)
        a, b = self.sides(params, batch, at)
        top_a, top_b, top = a.max(axis=1, keepdims=True), b.max(axis=1, keepdims=True), params["pair"].max()
        left, right, pair = np.exp(a - top_a), np.exp(b - top_b), np.exp(params["pair"] - top)
        message = left @ pair
        z = (message * right).sum(axis=1, keepdims=True)
        table = np.zeros(len(words), np.int32)
        table[at] = 1
        on_left, on_right = np.zeros((len(words), self.n_rows)), np.zeros((len(words), self.n_rows))
        on_left[at] = less(a, node[at - 1]) - (np.log(z) + top_a + top_b + top)
        on_right[at] = less(b, node[at])

        def pullback(d: Float, d_node: Float, into: Params, scale: Any) -> None:
            own = d[at]  # (n, R, R)
            d_a, d_b = own.sum(axis=2), own.sum(axis=1)
            np.subtract.at(d_node, at - 1, np.where(node[at - 1] > -np.inf, d_a, 0.0))
            np.subtract.at(d_node, at, np.where(node[at] > -np.inf, d_b, 0.0))
            share = own.sum(axis=(1, 2))[:, None] / z  # of v, which all scores of a step normalise
            d_a = d_a - share * left * (right @ pair.T)
            d_b = d_b - share * right * message
            into["pair"][...] += scale * (own.sum(axis=0) - pair * ((share * left).T @ right))
            self.back(batch, at, (d_a, d_b), into, scale)

        return Beyond(table, on_left, on_right, np.ascontiguousarray(params["pair"])[None]), pullback
