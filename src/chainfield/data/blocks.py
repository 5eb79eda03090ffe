"""Labelled sentences by the thousand: what a corpus is that does not fit into memory, and has to be read quickly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from os import PathLike
from typing import Literal, NamedTuple

import numpy as np

from .coded import CodedRows, encode_columns
from .columns import Sentence, SentenceReader, read_columns
from .corpus import apart, split_label
from .grid import BOM, cut_rows, is_utf8_file
from .opening import Readable, open_bytes, source_name, undecodable

BYTES = 1 << 23  # of a block
SENTENCES = 1 << 14  # the same where bytes are not to be had
_BLANK = b"\n\n"


class Block(NamedTuple):
    """Rows, their labels as a column of their own (None: not known), and what separates cells (None: spaces)."""

    rows: CodedRows
    labels: CodedRows
    separator: str | None


def read_blocks(
    path: Readable,
    label_column: int,
    unknown: str | None,
    encoding: str,
    separator: str | None,
    comments: bool,
    docstart: Literal["skip", "keep"],
) -> Iterator[Block]:
    """The sentences of a column file, as many at a time as a block of it holds.

    They are those that :func:`~chainfield.data.columns.read_columns` finds, and mistakes are told in its words: a
    block that is not plain goes through its hands.
    """
    # Wrong arguments are refused here; a file of UTF-8 is not opened yet.
    sentences = read_columns(path, encoding=encoding, separator=separator, comments=comments, docstart=docstart)
    if not is_utf8_file(path, encoding):
        yield from _some(sentences, label_column, unknown, separator)
        return
    skip = docstart == "skip"
    reader = SentenceReader(source_name(path), separator, comments, skip)
    for rest, whole in _pieces(path):
        while rest:
            grid, part = reader.grid, rest
            if (
                not reader.between_sentences
            ):  # up to the end of a sentence; the first one tells how many columns there are
                end = rest.find(_BLANK)
                part = rest if end < 0 else rest[: end + len(_BLANK)]
            elif whole:
                plain = cut_rows(rest, grid.separator, grid.n_columns, comments, skip)
                found = None if plain is None else apart(plain, label_column, unknown)
                if found is not None:
                    reader.n_lines += rest.count(b"\n")
                    yield Block(*found, grid.separator)
                    break
            lines = _decoded(part, reader).removesuffix("\n").split("\n")
            yield from _some(reader.read(lines), label_column, unknown, separator)
            rest = rest[len(part) :]
    yield from _some(reader.finish(), label_column, unknown, separator)


def _pieces(path: str | PathLike[str]) -> Iterator[tuple[bytes, bool]]:
    """The bytes of a file, cut behind an empty line (True), or behind some line where there is no empty one (False)."""
    with open_bytes(path) as read:
        parts, size, first = list[bytes](), 0, True
        while True:
            chunk = read()
            parts.append(chunk)
            size += len(chunk)
            if chunk and size < BYTES:
                continue
            whole = b"".join(parts)
            whole, first = (whole.removeprefix(BOM) if first else whole), False
            if not chunk:
                yield whole, True
                return
            blank = whole.rfind(_BLANK)
            end = blank + len(_BLANK) if blank >= 0 else whole.rfind(b"\n") + 1
            yield whole[:end], blank >= 0
            parts, size = [whole[end:]], len(whole) - end if end else 0  # a line of many megabytes: read on


def _decoded(part: bytes, reader: SentenceReader) -> str:
    try:
        return part.decode("utf-8")
    except UnicodeDecodeError as error:
        raise undecodable(reader.grid.source, reader.n_lines, error) from None


def _some(
    sentences: Iterable[Sentence], label_column: int, unknown: str | None, separator: str | None
) -> Iterator[Block]:
    """Sentences that were read one by one."""
    remaining = iter(sentences)
    while some := list(islice(remaining, SENTENCES)):
        pairs = [split_label(sentence, label_column, unknown) for sentence in some]
        offsets = np.concatenate([[0], np.cumsum([len(labels) for _, labels in pairs])]).astype(np.int64)
        columns = list(zip(*(row for rows, _ in pairs for row in rows), strict=True))
        labels = [label for _, own in pairs for label in own]
        between = separator if separator is not None else "\t" if "\t" in some[0].lines[0] else None
        yield Block(encode_columns(columns, offsets), encode_columns([labels], offsets), between)
