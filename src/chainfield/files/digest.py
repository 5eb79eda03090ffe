"""A digest of everything that a file says: description, names, types, shapes and contents.

Contents are hashed in pieces, so that several threads can do it: hashing takes longer than reading.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from chainfield.arrays import Array, Arrays
from chainfield.parallel import ordered_map

PIECE = 1 << 20  # bytes


def digest(description: dict[str, Any], arrays: Arrays, n_jobs: int = 1) -> str:
    """SHA-256 over the description and, for each tensor, its name, type, shape and the digests of its pieces."""
    whole = hashlib.sha256(canonical(description))
    pieces = [(name, piece) for name, array in sorted(arrays.items()) for piece in _pieces(array)]
    hashed = ordered_map(lambda pair: (pair[0], hashlib.sha256(pair[1]).digest()), pieces, n_jobs)
    found: dict[str, bytes] = {}
    for name, own in hashed:
        found[name] = found.get(name, b"") + own
    for name, array in sorted(arrays.items()):
        whole.update(canonical([name, array.dtype.str, list(array.shape)]))
        whole.update(found.get(name, b""))
    return whole.hexdigest()


def digest_at_once(description: dict[str, Any], arrays: Arrays) -> str:
    """The same over contents as a whole: files of versions before 6 have this one."""
    whole = hashlib.sha256(canonical(description))
    for name, array in sorted(arrays.items()):
        whole.update(canonical([name, array.dtype.str, list(array.shape)]))
        for piece in _pieces(array):
            whole.update(piece)
    return whole.hexdigest()


def canonical(value: Any) -> bytes:
    """JSON that is the same for the same value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _pieces(array: Array) -> list[memoryview]:
    if not array.size:
        return []
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return [raw[at : at + PIECE] for at in range(0, len(raw), PIECE)]
