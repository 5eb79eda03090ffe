"""One frame that holds many sequences, told apart by a column."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, final

from chainfield.arrays import Ragged
from chainfield.errors import DataError

from .door import column_values, narwhals, open_frame, plain_sequence


@final
@dataclass(frozen=True, eq=False)
class FrameSequences:
    """The sequences of a frame: ``X`` and ``y`` for a model, and the way back to the frame."""

    X: list[Any]
    y: list[list[Any]] | None
    frame: Any
    rows: Ragged

    def attach(self, labels: Sequence[Sequence[Any]], name: str = "label") -> Any:
        """The frame as it was, with the same index, and predicted labels in a column of this name."""
        if [len(own) for own in labels] != self.rows.lengths.tolist():
            raise DataError("There are not as many labels as rows; predict on X of the same frame.")
        nw = narwhals()
        found = open_frame(self.frame)
        flat = [label for own in labels for label in own]
        column = nw.new_series(name, flat, backend=nw.get_native_namespace(found))
        if found.implementation.is_pandas_like():
            native = column.to_native()
            native.index = self.frame.index
            column = nw.from_native(native, series_only=True)
        return found.with_columns(column).to_native()


def read_frame(
    frame: Any, *, sequence: str, columns: str | Sequence[str] | None = None, label: str | None = None
) -> FrameSequences:
    """The sequences of a frame: rows with the same value of the column ``sequence``, one after the other.

    ``columns``: those that the model reads, the word first; by default all but ``sequence`` and ``label``. A value of
    ``sequence`` that comes again after another one is refused: sort the frame first.
    """
    found = open_frame(frame)
    wanted = [columns] if isinstance(columns, str) else columns
    wanted = [name for name in found.columns if name not in (sequence, label)] if wanted is None else list(wanted)
    for name in (sequence, *wanted, *([label] if label is not None else [])):
        if name not in found.columns:
            raise DataError(f"The frame has no column {name!r}; it has {', '.join(map(repr, found.columns))}.")
    if not wanted:
        raise DataError("The frame has no column besides the sequence and the label.")
    keys = column_values(found.get_column(sequence), f"The frame, column {sequence!r}")
    runs = [(key, sum(1 for _ in group)) for key, group in groupby(keys)]
    seen = set[Any]()
    for key, _ in runs:
        if not isinstance(key, Hashable):
            raise DataError(f"The frame, column {sequence!r}: {key!r:.40} names no sequence; use numbers or texts.")
        if key in seen:
            raise DataError(
                f"The frame has rows of {sequence} {key!r} in several places; sort it by {sequence!r} first."
            )
        seen.add(key)
    rows = Ragged.of([n for _, n in runs])
    read = found.get_column(wanted[0]) if len(wanted) == 1 else found.select(wanted)
    whole = plain_sequence(read.to_native(), "The frame")
    y = None
    if label is not None:
        y = rows.cut(column_values(found.get_column(label), f"The frame, column {label!r}"))
    return FrameSequences(rows.cut(whole), y, frame, rows)
