"""The attributes of many sequences, laid end to end: read by compiled code where it is built, else by the definition.

``chainfield._native.flatten`` (native/encoder.c) reads the built-in types. In front of a sequence that holds anything
else it stops, and :mod:`chainfield.features.attributes` goes on: it defines the rules and words all errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import frombuffer

from chainfield.arrays import Float, Int, Int32, offsets_of
from chainfield.data.string_table import Pieces, pieces_of
from chainfield.kernels.jit import NATIVE
from chainfield.kernels.layout import PADDING

from .attributes import DEEPEST, append_attributes
from .batch import Batch, Sparse

compiled: Callable[..., Any] | None = None if NATIVE is None else NATIVE.flatten

PART = 1 << 14  # names that are read at a time, so that the processor's cache holds them until they are looked up
FEW = 64  # sequences that the definition reads before compiled code has another try
# Numbers whose float() runs no code of the user's.
NUMBERS = tuple(dict.fromkeys(np.dtype(code).type for code in "?bhilqBHILQefd"))


@dataclass(frozen=True, eq=False)
class Flat:
    """Names and values at all positions of some sequences."""

    offsets: Int  # (S+1,) the first position of each sequence, and the end
    indptr: Int  # (N+1,) the first name of each position, and the end
    names: Pieces
    values: Float | None  # None: all are 1

    def numbered(self, numbers: Int32, n_features: int) -> Batch:
        """The same with numbers for names."""
        return Batch(self.offsets, Sparse(self.indptr, numbers, self.values, n_features))


def flatten(sequences: Sequence[Any]) -> Iterator[Flat]:
    """Some sequences at a time. A fault is a :class:`DataError` that names the sequence and the position."""
    given = sequences if type(sequences) in (list, tuple) else list(sequences)
    at = 0
    while at < len(given):
        found = flat_part(given, at)
        yield found
        at += len(found.offsets) - 1


def flat_part(given: Sequence[Any], at: int) -> Flat:
    """The sequences from the one numbered ``at`` on, as many as are read at a time; ``given`` is a list or a tuple."""
    if compiled is not None:
        stop, offsets, indptr, bounds, text, values = compiled(given, at, PART, DEEPEST, PADDING, NUMBERS)
        if stop > at:
            ends = frombuffer(bounds, np.int64)
            return Flat(
                frombuffer(offsets, np.int64),
                frombuffer(indptr, np.int64),
                Pieces(frombuffer(text, np.uint8), ends[:-1], ends[1:]),
                None if values is None else frombuffer(values, np.float64),
            )
    return defined(given[at : at + FEW], at)


def defined(sequences: Sequence[Any], first: int = 0) -> Flat:
    """All of some sequences as the rules for single items say; ``first`` is the number of the first one."""
    names: list[str] = []
    values: list[float] = []
    lengths, ends = [], [0]
    for s, sequence in enumerate(sequences, first):
        items = sequence.to_dict("records") if hasattr(sequence, "to_dict") else sequence
        own = append_attributes(items, f"Sequence {s}", names, values)
        lengths.append(len(own))
        ends += own
    numbers = np.array(values, np.float64)
    plain = bool((numbers == 1.0).all())
    return Flat(offsets_of(lengths), np.array(ends, np.int64), pieces_of(names), None if plain else numbers)


def joined(parts: Sequence[Batch], n_features: int) -> Batch:
    """Batches of sparse features, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    sparse = [part.sparse for part in parts if part.sparse is not None]
    plain = all(part.values is None for part in sparse)
    values = [np.ones(len(part.indices)) if part.values is None else part.values for part in sparse]
    return Batch(
        _end_to_end([part.offsets for part in parts]),
        Sparse(
            _end_to_end([part.indptr for part in sparse]),
            np.concatenate([np.empty(0, np.int32), *(part.indices for part in sparse)]),
            None if plain else np.concatenate(values),
            n_features,
        ),
    )


def _end_to_end(offsets: Sequence[Int]) -> Int:
    """Offsets that begin at 0 each: those of the whole."""
    return offsets_of(np.concatenate([np.empty(0, np.int64), *map(np.diff, offsets)]))
