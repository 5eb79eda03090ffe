"""Rows of text columns with every distinct value stored once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any, overload

import numpy as np

from chainfield.arrays import Int, Int32, Ragged, offsets_of

Row = tuple[str, ...]

SEQUENCES = 1024  # whose strings are made at a time


class CodedRows(Sequence[list[Row]]):
    """Sequences of rows, as lists of tuples of strings would be; the strings are made when they are asked for.

    codes (columns, N): the number of each cell's value; values: the distinct values of each column, in order of first
    appearance.
    """

    def __init__(self, offsets: Int, codes: Int32, values: Sequence[Sequence[Any]]) -> None:
        self.offsets = offsets
        self.codes = codes
        self.values = list(values)

    @property
    def n_columns(self) -> int:
        """How many cells a row has."""
        return len(self.codes)

    @property
    def ragged(self) -> Ragged:
        """The rows of each sequence."""
        return Ragged(self.offsets)

    def take(self, columns: Sequence[int]) -> CodedRows:
        """Some of the columns."""
        return CodedRows(self.offsets, self.codes[list(columns)], [self.values[c] for c in columns])

    def without(self, column: int) -> CodedRows:
        """All columns but one."""
        return self.take([c for c in range(self.n_columns) if c != column])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def flat(self) -> list[Row]:
        """All rows, end to end."""
        return self._rows(0, self.codes.shape[1])

    def _rows(self, lo: int, hi: int) -> list[Row]:
        columns = [[v[i] for i in c[lo:hi].tolist()] for c, v in zip(self.codes, self.values, strict=True)]
        return list(zip(*columns, strict=True)) if columns else [() for _ in range(hi - lo)]

    def __iter__(self) -> Iterator[list[Row]]:
        for first in range(0, len(self), SEQUENCES):
            last = min(first + SEQUENCES, len(self))
            rows = self._rows(int(self.offsets[first]), int(self.offsets[last]))
            yield from self.ragged.window(first, last).cut(rows)

    @overload
    def __getitem__(self, which: int) -> list[Row]: ...
    @overload
    def __getitem__(self, which: slice) -> CodedRows: ...
    def __getitem__(self, which: int | slice) -> list[Row] | CodedRows:
        if isinstance(which, slice):
            return self._chosen(np.arange(len(self))[which])
        n = len(self)
        if not -n <= which < n:
            raise IndexError(f"There is no sequence {which}; there are {n}.")
        return self._rows(int(self.offsets[which % n]), int(self.offsets[which % n + 1]))

    def _chosen(self, sequences: Int) -> CodedRows:
        codes, values = [], []
        chosen = self.codes[:, self.ragged.positions(sequences)]
        for column, known in zip(chosen, self.values, strict=True):
            found, first, inverse = np.unique(column, return_index=True, return_inverse=True)
            order = np.argsort(first)
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            codes.append(rank[inverse].astype(np.int32))
            values.append([known[i] for i in found[order].tolist()])
        return CodedRows(self.ragged.take(sequences).offsets, np.array(codes, np.int32), values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Sequence[list[Row]]) -> list[list[Row]]:
        return [*self, *other]

    def __repr__(self) -> str:
        return f"CodedRows({len(self):,} sequences, {self.codes.shape[1]:,} rows of {self.n_columns} columns)"

    def renumbered(self, known: Sequence[dict[str, int]]) -> tuple[Int32, list[list[str]]]:
        """(columns, N) numbers of the values in the given tables, and the values of each column that are not there.

        These have the numbers behind the known ones, in order.
        """
        numbers, fresh = np.empty_like(self.codes), []
        for row, column, own, table in zip(numbers, self.codes, self.values, known, strict=True):
            map_ = np.fromiter(map(table.get, own, repeat(-1)), np.int32, len(own))
            missing = np.flatnonzero(map_ < 0)
            new = [own[i] for i in missing.tolist()]
            map_[missing] = len(table) + np.arange(len(new), dtype=np.int32)
            row[:] = map_[column] if len(own) else column
            fresh.append(new)
        return numbers, fresh


def encode_columns(columns: Sequence[Sequence[Any]], offsets: Int) -> CodedRows:
    """Columns of strings, coded."""
    codes, values = np.empty((len(columns), int(offsets[-1])), np.int32), []
    for row, column in zip(codes, columns, strict=True):
        own = list(dict.fromkeys(column))
        row[:] = _numbers(column, own)
        values.append(own)
    return CodedRows(offsets, codes, values)


def join_rows(parts: Sequence[CodedRows]) -> CodedRows:
    """Several runs of sequences, of the same columns, as one."""
    codes, values = [], []
    for c in range(parts[0].n_columns):
        own = list(dict.fromkeys(chain.from_iterable(part.values[c] for part in parts)))
        codes.append(np.concatenate([_numbers(part.values[c], own)[part.codes[c]] for part in parts]))
        values.append(own)
    offsets = offsets_of(np.concatenate([part.ragged.lengths for part in parts]))
    return CodedRows(offsets, np.array(codes, np.int32).reshape(len(codes), int(offsets[-1])), values)


def _numbers(column: Sequence[Any], values: Sequence[Any]) -> Int32:
    """Which of some distinct values stand in a column."""
    number = {value: i for i, value in enumerate(values)}
    return np.fromiter(map(number.__getitem__, column), np.int32, len(column))
