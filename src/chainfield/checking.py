"""What comes from outside as arrays, matrices and numbers, checked before a kernel sees it.

Kernels check no bounds, and neither do all of NumPy's and SciPy's conversions: a mask is dropped, an imaginary part is
cut off, a date becomes a number, a matrix with a column index of 12 in 10 columns writes behind an array's end. Every
door of the library reads with these rules, and nothing else.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from .arrays import Array, Float, offsets_of
from .errors import ChainfieldError, ConfigError, DataError
from .limits import MATRIX_COLUMNS, Limit

#: NumPy's letters for truth values, whole numbers and real numbers.
REAL = "biuf"
_OTHERS = {"c": "complex numbers", "M": "dates", "m": "time spans", "U": "strings", "S": "strings", "V": "records"}


def shown(value: Any) -> str:
    """A value for a message: its beginning and its type."""
    try:
        text = repr(value)
    except Exception:  # nested too deeply, an integer of too many digits, a fault of the user's class
        text = "..."
    return f"{text if len(text) <= 30 else text[:27] + '...'} ({type(value).__name__})"


@final
@dataclass(frozen=True)
class Numbers:
    """Real numbers in an array of ``rank`` dimensions, ``shape`` in words; none below ``least``, which excludes NaN."""

    rank: int
    shape: str
    least: float | None = None

    def read(self, values: Any, where: str) -> Float:
        """The numbers as the kernels take them; ``where`` begins the message."""
        array = self._array(values, where)
        if array.ndim != self.rank:
            raise DataError(f"{where} has shape {array.shape}; {self.shape} is expected.")
        if self.least is not None and not (np.isfinite(array).all() and (array >= self.least).all()):
            bound = "not negative" if self.least == 0 else f"at least {self.least:g}"
            raise DataError(f"{where} must be finite and {bound}.")
        return np.ascontiguousarray(array)

    def _array(self, values: Any, where: str) -> Float:
        if type(values) is np.ndarray and values.dtype == np.float64:
            return values
        check_unmasked(values, where)
        try:
            array = np.asarray(values)
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise DataError(f"{where} cannot be read as numbers; {self.shape} is expected.") from None
        if array.dtype.kind == "O":
            array = _of_objects(array, f"{where} cannot be read as numbers; {self.shape} is expected.")
        elif array.dtype.kind not in REAL and array.size:
            what = _OTHERS.get(array.dtype.kind, f"values of type {array.dtype}")
            raise DataError(f"{where} holds {what}; real numbers are expected.")
        with np.errstate(all="ignore"):
            return array.astype(np.float64) if array.size else np.zeros(array.shape)


ROWS = Numbers(2, "(positions, columns)")
WEIGHTS = Numbers(1, "(sequences,)", least=0.0)
SCORES = Numbers(2, "(positions, scores)")


def _of_objects(array: Array, message: str) -> Float:
    """Numbers that NumPy keeps as Python's objects: only those that are real."""
    flat = array.ravel().tolist()
    if not all(isinstance(value, numbers.Real) for value in flat):
        raise DataError(message)
    try:
        return np.array([float(value) for value in flat]).reshape(array.shape)
    except (OverflowError, ValueError):
        raise DataError(message) from None


def check_unmasked(values: Any, where: str) -> None:
    """Refuse masked arrays: what lies under the mask would be taken for data."""
    inside = isinstance(values, list | tuple) and any(isinstance(part, np.ma.MaskedArray) for part in values)
    if inside or isinstance(values, np.ma.MaskedArray):
        raise DataError(f"{where} is a masked array; fill in the masked values, or leave them out.")


def weights_of(values: Any, n: int, what: str = "sample_weight") -> Float:
    """(n,) weights; 1 each if none are given."""
    if values is None:
        return np.ones(n)
    weights = WEIGHTS.read(values, what)
    if weights.shape != (n,):
        raise DataError(f"{what} has shape {weights.shape}; one weight for each of {n} sequences is expected.")
    return weights


def whole_number(
    value: Any, what: str, *, least: int = 1, most: Limit | None = None, error: type[ChainfieldError] = ConfigError
) -> int:
    """A whole number of any type: no truth value, no text, nothing with a fraction, not even 2.0."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise error(f"{what} is {shown(value)}; a whole number of at least {least} is expected.")
    number = int(value)
    if number < least:
        raise error(f"{what} is {number}; a whole number of at least {least} is expected.")
    if most is not None and not most.allows(number):
        raise error(f"{what} is {shown(number)}; {most.remedy}")
    return number


def lengths_of(values: Any, n_positions: int, what: str) -> list[int]:
    """How long the sequences are that lie end to end in ``what``."""
    try:
        given = values.tolist() if isinstance(values, np.ndarray) and values.ndim == 1 else list(values)
    except TypeError:
        raise DataError(f"lengths is {shown(values)}; a list of whole numbers is expected.") from None
    counts = [whole_number(n, "An entry of lengths", least=0, error=DataError) for n in given]
    if sum(counts) != n_positions:
        raise DataError(f"lengths add up to {sum(counts)}, but {what} has {n_positions} positions.")
    return counts


def count_positions(data: Any, what: str) -> int:
    """How many positions lie in an array, a matrix or a list."""
    if not is_list(data) or not (hasattr(data, "shape") or hasattr(data, "__len__")):
        raise DataError(f"{what} is {shown(data)}; a list or an array of positions is expected.")
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def is_list(value: Any) -> bool:
    """Whether a value holds others in an order: no text, no dict, no array without dimensions."""
    if isinstance(value, str | bytes | bytearray) or (hasattr(value, "keys") and hasattr(value, "items")):
        return hasattr(value, "iloc")  # a frame has keys, and rows as well
    return hasattr(value, "__iter__") and getattr(value, "shape", (1,)) != ()


# ---- sparse matrices ---------------------------------------------------------------------------------------------


def is_sparse(data: Any) -> bool:
    """Whether this is a SciPy sparse matrix, without importing SciPy."""
    return hasattr(data, "tocsr") and hasattr(type(data), "nnz")  # asking for nnz itself may fail


def checked_csr(matrix: Any, where: str) -> Any:
    """A sparse matrix by rows, all of whose numbers lead somewhere.

    What compiled code of SciPy reads is checked before the matrix is converted, and once more behind it.
    """
    if not is_sparse(matrix) or getattr(matrix, "ndim", 0) != 2:
        raise DataError(f"{where} is not a two-dimensional sparse matrix.")
    rows, columns = (int(n) for n in matrix.shape)
    if not MATRIX_COLUMNS.allows(columns):
        raise DataError(f"{where} has {columns:,} columns; {MATRIX_COLUMNS.remedy}")
    kind = getattr(matrix, "format", "")
    try:
        if kind in ("csr", "csc"):
            _check_compressed(matrix, (rows, columns) if kind == "csr" else (columns, rows), where)
        elif kind == "coo":
            _check_coordinates(matrix, where)
        elif kind == "bsr":
            _check_whole(*(_entries(matrix, name, where) for name in ("indptr", "indices")), where=where)
            matrix.check_format(full_check=True)
        elif kind == "lil":
            _check_lists(matrix, where)
        elif kind == "dia":
            _check_diagonals(matrix, where)
        if kind == "csr":
            return _trimmed(matrix)
        found = matrix.tocsr()
    except DataError:
        raise
    except (TypeError, ValueError, IndexError, RuntimeError, AttributeError, KeyError) as error:
        raise DataError(f"{where} is a sparse matrix that contradicts itself ({error}).") from None
    _check_compressed(found, (rows, columns), where)
    return found


def _check_compressed(matrix: Any, shape: tuple[int, int], where: str) -> None:
    """indptr rises from 0 to the number of entries, and indices are below the number of columns."""
    indptr, indices, data = (_entries(matrix, name, where) for name in ("indptr", "indices", "data"))
    n_lines, n_places = shape
    _check_real(data, where)
    fits = indptr.dtype.kind in "iu" and indices.dtype.kind in "iu" and len(indptr) == n_lines + 1
    fits = fits and int(indptr[0]) == 0 and not (np.diff(indptr.astype(np.int64)) < 0).any()
    if not (fits and int(indptr[-1]) <= min(len(indices), len(data))):
        raise DataError(f"{where} is a sparse matrix whose parts do not fit together: its indptr is wrong.")
    _check_places(indices[: int(indptr[-1])], n_places, where)


def _trimmed(matrix: Any) -> Any:
    """A matrix by rows without entries behind its last row: SciPy does not put such matrices together."""
    n = int(matrix.indptr[-1])
    if len(matrix.indices) == len(matrix.data) == n:
        return matrix
    return type(matrix)((matrix.data[:n], matrix.indices[:n], matrix.indptr), shape=matrix.shape)


def _check_whole(*parts: Array, where: str) -> None:
    if any(part.dtype.kind not in "iu" for part in parts):
        raise DataError(f"{where} is a sparse matrix whose places are not whole numbers.")


def _check_coordinates(matrix: Any, where: str) -> None:
    row, column, data = (_entries(matrix, name, where) for name in ("row", "col", "data"))
    _check_real(data, where)
    if not len(row) == len(column) == len(data):
        raise DataError(f"{where} is a sparse matrix whose parts do not fit together: they differ in length.")
    _check_whole(row, column, where=where)
    for places, n in ((row, matrix.shape[0]), (column, matrix.shape[1])):
        _check_places(places, int(n), where)


def _check_lists(matrix: Any, where: str) -> None:
    """A list of places and one of values for each row: compiled code follows the one and fills in the other."""
    rows, data = (_entries(matrix, name, where) for name in ("rows", "data"))
    pairs = list(zip(rows.tolist(), data.tolist(), strict=False))
    listed = all(type(places) is list and type(values) is list for places, values in pairs)
    if len(rows) != matrix.shape[0] or len(data) != len(rows) or not listed:
        raise DataError(f"{where} is a sparse matrix whose parts do not fit together: its rows are no lists.")
    if any(len(places) != len(values) for places, values in pairs):
        raise DataError(f"{where} is a sparse matrix whose parts do not fit together: they differ in length.")
    for places, _ in pairs:
        if places and not all(isinstance(place, numbers.Integral) for place in places):
            raise DataError(f"{where} is a sparse matrix whose places are not whole numbers.")
        _check_places(np.array(places, object), int(matrix.shape[1]), where)


def _check_diagonals(matrix: Any, where: str) -> None:
    offsets, data = _entries(matrix, "offsets", where), matrix.data
    check_unmasked(data, where)
    _check_whole(offsets, where=where)
    if not isinstance(data, np.ndarray) or data.ndim != 2 or len(data) != len(offsets):
        raise DataError(f"{where} is a sparse matrix whose parts do not fit together: its diagonals are wrong.")


def _entries(matrix: Any, name: str, where: str) -> Array:
    found = getattr(matrix, name)
    check_unmasked(found, where)
    if not isinstance(found, np.ndarray) or found.ndim != 1:
        raise DataError(f"{where} is a sparse matrix whose {name} is no array of one dimension.")
    return found


def _check_real(data: Array, where: str) -> None:
    if data.dtype.kind not in REAL:
        what = _OTHERS.get(data.dtype.kind, f"values of type {data.dtype}")
        raise DataError(f"{where} holds {what}; real numbers are expected.")


def _check_places(places: Array, n: int, where: str) -> None:
    if len(places) and (int(places.min()) < 0 or int(places.max()) >= n):
        at = int(np.argmax((places < 0) | (places >= n)))
        raise DataError(f"{where} has an entry at index {int(places[at])}, but only 0 to {n - 1} exist.")


def cut_rows(data: Any, lengths: Sequence[int]) -> list[Any]:
    """Rows that lie end to end, sequence by sequence."""
    return [data[a:b] for a, b in pairwise(offsets_of(lengths).tolist())]
