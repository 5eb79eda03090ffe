"""The header of a safetensors file, read with no trust in it: which tensors there are, and where.

Every number is checked against the length of the file before anything is allocated. The rules are those of the format
(https://github.com/huggingface/safetensors#format); a test compares this reader with the library.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, BinaryIO

#: Element types in use, and what NumPy calls them.
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
#: Bytes that the header may have. JSON takes up to 25 times as much memory while it is read.
LONGEST_HEADER = 1 << 24
# More dimensions than NumPy has.
MOST_DIMENSIONS = 32


class HeaderError(ValueError):
    """Not a safetensors file, or not a whole one."""


class StrangeType(ValueError):
    """A tensor of a type that is not used here."""


@dataclass(frozen=True)
class Entry:
    """One tensor: its name, its type in NumPy's notation, its shape, and its bytes in the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_header(file: BinaryIO, size: int) -> tuple[list[Entry], dict[str, str]]:
    """Tensors in the order of their bytes, and the metadata; ``size``: how many bytes the file has."""
    start = 8 + int.from_bytes(file.read(8), "little")
    if size < 8 or start > size or start > LONGEST_HEADER:
        raise HeaderError
    try:
        header = json.loads(file.read(start - 8).decode("utf-8"), object_pairs_hook=_distinct)
    except RecursionError:
        raise HeaderError from None
    if type(header) is not dict:
        raise HeaderError
    metadata = header.pop("__metadata__", {})
    if type(metadata) is not dict or not all(type(value) is str for value in metadata.values()):
        raise HeaderError
    entries = sorted((_entry(name, found, start) for name, found in header.items()), key=lambda e: (e.begin, e.end))
    at = start
    for entry in entries:
        if entry.begin != at:
            raise HeaderError
        at = entry.end
    if at != size:
        raise HeaderError
    return entries, metadata


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise HeaderError
    return found


def _entry(name: str, found: Any, start: int) -> Entry:
    if type(found) is not dict or set(found) != {"dtype", "shape", "data_offsets"}:
        raise HeaderError
    kind, shape, offsets = found["dtype"], found["shape"], found["data_offsets"]
    if type(kind) is not str or not _counts(shape) or not _counts(offsets) or len(offsets) != 2:
        raise HeaderError
    if kind not in DTYPES:
        raise StrangeType(f"the tensor {name!r:.80} has the type {kind!r:.40}, which is not used here")
    dtype = DTYPES[kind]
    if len(shape) > MOST_DIMENSIONS or math.prod(shape) * int(dtype[2:]) != offsets[1] - offsets[0]:
        raise HeaderError
    return Entry(name, dtype, tuple(shape), start + offsets[0], start + offsets[1])


def _counts(values: Any) -> bool:
    return type(values) is list and all(type(value) is int and 0 <= value < 1 << 63 for value in values)
