"""Sequences with their labels, as many at a time as are counted together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from chainfield.arrays import Float
from chainfield.checking import shown
from chainfield.data.coded_rows import CodedRows
from chainfield.data.corpus import CorpusStream
from chainfield.errors import DataError
from chainfield.models.inputs import len_of


class Chunk(NamedTuple):
    """S sequences; their labels; how much each counts (None: once)."""

    sequences: Sequence[Any]
    targets: Sequence[Any]
    weight: Float | None = None


def chunks_of(stream: Iterable[Any], size: int) -> Iterator[Chunk]:
    """(sequence, labels) pairs, so many at a time; a stream of files has its own way to that."""
    if isinstance(stream, CorpusStream):
        yield from (Chunk(block.rows, block.labels) for block in stream.blocks())
        return
    pairs, at = iter(stream), 0
    while some := list(islice(pairs, size)):
        for i, pair in enumerate(some):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise DataError(f"Item {at + i} of the stream is {shown(pair)}; a pair (sequence, labels) is expected.")
        yield Chunk([sequence for sequence, _ in some], [labels for _, labels in some])
        at += len(some)


def check_lengths(chunk: Chunk, at: int) -> None:
    """Refuse sequences that have not as many labels as positions; ``at``: the number of the first one."""
    if len(chunk.sequences) != len(chunk.targets):
        raise DataError(f"X has {len(chunk.sequences)} sequences, but there are labels for {len(chunk.targets)}.")
    lengths, wanted = (
        np.diff(s.offsets) if isinstance(s, CodedRows) else np.fromiter(map(len_of, s), np.int64, len(s))
        for s in (chunk.sequences, chunk.targets)
    )
    for s in np.flatnonzero(lengths != wanted).tolist():
        raise DataError(f"Sequence {at + s} has {lengths[s]} positions but {wanted[s]} labels.")
