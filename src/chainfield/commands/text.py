"""Raw text and annotation files on the command line: how ``train`` learns from them, and how ``tag`` answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chainfield.errors import ConfigError, DataError

from .losses import show_losses

if TYPE_CHECKING:
    from chainfield.formats.format import Format, Options
    from chainfield.text.document import Document
    from chainfield.text.tagging.text_tagger import TextTagger

PORTION = 256  # documents


def load_annotations(path: str, name: str, options: Options, quiet: bool, use: str = "to learn") -> list[Document]:
    """All annotated documents of a file; what was left out is told. ``use``: what their spans are needed for."""
    from dataclasses import replace

    from chainfield.formats import Report, format_of

    report = Report()
    found = list(format_of(path, name).read(path, replace(options, gold=True), report))
    if not found:
        raise DataError("; ".join([f"{path} holds no annotated document", *report.lines()]) + ".")
    if not any(document.spans for document in found):
        raise DataError(
            f"{path} holds {len(found):,} documents, but no span; there is nothing {use}. It was read as {name}; if it "
            "is something else, say so with --format, and name its fields or columns with --text-field, --word-column "
            "and --label-column."
        )
    if not quiet:
        show_losses(report)
    return found


def text_tagger(model: Path, jobs: int, decoder: str | None) -> TextTagger:
    """The model of a file as a tagger of texts; one that reads a single column gets the built-in tokeniser."""
    from chainfield.models import load
    from chainfield.text.tagging.text_tagger import TextTagger

    found = TextTagger.around(load(model, jobs), f"{model}")
    if decoder is not None:
        found.model_.decoder = decoder
    return found


def of_tokens(model: Any) -> Any:
    """The model of tokens inside of one of texts."""
    return getattr(model, "model_", model)


def tag_documents(
    tagger: TextTagger,
    data: str,
    name: str,
    output: str,
    to: str | None,
    options: Options,
    best: int,
    read: Callable[[str, Options], Iterator[Document]] | None = None,
    review: int | None = None,
) -> None:
    """Read documents, find their spans, write them; ``read``: in place of the format's own reader.

    ``review``: only so many documents, those whose answers are the least certain, these first.
    """
    from chainfield.formats import Report, format_of

    report = Report()
    documents = format_of(data, name).read(data, options, report) if read is None else read(data, options)
    documents = documents if review is None else doubtful(tagger, documents, review)
    chosen = to or (None if output == "-" else format_by(output, None, "--to").name)
    if chosen is None or chosen == "jsonl":
        _write_json(tagger, documents, output, options, best)
    else:
        writer = format_of(output, chosen)
        writer.write(_answered(tagger, documents), output, options, report)
    show_losses(report)


def doubtful(tagger: TextTagger, documents: Iterable[Document], n: int) -> Iterator[Document]:
    """The n documents whose whole answers are the least probable, these first; no more than n are held."""
    import heapq
    from dataclasses import replace
    from itertools import islice

    heap: list[tuple[float, int, Document]] = []
    stream, at = iter(documents), 0
    while some := list(islice(stream, PORTION)):
        for document, sure in zip(some, tagger.certainty(some), strict=True):
            heapq.heappush(heap, (-sure, -at, document))
            at += 1
            if len(heap) > n:
                heapq.heappop(heap)
    for sure, place, document in sorted(heap, key=lambda entry: (-entry[0], -entry[1])):
        more = {"document": -place, "probability": round(-sure, 6)}
        yield replace(document, meta={**document.meta, **more})


def format_by(path: str, name: str | None, option: str) -> Format:
    """The format of a name, or else of the name of a file; ``option`` is the one that says it."""
    from chainfield.formats import format_of

    try:
        return format_of(path, name)
    except ConfigError as error:
        raise ConfigError(str(error).replace("--format or format=", option)) from None


def _pairs(tagger: TextTagger, documents: Iterable[Document], **wanted: Any) -> Iterator[tuple[Document, Any]]:
    """Documents with their answers; only those under way are held."""
    from collections import deque

    waiting: deque[Document] = deque()

    def passed() -> Iterator[Document]:
        for document in documents:
            waiting.append(document)
            yield document

    for answer in tagger.pipe(passed(), **wanted):
        yield waiting.popleft(), answer


def _answered(tagger: TextTagger, documents: Iterable[Document]) -> Iterator[Document]:
    from dataclasses import replace

    from chainfield.formats.token_view import LABEL

    for document, found in _pairs(tagger, documents, probabilities=False):
        columns = {name: values for name, values in document.columns.items() if name != LABEL}
        yield replace(document, spans=tuple(span.span for span in found), columns=columns)


def _write_json(tagger: TextTagger, documents: Iterable[Document], output: str, options: Options, best: int) -> None:
    with click.open_file(output, "w", encoding="utf-8") as out:
        for document, found in _pairs(tagger, documents, alternatives=best):
            value: dict[str, Any] = {"text": document.text, "spans": [span.to_dict() for span in found]}
            if document.meta:
                value["meta"] = dict(document.meta)
            out.write(_line(value) + "\n")
            if output == "-":
                out.flush()


def _line(value: dict[str, Any]) -> str:
    """One line of JSON; halves of characters, which no encoding holds, are written as escapes."""
    line = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if any("\ud800" <= character <= "\udfff" for character in line) else line


def whole_file(path: str, options: Options) -> Iterator[Document]:
    """One document: all of a file."""
    from chainfield.data.opening import line_runs_of
    from chainfield.limits import DOCUMENT_BYTES
    from chainfield.text.document import Document

    parts, size = [], 0
    longest = DOCUMENT_BYTES.value()
    with line_runs_of(path, options.encoding, limit=DOCUMENT_BYTES) as (name, runs):
        for run in runs:
            parts += run
            size += sum(map(len, run)) + len(run)
            if size > longest:
                raise DataError(f"{name} has more than {longest:,} characters; tag it line by line, without --whole.")
    yield Document("\n".join(parts))
