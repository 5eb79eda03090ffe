"""Scores of words that training met: ψ(y, x) = P(y | x) by counting (Zhu, Hiemstra, Apers and Wombacher, eqn. 12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from chainfield.arrays import Bool, Float, Int, Int32
from chainfield.features.batch import Batch
from chainfield.fitted import Excluding
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Value, demand, number, whole
from chainfield.scorers.model_files import register
from chainfield.scorers.scorer import Params, Pullback
from chainfield.scorers.shares import Place, Share, Weight

from .observations import ENTRIES, check_entries, entry_shares, entry_starts, observation_totals, observed

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace

PRIOR = "how frequent the label is"


@final
@register
@dataclass(frozen=True, eq=False)
class Words(Excluding):
    """score(t, y) = log c(x, y) / c(x) where the observation x of position t was met ``min_count`` times; 0 elsewhere.

    Labels that an observation never had are impossible (-inf). ``open`` makes them possible: every observation gets
    one more occurrence, shared out over all labels by their frequencies.
    """

    observation: Int32  # (n,) entries, sorted by observation, then by row
    row: Int32  # (n,)
    count: Float  # (n,)
    n_features: int
    n_rows: int
    min_count: float = 1.0
    open: bool = False
    name: str = field(default="words", kw_only=True)
    group = "emissions"
    needs = "sparse"
    schema = Part(
        (
            NAME,
            whole("n_features", "features", "F"),
            whole("n_rows", "rows", "R"),
            number("min_count", "observations that were seen less often are unknown"),
            Value("open", "truth", "whether every label is possible"),
        ),
        ENTRIES,
    )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Counts are no parameters."""
        return {}

    @cached_property
    def first(self) -> Int:
        """(F+1,) where the entries of an observation begin."""
        return entry_starts(self.observation, self.n_features)

    @cached_property
    def totals(self) -> Float:
        """(F,) how often an observation was met."""
        return observation_totals(self.first, self.count)

    @cached_property
    def seen(self) -> Bool:
        """(F,) observations that were met often enough."""
        return (self.totals > 0) & (self.totals >= self.min_count)

    @cached_property
    def frequency(self) -> Float:
        """(R,) the share of each label, each counted once more than it was met."""
        counts = np.bincount(self.row, weights=self.count, minlength=self.n_rows) + 1.0
        return counts / counts.sum()

    @cached_property
    def log_share(self) -> Float:
        """(n,) log P(y | x)."""
        return np.log(entry_shares(self.first, self.count))

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Look the shares up."""
        from chainfield.kernels.counting.shares import fill_words

        words = observed(batch, self.seen)
        if not self.open:
            fill_words(words, self.first, self.row, self.log_share, scores)
        else:
            for t in np.flatnonzero(words >= 0).tolist():
                own = slice(self.first[words[t]], self.first[words[t] + 1])
                share = self.frequency.copy()
                share[self.row[own]] += self.count[own]
                scores[t] += np.log(share / (1.0 + self.totals[words[t]]))
        return nothing_to_learn

    @cached_property
    def relaxed(self) -> Words:
        """Every label is possible."""
        return replace(self, open=True)

    def n_weights(self) -> int:
        """One count per entry."""
        return len(self.count)

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """The logarithm of the co-occurrence rate of word and label: P(y | x) / P(y)."""
        if place == "position":
            names = features.feature_names()
            rate = self.log_share - np.log(self.frequency)[self.row]
            for f, row, weight in zip(self.observation.tolist(), self.row.tolist(), rate.tolist(), strict=True):
                if self.seen[f]:
                    yield Weight(names[f], row, weight)

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """log P(y | x) = log P(y) + log of the rate of word and label: two shares."""
        names, words = features.feature_names(), observed(batch, self.seen)
        found: list[list[Share]] = []
        for t, (word, rows) in enumerate(zip(words.tolist(), columns.tolist(), strict=True)):
            if word < 0:
                found.append([])
                continue
            prior = [float(np.log(self.frequency[r])) for r in rows]
            rates = tuple(float(scores[t, r]) - p for r, p in zip(rows, prior, strict=True))
            found.append([Share(names[word], 1.0, rates), Share(PRIOR, 1.0, tuple(prior))])
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Entries within the features and rows."""
        demand((self.n_features, self.n_rows) == (features.n_features, space.n_rows), "the size of the words")
        check_entries(self.observation, self.row, self.count, self.n_features, self.n_rows)
        demand(self.min_count >= 0, "the least count of a word")


def nothing_to_learn(d: Float, into: Params, scale: float) -> None:
    """The way back to no parameters at all."""
