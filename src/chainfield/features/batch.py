"""Encoded sequences, laid end to end: what a scorer reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chainfield.arrays import Float, Int, Int32, Ragged
from chainfield.errors import DataError


@dataclass(frozen=True, eq=False)
class Sparse:
    """A ragged list of features at each position: ids and, unless all are 1, their values."""

    indptr: Int  # (N+1,) position t has entries indptr[t]:indptr[t+1] of indices and values
    indices: Int32
    values: Float | None
    n_features: int

    def window(self, lo: int, hi: int) -> Sparse:
        """Positions lo to hi, without copying: the pointers go on counting from the whole's beginning."""
        return replace(self, indptr=self.indptr[lo : hi + 1])

    def take(self, positions: Int) -> Sparse:
        """Some positions, copied, in the given order."""
        first, last = self.indptr[positions], self.indptr[positions + 1]
        lengths = last - first
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        where = np.arange(indptr[-1]) + np.repeat(first - indptr[:-1], lengths)
        values = None if self.values is None else self.values[where]
        return replace(self, indptr=indptr, indices=self.indices[where], values=values)

    def weights(self) -> Float:
        """Values for the kernels: an empty array stands for "all 1"."""
        return np.empty(0) if self.values is None else self.values


@dataclass(frozen=True, eq=False)
class Tokens:
    """Words by their numbers and characters. Every distinct word (a *type*, M of them) is described once."""

    index: Int32  # (N,) the type of each position
    word: Int32  # (M,) its number in the vocabulary
    chars: Int32  # the numbers of its characters, all types end to end
    bounds: Int  # (M+1,) type i has the characters bounds[i]:bounds[i+1]

    def at(self, positions: Int | slice) -> Tokens:
        """Some positions; the types stay."""
        return replace(self, index=self.index[positions])

    def used(self) -> Tokens:
        """The same with no other types than those that occur."""
        types, index = np.unique(self.index, return_inverse=True)
        lengths = self.bounds[types + 1] - self.bounds[types]
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        where = np.arange(bounds[-1]) + np.repeat(self.bounds[types] - bounds[:-1], lengths)
        return Tokens(index.astype(np.int32), self.word[types], self.chars[where], bounds)


@dataclass(frozen=True, eq=False)
class Batch:
    """S sequences with N positions together. Which kinds of features they have depends on the feature map."""

    offsets: Int  # (S+1,)
    sparse: Sparse | None = None  # features of positions
    dense: Float | None = None  # (N, D) numbers of positions
    edges: Sparse | None = None  # features of transitions into a position (input-conditioned bigrams)
    tokens: Tokens | None = None  # words and their characters

    @cached_property
    def ragged(self) -> Ragged:
        """Where sequences lie."""
        return Ragged(self.offsets)

    @property
    def n_sequences(self) -> int:
        """S."""
        return len(self.offsets) - 1

    @property
    def n_positions(self) -> int:
        """N."""
        return int(self.offsets[-1])

    def window(self, lo: int, hi: int) -> Batch:
        """Sequences lo to hi, without copying."""
        if lo == 0 and hi == self.n_sequences:
            return self
        a, b = int(self.offsets[lo]), int(self.offsets[hi])
        return Batch(
            offsets=self.offsets[lo : hi + 1] - a,
            sparse=None if self.sparse is None else self.sparse.window(a, b),
            dense=None if self.dense is None else self.dense[a:b],
            edges=None if self.edges is None else self.edges.window(a, b),
            tokens=None if self.tokens is None else self.tokens.at(slice(a, b)),
        )

    def positions(self, sequences: Int) -> Int:
        """The positions of some sequences, in their order."""
        first, last = self.offsets[sequences], self.offsets[sequences + 1]
        lengths = last - first
        ends = np.cumsum(lengths)
        return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - (ends - lengths), lengths)

    def take(self, sequences: Int) -> Batch:
        """Some sequences, copied, in the given order."""
        lengths = self.offsets[sequences + 1] - self.offsets[sequences]
        return self.at(self.positions(sequences), np.concatenate([[0], np.cumsum(lengths)]))

    def at(self, positions: Int, offsets: Int) -> Batch:
        """Any positions, copied, as sequences with these offsets."""
        return Batch(
            offsets=offsets,
            sparse=None if self.sparse is None else self.sparse.take(positions),
            dense=None if self.dense is None else self.dense[positions],
            edges=None if self.edges is None else self.edges.take(positions),
            tokens=None if self.tokens is None else self.tokens.at(positions),
        )


def check_finite(values: Float, offsets: Int, what: str) -> None:
    """Refuse NaN and infinity, naming the first sequence and position; ``values`` has one row per position."""
    finite = np.isfinite(values)
    if finite.all():
        return
    position = int(np.argwhere(~finite)[0][0])
    sequence = int(np.searchsorted(offsets, position, side="right")) - 1
    raise DataError(
        f"Sequence {sequence}, position {position - int(offsets[sequence])}: {what} has a value that is NaN or "
        "infinite; replace it (for example by 0, with a feature that says it was missing)."
    )
