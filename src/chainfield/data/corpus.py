"""Corpus: a whole labelled column file in memory, its label column taken apart from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from chainfield.errors import DataError

from .coded import CodedRows
from .columns import Sentence, read_columns
from .grid import read_grid
from .opening import Readable, source_name


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


def split_label(
    sentence: Sentence, label_column: int = -1, unknown: str | None = None
) -> tuple[tuple[tuple[str, ...], ...], tuple[str | None, ...]]:
    """Take the label column out of a sentence's rows; labels equal to `unknown` become None."""
    n_columns = len(sentence.rows[0])
    where = f"{sentence.source}, line {sentence.line}"
    if n_columns < 2:
        raise DataError(f"{where}: there is only one column, so that nothing is left beside the label.")
    if not -n_columns <= label_column < n_columns:
        raise DataError(
            f"{where}: there is no column {label_column} to take labels from; "
            f"the {n_columns} columns are counted from 0, or from -1 backwards."
        )
    at = label_column % n_columns
    labels = tuple(row[at] for row in sentence.rows)
    if "" in labels and unknown != "":
        # The rows of a sentence stand on consecutive lines.
        raise DataError(
            f"{sentence.source}, line {sentence.line + labels.index('')}: the label is empty; "
            f"fill it in, or mark unknown labels with a sign and pass it as unknown=."
        )
    rows = tuple(row[:at] + row[at + 1 :] for row in sentence.rows)
    return rows, tuple(None if label == unknown else label for label in labels)


def apart(coded: CodedRows, label_column: int, unknown: str | None) -> tuple[CodedRows, CodedRows] | None:
    """Rows without the label column, and that column, unknown labels None; None if there is no such column or an empty
    label: ``split_label`` has the words for both.
    """
    n = coded.n_columns
    if n < 2 or not -n <= label_column < n:
        return None
    labels = coded.take([label_column % n])
    if "" in labels.values[0] and unknown != "":
        return None
    labels.values[0] = [None if name == unknown else name for name in labels.values[0]]
    return coded.take([c for c in range(n) if c != label_column % n]), labels


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
    grid = read_grid(path, encoding, separator, comments, docstart == "skip") if docstart in ("skip", "keep") else None
    if grid is not None:
        coded, between = grid
        parts = apart(coded, label_column, unknown)
        if parts is not None:
            names = parts[1].values[0]
            flat = [names[i] for i in parts[1].codes[0].tolist()]
            cut = [flat[a:b] for a, b in pairwise(coded.offsets.tolist())]
            return Corpus(parts[0], cut, source_name(path), between)
    rows_read: list[list[tuple[str, ...]]] = []
    labels_read: list[list[str | None]] = []
    found = separator
    for sentence in read_columns(path, encoding=encoding, separator=separator, comments=comments, docstart=docstart):
        if not rows_read and separator is None and "\t" in sentence.lines[0]:
            found = "\t"
        rows, labels = split_label(sentence, label_column, unknown)
        rows_read.append(list(rows))
        labels_read.append(list(labels))
    if not rows_read:
        raise DataError(f"{source_name(path)} holds no sentence; write one token a line, with its label beside it.")
    return Corpus(rows_read, labels_read, source_name(path), found)
