"""The distinct items of sequences, and which of them stands where."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from chainfield.arrays import Int, offsets_of
from chainfield.data.coded_rows import CodedRows
from chainfield.tasks.task import plain_label


def sequence_offsets(sequences: Sequence[Any]) -> Int:
    """(S+1,) where sequences begin."""
    if isinstance(sequences, CodedRows):
        return sequences.offsets
    return offsets_of([len(sequence) for sequence in sequences])


def distinct_rows(sequences: Sequence[Any]) -> tuple[Sequence[Hashable], Int]:
    """The distinct rows (lists as tuples), and (N,) the row of each position."""
    if not isinstance(sequences, CodedRows):
        rows = list(chain.from_iterable(sequences))
        try:
            return _distinct(rows)
        except TypeError:
            return _distinct([tuple(row) if isinstance(row, list) else row for row in rows])
    if sequences.n_columns == 1:
        return list(zip(sequences.values[0], strict=True)), sequences.codes[0].astype(np.int64)
    # Columns are joined one by one: that all combinations of values could be numbered is not needed.
    which, columns = sequences.codes[0].astype(np.int64), [np.arange(len(sequences.values[0]))]
    for codes, values in zip(sequences.codes[1:], sequences.values[1:], strict=True):
        joined, which = np.unique(which * len(values) + codes, return_inverse=True)
        columns = [column[joined // len(values)] for column in columns] + [joined % len(values)]
    cells = [[values[i] for i in column.tolist()] for column, values in zip(columns, sequences.values, strict=True)]
    return list(zip(*cells, strict=True)), which


def distinct_labels(targets: Sequence[Any]) -> tuple[Sequence[Hashable], Int]:
    """The distinct labels (sets as frozen sets), and (N,) the label of each position."""
    if isinstance(targets, CodedRows):
        return targets.values[0], targets.codes[0].astype(np.int64)
    labels = list(chain.from_iterable(targets))
    try:
        return _distinct(labels)
    except TypeError:  # a set cannot be hashed; whatever else cannot is refused by its name
        return _distinct([plain_label(frozenset(label) if isinstance(label, set) else label) for label in labels])


def label_sequences(targets: Sequence[Any]) -> Iterable[Any]:
    """Labels as sequences of them, however they are kept; made when they are asked for."""
    return ([label for (label,) in own] for own in targets) if isinstance(targets, CodedRows) else targets


def _distinct(items: list[Hashable]) -> tuple[Sequence[Hashable], Int]:
    number = {item: i for i, item in enumerate(dict.fromkeys(items))}
    return list(number), np.fromiter(map(number.__getitem__, items), np.int64, len(items))
