"""One door for all data frames: what a frame or a column holds, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.errors import ConfigError, DataError

_LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def is_framed(value: Any) -> bool:
    """Whether this is a frame or a column of a library of data frames; nothing is imported to find out."""
    library = type(value).__module__.partition(".")[0]
    return library in _LIBRARIES and hasattr(value, "__len__")


def is_frame(value: Any) -> bool:
    """Whether this has columns: a column by itself has none."""
    return is_framed(value) and hasattr(value, "columns")


def narwhals() -> Any:
    """The library behind the door."""
    try:
        import narwhals
    except ImportError:
        raise ConfigError(
            "Data frames need the package narwhals; install it with: pip install 'chainfield[frames]'."
        ) from None
    return narwhals


def open_frame(frame: Any) -> Any:
    """A frame, whichever library it is of."""
    nw = narwhals()
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(
            f"There is {type(frame).__module__}.{type(frame).__name__}; a data frame in memory is expected."
        ) from None


def plain_sequence(value: Any, where: str = "X") -> Any:
    """A frame or column as sequences are given otherwise.

    A column is a list of its values. A frame of strings is a list of tuples (columns of text), one of numbers an array,
    and one of both a list of dicts (attributes).
    """
    nw = narwhals()
    found = nw.from_native(value, eager_only=True, allow_series=True)
    if isinstance(found, nw.Series):
        return column_values(found, where)
    kinds = {name: found[name].dtype for name in found.columns}
    if not kinds:
        raise DataError(f"{where}: the frame has no column.")
    numeric = {name: kind.is_numeric() or kind == nw.Boolean for name, kind in kinds.items()}
    if all(numeric.values()):
        return np.column_stack([np.asarray(numbers(found[name]), np.float64) for name in found.columns])
    columns = [column_values(found[name], f"{where}, column {name!r}") for name in found.columns]
    if not any(numeric.values()):
        return list(zip(*columns, strict=True))
    return [dict(zip(found.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def column_values(column: Any, where: str) -> list[Any]:
    """The values of a column; a missing one is refused with its row."""
    values = column.to_list()
    for row, value in enumerate(values):
        if value is None or (isinstance(value, float) and value != value):
            raise DataError(f"{where}: the value in row {row} is missing; fill it in, or leave the row out.")
    return values


def numbers(column: Any) -> Any:
    """The numbers of a column; missing ones are NaN, which models refuse with their place."""
    return [float("nan") if value is None else value for value in column.to_list()]
