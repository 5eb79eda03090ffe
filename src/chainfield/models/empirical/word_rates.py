"""Co-occurrence rates φ(y, y' | x, x') of the labels of neighbours, by counting, with a ladder of back-offs.

Zhu, Hiemstra, Apers and Wombacher (eqn. 13) give φ = P(y, y' | x, x') / (P(y | x) P(y' | x')) for two words that were
met side by side. Most pairs of words never were, and a label pair that never came with a pair of words would have a
rate of 0, so that no path might be left. So a rate is worked out from the least to the most specific:

1. labels alone: how often y' followed y, over how often it would have by chance;
2. one word: how often y' followed the word x with label y, and how often y came before the word x' with label y', each
   over chance, and each drawn towards the rate of the labels alone; the mean of the two, where both words are known;
3. both words: the empirical pair distribution, drawn towards what the rates of 2 give (a Dirichlet prior). Whatever its
   strength, the rates of a pair of words add up to 1 with the words' label shares (eqn. 7).

A rare word has rung 2 only, and may have labels that it never had: for those, what the other word says, or rung 1.
Strengths of 0 give the paper's estimate. The kernel states the formulas (:mod:`chainfield.kernels.counting.rates`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.features.batch import Batch
from chainfield.fitted import Excluding, PathFinder
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Tensor, demand, number, whole
from chainfield.scorers.model_files import register
from chainfield.scorers.relative import Relative, RelativePullback
from chainfield.scorers.scorer import Params
from chainfield.scorers.shares import Place, Share, Weight

from .observations import ENTRIES, check_entries, entry_shares, entry_starts, known_or_rare, observation_totals

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.kernels.counting.rates import Beyond, Rates
    from chainfield.states import StateSpace

StepPullback = Callable[[Float, Float, Params, Any], None]  # (d of steps (N, R, R), d of nodes, into, scale)


STRENGTHS = ("label", "word", "pair")


@register
@dataclass(frozen=True, eq=False)
class WordRates(Excluding, PathFinder, Relative):
    """score(t, (y, y')) = log φ of the step into position t. n entries (observation and row), P pairs of them.

    Subclasses say more of some steps than counts do: see :meth:`beyond`.
    """

    observation: Int32  # (n,) sorted by observation, then by row
    row: Int32  # (n,)
    count: Float  # (n,)
    n_pairs: Int32  # (n,) how many entries were met behind an entry
    behind: Int32  # (P,) those entries, ascending for each
    pair_count: Float  # (P,)
    edge: Int32  # (E,) row · R + row of each edge of the space; empty: all pairs in order
    n_features: int
    n_rows: int
    label_strength: float = 1.0
    word_strength: float = 0.3
    pair_strength: float = 1.0
    min_count: float = 1.0
    name: str = field(default="rates", kw_only=True)
    per_position: bool = field(default=True, init=False)
    group = "transitions"
    needs = "sparse"
    schema = Part(
        (
            NAME,
            whole("n_features", "features", "F"),
            whole("n_rows", "rows", "R"),
            *(number(f"{what}_strength", f"how strongly rates of {what}s are smoothed") for what in STRENGTHS),
            number("min_count", "observations that were seen less often are rare"),
        ),
        (
            *ENTRIES,
            Tensor(
                "n_pairs", ("I32",), ("entries",), "how many entries were seen right after an entry", least=0,
                adds_up="pairs",
            ),
            Tensor("behind", ("I32",), ("pairs",), "those entries, ascending for each", least=0, below="entries"),
            Tensor("pair_count", ("F64",), ("pairs",), "how often that was; above 0", least=0),
            Tensor(
                "edge", ("I32",), ("E",),
                "row · R + row of each edge of the space; no rows: all pairs of rows, in order", least=0, empty=True,
            ),
        ),
    )  # fmt: skip

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Counts are no parameters."""
        return {}

    @cached_property
    def before(self) -> Int32:
        """(P,) the first entry of every pair."""
        return np.repeat(np.arange(len(self.n_pairs), dtype=np.int32), self.n_pairs)

    @cached_property
    def label_pairs(self) -> Float:
        """(R, R) how often label followed label."""
        code = self.row[self.before].astype(np.int64) * self.n_rows + self.row[self.behind]
        counts = np.bincount(code, weights=self.pair_count, minlength=self.n_rows**2)
        return counts.astype(np.float64).reshape(self.n_rows, self.n_rows)

    @cached_property
    def label_rates(self) -> Float:
        """(R, R) the rates of labels alone; 1 where nothing is known and nothing assumed."""
        counts, k = self.label_pairs, self.label_strength
        total = max(counts.sum(), 1.0)
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
        return np.divide(counts + k, expected + k, out=np.ones_like(counts), where=expected + k > 0)

    @cached_property
    def first(self) -> Int:
        """(F+1,) where the entries of an observation begin."""
        return entry_starts(self.observation, self.n_features)

    @cached_property
    def totals(self) -> Float:
        """(F,) how often an observation was met."""
        return observation_totals(self.first, self.count)

    def words(self, batch: Batch) -> Int32:
        """(N,) the observations; those met fewer than ``min_count`` times are rare."""
        return known_or_rare(batch, self.totals > 0, self.totals >= self.min_count)

    @cached_property
    def rates(self) -> Rates:
        """The tables that the kernel reads."""
        from chainfield.kernels.counting.rates import Rates

        n, counts = len(self.row), self.label_pairs
        total = max(float(counts.sum()), 1.0)
        base = self.label_rates
        with np.errstate(divide="ignore"):
            log_base = np.log(base)
        return Rates(
            base,
            log_base,
            counts.sum(axis=1) / total,
            counts.sum(axis=0) / total,
            self.first,
            self.row,
            entry_shares(self.first, self.count),
            np.concatenate([[0], np.cumsum(self.n_pairs, dtype=np.int64)]),
            self.behind,
            self.pair_count,
            *_neighbours(self.before, self.row[self.behind], self.pair_count, n, self.n_rows),
            *_neighbours(self.behind, self.row[self.before], self.pair_count, n, self.n_rows),
            float(self.word_strength),
            float(self.pair_strength),
        )

    def beyond(self, params: Params, batch: Batch, words: Int32, node: Float) -> tuple[Beyond, StepPullback]:
        """What is said of steps beyond counts, given the node scores; and the way back, d of steps (N, R, R)."""
        from chainfield.kernels.counting.rates import Beyond

        nothing = np.empty((0, self.n_rows))
        return Beyond(np.zeros(len(words), np.int32), nothing, nothing, nothing[None]), nothing_learnt

    def beside(self, params: Params, batch: Batch, how: How, node: Float, scores: Float) -> RelativePullback:
        """Every step gets the rates of its two words."""
        from chainfield.kernels.counting.rates import fill_rates

        words, r = self.words(batch), self.n_rows
        beyond, way = self.beyond(params, batch, words, node)
        if not len(self.edge) and not scores.any():
            fill_rates(self.rates, beyond, words, batch.offsets, scores.reshape(-1, r, r))
        else:
            full = np.zeros((batch.n_positions, r, r))
            fill_rates(self.rates, beyond, words, batch.offsets, full)
            flat = full.reshape(-1, r**2)
            scores += flat[:, self.edge] if len(self.edge) else flat

        def pullback(d: Float, d_node: Float, into: Params, scale: Any) -> None:
            full = d
            if len(self.edge):
                full = np.zeros((len(d), r**2))
                full[:, self.edge] = d
            way(full.reshape(-1, r, r), d_node, into, scale)

        return pullback

    def best_rows(self, space: StateSpace, params: Params, batch: Batch, node: Float) -> tuple[Int32, Float]:
        """Viterbi over the labels that words may have."""
        from chainfield.kernels.counting.rates import best_labels

        allowed = np.zeros((self.n_rows, self.n_rows), np.bool_)
        allowed[space.src, space.dst] = True
        words, rows = self.words(batch), np.zeros(batch.n_positions, np.int32)
        beyond, _ = self.beyond(params, batch, words, node)
        score = np.empty(batch.n_sequences)
        best_labels(self.rates, beyond, allowed, space.start, space.end, words, batch.offsets, node, rows, score)
        return rows, score

    @cached_property
    def relaxed(self) -> WordRates:
        """No rate is 0."""
        strengths = {name: max(getattr(self, name), 1e-3) for name in ("label_strength", "word_strength")}
        return replace(self, pair_strength=max(self.pair_strength, 1e-3), **strengths)

    def n_weights(self) -> int:
        """One count per pair."""
        return len(self.pair_count)

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """The rates of labels alone, as logarithms."""
        if place == "transition":
            flat = self.rates.log_base.ravel()
            edges = self.edge if len(self.edge) else np.arange(len(flat))
            yield from (Weight("", e, float(flat[code])) for e, code in enumerate(edges.tolist()))

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """What the labels alone say, and what the words add to it."""
        flat, found = self.rates.log_base.ravel(), super().shares(params, batch, scores, columns, features)
        for shares, edges in zip(found, columns.tolist(), strict=True):
            if shares and min(edges) >= 0:
                codes = [int(self.edge[e]) if len(self.edge) else e for e in edges]
                alone = tuple(float(flat[code]) for code in codes)
                both = zip(shares[0].scores, alone, strict=True)
                words = tuple(0.0 if whole == part else whole - part for whole, part in both)
                shares[:] = [Share("", 1.0, alone), Share("these two words", 1.0, words)]
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Entries, pairs and edges within what there is."""
        n = len(self.observation)
        demand((self.n_features, self.n_rows) == (features.n_features, space.n_rows), "the size of the rates")
        demand(np.array_equal(space.row_of, np.arange(space.n_rows)), "a space in which states are not rows")
        check_entries(self.observation, self.row, self.count, self.n_features, self.n_rows)
        demand(bool((np.diff(self.before.astype(np.int64) * n + self.behind) > 0).all()), "the order of pairs")
        demand(bool((self.pair_count > 0).all()), "a count of a pair")
        codes = space.src.astype(np.int64) * self.n_rows + space.dst
        whole = len(self.edge) == 0 and len(codes) == self.n_rows**2
        demand(whole or np.array_equal(self.edge, codes), "the edges of the rates")


def nothing_learnt(d: Float, d_node: Float, into: Params, scale: Any) -> None:
    """The way back to no parameters at all."""


def _neighbours(entry: Any, row: Any, count: Float, n: int, n_rows: int) -> tuple[Any, Any, Float, Float]:
    """Labels beside entries: where those of an entry begin (n+1,), the labels, their counts, and totals (n,)."""
    code = entry.astype(np.int64) * n_rows + row
    distinct, inverse = np.unique(code, return_inverse=True)
    counts = np.bincount(inverse, weights=count, minlength=len(distinct)).astype(np.float64)
    first = np.searchsorted(distinct, np.arange(n + 1, dtype=np.int64) * n_rows)
    totals = np.bincount(entry, weights=count, minlength=n).astype(np.float64)
    return first, (distinct % n_rows).astype(np.int32), counts, totals
