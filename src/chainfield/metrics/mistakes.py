"""Mistakes of predicted spans: gold and found spans are laid beside each other, and each difference gets a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from chainfield.arrays import Int
from chainfield.spans import Span, rule_of, spans

from .span_counts import Sequences, check_aligned, check_spans, check_strings

MistakeKind = Literal["missed", "spurious", "boundary", "type", "both"]
"""A gold span without a partner; a found span without one; a wrong border; a wrong type; both of these."""

KINDS: tuple[MistakeKind, ...] = ("missed", "spurious", "boundary", "type", "both")


@dataclass(frozen=True)
class Mistake:
    """One mistake: the gold span and the found span that were paired; one of them is None if nothing overlaps."""

    kind: MistakeKind
    gold: Span | None
    found: Span | None

    @property
    def start(self) -> int:
        """The first position that either of the spans covers."""
        return min(span.start for span in (self.gold, self.found) if span is not None)

    @property
    def end(self) -> int:
        """The position after the last one that either of the spans covers."""
        return max(span.end for span in (self.gold, self.found) if span is not None)


@dataclass(frozen=True)
class SpanAlignment:
    """The spans of one sequence: those that are right, and the mistakes, both from left to right."""

    correct: tuple[Span, ...]
    mistakes: tuple[Mistake, ...]


def align_spans(gold: Sequence[Span], found: Sequence[Span]) -> SpanAlignment:
    """Pair gold spans with found ones, each with at most one other.

    Equal spans are right. Of the rest, spans that overlap are paired, the most alike first: those with the same
    borders, then those with the same type, then those that share most positions; of equals, the leftmost. Spans of one
    side must not overlap each other, as those of label sequences never do.
    """
    right = set(gold).intersection(found)
    theirs = [span for span in gold if span not in right]
    ours = [span for span in found if span not in right]
    pairs = sorted((_unlikeness(a, b), a.start, b.start, a, b) for a, b in _overlapping(theirs, ours))
    mistakes: list[Mistake] = []
    free_a, free_b = set(theirs), set(ours)
    for _, _, _, a, b in pairs:
        if a in free_a and b in free_b:
            free_a.remove(a)
            free_b.remove(b)
            same = (a.start, a.end) == (b.start, b.end)
            mistakes.append(Mistake("type" if same else "boundary" if a.type == b.type else "both", a, b))
    mistakes += [Mistake("missed", a, None) for a in free_a]
    mistakes += [Mistake("spurious", None, b) for b in free_b]
    return SpanAlignment(tuple(sorted(right, key=_place)), tuple(sorted(mistakes, key=_order)))


def find_mistakes(y_true: Sequences, y_pred: Sequences, scheme: str = "conlleval") -> list[SpanAlignment]:
    """The alignment of each sequence; ``scheme`` is a reading of :func:`chainfield.spans.spans`.

    >>> found = find_mistakes([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
    >>> [mistake.kind for mistake in found[0].mistakes]
    ['boundary']
    """
    rule_of(scheme)
    check_aligned(y_true, y_pred)
    check_strings(y_true, y_pred)
    check_spans(y_true)
    return [align_spans(spans(gold, scheme), spans(guess, scheme)) for gold, guess in zip(y_true, y_pred, strict=True)]


def count_mistakes(alignments: Iterable[SpanAlignment]) -> dict[MistakeKind, int]:
    """How many mistakes there are of each kind."""
    counts = Counter(mistake.kind for alignment in alignments for mistake in alignment.mistakes)
    return {kind: counts[kind] for kind in KINDS}


@dataclass(frozen=True, eq=False)
class SpanConfusion:
    """``matrix[i, j]`` gold spans of type i were found as type j. T types; row T is "spurious", column T "missed".

    The diagonal counts right types; ``boundary[i]`` of them have a wrong border.
    """

    types: tuple[str, ...]
    matrix: Int  # (T + 1, T + 1)
    boundary: Int  # (T,)


def span_confusion(alignments: Sequence[SpanAlignment]) -> SpanConfusion:
    """What was taken for what, from the alignments of all sequences; types in sorted order."""
    pairs = [(span, span) for alignment in alignments for span in alignment.correct]
    wrong = [(mistake.gold, mistake.found) for alignment in alignments for mistake in alignment.mistakes]
    types = sorted({span.type for pair in (*pairs, *wrong) for span in pair if span is not None})
    number = {name: i for i, name in enumerate(types)}
    matrix = np.zeros((len(types) + 1, len(types) + 1), np.int64)
    boundary = np.zeros(len(types), np.int64)
    for a, b in (*pairs, *wrong):
        i = len(types) if a is None else number[a.type]
        j = len(types) if b is None else number[b.type]
        matrix[i, j] += 1
        if a is not None and b is not None and i == j and a != b:
            boundary[i] += 1
    return SpanConfusion(tuple(types), matrix, boundary)


def _overlapping(gold: Sequence[Span], found: Sequence[Span]) -> list[tuple[Span, Span]]:
    """All pairs that share a position: one walk over both sides."""
    gold, found = sorted(gold, key=_place), sorted(found, key=_place)
    pairs, i, j = [], 0, 0
    while i < len(gold) and j < len(found):
        if gold[i].start < found[j].end and found[j].start < gold[i].end:
            pairs.append((gold[i], found[j]))
        if gold[i].end <= found[j].end:
            i += 1
        else:
            j += 1
    return pairs


def _unlikeness(a: Span, b: Span) -> tuple[bool, bool, int]:
    shared = min(a.end, b.end) - max(a.start, b.start)
    return (a.start, a.end) != (b.start, b.end), a.type != b.type, -shared


def _place(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.type


def _order(mistake: Mistake) -> tuple[int, int, bool]:
    return mistake.start, mistake.end, mistake.gold is None
