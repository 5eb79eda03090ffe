"""Tables as sequences with labels: one sequence per row, in columns of lists, or one position per row.

Parquet and Arrow files and partitions of data frames come in both ways; the first is that of Hugging Face's datasets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from chainfield.errors import DataError

from .door import open_frame
from .sequences import read_frame

WORDS = ("tokens", "words")
LABELS = ("ner_tags", "tags", "labels", "ner", "pos_tags", "chunk_tags")


@final
@dataclass(frozen=True)
class TableColumns:
    """Which column is what.

    ``words``: the columns that a model reads, the word first; by default ``tokens`` or ``words``. ``label``: that of
    the labels; by default the first of ``ner_tags``, ``tags``, ``labels`` … that there is. ``sequence``: tells
    sequences apart where every row is one position; without it, every row is a sequence, and columns hold lists.
    """

    words: tuple[str, ...] = ()
    label: str | None = None
    sequence: str | None = None

    @classmethod
    def of(cls, words: str | Sequence[str] | None = None, label: str | None = None, sequence: str | None = None) -> Any:
        """From what users give."""
        return cls((words,) if isinstance(words, str) else tuple(words or ()), label, sequence)

    def found_in(self, names: Sequence[str], *, labelled: bool) -> TableColumns:
        """With the names that this table has in place of defaults; refuses a table that lacks one."""
        words = self.words or tuple(name for name in WORDS if name in names)[:1]
        label = self.label or next((name for name in LABELS if name in names and name not in words), None)
        there = ", ".join(map(repr, names))
        if not words:
            raise DataError(f"there is no column of words; give its name as words=. The columns are {there}.")
        if labelled and label is None:
            raise DataError(f"there is no column of labels; give its name as label=. The columns are {there}.")
        wanted = (*words, *([label] if labelled else []), *([] if self.sequence is None else [self.sequence]))
        missing = [name for name in wanted if name not in names]
        if missing:
            raise DataError(f"there is no column {missing[0]!r}; the columns are {there}.")
        return TableColumns(words, label if labelled else None, self.sequence)

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return [name for name in (*self.words, self.label, self.sequence) if name is not None]


def read_table(
    table: Any, columns: TableColumns, *, labelled: bool = True, names: Sequence[str] | None = None
) -> tuple[list[list[tuple[str, ...]]], list[list[Any]] | None]:
    """Sequences of tuples of strings, and their labels (None: unknown); ``names``: what numbers of labels stand for."""
    frame = open_frame(table)
    wanted = columns.found_in(frame.columns, labelled=labelled)
    if wanted.sequence is not None:
        found = read_frame(table, sequence=wanted.sequence, columns=list(wanted.words), label=wanted.label)
        X = [[x if isinstance(x, tuple) else (x,) for x in sequence] for sequence in found.X]
        return X, None if found.y is None else [[_label(v, names, "") for v in y] for y in found.y]
    cells = [_lists(frame[name].to_list(), name) for name in wanted.words]
    X = []
    for row, lists in enumerate(zip(*cells, strict=True)):
        _check_lengths(row, wanted.words, lists)
        for name, values in zip(wanted.words, lists, strict=True):
            odd = next((value for value in values if not isinstance(value, str)), "")
            if odd != "":
                raise DataError(f"row {row}, column {name!r}: there is {odd!r:.40}; strings are expected.")
        X.append(list(zip(*lists, strict=True)))
    if wanted.label is None:
        return X, None
    y = _lists(frame[wanted.label].to_list(), wanted.label)
    for row, both in enumerate(zip(cells[0], y, strict=True)):
        _check_lengths(row, (wanted.words[0], wanted.label), both)
    return X, [[_label(value, names, f"row {row}: ") for value in values] for row, values in enumerate(y)]


def _lists(values: list[Any], name: str) -> list[list[Any]]:
    found = []
    for row, value in enumerate(values):
        plain = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(plain, list | tuple):
            raise DataError(
                f"row {row}, column {name!r}: there is {value!r:.40}; a list with one value per position is expected. "
                "(Dask turns lists into strings unless dataframe.convert-string is False; for one position per row, "
                "give sequence=.)"
            )
        found.append(list(plain))
    return found


def _check_lengths(row: int, names: Sequence[str], lists: Sequence[list[Any]]) -> None:
    for name, values in zip(names, lists, strict=True):
        if len(values) != len(lists[0]):
            raise DataError(f"row {row}: {names[0]!r} has {len(lists[0])} values, but {name!r} has {len(values)}.")


def _label(value: Any, names: Sequence[str] | None, where: str) -> Any:
    if names is None or isinstance(value, str) or value is None:
        return value
    if isinstance(value, int) and 0 <= value < len(names):
        return str(names[value])
    raise DataError(f"{where}the label is {value!r}, which is not one of the file's.")


def class_names(metadata: Mapping[bytes, bytes], column: str | None) -> list[str] | None:
    """The names behind numbers of labels, as ``datasets`` writes them."""
    try:
        feature = json.loads(metadata[b"huggingface"])["info"]["features"][column]
        inner = feature[0] if isinstance(feature, list) else feature.get("feature", feature)
        names = inner["names"]
    except (KeyError, ValueError, TypeError, AttributeError, IndexError):
        return None
    return names if isinstance(names, list) else None
