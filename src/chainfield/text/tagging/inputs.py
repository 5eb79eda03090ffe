"""What users give a tagger of text: texts with spans, documents, streams of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from chainfield.arrays import Ragged
from chainfield.errors import DataError
from chainfield.frames.door import is_framed
from chainfield.text.document import Document, TextSpan, check_span
from chainfield.text.tokeniser import Tokeniser, check_texts, from_places, listed
from chainfield.text.tokens import Tokens

CHARACTERS = 1 << 16  # of the texts that are tagged at a time
TEXTS = 1 << 10
OUTSIDE = "O"  # the label of words outside of spans, in every scheme


def check_items(texts: Any) -> list[Any]:
    """Texts or documents."""
    items = listed(texts)
    check_texts([one.text if isinstance(one, Document) else one for one in items])
    return items


def cut_items(tokeniser: Tokeniser, items: list[Any], sentences: bool) -> tuple[list[str], Tokens]:
    """The texts and their tokens: a document that has tokens keeps them."""
    texts = [one.text if isinstance(one, Document) else one for one in items]
    own = [one.tokens if isinstance(one, Document) else None for one in items]
    if all(tokens is None for tokens in own):
        return texts, tokeniser.cut(texts, sentences=sentences)
    places = [tokeniser(text) if tokens is None else tokens for text, tokens in zip(texts, own, strict=True)]
    return texts, from_places(texts, places, sentences=sentences)


def with_spans(texts: Any, spans: Any) -> tuple[list[Any], list[list[TextSpan]]]:
    """Texts or documents and their spans, from two lists or from documents; all checked."""
    items = listed(texts)
    if spans is None:
        if not all(isinstance(one, Document) for one in items):
            raise DataError("There are no spans; give one list of (start, end, label) per text, or documents.")
        spans = [one.spans for one in items]
    found = check_texts([one.text if isinstance(one, Document) else one for one in items])
    if isinstance(spans, str | bytes) or not hasattr(spans, "__len__"):
        raise DataError("The spans are not a list; give one list of (start, end, label) per text.")
    if len(spans) != len(found):
        raise DataError(f"There are {len(found)} texts, but spans for {len(spans)}.")
    checked = []
    for d, (text, own) in enumerate(zip(found, spans, strict=True)):
        if isinstance(own, str | bytes) or not hasattr(own, "__iter__"):
            raise DataError(f"Document {d}: the spans are {own!r:.40}; a list of (start, end, label) is expected.")
        checked.append([_named(check_span(span, text, f"Document {d}"), d) for span in own])
    return items, checked


def _named(span: TextSpan, d: int) -> TextSpan:
    """A span with a label that says what it is."""
    if span.label == OUTSIDE:
        raise DataError(
            f"Document {d}: the span {span.start}–{span.end} is called {OUTSIDE!r}, which stands for words outside of "
            "all spans; give it another name, or leave it out."
        )
    return span


def join_sentences(tokens: Tokens, spans: Sequence[Sequence[Any]]) -> Ragged:
    """Sequences that do not end inside of a span."""
    inside = np.zeros(len(tokens) + 1, np.bool_)
    for lo, own in zip(tokens.documents.offsets.tolist(), spans, strict=False):
        for a, b, _ in own:
            inside[lo + a + 1 : lo + b] = True
    offsets = tokens.sequences.offsets
    return Ragged(offsets[~inside[offsets]])


def portions(texts: Iterable[Any]) -> Iterator[list[Any]]:
    """Texts in portions that a thread takes."""
    some, size = list[Any](), 0
    for d, item in enumerate(listed(texts) if is_framed(texts) else texts):
        text = item.text if isinstance(item, Document) else item
        if not isinstance(text, str):
            raise DataError(f"Text {d} is {text!r:.40} ({type(text).__name__}); a string is expected.")
        some.append(item)
        size += len(text)
        if size >= CHARACTERS or len(some) >= TEXTS:
            yield some
            some, size = [], 0
    if some:
        yield some
