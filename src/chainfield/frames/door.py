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


def column_names(value: Any) -> list[str] | None:
    """The names of a frame's columns; None where this is no frame, or its columns have numbers in place of names."""
    if not is_frame(value):
        return None
    named = list(getattr(value, "column_names", value.columns))  # Arrow's ``columns`` are the columns themselves
    return list(map(str, named)) if all(isinstance(name, str) for name in named) else None


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
    return _opened(frame, series=False)


def _opened(value: Any, *, series: bool) -> Any:
    nw = narwhals()
    if series and hasattr(value, "to_pylist") and not (hasattr(value, "chunks") or hasattr(value, "columns")):
        import pyarrow

        value = pyarrow.chunked_array([value])  # Arrow's way to hold a column of a table
    try:
        return nw.from_native(value, eager_only=True, allow_series=series)
    except TypeError:
        wanted = "a data frame in memory, or a column of one," if series else "a data frame in memory"
        kind = type(value)
        raise DataError(f"There is {kind.__module__}.{kind.__name__}; {wanted} is expected.") from None
    except nw.exceptions.DuplicateError:
        raise DataError("The frame has several columns of one name; rename them, or leave some out.") from None


def plain_sequence(value: Any, where: str = "X") -> Any:
    """A frame or column as sequences are given otherwise.

    A column of strings is a list, and a frame of strings a list of tuples (columns of text). Numbers are an array with
    one row per position, and strings with numbers a list of dicts (attributes).
    """
    nw = narwhals()
    found = _opened(value, series=True)
    alone = isinstance(found, nw.Series)
    columns = {"": found} if alone else {name: found.get_column(name) for name in found.columns}
    if not columns:
        raise DataError(f"{where}: the frame has no column.")
    numeric = [column.dtype.is_numeric() or column.dtype == nw.Boolean for column in columns.values()]
    if all(numeric):
        return np.column_stack([np.asarray(_numbers(column), np.float64) for column in columns.values()])
    if alone:
        return column_values(found, where)
    cells = [column_values(column, f"{where}, column {name!r}") for name, column in columns.items()]
    if not any(numeric):
        return list(zip(*cells, strict=True))
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def plain_values(value: Any, where: str, *, unknown: bool = False) -> list[Any]:
    """A column as a list; ``unknown``: a missing value is None, and is not refused."""
    found = _opened(value, series=True)
    if not isinstance(found, narwhals().Series):
        raise DataError(f"{where}: there is a frame; give one of its columns.")
    return column_values(found, where, missing=unknown)


def column_values(column: Any, where: str, *, missing: bool = False) -> list[Any]:
    """The values of a column; a missing one is refused with its row, or None where that is allowed."""
    values = column.to_list()
    for row, (value, absent) in enumerate(zip(values, column.is_null().to_list(), strict=True)):
        if absent or (isinstance(value, float) and value != value):
            if not missing:
                raise DataError(f"{where}: the value in row {row} is missing; fill it in, or leave the row out.")
            values[row] = None
    return values


def _numbers(column: Any) -> Any:
    """The numbers of a column; missing ones are NaN, which models refuse with their place."""
    absent = column.is_null().to_list()
    return [float("nan") if gone else value for value, gone in zip(column.to_list(), absent, strict=True)]
