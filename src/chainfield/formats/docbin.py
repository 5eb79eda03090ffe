"""spaCy's DocBin (``.spacy``): what ``spacy train`` reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, final

from chainfield.errors import DataError
from chainfield.text.document import Document, TextSpan, Token

from .format import Format, Options, Report, temporary_name
from .token_view import view

GROUP = "sc"  # where spaCy's span categoriser looks for spans


@final
class DocBin(Format):
    """Entities that do not overlap are ``doc.ents``; the others are kept in ``doc.spans["sc"]``."""

    name: ClassVar[str] = "docbin"
    title: ClassVar[str] = "spaCy's DocBin: doc.ents, and doc.spans['sc'] for spans that overlap"
    needs: ClassVar[tuple[str, str] | None] = ("spacy", "spacy")

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Texts, tokens and entities."""
        spacy = self.package()
        from spacy.tokens import DocBin as Bin

        if not Path(path).exists():
            raise FileNotFoundError(f"There is no file {path}; check the name and the directory you are in.")
        try:
            docs = list(Bin().from_disk(path).get_docs(spacy.blank("xx").vocab))
        except Exception as error:  # whatever the bytes make of it
            raise DataError(f"{path} is not a DocBin, or is damaged ({type(error).__name__}: {error}).") from None
        for doc in docs:
            found = [TextSpan(e.start_char, e.end_char, e.label_) for e in doc.ents if e.label_]
            for group in doc.spans:
                found += [TextSpan(s.start_char, s.end_char, s.label_) for s in doc.spans[group] if s.label_]
            tokens = tuple(Token(t.idx, t.idx + len(t)) for t in doc if not t.is_space)
            yield Document(doc.text, tuple(dict.fromkeys(sorted(found))), tokens)

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """Tokens are cut so that every span has its own."""
        spacy = self.package()
        from spacy.tokens import DocBin as Bin

        vocab = spacy.blank("xx").vocab
        found = Bin(store_user_data=False)
        for number, document in enumerate(documents):
            if document.columns or document.meta:
                report.add("columns and other fields left out", f"document {number}")
            found.add(_doc(document, number, vocab, report))
        temporary = temporary_name(path)
        try:
            found.to_disk(temporary)
            temporary.replace(os.path.realpath(path))
        finally:
            temporary.unlink(missing_ok=True)


def _doc(document: Document, number: int, vocab: Any, report: Report) -> Any:
    from spacy.tokens import Doc, Span

    begins, stops = {span.start for span in document.spans}, {span.end for span in document.spans}
    borders = begins | stops
    cut = view(Document(document.text, (), document.tokens), number, Report())
    words, spaces, at = list[str](), list[bool](), 0
    for gap, word in zip(cut.gaps, [*cut.words, ""], strict=True):
        # A space belongs to the word before it, unless a span begins or ends with it.
        if gap.startswith(" ") and words and not spaces[-1] and at not in begins and at + 1 not in stops:
            spaces[-1], gap, at = True, gap[1:], at + 1
        for piece in (gap, word):
            for part in _split(piece, [b - at for b in borders]):
                words.append(part)
                spaces.append(False)
            at += len(piece)
    doc = Doc(vocab, words=words, spaces=spaces)
    if doc.text != document.text:
        raise DataError(f"Document {number}: spaCy changed the text; please report it.")
    starts, ends = {t.idx: t.i for t in doc}, {t.idx + len(t): t.i + 1 for t in doc}
    entities, others, end = [], [], 0
    for span in sorted(document.spans, key=lambda s: (s.start, -s.end)):
        made = Span(doc, starts[span.start], ends[span.end], label=span.label)
        if span.start < end:
            others.append(made)
        else:
            entities.append(made)
            end = span.end
    doc.ents = entities
    if others:
        doc.spans[GROUP] = others
    return doc


def _split(piece: str, borders: Iterable[int]) -> list[str]:
    """A piece of text, cut at some places."""
    at = sorted({0, len(piece), *(b for b in borders if 0 < b < len(piece))})
    return [piece[a:b] for a, b in pairwise(at) if b > a]
