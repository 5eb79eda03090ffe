"""Numbers and strings in the bytes of a file that nobody vouches for: every place is checked before it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Array, Int
from chainfield.errors import ModelFileError


@dataclass(frozen=True, eq=False)
class Bytes:
    """The content of a file, and the name that errors give it."""

    content: bytes
    name: str

    def __len__(self) -> int:
        return len(self.content)

    def fault(self, what: str) -> ModelFileError:
        """The error for a file that cannot be what it says."""
        return ModelFileError(f"{self.name}: {what}. The file is damaged or cut short; make or fetch it again.")

    def demand(self, holds: Any, what: str) -> None:
        """Refuse the file unless something holds."""
        if not holds:
            raise self.fault(what)

    def piece(self, at: int, size: int, what: str) -> bytes:
        """``size`` bytes from ``at`` on."""
        self.demand(at >= 0 and size >= 0 and at + size <= len(self.content), f"{what} would lie outside of it")
        return self.content[at : at + size]

    def array(self, at: int, n: int, dtype: Any, what: str) -> Array:
        """(n,) numbers from ``at`` on; n is checked against the bytes that are there, before anything is allocated."""
        kind = np.dtype(dtype)
        self.demand(
            at >= 0 and n >= 0 and n * kind.itemsize <= len(self.content) - at, f"{what} would lie outside of it"
        )
        return np.frombuffer(self.content, kind, n, at)

    def words_at(self, places: Int, what: str) -> Int:
        """The 32-bit number (little-endian) at each of many places, aligned or not."""
        found = places.min(initial=0) >= 0 and places.max(initial=0) <= len(self.content) - 4
        self.demand(found or not len(places), f"{what} would lie outside of it")
        if not len(places):
            return np.empty(0, np.int64)
        every = np.ndarray((len(self.content) - 3,), "<u4", self.content, strides=(1,))  # one that begins at each byte
        return np.asarray(every[places], np.int64)
