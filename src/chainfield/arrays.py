"""Arrays: the kinds of numbers in them, sequences laid end to end, and memory that vector instructions like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arrays = dict[str, Array]
Float = NDArray[np.float64]
Single = NDArray[np.float32]
Floats = NDArray[np.floating[Any]]
Int = NDArray[np.int64]
Int32 = NDArray[np.int32]
Int8 = NDArray[np.int8]
UInt64 = NDArray[np.uint64]
Integers = NDArray[np.integer[Any]]
Bytes = NDArray[np.uint8]
Bool = NDArray[np.bool_]

ALIGNMENT = 64  # bytes: a cache line, and a vector of eight doubles


def distinct(values: Array) -> Array:
    """Each of some numbers once, ascending. By sorting: numpy.unique may hash instead, a hundred times as slow."""
    ordered = np.sort(values, axis=None)
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]


def union(ours: Array, theirs: Array) -> Array:
    """The integers that either has, once and ascending."""
    return distinct(np.concatenate((ours, theirs)))


def in_order(values: Iterable[Any]) -> list[Any]:
    """Each of some values once: sorted where they can be compared, else in order of first appearance."""
    once = list(dict.fromkeys(values))
    try:
        return sorted(once)
    except TypeError:
        return once


def offsets_of(lengths: Sequence[int] | Integers) -> Int:
    """(S + 1,) where sequences of these lengths start, laid end to end, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.add.accumulate(lengths, out=offsets[1:])
    return offsets


@final
@dataclass(frozen=True, eq=False)
class Ragged:
    """S sequences of different lengths, N positions laid end to end: the only place where offsets are reckoned with."""

    offsets: Int  # (S + 1,) ascending, from 0 to N

    @classmethod
    def of(cls, lengths: Sequence[int] | Integers) -> Ragged:
        """Sequences of these lengths."""
        return cls(offsets_of(lengths))

    @property
    def n_sequences(self) -> int:
        """S."""
        return len(self.offsets) - 1

    @property
    def n_positions(self) -> int:
        """N."""
        return int(self.offsets[-1])

    @cached_property
    def lengths(self) -> Int:
        """(S,) the number of positions of each sequence."""
        return self.offsets[1:] - self.offsets[:-1]  # np.diff takes five times as long for one sentence

    @property
    def not_empty(self) -> Int:
        """The numbers of the sequences that have a position."""
        return self.lengths.nonzero()[0]

    def ends(self) -> tuple[Int, Int]:
        """The first and the last positions of the sequences that have one."""
        firsts, lasts = self.offsets[:-1], self.offsets[1:] - 1
        there = firsts <= lasts
        return (firsts, lasts) if np.logical_and.reduce(there) else (firsts[there], lasts[there])

    @property
    def firsts(self) -> Int:
        """The first positions of the sequences that have one."""
        return self.ends()[0]

    def sequence_of(self) -> Int:
        """(N,) the number of the sequence that each position belongs to."""
        return np.repeat(np.arange(self.n_sequences), self.lengths)

    def spread(self, values: Array) -> Array:
        """One value per sequence → one per position."""
        return np.repeat(values, self.lengths, axis=0)

    def place(self, at: int) -> tuple[int, int]:
        """The sequence of position ``at``, and the position within it."""
        s = int(np.searchsorted(self.offsets, at, side="right")) - 1
        return s, at - int(self.offsets[s])

    def window(self, lo: int, hi: int) -> Ragged:
        """Sequences lo to hi, laid end to end from 0."""
        return Ragged(self.offsets[lo : hi + 1] - self.offsets[lo])

    def slice_of(self, lo: int, hi: int) -> slice:
        """The positions of sequences lo to hi."""
        return slice(int(self.offsets[lo]), int(self.offsets[hi]))

    def positions(self, sequences: Integers) -> Int:
        """The positions of some sequences, one sequence after the other."""
        lengths = self.lengths[sequences]
        within = np.arange(int(lengths.sum())) - np.repeat(offsets_of(lengths)[:-1], lengths)
        return np.repeat(self.offsets[:-1][sequences], lengths) + within

    def take(self, sequences: Integers) -> Ragged:
        """Some sequences, laid end to end."""
        return Ragged.of(self.lengths[sequences])

    def cut(self, values: Any) -> list[Any]:
        """What stands at all positions, sequence by sequence."""
        return [values[a:b] for a, b in pairwise(self.offsets.tolist())]

    def blocks(self, n_positions: int, lo: int = 0, hi: int | None = None) -> Iterator[tuple[int, int]]:
        """Runs (lo, hi) of sequences of about so many positions at most, and of one sequence at least."""
        end = self.n_sequences if hi is None else hi
        if lo < end and self.offsets[end] - self.offsets[lo] <= n_positions:
            yield lo, end
            return
        while lo < end:
            stop = int(np.searchsorted(self.offsets, self.offsets[lo] + n_positions, side="right")) - 1
            stop = min(max(stop, lo + 1), end)
            yield lo, stop
            lo = stop


def aligned_zeros(n: int, dtype: Any = np.float64) -> Array:
    """n zeros that start at a multiple of :data:`ALIGNMENT` bytes."""
    return _aligned(np.zeros, n, dtype)


def aligned_empty(n: int, dtype: Any = np.float64) -> Array:
    """The same with whatever stands there."""
    return _aligned(np.empty, n, dtype)


def _aligned(make: Any, n: int, dtype: Any) -> Array:
    size = np.dtype(dtype).itemsize
    raw: Array = make(n * size + ALIGNMENT, np.uint8)
    skip = -raw.ctypes.data % ALIGNMENT
    return raw[skip : skip + n * size].view(dtype)
