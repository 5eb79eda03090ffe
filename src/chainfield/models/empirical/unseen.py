"""Scores of words that training never met, or rarely, by their features (Zhu, Hiemstra, Apers and Wombacher, 3.7).

EP1 averages the label shares of the features; EP2 fits exponential functions of them to the words that were met. Both
rest on the same samples: forms (sets of features) with labels, and how often each was met. A word that was met, but
rarely, is judged by its own counts and by its features together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch, Sparse
from chainfield.fitted import Excluding
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Tensor, Value, demand, number, whole
from chainfield.scorers.model_files import register
from chainfield.scorers.pair_weights import check_pairs, gather, named_pairs, pair_shares, scatter
from chainfield.scorers.pairs import Pairs, pairs_part
from chainfield.scorers.scorer import Params, Pullback
from chainfield.scorers.shares import Place, Share, Weight

from .known_words import nothing_to_learn
from .observations import known_or_rare, observed

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace

#: How often a form counts when its features are judged: as often as it was met, or once.
COUNTED = ("tokens", "types")
LEAST = 1e-4  # a label with a smaller share is impossible: hundreds of them would cost as much as those that matter
SAMPLES = Part(
    (
        NAME,
        whole("n_features", "features", "F"),
        whole("n_rows", "rows", "R"),
        Value("counted", "text", "how often a form counts", choices=COUNTED),
        number("min_count", "observations that were seen less often are rare"),
        number("strength", "how much features count beside a rare observation's own counts"),
        Value("open", "truth", "whether every label is possible"),
    ),
    (
        Tensor("observation", ("I32",), ("forms",), "the observation of a form, -1: none", least=-1, below="F"),
        Tensor("n_own", ("I32",), ("forms",), "how many other features a form has", least=0, adds_up="own"),
        Tensor("own", ("I32",), ("own",), "those features, form by form", least=0, below="F"),
        Tensor("form", ("I32",), ("samples",), "the form of a sample", least=0, below="forms"),
        Tensor("row", ("I32",), ("samples",), "the row of a sample", least=0, below="R"),
        Tensor("count", ("F64",), ("samples",), "how often it was seen; above 0", least=0),
    ),
)
OPENING = 1e-3  # what a relaxed scorer shares out over all labels alike


@dataclass(frozen=True, eq=False)
class Unseen(Excluding):
    """What both kinds share: the samples, and which positions they speak of. M forms, n samples."""

    observation: Int32  # (M,) -1: a form without one
    n_own: Int32  # (M,) how many other features a form has
    own: Int32  # those features
    form: Int32  # (n,) samples: a form with a label …
    row: Int32  # (n,)
    count: Float  # (n,) … and how often it was met
    n_features: int
    n_rows: int
    counted: str = "types"
    min_count: float = 1.0
    strength: float = 0.3
    open: bool = False
    group = "emissions"
    needs = "sparse"

    @cached_property
    def weight(self) -> Float:
        """(n,) what a sample counts when features are judged."""
        if self.counted == "tokens":
            return self.count
        totals = np.bincount(self.form, weights=self.count, minlength=len(self.observation))
        return self.count / totals[self.form]

    @cached_property
    def met(self) -> Any:
        """(F, R) how often each observation had each label."""
        observation = self.observation[self.form]
        there = observation >= 0
        entries = (self.count[there], (observation[there], self.row[there]))
        return csr_matrix(entries, shape=(self.n_features, self.n_rows))

    @cached_property
    def totals(self) -> Float:
        """(F,) how often each observation was met."""
        return np.asarray(self.met.sum(axis=1), np.float64).ravel()

    @cached_property
    def prior(self) -> Float:
        """(R,) what is said of a word without any known feature: the label shares of forms that have none either.

        Those of all forms if every form has a feature; all alike if there is no form.
        """
        weight = np.where(self.n_own[self.form] == 0, self.weight, 0.0)
        weight = weight if weight.any() else self.weight
        sums = np.bincount(self.row, weights=weight, minlength=self.n_rows)
        return sums / sums.sum() if sums.any() else np.full(self.n_rows, 1.0 / self.n_rows)

    @cached_property
    def features(self) -> Any:
        """(M, F) which feature a form has."""
        indptr = np.concatenate([[0], np.cumsum(self.n_own, dtype=np.int64)])
        shape = (len(self.observation), self.n_features)
        return csr_matrix((np.ones(len(self.own)), self.own, indptr), shape=shape)

    def positions(self, batch: Batch) -> Int:
        """Those whose observation is not known, or rare."""
        return np.flatnonzero(known_or_rare(batch, self.totals > 0, self.totals >= self.min_count) < 0)

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Label shares of the unseen and of the rare, as logarithms; all other positions stay as they are."""
        at = self.positions(batch)
        if not len(at):
            return nothing_to_learn
        by_features, pullback = self.judge(params, batch, at)
        found, part = self._with_own(by_features, observed(batch, self.totals > 0)[at])
        if self.open:
            found = np.logaddexp(found + np.log1p(-OPENING), np.log(OPENING / self.n_rows))
        else:
            found[found < np.log(LEAST)] = -np.inf
        scores[at] += found
        return lambda d, into, scale: pullback(d[at] * part, into, scale)

    def _with_own(self, by_features: Float, words: Int32) -> tuple[Float, Float]:
        """log (c(x, y) + s P(y | features)) / (c(x) + s), and the features' part in it; s is the strength."""
        part = np.ones_like(by_features)
        rare = np.flatnonzero(words >= 0)
        if not len(rare):
            return by_features, part
        own, s = self.met[words[rare]].toarray(), self.strength
        features = s * np.exp(by_features[rare])
        whole = own + features
        found = by_features.copy()
        with np.errstate(divide="ignore"):
            found[rare] = np.log(whole / (self.totals[words[rare]] + s)[:, None])
        part[rare] = np.divide(features, whole, out=np.zeros_like(whole), where=whole > 0)
        return found, part

    @abstractmethod
    def judge(self, params: Params, batch: Batch, at: Int) -> tuple[Float, Pullback]:
        """(positions, R) log P(y | features), and the way back for a gradient (positions, R)."""

    @cached_property
    def relaxed(self) -> Unseen:
        """Every label is possible, and very unlikely ones are less so."""
        return replace(self, open=True)

    def n_weights(self) -> int:
        """One count per sample, and the parameters."""
        return len(self.count) + super().n_weights()

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Every sample was seen; all else is in the schema."""
        demand((self.n_features, self.n_rows) == (features.n_features, space.n_rows), "the size of the samples")
        demand(bool((self.count > 0).all()), "a count")


@final
@register
@dataclass(frozen=True, eq=False)
class UnseenAverage(Unseen):
    """EP1: log of the mean of P(y | f) over the features f that are known; P(y) if none is."""

    name: str = field(default="unseen", kw_only=True)
    schema = SAMPLES

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Counts are no parameters."""
        return {}

    @cached_property
    def table(self) -> tuple[Int, Int32, Float]:
        """Label shares of features: where those of a feature begin (F+1,), rows, P(row | feature)."""
        samples = csr_matrix((self.weight, (self.form, self.row)), shape=(len(self.observation), self.n_rows))
        found = csr_matrix(self.features.T.tocsr() @ samples)
        found.sort_indices()
        totals = found.sum(axis=1)
        shares = found.data / np.repeat(totals, np.diff(found.indptr))
        return found.indptr.astype(np.int64), found.indices.astype(np.int32), shares

    def judge(self, params: Params, batch: Batch, at: Int) -> tuple[Float, Pullback]:
        """Add up the shares of a position's features."""
        from chainfield.kernels.counting.shares import average_features

        sparse = batch.sparse
        assert sparse is not None
        first, row, share = self.table
        out = np.zeros((len(at), self.n_rows))
        described = np.diff(first) > 0
        average_features(sparse.indptr, sparse.indices, at, described, first, row, share, self.prior, out)
        with np.errstate(divide="ignore"):
            return np.log(out), nothing_to_learn

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Samples within the features and rows."""
        super().check(space, features)


@final
@register
@dataclass(frozen=True, eq=False)
class UnseenExponential(Unseen):
    """EP2: log u(y | features), u ∝ exp of a sum of weights; fitted to the samples, by L-BFGS with an l2 penalty."""

    pairs: Pairs = field(default_factory=lambda: Pairs(np.zeros(1, np.int64), np.empty(0, np.int32)))
    name: str = field(default="unseen", kw_only=True)
    schema = replace(SAMPLES, parts={"pairs": pairs_part("F")})

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (P,): one weight per pair of feature and row; bias (R,)."""
        return {"weight": (self.pairs.n_pairs,), "bias": (self.n_rows,)}

    def judge(self, params: Params, batch: Batch, at: Int) -> tuple[Float, Pullback]:
        """A linear model of the features, normalised at every position."""
        assert batch.sparse is not None
        own, scores = batch.sparse.take(at), np.tile(params["bias"], (len(at), 1))
        gather(self.pairs, own, params["weight"], scores)
        below = scores - scores.max(axis=1, keepdims=True)
        found = below - np.log(np.exp(below).sum(axis=1, keepdims=True))

        def pullback(d: Float, into: Params, scale: float) -> None:
            own_d = d - np.exp(found) * d.sum(axis=1, keepdims=True)
            into["bias"][...] += scale * own_d.sum(axis=0)
            scatter(self.pairs, own, own_d, scale, into["weight"])

        return found, pullback

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """As for all; an opened scorer is for prediction only."""
        pullback = super().forward(params, batch, how, scores)
        if not self.open:
            return pullback

        def refuse(d: Float, into: Params, scale: float) -> None:
            raise ConfigError("A relaxed scorer is for prediction; train the one that it was made from.")

        return refuse

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """One weight per pair."""
        if place == "position":
            yield from named_pairs(self.pairs, params["weight"], features.feature_names())

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """The share of every feature of an unseen word, and what makes probabilities of them."""
        assert batch.sparse is not None
        found: list[list[Share]] = [[] for _ in range(batch.n_positions)]
        at = self.positions(batch)
        own: Sparse = batch.sparse.take(at)
        rows = columns[at].tolist()
        by_feature = pair_shares(self.pairs, params["weight"], own, rows, features.feature_names())
        for t, wanted, shares in zip(at.tolist(), rows, by_feature, strict=True):
            rest = [float(scores[t, r]) - sum(share.scores[i] for share in shares) for i, r in enumerate(wanted)]
            found[t] = [*shares, Share("unseen or rare word", 1.0, tuple(rest))]
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Samples and pairs within the features and rows."""
        super().check(space, features)
        check_pairs(self.pairs, features.n_features, space.n_rows)


def csr_matrix(entries: Any, shape: tuple[int, int] | None = None) -> Any:
    """A sparse matrix of SciPy's, which takes long to import."""
    from scipy.sparse import csr_array

    return csr_array(entries, shape=shape)
