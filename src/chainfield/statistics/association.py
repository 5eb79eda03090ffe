"""Co-occurrence rate and pointwise mutual information of two kinds of events.

    CR(a; b) = P(a, b) / (P(a) P(b))            PMI(a; b) = log CR(a; b)

A rate below 1: the two repel each other; 1: they are independent; above 1: they attract each other (Fano 1961; Church
and Hanks 1990; Zhu, Hiemstra, Apers and Wombacher).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError, DataError


@dataclass(frozen=True)
class Pair:
    """Two events, how often they came together, and how often they would have by chance."""

    first: Any
    second: Any
    count: float
    expected: float
    rate: float


@dataclass(frozen=True, eq=False)
class Association:
    """Counts of pairs that occurred. A names, B names, n pairs. ``strength`` draws rates of rare pairs to 1.

    rate = (count + strength) / (expected + strength): as many observations as ``strength`` that say "independent".
    """

    firsts: tuple[Any, ...]  # (A,) names
    seconds: tuple[Any, ...]  # (B,)
    first: Int  # (n,) pairs that occurred, sorted by (first, second)
    second: Int  # (n,)
    count: Float  # (n,)
    strength: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.strength) and self.strength >= 0):
            raise ConfigError(f"strength is {self.strength}; a number of at least 0 is expected.")
        if not len(self.count):
            raise DataError("There is nothing to count: no two events came together.")

    @property
    def total(self) -> float:
        """How many pairs occurred."""
        return float(self.count.sum())

    @cached_property
    def first_counts(self) -> Float:
        """(A,) how often each first event took part."""
        return np.bincount(self.first, weights=self.count, minlength=len(self.firsts)).astype(np.float64)

    @cached_property
    def second_counts(self) -> Float:
        """(B,) how often each second event took part."""
        return np.bincount(self.second, weights=self.count, minlength=len(self.seconds)).astype(np.float64)

    @cached_property
    def rates(self) -> Float:
        """(A, B) co-occurrence rates, those of pairs that never occurred too; for few names only."""
        expected = np.outer(self.first_counts, self.second_counts) / self.total
        counts = np.zeros_like(expected)
        counts[self.first, self.second] = self.count
        with np.errstate(invalid="ignore"):
            found = (counts + self.strength) / (expected + self.strength)
        return np.where(expected + self.strength > 0, found, 1.0)

    def information(self, base: float = 2.0) -> Float:
        """(A, B) pointwise mutual information; -inf where a pair never occurred (unless ``strength`` is above 0)."""
        with np.errstate(divide="ignore"):
            return np.log(self.rates) / np.log(base)

    def rate(self, first: Any, second: Any) -> float:
        """The co-occurrence rate of two events by name."""
        return self.pair(first, second).rate

    def pair(self, first: Any, second: Any) -> Pair:
        """All that is known of two events."""
        a, b = _number(self.firsts, first), _number(self.seconds, second)
        at = np.flatnonzero((self.first == a) & (self.second == b))
        return self._pair(a, b, float(self.count[at].sum()))

    def _pair(self, a: int, b: int, count: float) -> Pair:
        expected = float(self.first_counts[a] * self.second_counts[b] / self.total)
        known = expected + self.strength > 0
        rate = (count + self.strength) / (expected + self.strength) if known else 1.0
        return Pair(self.firsts[a], self.seconds[b], count, expected, rate)

    def pairs(self, min_count: float = 1.0) -> list[Pair]:
        """Pairs that occurred often enough, largest rate first; of equal rates, the most frequent first."""
        keep = self.count >= min_count
        found = [
            self._pair(a, b, n)
            for a, b, n in zip(
                self.first[keep].tolist(), self.second[keep].tolist(), self.count[keep].tolist(), strict=True
            )
        ]
        return sorted(found, key=lambda pair: (-pair.rate, -pair.count))

    def attracting(self, n: int = 10, min_count: float = 5.0) -> list[Pair]:
        """The pairs that attract each other most."""
        return [pair for pair in self.pairs(min_count) if pair.rate > 1][:n]

    def repelling(self, n: int = 10, min_expected: float = 5.0) -> list[Pair]:
        """The pairs that repel each other most, among those that chance would bring together often enough."""
        often_a = np.flatnonzero(self.first_counts * self.second_counts.max() / self.total >= min_expected)
        often_b = np.flatnonzero(self.second_counts * self.first_counts.max() / self.total >= min_expected)
        met = {(a, b): n for a, b, n in zip(self.first.tolist(), self.second.tolist(), self.count, strict=True)}
        expected = np.outer(self.first_counts[often_a], self.second_counts[often_b]) / self.total
        where = np.argwhere(expected >= min_expected)
        found = [
            self._pair(int(often_a[i]), int(often_b[j]), float(met.get((int(often_a[i]), int(often_b[j])), 0.0)))
            for i, j in where
        ]
        return sorted((pair for pair in found if pair.rate < 1), key=lambda p: (p.rate, -p.expected))[:n]

    def __str__(self) -> str:
        lines = []
        for title, pairs in (("attract each other", self.attracting()), ("repel each other", self.repelling())):
            lines.append(f"{'rate':>10}  {'count':>8}  {'by chance':>9}  {title}")
            lines += [f"{p.rate:10.3f}  {p.count:8g}  {p.expected:9.1f}  {p.first} · {p.second}" for p in pairs]
        return "\n".join(lines)


def associate(pairs: Iterable[tuple[Any, Any]], strength: float = 0.0) -> Association:
    """Count pairs of events."""
    counts = Counter(pairs)
    firsts, seconds = _ordered(a for a, _ in counts), _ordered(b for _, b in counts)
    number_a, number_b = ({name: i for i, name in enumerate(names)} for names in (firsts, seconds))
    entries = sorted((number_a[a], number_b[b], n) for (a, b), n in counts.items())
    first, second, count = (list(column) for column in zip(*entries, strict=True)) if entries else ([], [], [])
    return Association(
        firsts, seconds, np.array(first, np.int64), np.array(second, np.int64), np.array(count, np.float64), strength
    )


def _ordered(names: Iterable[Any]) -> tuple[Any, ...]:
    distinct = list(dict.fromkeys(names))
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(distinct)


def _number(names: tuple[Any, ...], name: Any) -> int:
    if name not in names:
        raise DataError(f"{name!r} was never counted.")
    return names.index(name)
