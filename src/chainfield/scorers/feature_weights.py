"""Scorers with weights of single features: a feature whose weights are all 0 can be left out."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from chainfield.arrays import Bool, Float, Int, Int32

from .pair_weights import carry_pairs
from .pairs import Pairs, arrange, pairs_from_codes
from .scorer import Params, Scorer


class FeatureWeights(Scorer):
    """A scorer whose parameter ``weight`` (P,) has one number for each of its ``pairs`` of a feature and a column.

    The features are those that it ``needs``. It makes no difference whether one has no pairs or is not known at all.
    """

    pairs: Pairs

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """C: how many columns a feature may have weights with."""

    @abstractmethod
    def with_pairs(self, pairs: Pairs) -> Scorer:
        """The same scorer with other pairs."""

    def used(self, params: Params) -> Bool:
        """(F,) whether a feature has a weight that is not 0."""
        return np.bincount(self.pairs.feature()[self._kept(params)], minlength=self.pairs.n_features) > 0

    def order(self, params: Params) -> Int32:
        """(F,) the place of each feature in the order that the kernels like, once pairs of weight 0 are gone."""
        unchanged = np.arange(self.pairs.n_features, dtype=np.int32)
        return arrange(self._without_zeros(params, unchanged, self.pairs.n_features), self.n_columns)[1]

    def compacted(self, params: Params, numbers: Int32, n_features: int) -> tuple[Scorer, Float]:
        """The scorer without pairs of weight 0, and its weights.

        ``numbers`` (F,): the new numbers of features, ``n_features`` of them; -1: left out, which needs no weight.
        """
        pairs = self._without_zeros(params, numbers, n_features)
        zoned, order = arrange(pairs, self.n_columns)
        if np.array_equal(order, np.arange(n_features)):  # they are numbered as the kernels like them
            pairs = zoned
        before = np.full(n_features, -1, np.int64)
        before[numbers[numbers >= 0]] = np.flatnonzero(numbers >= 0)
        weight = np.zeros(pairs.n_pairs, params["weight"].dtype)
        carry_pairs(self.pairs, pairs, np.arange(self.n_columns), before, params["weight"], weight)
        return self.with_pairs(pairs), weight

    def _kept(self, params: Params) -> Bool:
        return self.pairs.exists() & (params["weight"] != 0.0)

    def _without_zeros(self, params: Params, numbers: Int32, n_features: int) -> Pairs:
        kept = self._kept(params)
        feature: Int = numbers[self.pairs.feature()[kept]].astype(np.int64)
        codes = np.sort(feature * self.n_columns + self.pairs.row[kept])
        return pairs_from_codes(codes, n_features, self.n_columns)
