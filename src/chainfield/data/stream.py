"""Labelled sentences one by one: what a corpus is that does not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Literal

from chainfield.data.columns import read_columns
from chainfield.data.corpus import split_label
from chainfield.data.opening import Readable

Labelled = tuple[tuple[tuple[str, ...], ...], tuple[str | None, ...]]


def stream_corpus(
    paths: Readable | Sequence[str | PathLike[str]],
    *,
    label_column: int = -1,
    unknown: str | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    comments: bool = True,
    docstart: Literal["skip", "keep"] = "skip",
) -> Iterator[Labelled]:
    """Rows and labels of each sentence of a column file, or of several (a list or tuple of paths), one after the other.

    Nothing is kept. :func:`~chainfield.data.columns.read_columns` explains the arguments.
    """
    several: list[Any] = list(paths) if isinstance(paths, list | tuple) else [paths]
    for path in several:
        for sentence in read_columns(
            path, encoding=encoding, separator=separator, comments=comments, docstart=docstart
        ):
            yield split_label(sentence, label_column, unknown)
