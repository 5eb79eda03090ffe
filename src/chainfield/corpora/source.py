"""Where a piece of a corpus comes from: a description that is small, can be sent, and is read where it is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

from chainfield.arrays import Int32, Ragged
from chainfield.checking import count_positions
from chainfield.data.array_corpus import load_arrays
from chainfield.data.coded_rows import join_rows
from chainfield.data.column_blocks import Block, blocks_of, read_blocks
from chainfield.data.corpus import take_labels
from chainfield.data.sentences import SentenceReader
from chainfield.errors import ChainfieldError, DataError
from chainfield.tasks.task import plain_label

from .storage import chunks_between, chunks_of, local_file, opened

CHUNK = 1 << 20  # bytes that are read at a time


class Read(NamedTuple):
    """Sequences, and what is known of each position: ``kinds[codes[t]]`` is a label, None or a set of labels."""

    sequences: Sequence[Any]
    ragged: Ragged
    kinds: tuple[Any, ...]
    codes: Int32  # (N,)


class Source(ABC):
    """A piece of a corpus that is not read yet."""

    #: What messages call it.
    name: str
    #: Which piece of its corpus it is, counted from 0.
    number: int

    @abstractmethod
    def _read(self) -> Read:
        """The sequences with their labels."""

    def read(self) -> Read:
        """The sequences with their labels; whatever is wrong is an error that names the source."""
        try:
            found = self._read()
        except (ChainfieldError, FileNotFoundError) as error:
            if self.name in str(error):
                raise
            raise DataError(f"{self.name}: {error}") from None
        except OSError as error:
            raise DataError(f"{self.name} cannot be read: {error.strerror or error}.") from None
        if not found.ragged.n_positions:
            raise DataError(f"{self.name}: there is no sentence; leave the file out, or check how it was written.")
        return found


@final
@dataclass(frozen=True)
class ColumnSource(Source):
    """A column file, or the part of it between two bytes that lie between sentences."""

    path: str
    start: int = 0
    stop: int | None = None  # None: to its end, decompressed where need be
    label_column: int = -1
    unknown: str | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    number: int = 0

    @property
    def name(self) -> str:  # type: ignore[override]
        """The file, and where in it."""
        return self.path if self.stop is None else f"{self.path} (bytes {self.start} to {self.stop})"

    def _read(self) -> Read:
        found = [take_labels(block, self.label_column, self.unknown) for block in self.blocks()]
        if not found:
            raise DataError("there is no sentence; leave the file out, or check how it was written.")
        rows, labels = (join_rows(parts) for parts in zip(*found, strict=True))
        return Read(rows, rows.ragged, tuple(labels.values[0]), labels.codes[0])

    def blocks(self, *, verbatim: bool = False) -> Iterator[Block]:
        """The sentences, some at a time; ``verbatim``: as :func:`~chainfield.data.column_blocks.blocks_of` has it."""
        options = dict(self.reading)
        encoding = options.pop("encoding", "utf-8")
        if self.stop is None and encoding.lower() not in ("utf-8", "utf8"):
            with opened(self.path) as readable:
                yield from read_blocks(readable, encoding=encoding, **options)
            return
        reader = SentenceReader(
            options.get("separator"), options.get("comments", True), options.get("docstart", "skip"), self.name
        )
        chunks = (
            chunks_of(self.path, CHUNK)
            if self.stop is None
            else chunks_between(self.path, self.start, self.stop, CHUNK)
        )
        yield from blocks_of(chunks, reader, verbatim=verbatim)


@final
@dataclass(frozen=True, eq=False)
class ListSource(Source):
    """Sequences in memory; a target is a list with one label per position, or one label for the whole sequence."""

    sequences: Sequence[Any]
    targets: Sequence[Any]
    name: str = "the data"
    number: int = 0

    def _read(self) -> Read:
        return read_lists(self.sequences, self.targets)


@final
@dataclass(frozen=True)
class ArraySource(Source):
    """A .npz file with arrays: one label per sequence."""

    path: str
    number: int = 0

    @property
    def name(self) -> str:  # type: ignore[override]
        """The file."""
        return self.path

    def _read(self) -> Read:
        with local_file(self.path) as here:
            found = load_arrays(here)
        if not found.labelled:
            raise DataError("there are no labels; give y in the file.")
        return read_lists(found.sequences, found.labels)


def read_lists(sequences: Sequence[Any], targets: Sequence[Any]) -> Read:
    """Sequences with their targets: lists of labels, or one label for each."""
    labels: list[Any] = []
    lengths = [count_positions(x, f"sequence {s}") for s, x in enumerate(sequences)]
    for s, (n, target) in enumerate(zip(lengths, targets, strict=True)):
        if not isinstance(target, list | tuple | np.ndarray):
            labels += [_plain(target)] * n
        elif len(target) == n:
            labels += map(_plain, target)
        else:
            raise DataError(f"sequence {s} has {n} positions but {len(target)} labels.")
    number = {kind: i for i, kind in enumerate(dict.fromkeys(labels))}
    codes = np.fromiter(map(number.__getitem__, labels), np.int32, len(labels))
    return Read(sequences, Ragged.of(lengths), tuple(number), codes)


def _plain(label: Any) -> Any:
    if label is None:
        return None
    return frozenset(map(plain_label, label)) if isinstance(label, set | frozenset) else plain_label(label)
