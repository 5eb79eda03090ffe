"""JSON lines of text and spans: chainfield's own form, doccano's and Prodigy's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, final

from chainfield.errors import DataError
from chainfield.text.document import Document, make_document

from .format import Format, Options, Report, writing
from .lines import dump, json_lines, take

_SPANS = ("spans", "entities", "label", "labels")


def read_span(value: Any, place: str) -> tuple[Any, Any, Any]:
    """(start, end, label) from a list of three, or from an object with such fields."""
    if isinstance(value, list | tuple) and len(value) == 3:
        return value[0], value[1], value[2]
    if isinstance(value, Mapping):
        known = dict(value)
        start = take(known, ("start", "start_offset"), place, "where a span begins")
        end = take(known, ("end", "end_offset"), place, "where a span ends")
        return start, end, take(known, ("label", "type", "entity_group"), place, "what a span is")
    raise DataError(f"{place}: {value!r:.40} is not a span; [start, end, label] or an object with them is expected.")


def read_spans(value: Any, place: str) -> list[tuple[Any, Any, Any]]:
    """A list of spans."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise DataError(f"{place}: the spans are {value!r:.40}; a list is expected.")
    return [read_span(span, place) for span in value]


@final
class Jsonl(Format):
    """``{"text": …, "spans": [{"start": …, "end": …, "label": …}]}``, one object per line."""

    name: ClassVar[str] = "jsonl"
    title: ClassVar[str] = 'one JSON object per line: {"text": …, "spans": [{"start": …, "end": …, "label": …}]}'

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Spans may be called spans, entities or labels, and may be lists of three; other fields are kept."""
        for place, value in json_lines(path, options):
            text = take(value, (options.text_field or "text",), place, "what the document says")
            spans = read_spans(next((value[name] for name in _SPANS if name in value), None), place)
            columns = value.get("columns") or {}
            if not isinstance(columns, dict):
                raise DataError(f"{place}: the columns are {columns!r:.40}; an object is expected.")
            known = {*_SPANS, options.text_field or "text", "tokens", "columns", "meta"}
            meta = value["meta"] if isinstance(value.get("meta"), dict) else {}
            meta = {**meta, **{name: other for name, other in value.items() if name not in known}}
            yield make_document(text, spans, value.get("tokens"), columns, meta, where=place)

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """Everything that a document has."""
        with writing(path, options) as out:
            for document in documents:
                value: dict[str, Any] = {options.text_field or "text": document.text}
                value["spans"] = [{"start": a, "end": b, "label": label} for a, b, label in document.spans]
                if document.tokens is not None:
                    value["tokens"] = [list(token) for token in document.tokens]
                if document.columns:
                    value["columns"] = {name: list(column) for name, column in document.columns.items()}
                if document.meta:
                    value["meta"] = dict(document.meta)
                out.write(dump(value))


@final
class Doccano(Format):
    """``{"text": …, "label": [[start, end, label]]}``: sequence labelling in doccano, import and export."""

    name: ClassVar[str] = "doccano"
    title: ClassVar[str] = 'doccano\'s JSONL: {"text": …, "label": [[start, end, label]]}'

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Both of its exports: ``label`` with lists, ``entities`` with objects."""
        for place, value in json_lines(path, options):
            text = take(value, (options.text_field or "text", "data"), place, "what the document says")
            spans = read_spans(take(value, _SPANS, place, "the annotations"), place)
            if value.get("relations"):
                report.add("relations left out", place)
            known = {*_SPANS, options.text_field or "text", "data", "relations"}
            meta = {name: other for name, other in value.items() if name not in known}
            yield make_document(text, spans, meta=meta, where=place)

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """What doccano imports; other fields become its metadata."""
        with writing(path, options) as out:
            for number, document in enumerate(documents):
                _no_tokens(document, number, report)
                value = {"text": document.text, "label": [list(span) for span in document.spans]}
                out.write(dump({**{k: v for k, v in document.meta.items() if k not in value}, **value}))


@final
class Prodigy(Format):
    """``{"text": …, "tokens": […], "spans": […], "answer": "accept"}``."""

    name: ClassVar[str] = "prodigy"
    title: ClassVar[str] = 'Prodigy\'s JSONL: {"text": …, "tokens": […], "spans": […], "answer": "accept"}'

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Only what was accepted; the rest is counted."""
        for place, value in json_lines(path, options):
            answer = value.get("answer", "accept")
            if answer != "accept":
                report.add(f"example with the answer {answer!r} left out", place)
                continue
            text = take(value, ("text",), place, "what the document says")
            tokens = value.get("tokens")
            if tokens is not None:
                if not isinstance(tokens, list):
                    raise DataError(f"{place}: the tokens are {tokens!r:.40}; a list is expected.")
                tokens = [_token(token, place) for token in tokens]
            known = ("text", "tokens", "spans", "answer")
            meta = {name: other for name, other in value.items() if name not in known}
            yield make_document(text, read_spans(value.get("spans"), place), tokens, meta=meta, where=place)

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """Spans with their tokens, where a document has tokens and spans agree with them."""
        with writing(path, options) as out:
            for number, document in enumerate(documents):
                if document.columns:
                    report.add("columns of tokens left out", f"document {number}")
                value: dict[str, Any] = {"text": document.text}
                firsts, lasts = dict[int, int](), dict[int, int]()
                if document.tokens is not None:
                    value["tokens"] = [
                        {
                            "text": document.text[a:b],
                            "start": a,
                            "end": b,
                            "id": i,
                            "ws": document.text[b : b + 1] == " ",
                        }
                        for i, (a, b) in enumerate(document.tokens)
                    ]
                    firsts = {a: i for i, (a, _) in enumerate(document.tokens)}
                    lasts = {b: i for i, (_, b) in enumerate(document.tokens)}
                value["spans"] = [
                    {
                        "start": a,
                        "end": b,
                        "label": label,
                        **({"token_start": firsts[a], "token_end": lasts[b]} if a in firsts and b in lasts else {}),
                    }
                    for a, b, label in document.spans
                ]
                kept = {name: other for name, other in document.meta.items() if name not in value}
                out.write(dump({**kept, **value, "answer": "accept"}))


def _token(value: Any, place: str) -> tuple[Any, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{place}: a token is {value!r:.40}; an object with start and end is expected.")
    return take(value, ("start",), place, "where a token begins"), take(value, ("end",), place, "where a token ends")


def _no_tokens(document: Document, number: int, report: Report) -> None:
    if document.tokens is not None:
        report.add("tokens left out", f"document {number}")
