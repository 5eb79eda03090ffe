"""Spans of characters as spans of tokens, and as labels; and back.

A span is a row of whole tokens if it begins where its first token begins and ends where its last token ends. One that
is not is *misaligned*: it cuts a token in two, or has a space at one end, or holds no token at all. Two spans that
share a token *overlap*: labels cannot hold both. Neither is repaired unless that is asked for, and whatever is repaired
is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from chainfield.errors import DataError
from chainfield.spans import Span, write_labels

from .document import TextSpan
from .tokens import Tokens

MISALIGNED = ("refuse", "expand", "shrink", "drop")
OVERLAPPING = ("refuse", "longest", "first")
SCHEMES = ("bio", "bioes", "bilou", "io")


class Repair(NamedTuple):
    """What was done to one span."""

    document: int
    span: TextSpan
    problem: str
    action: str


@dataclass
class Repairs:
    """What was done to spans that labels cannot hold as they are."""

    list: list[Repair] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.list)

    def add(self, document: int, span: TextSpan, problem: str, action: str) -> None:
        """One more."""
        self.list.append(Repair(document, span, problem, action))

    def __str__(self) -> str:
        if not self.list:
            return "All spans agree with the tokens."
        counts = Counter((repair.problem, repair.action) for repair in self.list)
        return "; ".join(f"{n:,} {_spans(n)} {problem}: {action}" for (problem, action), n in counts.items()) + "."


def _spans(n: int) -> str:
    return "span" if n == 1 else "spans"


class TokenSpan(NamedTuple):
    """A row of tokens of one document, counted within it: ``tokens[first:last]``."""

    first: int
    last: int
    label: str


def token_spans(
    texts: Sequence[str],
    spans: Sequence[Sequence[TextSpan]],
    tokens: Tokens,
    *,
    misaligned: str = "refuse",
    overlapping: str = "refuse",
    repairs: Repairs | None = None,
) -> list[list[TokenSpan]]:
    """The spans of each text as rows of its tokens, from left to right, none overlapping.

    ``misaligned``: "refuse", "expand" to whole tokens, "shrink" to the tokens that are inside, or "drop".
    ``overlapping``: "refuse", keep the "longest" or the "first". What is done is written to ``repairs``.
    """
    done = Repairs() if repairs is None else repairs
    results = []
    offsets = tokens.documents.offsets.tolist()
    for d, own in enumerate(spans):
        lo, hi = offsets[d], offsets[d + 1]
        places = _Places(texts[d], tokens.starts[lo:hi], tokens.ends[lo:hi], d)
        found = [places.aligned(span, misaligned, done) for span in own]
        results.append(_apart(places, [pair for pair in found if pair is not None], overlapping, done))
    return results


@dataclass(frozen=True, eq=False)
class _Places:
    """The tokens of one document."""

    text: str
    starts: Any
    ends: Any
    document: int

    def describe(self, span: TextSpan) -> str:
        shown = self.text[span.start : span.end]
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        return f"Document {self.document}: the span {span.start}–{span.end} ({shown!r}, {span.label})"

    def aligned(self, span: TextSpan, policy: str, done: Repairs) -> tuple[TokenSpan, TextSpan] | None:
        first = int(np.searchsorted(self.ends, span.start, side="right"))
        last = int(np.searchsorted(self.starts, span.end, side="left"))
        exact = first < last and self.starts[first] == span.start and self.ends[last - 1] == span.end
        if exact:
            return TokenSpan(first, last, span.label), span
        if first >= last:
            problem = "hold no token"
            if policy in ("refuse",):
                raise DataError(f"{self.describe(span)} holds no token; correct it, or pass misaligned='drop'.")
            done.add(self.document, span, problem, "dropped")
            return None
        cut = self.starts[first] < span.start or self.ends[last - 1] > span.end
        problem = "cut a token in two" if cut else "have spaces at their ends"
        if policy == "refuse":
            raise DataError(self._refusal(span, first, last, cut))
        if policy == "drop":
            done.add(self.document, span, problem, "dropped")
            return None
        if policy == "shrink":
            first += int(self.starts[first] < span.start)
            last -= int(self.ends[last - 1] > span.end)
            if first >= last:
                done.add(self.document, span, problem, "dropped, no whole token is inside")
                return None
        done.add(self.document, span, problem, "expanded" if policy == "expand" and cut else "shrunk")
        return TokenSpan(first, last, span.label), span

    def _refusal(self, span: TextSpan, first: int, last: int, cut: bool) -> str:
        if not cut:
            return f"{self.describe(span)} has spaces at its ends; cut them off, or pass misaligned='shrink'."
        at = first if self.starts[first] < span.start else last - 1
        a, b = int(self.starts[at]), int(self.ends[at])
        return (
            f"{self.describe(span)} cuts the token {self.text[a:b]!r:.60} ({a}–{b}) in two; correct it, take another "
            "tokeniser, or pass misaligned='expand', 'shrink' or 'drop'."
        )


def _apart(places: _Places, found: list[tuple[TokenSpan, TextSpan]], policy: str, done: Repairs) -> list[TokenSpan]:
    """Spans that share no token, from left to right."""
    inside = sorted(found, key=lambda pair: (pair[0].first, pair[0].last))
    clash = next((i for i in range(1, len(inside)) if inside[i][0].first < inside[i - 1][0].last), None)
    if clash is None:
        return [pair[0] for pair in inside]
    if policy == "refuse":
        other = inside[clash - 1][1]
        raise DataError(
            f"{places.describe(inside[clash][1])} overlaps the span {other.start}–{other.end} ({other.label}); labels "
            "of tokens cannot hold both. Correct them, or pass overlapping='longest' or 'first'."
        )
    order = inside if policy == "first" else sorted(inside, key=lambda pair: pair[0].first - pair[0].last)
    taken = np.zeros(len(places.starts), np.bool_)
    kept = []
    for token_span, span in order:
        if taken[token_span.first : token_span.last].any():
            done.add(places.document, span, "overlap others", "dropped")
        else:
            taken[token_span.first : token_span.last] = True
            kept.append(token_span)
    return sorted(kept)


def labels_of(spans: Sequence[TokenSpan], n: int, scheme: str = "bio") -> list[str]:
    """The labels of n tokens that stand for some spans: B-X I-X O and so on."""
    return write_labels((Span(label, a, b) for a, b, label in spans), n, scheme)
