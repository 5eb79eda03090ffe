"""Spans of many sequences at once: the rules of :mod:`chainfield.spans` as tables over label numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from chainfield.arrays import Bool, Int, Int32, Ragged, offsets_of
from chainfield.potentials import Clamp
from chainfield.spans import has_spans, rule_of, split_label
from chainfield.states import StateSpace


@dataclass(frozen=True, eq=False)
class SpanTable:
    """What happens between two labels, by number; number L stands for the border of a sequence."""

    types: tuple[str, ...]  # (L,)
    closes: Bool  # (L + 1, L + 1) [previous, label]: a span ends between them, if there is one
    whole: Bool  # the span that ends was well formed
    opens: Bool  # a span begins at the second one

    def find(self, labels: Int32, ragged: Ragged) -> tuple[Int, Int]:
        """Where the spans of some sequences begin and end, in positions of the batch."""
        border = len(self.types)
        before = np.empty(len(labels), np.int64)
        before[1:] = labels[:-1]
        before[ragged.firsts] = border
        opens = self.opens[before, labels]
        edges = self.closes[before, labels] | opens
        edges[ragged.firsts] = True
        starts = np.flatnonzero(opens)
        bounds = np.append(np.flatnonzero(edges), len(labels))
        ends = bounds[np.searchsorted(bounds, starts, side="right")] if len(starts) else starts
        after = np.append(labels, border)[ends].astype(np.int64)
        first = np.zeros(len(labels) + 1, np.bool_)
        first[ragged.firsts] = True
        after[first[ends]] = border
        good = self.whole[labels[ends - 1], after] if len(ends) else np.zeros(0, np.bool_)
        return starts[good], ends[good]

    def exactly(
        self, labels: Int32, starts: Int, ends: Int, ragged: Ragged, space: StateSpace
    ) -> tuple[Int, Int, Clamp]:
        """Stretches and what is allowed in them, so that these very spans are there, no longer and no shorter.

        ``labels`` (positions of the spans, one after the other). A neighbour of a span counts where its label decides
        whether the span goes on.
        """
        n = len(self.types)
        lengths = ends - starts
        first = offsets_of(lengths)
        heads, tails = labels[first[:-1]], labels[first[1:] - 1]
        before, after, sets = self._neighbours
        begins, stops = np.zeros(ragged.n_positions + 1, np.bool_), np.zeros(ragged.n_positions + 1, np.bool_)
        begins[ragged.firsts], stops[ragged.offsets[1:][ragged.lengths > 0]] = True, True
        left = before[heads] & ~begins[starts]
        right = after[tails] & ~stops[ends]
        to = offsets_of(lengths + left + right)
        index = np.empty(int(to[-1]), np.int32)
        inside = np.ones(len(index), np.bool_)
        inside[to[:-1][left]], inside[to[1:][right] - 1] = False, False
        index[inside] = labels
        index[to[:-1][left]] = 2 * n + heads[left]
        index[to[1:][right] - 1] = n + tails[right]
        return starts - left, ends + right, Clamp(index, np.ascontiguousarray(sets[:, space.label_of_row]))

    @cached_property
    def _neighbours(self) -> tuple[Bool, Bool, Bool]:
        """Labels (L,) that a span could begin earlier with, those (L,) that it could go on behind, and sets of labels.

        (3 L, L) sets: L single labels, L for "no longer", L for "not earlier".
        """
        n = len(self.types)
        goes_on = np.logical_not(self.closes | self.opens)[:n, :n]  # [last label, next label]
        comes = np.logical_not(self.opens[:n, :n].T)  # [first label, label before]
        sets = np.concatenate([np.eye(n, dtype=np.bool_), ~goes_on, ~comes])
        return np.logical_or.reduce(comes, axis=1), np.logical_or.reduce(goes_on, axis=1), sets


NOTHING = frozenset(["O", "_", "-"])  # what stands where a token has no label


@lru_cache(maxsize=64)
def reading_of(labels: tuple[str, ...]) -> SpanTable:
    """How spans are read off the labels of a model: labels of no scheme, such as POS, are spans of one token each."""
    if has_spans(labels):
        return span_table(labels)
    closes = np.ones((len(labels) + 1, len(labels) + 1), np.bool_)
    opens = closes.copy()
    opens[:, [i for i, label in enumerate((*labels, "O")) if label in NOTHING]] = False
    return SpanTable(labels, closes, closes, opens)


@lru_cache(maxsize=64)
def span_table(labels: tuple[str, ...], scheme: str = "conlleval") -> SpanTable:
    """The table of some label names under a reading."""
    rule = rule_of(scheme)
    names = (*labels, "O")
    triples = np.array([[rule(a, b) for b in names] for a in names], np.bool_)
    return SpanTable(tuple(split_label(label)[1] for label in labels), *(triples[:, :, k].copy() for k in range(3)))
