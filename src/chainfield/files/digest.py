"""A digest of everything that a file says: description, names, types, shapes and contents.

It is there to notice damage, so contents enter by their checksums (CRC-32), piece by piece: hashing them as a whole
took longer than all the rest of loading (SHA-256: 0.8 ms per MB on a processor with instructions for it, CRC-32: 0.3).
"""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

import numpy as np

from chainfield.arrays import Array, Arrays
from chainfield.parallel import ordered_map

PIECE = 1 << 20  # bytes
FEW = 16  # pieces that one thread has done before others have begun


def digest(description: dict[str, Any], arrays: Arrays, n_jobs: int = 1) -> str:
    """SHA-256 over the description and, for each tensor, its name, type, shape and the checksums of its pieces."""
    whole = hashlib.sha256(canonical(description))
    pieces = [(name, piece) for name, array in sorted(arrays.items()) for piece in _pieces(array)]
    jobs = n_jobs if len(pieces) > FEW else 1
    found: dict[str, bytes] = {}
    for name, own in ordered_map(lambda pair: (pair[0], zlib.crc32(pair[1])), pieces, jobs):
        found[name] = found.get(name, b"") + own.to_bytes(4, "little")
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
    """JSON that is the same for the same value; halves of characters are a UnicodeEncodeError."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")


def _pieces(array: Array) -> list[memoryview]:
    if not array.size:
        return []
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return [raw[at : at + PIECE] for at in range(0, len(raw), PIECE)]
