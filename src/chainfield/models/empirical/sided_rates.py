"""Rates that say more of some steps than counts do, by the features of the words on both sides."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.features.batch import Batch, Sparse
from chainfield.scorers.pair_weights import check_pairs, gather, scatter
from chainfield.scorers.pairs import Pairs, pairs_part
from chainfield.scorers.scorer import Params

from .word_rates import StepPullback, WordRates

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.kernels.counting.rates import Beyond
    from chainfield.states import StateSpace


def no_pairs() -> Pairs:
    """Of no feature."""
    return Pairs(np.zeros(1, np.int64), np.empty(0, np.int32))


@dataclass(frozen=True, eq=False)
class SidedRates(WordRates):
    """Features of the word before a step have weights with its labels (``left``), and so have those behind it."""

    left: Pairs = field(default_factory=no_pairs)
    right: Pairs = field(default_factory=no_pairs)
    schema = replace(WordRates.schema, parts={"left": pairs_part("F"), "right": pairs_part("F")})

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """left, right: one weight per pair of feature and row, and a bias (R,) each."""
        r = (self.n_rows,)
        return {"left": (self.left.n_pairs,), "left_bias": r, "right": (self.right.n_pairs,), "right_bias": r}

    @abstractmethod
    def beyond(self, params: Params, batch: Batch, words: Int32, node: Float) -> tuple[Beyond, StepPullback]:
        """What is said of steps beyond counts."""

    def sides(self, params: Params, batch: Batch, steps: Int) -> tuple[Float, Float]:
        """(steps, R) the sums of weights on both sides of the steps into some positions."""
        return self._side("left", params, batch, steps - 1), self._side("right", params, batch, steps)

    def back(self, batch: Batch, steps: Int, d: tuple[Float, Float], into: Params, scale: float) -> None:
        """The way back of :meth:`sides`."""
        for side, at, own in (("left", steps - 1, d[0]), ("right", steps, d[1])):
            into[f"{side}_bias"][...] += scale * own.sum(axis=0)
            scatter(getattr(self, side), _features(batch, at), own, scale, into[side])

    def _side(self, side: str, params: Params, batch: Batch, at: Int) -> Float:
        scores = np.tile(params[f"{side}_bias"], (len(at), 1))
        gather(getattr(self, side), _features(batch, at), params[side], scores)
        return scores

    def n_weights(self) -> int:
        """Counts of pairs, and parameters."""
        return super().n_weights() + sum(int(np.prod(shape)) for shape in self.shapes().values())

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As all rates; weights within the features and rows."""
        super().check(space, features)
        check_pairs(self.left, features.n_features, space.n_rows)
        check_pairs(self.right, features.n_features, space.n_rows)


def steps_of(batch: Batch) -> Int:
    """All positions that a step leads to: those that are not the first of a sequence."""
    first = np.zeros(batch.n_positions + 1, np.bool_)
    first[batch.offsets] = True
    return np.flatnonzero(~first[:-1])


def less(scores: Float, node: Float) -> Float:
    """Scores less what the nodes say; 0 for labels that a node excludes anyway."""
    possible = node > -np.inf
    return np.subtract(scores, node, out=np.zeros_like(scores), where=possible)


def _features(batch: Batch, at: Int) -> Sparse:
    assert batch.sparse is not None
    return batch.sparse.take(at)
