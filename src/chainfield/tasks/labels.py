"""Label names: any plain values, kept as they were given, in a definite order."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import numpy as np

from chainfield.errors import ConfigError, DataError


def ordered_labels(seen: Iterable[Any]) -> tuple[Any, ...]:
    """Distinct labels: sorted where they can be compared, else in order of first appearance."""
    distinct = list(dict.fromkeys(plain_label(label) for label in seen))
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(distinct)


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


def labels_to_json(labels: Iterable[Any]) -> list[Any]:
    """Labels as JSON values: strings, numbers and booleans as they are, bytes and tuples marked."""
    return [_to_json(label) for label in labels]


def _to_json(label: Any) -> Any:
    if isinstance(label, str | bool | int | float):
        return label
    if isinstance(label, bytes):
        return {"bytes": base64.b64encode(label).decode("ascii")}
    if isinstance(label, tuple):
        return {"tuple": [_to_json(part) for part in label]}
    raise ConfigError(
        f"The label {label!r} cannot be saved; labels in a model file are strings, numbers, booleans, bytes, or tuples."
    )


def labels_from_json(values: Iterable[Any]) -> tuple[Any, ...]:
    """The inverse of :func:`labels_to_json`."""
    return tuple(_from_json(value) for value in values)


def _from_json(value: Any) -> Any:
    if isinstance(value, dict) and "bytes" in value:
        return base64.b64decode(value["bytes"])
    if isinstance(value, dict):
        return tuple(_from_json(part) for part in value["tuple"])
    return value
