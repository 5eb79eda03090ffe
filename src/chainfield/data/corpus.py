"""Labelled sentences of column files: a whole corpus in memory, or a stream of what does not fit into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np

from chainfield.errors import DataError

from .coded_rows import CodedRows, join_rows
from .column_blocks import Block, read_blocks
from .opening import Readable, source_name
from .sentences import Sentence

Labelled = tuple[tuple[tuple[str, ...], ...], tuple[str | None, ...]]


@dataclass(frozen=True)
class Corpus:
    """Labelled sequences: `rows[s][t]` are the cells at position t of sequence s, `labels[s][t]` the label.

    A label that is not known is None.
    """

    rows: Sequence[list[tuple[str, ...]]]
    labels: list[list[str | None]]
    source: str
    separator: str | None = None  # what the columns are separated by: a tab, another sign, or None for spaces

    def __repr__(self) -> str:
        positions = sum(map(len, self.labels))
        return f"Corpus({len(self.rows):,} sequences, {positions:,} positions, source={self.source!r})"


class LabelledRows(NamedTuple):
    """Rows, and their labels as a column of their own (None: not known)."""

    rows: CodedRows
    labels: CodedRows

    def label_lists(self) -> list[list[str | None]]:
        """The labels of each sentence."""
        names = self.labels.values[0]
        return self.labels.ragged.cut([names[i] for i in self.labels.codes[0].tolist()])


def take_labels(block: Block, label_column: int = -1, unknown: str | None = None) -> LabelledRows:
    """Take the label column out of a block's rows; labels equal to `unknown` become None."""
    rows, n_columns = block.rows, block.rows.n_columns
    if n_columns < 2:
        raise DataError(f"{_place(block, 0)}: there is only one column, so that nothing is left beside the label.")
    if not -n_columns <= label_column < n_columns:
        raise DataError(
            f"{_place(block, 0)}: there is no column {label_column} to take labels from; "
            f"the {n_columns} columns are counted from 0, or from -1 backwards."
        )
    labels = rows.take([label_column % n_columns])
    names = labels.values[0]
    if "" in names and unknown != "":
        row = int(np.argmax(labels.codes[0] == names.index("")))
        raise DataError(
            f"{_place(block, row)}: the label is empty; "
            f"fill it in, or mark unknown labels with a sign and pass it as unknown=."
        )
    labels.values[0] = [None if name == unknown else name for name in names]
    return LabelledRows(rows.without(label_column % n_columns), labels)


def _place(block: Block, row: int) -> str:
    return f"{block.source}, line {block.line_of(row)}"


def split_label(sentence: Sentence, label_column: int = -1, unknown: str | None = None) -> Labelled:
    """Take the label column out of a sentence's rows; labels equal to `unknown` become None."""
    found = take_labels(Block.of([sentence], None), label_column, unknown)
    return tuple(found.rows[0]), tuple(found.label_lists()[0])


def load_corpus(
    path: Readable,
    *,
    label_column: int = -1,
    unknown: str | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    comments: bool = True,
    docstart: Literal["skip", "keep"] = "skip",
) -> Corpus:
    """Read a labelled column file as a whole; `read_columns` explains the arguments."""
    rows, labels = list[CodedRows](), list[list[str | None]]()
    blocks = read_blocks(path, encoding=encoding, separator=separator, comments=comments, docstart=docstart)
    for block in blocks:
        found = take_labels(block, label_column, unknown)
        rows.append(found.rows)
        labels += found.label_lists()
        separator = block.separator
    if not rows:
        raise DataError(f"{source_name(path)} holds no sentence; write one token per line, with its label beside it.")
    return Corpus(join_rows(rows), labels, source_name(path), separator)


@dataclass
class CorpusStream:
    """Column files, read as often as they are asked for: rows and labels of each sentence. Nothing is kept but the
    numbers of what the blocks had, and what separates cells.
    """

    paths: tuple[Any, ...]
    label_column: int = -1
    unknown: str | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    n_sentences: int = field(default=0, init=False)
    n_positions: int = field(default=0, init=False)
    separator: str | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[Labelled]:
        for path in self.paths:
            for block in read_blocks(path, prompt=True, **self.reading):
                found = take_labels(block, self.label_column, self.unknown)
                yield from zip(map(tuple, found.rows), map(tuple, found.label_lists()), strict=True)

    def blocks(self) -> Iterator[LabelledRows]:
        """The same sentences, thousands at a time and much quicker: every distinct word is a string once per block."""
        self.n_sentences = self.n_positions = 0
        for path in self.paths:
            for block in read_blocks(path, **self.reading):
                self.n_sentences += len(block.rows)
                self.n_positions += block.rows.ragged.n_positions
                self.separator = block.separator
                yield take_labels(block, self.label_column, self.unknown)
        if not self.n_sentences:
            names = " and ".join(map(source_name, self.paths)) or "The stream"
            raise DataError(f"{names}: there is no sentence; write one token per line, with its label beside it.")


def stream_corpus(
    paths: Readable | Sequence[str | PathLike[str]],
    *,
    label_column: int = -1,
    unknown: str | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    comments: bool = True,
    docstart: Literal["skip", "keep"] = "skip",
) -> CorpusStream:
    """Rows and labels of each sentence of a column file, or of several (a list or tuple of paths), one after the other.

    :func:`~chainfield.data.read_columns` explains the arguments.
    """
    several = tuple(paths) if isinstance(paths, list | tuple) else (paths,)
    reading = {"encoding": encoding, "separator": separator, "comments": comments, "docstart": docstart}
    return CorpusStream(several, label_column, unknown, reading)
