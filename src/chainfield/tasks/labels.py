"""Label names: any plain values, kept as they were given, in a definite order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from chainfield.arrays import Array
from chainfield.errors import DataError


def ordered_labels(seen: Iterable[Any]) -> tuple[Any, ...]:
    """Distinct labels: sorted where they can be compared, else in order of first appearance."""
    distinct = list(dict.fromkeys(plain_label(label) for label in seen))
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(distinct)


def label_array(labels: Sequence[Any]) -> Array:
    """Labels as a one-dimensional array: of strings or numbers where that changes none of them, else of objects."""
    for kinds in ((str,), (bool,), (int, float)):
        if labels and all(isinstance(label, kinds) for label in labels):
            found = np.array(labels)
            if found.tolist() == list(labels):  # no string lost a zero at its end, no number a digit
                return found
    found = np.empty(len(labels), object)
    found[:] = labels
    return found


def plain_label(label: Any) -> Any:
    """NumPy scalars as Python values, so that 1 and np.int64(1) are one label."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, float) and value != value:
        raise DataError("A label is NaN; use None where a label is unknown.")
    try:
        hash(value)
    except TypeError:
        raise DataError(f"A label is {value!r}; labels must be hashable (strings, numbers, tuples of these).") from None
    return value
