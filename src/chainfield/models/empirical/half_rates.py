"""The conditional halves of EP2's pair function: what a neighbour's label says of a word that training never met.

The rate of counts between x and an unseen word x' is multiplied by a power of

    P(y' | y, features of x') / ψ(y', x') / r0(y, y')

and, the other way round, by that of an unseen word before x. r0 is the rate of labels alone, which the counts hold
already. Each half is an exponential function of the word's features and of the neighbour's label; where both words are
unseen, the mean of the two halves counts (of their logarithms).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.features.batch import Batch
from chainfield.schema import number
from chainfield.scorers.model_files import register
from chainfield.scorers.scorer import Params

from .sided_rates import SidedRates, less, steps_of
from .word_rates import StepPullback

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace

POWER = 0.3  # on development data of two corpora, 0.3 and 0.5 did alike, 0.6 and 1 worse


@final
@register
@dataclass(frozen=True, eq=False)
class HalfRates(SidedRates):
    """Rates of counts, moved by what the features of unseen words say with the label beside them."""

    power: float = POWER
    schema = replace(
        SidedRates.schema, values=(*SidedRates.schema.values, number("power", "how much the halves count", most=1.0))
    )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """after (R, R): weights of labels y' behind a label y; before (R, R): those of labels y before a label y'."""
        square = (self.n_rows, self.n_rows)
        return {**super().shapes(), "after": square, "before": square}

    def beyond(self, params: Params, batch: Batch, words: Int32, node: Float) -> tuple[Any, StepPullback]:
        """Half or all of each half is added, by how many of the two words are unseen."""
        from chainfield.kernels.counting.rates import Beyond

        steps, unseen = steps_of(batch), words == -1
        at = steps[unseen[steps] | unseen[steps - 1]]
        both = unseen[at] & unseen[at - 1]
        on_right = (self.power * unseen[at] * np.where(both, 0.5, 1.0))[:, None]
        on_left = (self.power * unseen[at - 1] * np.where(both, 0.5, 1.0))[:, None]
        a, b = self.sides(params, batch, at)
        after, before = _Given(b, params["after"]), _Given(a, params["before"])
        table = np.zeros(len(words), np.int32)
        table[at] = -np.where(both, 3, np.where(unseen[at], 1, 2))
        left, right = np.zeros((len(words), self.n_rows)), np.zeros((len(words), self.n_rows))
        left[at] = on_left * less(a, node[at - 1]) - on_right * after.log_z
        right[at] = on_right * less(b, node[at]) - on_left * before.log_z
        base = np.where(np.isfinite(self.rates.log_base), self.rates.log_base, 0.0)
        halves = (params["after"], params["before"].T, 0.5 * (params["after"] + params["before"].T))
        tables = np.stack([self.power * (half - base) for half in halves])

        def pullback(d: Float, d_node: Float, into: Params, scale: Any) -> None:
            own = d[at]
            d_after, d_right = after.back(own * on_right[:, :, None])
            d_before, d_left = before.back(own.transpose(0, 2, 1) * on_left[:, :, None])
            np.subtract.at(d_node, at, np.where(node[at] > -np.inf, on_right * own.sum(axis=1), 0.0))
            np.subtract.at(d_node, at - 1, np.where(node[at - 1] > -np.inf, on_left * own.sum(axis=2), 0.0))
            into["after"][...] += scale * d_after
            into["before"][...] += scale * d_before
            self.back(batch, at, (d_left, d_right), into, scale)

        return Beyond(table, left, right, tables), pullback

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As all rates with weights of features."""
        super().check(space, features)


class _Given:
    """log P(k | g, features) = scores[k] + table[g, k] - log z[g], for every label g that may be given."""

    def __init__(self, scores: Float, table: Float) -> None:
        top, top_table = scores.max(axis=1, keepdims=True), table.max(axis=1)
        self.score, self.table = np.exp(scores - top), np.exp(table - top_table[:, None])
        self.z = self.score @ self.table.T  # (n, R)
        self.log_z = np.log(self.z) + top + top_table

    def back(self, d: Float) -> tuple[Float, Float]:
        """From d of log P (n, given, R) to the table and to the scores."""
        share = d.sum(axis=2) / self.z
        d_table = d.sum(axis=0) - self.table * (share.T @ self.score)
        return d_table, d.sum(axis=1) - self.score * (share @ self.table)
