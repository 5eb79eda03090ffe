"""Rows of text columns with every distinct value stored once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np

from chainfield.arrays import Int, Int32

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

    def take(self, columns: Sequence[int]) -> CodedRows:
        """Some of the columns."""
        return CodedRows(self.offsets, self.codes[list(columns)], [self.values[c] for c in columns])

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
            bounds = self.offsets[first : first + SEQUENCES + 1].tolist()
            rows = self._rows(bounds[0], bounds[-1])
            yield from (rows[a - bounds[0] : b - bounds[0]] for a, b in pairwise(bounds))

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
        lengths = np.diff(self.offsets)[sequences]
        ends = np.cumsum(lengths)
        positions = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(
            self.offsets[sequences] - (ends - lengths), lengths
        )
        codes, values = [], []
        for column, known in zip(self.codes[:, positions], self.values, strict=True):
            found, first, inverse = np.unique(column, return_index=True, return_inverse=True)
            order = np.argsort(first)
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            codes.append(rank[inverse].astype(np.int32))
            values.append([known[i] for i in found[order].tolist()])
        return CodedRows(np.concatenate([[0], ends]).astype(np.int64), np.array(codes, np.int32), values)

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
            map_, new = np.empty(len(own), np.int32), list[str]()
            for i, value in enumerate(own):
                number = table.get(value, -1)
                if number < 0:
                    number = len(table) + len(new)
                    new.append(value)
                map_[i] = number
            row[:] = map_[column] if len(own) else column
            fresh.append(new)
        return numbers, fresh


def encode_columns(columns: Sequence[Sequence[Any]], offsets: Int) -> CodedRows:
    """Columns of strings, coded."""
    codes, values = np.empty((len(columns), int(offsets[-1])), np.int32), []
    for row, column in zip(codes, columns, strict=True):
        known: dict[Any, int] = {value: i for i, value in enumerate(dict.fromkeys(column))}
        row[:] = np.fromiter(map(known.__getitem__, column), np.int32, len(column))
        values.append(list(known))
    return CodedRows(offsets, codes, values)
