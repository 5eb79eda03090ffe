"""Positions given as dicts, taken column by column.

Most dicts of a corpus have the same keys in the same order. Those that do are grouped, and a group's values are read
key by key: looking up a column of values costs a fraction of walking over each dict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float = NDArray[np.float64]
# Features by the key and the value of a dict; the value None stands for the key by itself, which goes with a number.
ByKey = dict[str, dict[str | None, int]]


@dataclass(frozen=True, eq=False)
class _Group:
    """Positions with the same keys; a column of values for each key: strings, or numbers."""

    positions: Int64
    keys: tuple[str, ...]
    columns: list[Sequence[str] | Float]


@dataclass(frozen=True, eq=False)
class Records:
    """Dicts of strings and numbers, at all positions."""

    groups: list[_Group]
    has_numbers: bool

    def names(self, indptr: Int64) -> list[str]:
        """Names of attributes, position by position."""
        names = np.empty(int(indptr[-1]), object)
        for group in self.groups:
            for j, (key, column) in enumerate(zip(group.keys, group.columns, strict=True)):
                own = key if isinstance(column, np.ndarray) else [f"{key}:{value}" for value in column]
                names[indptr[group.positions] + j] = own
        return names.tolist()

    def values(self, indptr: Int64) -> Float | None:
        """Values of attributes, position by position; None: all are 1."""
        if not self.has_numbers:
            return None
        values = np.ones(int(indptr[-1]))
        for group in self.groups:
            for j, column in enumerate(group.columns):
                if isinstance(column, np.ndarray):
                    values[indptr[group.positions] + j] = column
        return values

    def numbers(self, features: ByKey, indptr: Int64) -> Int32:
        """Numbers of attributes, position by position; -1: unknown."""
        numbers = np.empty(int(indptr[-1]), np.int32)
        for group in self.groups:
            for j, (key, column) in enumerate(zip(group.keys, group.columns, strict=True)):
                known = features.get(key, {})
                if isinstance(column, np.ndarray):
                    found: Any = known.get(None, -1)
                else:
                    found = np.fromiter(map(known.get, column, repeat(-1)), np.int32, len(column))
                numbers[indptr[group.positions] + j] = found
        return numbers


def as_records(items: Sequence[dict[Any, Any]]) -> Records | None:
    """Dicts, if all their keys are strings and their values strings or finite numbers; else None."""
    positions: dict[tuple[Any, ...], list[int]] = {}
    for at, item in enumerate(items):
        positions.setdefault(tuple(item), []).append(at)
    groups, has_numbers = [], False
    for keys, own in positions.items():
        if set(map(type, keys)) - {str}:
            return None
        columns: list[Sequence[str] | Float] = []
        for column in zip(*(items[at].values() for at in own), strict=True):
            kinds = set(map(type, column))
            if kinds <= {str}:
                columns.append(column)
            elif kinds <= {float, int, bool}:
                try:
                    numbers = np.array(column, np.float64)
                except OverflowError:
                    return None
                if not np.isfinite(numbers).all():
                    return None
                has_numbers = True
                columns.append(numbers)
            else:
                return None
        groups.append(_Group(np.array(own), keys, columns))
    return Records(groups, has_numbers)
