"""Labelled sentences one by one, or by the thousand: what a corpus is that does not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

from chainfield.errors import DataError

from .blocks import Block, read_blocks
from .columns import read_columns
from .corpus import split_label
from .opening import Readable, source_name

Labelled = tuple[tuple[tuple[str, ...], ...], tuple[str | None, ...]]


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
            for sentence in read_columns(path, **self.reading):
                yield split_label(sentence, self.label_column, self.unknown)

    def blocks(self) -> Iterator[Block]:
        """The same sentences, thousands at a time and much quicker: every distinct word is a string once a block."""
        self.n_sentences = self.n_positions = 0
        for path in self.paths:
            for block in read_blocks(path, self.label_column, self.unknown, **self.reading):
                self.n_sentences += len(block.rows)
                self.n_positions += int(block.rows.offsets[-1])
                self.separator = block.separator
                yield block
        if not self.n_sentences:
            names = " and ".join(map(source_name, self.paths)) or "The stream"
            raise DataError(f"{names}: there is no sentence; write one token a line, with its label beside it.")


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

    :func:`~chainfield.data.columns.read_columns` explains the arguments.
    """
    several = tuple(paths) if isinstance(paths, list | tuple) else (paths,)
    reading = {"encoding": encoding, "separator": separator, "comments": comments, "docstart": docstart}
    return CorpusStream(several, label_column, unknown, reading)
