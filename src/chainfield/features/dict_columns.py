"""Positions given as dicts, taken column by column.

Most dicts of a corpus have the same keys in the same order. Those that do are grouped, and a group's values are read
key by key: looking up a column of values costs a fraction of walking over each dict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.data.string_table import Pieces, pieces_of

# Groups of a few dicts cost more than walking over each.
FEW = 8


@dataclass(frozen=True, eq=False)
class _Group:
    """Positions with the same keys; a column of values for each key: strings, or numbers."""

    positions: Int
    keys: tuple[str, ...]
    columns: list[Sequence[str] | Float]


@dataclass(frozen=True, eq=False)
class Records:
    """Dicts of strings and numbers, at all positions."""

    groups: list[_Group]
    has_numbers: bool

    def pieces(self) -> Pieces:
        """Names of attributes, group by group and key by key; a TypeError where a column is not all strings."""
        columns: list[Sequence[str]] = []
        prefixes: list[str] = []
        for group in self.groups:
            for key, column in zip(group.keys, group.columns, strict=True):
                if isinstance(column, np.ndarray):
                    columns.append([""] * len(column))
                    prefixes.append(key)
                else:
                    columns.append(column)
                    prefixes.append(f"{key}:")
        return pieces_of(*columns, prefixes=prefixes)

    def places(self, indptr: Int) -> Int:
        """Where each of :meth:`pieces` belongs, position by position."""
        places = [indptr[group.positions] + j for group in self.groups for j in range(len(group.keys))]
        return np.concatenate(places) if places else np.empty(0, np.int64)

    def values(self, indptr: Int) -> Float | None:
        """Values of attributes, position by position; None: all are 1."""
        if not self.has_numbers:
            return None
        values = np.ones(int(indptr[-1]))
        for group in self.groups:
            for j, column in enumerate(group.columns):
                if isinstance(column, np.ndarray):
                    values[indptr[group.positions] + j] = column
        return values


def as_records(items: Sequence[dict[Any, Any]]) -> Records | None:
    """Dicts, if many have the same keys, all strings, and all values are strings or finite numbers; else None."""
    positions: dict[tuple[Any, ...], list[int]] = {}
    for at, keys in enumerate(map(tuple, items)):
        own = positions.get(keys)
        if own is None:
            positions[keys] = [at]
        else:
            own.append(at)
    if FEW * len(positions) > len(items):
        return None
    groups, has_numbers = [], False
    for keys, own in positions.items():
        if set(map(type, keys)) - {str}:
            return None
        columns: list[Sequence[str] | Float] = []
        chosen = items if len(own) == len(items) else map(items.__getitem__, own)
        flat = list(chain.from_iterable(map(dict.values, chosen)))
        for j in range(len(keys)):
            column = flat[j :: len(keys)]
            if type(column[0]) is str:  # whether all are, joining them will tell
                columns.append(column)
            elif set(map(type, column)) <= {float, int, bool}:
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
