"""Documents as words and labels, for formats of tokens; and back.

A token format holds spans as labels. The words are cut so that every span begins and ends with one: at the tokens of
the document, else at those of the built-in rules, and at the ends of spans besides. Then only three things do not fit:
spans that overlap, spaces at the end of a span, and spans of nothing but space. They are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chainfield.errors import DataError
from chainfield.spans import has_spans, spans, split_label, violations
from chainfield.text.alignment import TokenSpan, labels_of
from chainfield.text.document import Document, TextSpan, Token
from chainfield.text.function import find_words
from chainfield.text.rules import Rules

from .format import Report

LABEL = "label"
# What stands where there is no label.
NOTHING = frozenset(["O", "_", "-", ""])
_BREAKS = "\t\r\n"  # no cell of a line holds them


@dataclass(frozen=True)
class TokenView:
    """A document as words."""

    words: list[str]
    gaps: list[str]  # the text in front of each word, and behind the last one: one more than words
    labels: list[str]
    columns: dict[str, list[str]]

    @property
    def plain(self) -> bool:
        """Whether the text follows from the words: one space between them."""
        return bool(self.words) and self.gaps == ["", *[" "] * (len(self.words) - 1), ""]


def views(documents: Iterable[Document], report: Report, scheme: str) -> Iterator[tuple[Document, TokenView]]:
    """Documents with their words, for formats of lines: they cannot hold a document without any, nor any label."""
    for number, document in enumerate(documents):
        found = view(_in_lines(document, number, report), number, report, scheme)
        if found.words:
            yield document, found
        else:
            report.add("document without a token left out", f"document {number}")


def view(document: Document, number: int, report: Report, scheme: str = "bio") -> TokenView:
    """The words of a document and their labels."""
    where = f"document {number}"
    text = document.text
    own = document.tokens if document.tokens is not None and _covers(document.tokens, text) else None
    places = list(own) if own is not None else [Token(*place) for place in Rules()(text)]
    kept = _fitting(document.spans, text, where, report)
    labelled = document.columns.get(LABEL)
    whole = own is not None and labelled is not None and spans_of(labelled, places) == list(document.spans)
    cut = places if whole else _cut(places, kept)
    words = [text[a:b] for a, b in cut]
    gaps, at = [], 0
    for a, b in cut:
        gaps.append(text[at:a])
        at = b
    gaps.append(text[at:])
    if whole and labelled is not None:
        labels = list(labelled)
    else:
        first, last = {a: i for i, (a, _) in enumerate(cut)}, {b: i + 1 for i, (_, b) in enumerate(cut)}
        labels = labels_of([TokenSpan(first[s.start], last[s.end], s.label) for s in kept], len(cut), scheme)
    same = own is not None and len(cut) == len(own)
    columns = {name: list(values) for name, values in document.columns.items() if name != LABEL} if same else {}
    if document.columns and not same:
        report.add("columns of tokens left out, because spans cut the tokens", where)
    return TokenView(words, gaps, labels, columns)


def _in_lines(document: Document, number: int, report: Report) -> Document:
    """The document without spans whose labels would break a line."""
    broken = [span for span in document.spans if set(span.label) & set(_BREAKS)]
    for span in broken:
        report.add("span whose label has a tab or a line end left out", f"document {number}, {span.label!r}")
    kept = tuple(span for span in document.spans if span not in broken)
    return replace(document, spans=kept) if broken else document


def _covers(tokens: Sequence[Token], text: str) -> bool:
    """Whether tokens hold no spaces, and leave out nothing else."""
    words = [text[a:b] for a, b in tokens]
    rest, at = [], 0
    for a, b in tokens:
        rest.append(text[at:a])
        at = b
    return all(word.split() == [word] for word in words) and not Rules()(" ".join([*rest, text[at:]]))


def _fitting(found: Sequence[TextSpan], text: str, where: str, report: Report) -> list[TextSpan]:
    """Spans that labels can hold: without spaces at their ends, apart from each other."""
    kept, end = list[TextSpan](), 0
    for span in sorted(found, key=lambda s: (s.start, -s.end)):
        words = Rules()(text[span.start : span.end])
        if not words:
            report.add("span of nothing but space left out", f"{where}, {span.start}–{span.end}")
            continue
        trimmed = TextSpan(span.start + words[0][0], span.start + words[-1][1], span.label)
        if trimmed[:2] != span[:2]:
            report.add("space at the end of a span cut off", f"{where}, {span.start}–{span.end}")
        if trimmed.start < end:
            report.add("span that overlaps another left out", f"{where}, {span.start}–{span.end} ({span.label})")
            continue
        kept.append(trimmed)
        end = trimmed.end
    return kept


def _cut(tokens: list[Token], kept: Sequence[TextSpan]) -> list[Token]:
    """The tokens, cut at the ends of spans."""
    borders = sorted({at for span in kept for at in span[:2]})
    found, i = list[Token](), 0
    for a, b in tokens:
        while i < len(borders) and borders[i] <= a:
            i += 1
        while i < len(borders) and borders[i] < b:
            found.append(Token(a, borders[i]))
            a = borders[i]
            i += 1
        found.append(Token(a, b))
    return found


def spans_of(labels: Sequence[str], tokens: Sequence[Token]) -> list[TextSpan]:
    """The spans that labels of tokens stand for; labels of no scheme (such as POS) give one span per token."""
    if has_spans(labels):
        return [TextSpan(tokens[s.start].start, tokens[s.end - 1].end, s.type or "span") for s in spans(labels)]
    return [TextSpan(*place, label) for place, label in zip(tokens, labels, strict=True) if label not in NOTHING]


def note_violations(labels: Sequence[str], where: str, report: Report) -> None:
    """Report labels that break the scheme of their sequence; spans are read as conlleval reads them."""
    if not has_spans(labels):
        return
    prefixes = {split_label(label)[0] for label in labels}
    names = ["bilou"] if prefixes & {"L", "U"} else ["bioes"] if prefixes & {"E", "S"} else ["iob2", "iob1"]
    for t in min((violations(labels, name) for name in names), key=len):
        report.add("label that breaks its scheme, read as conlleval does", f"{where}, token {t + 1}: {labels[t]}")


def from_words(
    words: Sequence[str],
    labels: Sequence[str] | None,
    *,
    where: str,
    text: str | None = None,
    gaps: Sequence[str] | None = None,
    columns: dict[str, Sequence[str]] | None = None,
    meta: dict[str, object] | None = None,
) -> Document:
    """A document from words: its text is given, or follows from the gaps between them, or has single spaces."""
    if not all(words):
        raise DataError(f"{where}: word {list(words).index('') + 1} is empty; fill it in.")
    if text is None:
        if gaps is None:
            gaps = ["", *[" "] * (len(words) - 1), ""] if words else [""]
        text = "".join(gap + word for gap, word in zip(gaps, [*words, ""], strict=True))
        tokens, at = list[Token](), 0
        for gap, word in zip(gaps, words, strict=False):
            tokens.append(Token(at + len(gap), at + len(gap) + len(word)))
            at = tokens[-1].end
    else:
        try:
            tokens = [Token(*place) for place in find_words(text, words)]
        except DataError as error:
            raise DataError(f"{where}: the words are not those of the text: {error}") from None
    own = {name: tuple(values) for name, values in (columns or {}).items()}
    found = () if labels is None else tuple(spans_of(labels, tokens))
    if labels is not None and not has_spans(labels) and set(labels) - NOTHING:
        own[LABEL] = tuple(labels)
    return Document(text, found, tuple(tokens), own, meta or {})
