"""Numbers for texts: a table that compiled code reads and extends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bytes = NDArray[np.uint8]

PADDING = 8  # bytes behind a buffer that the kernels may read


@dataclass(frozen=True, eq=False)
class Pieces:
    """Texts as pieces of one buffer of UTF-8: piece i is buffer[starts[i]:ends[i]]."""

    buffer: Bytes
    starts: Int64
    ends: Int64

    def __len__(self) -> int:
        return len(self.starts)

    def decode(self, which: Iterable[int]) -> list[str]:
        """Some pieces as strings."""
        whole = self.buffer.tobytes()
        starts, ends = self.starts, self.ends
        return [whole[starts[i] : ends[i]].decode("utf-8", "surrogatepass") for i in which]


def padded_buffer(whole: bytes) -> Bytes:
    """Bytes as the kernels read them."""
    return np.frombuffer(whole + bytes(PADDING), np.uint8)


def pieces_of(strings: Sequence[str]) -> Pieces:
    """Strings, laid end to end."""
    text = "".join(strings)
    if text.isascii():
        lengths = np.fromiter(map(len, strings), np.int64, len(strings))
        whole = text.encode("ascii")
    else:
        encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        whole = b"".join(encoded)
    ends = np.cumsum(lengths)
    return Pieces(padded_buffer(whole), ends - lengths, ends)


class StringTable:
    """Distinct texts, numbered in order of first appearance."""

    def __init__(self, strings: Sequence[str] = ()) -> None:
        self._n = 0
        self._pool = np.zeros(PADDING, np.uint8)
        self._first = np.zeros(2, np.int64)
        self._table = np.zeros((2, 4), np.uint64)
        if strings:
            self.add(pieces_of(strings))

    def __len__(self) -> int:
        return self._n

    def add(self, pieces: Pieces) -> Int32:
        """The number of each piece; new texts get the next ones."""
        from chainfield.kernels.strings import intern

        numbers = np.empty(len(pieces), np.int32)
        at = 0
        while True:
            at, self._n = intern(
                pieces.buffer, pieces.starts, pieces.ends, at, self._n, self._table, self._pool, self._first, numbers
            )
            if at == len(pieces):
                return numbers
            self._grow(int(pieces.ends[at] - pieces.starts[at]))

    def find(self, pieces: Pieces) -> Int32:
        """The number of each piece, -1 for unknown texts."""
        from chainfield.kernels.strings import look_up

        numbers = np.empty(len(pieces), np.int32)
        look_up(pieces.buffer, pieces.starts, pieces.ends, self._table, self._pool, self._first, numbers)
        return numbers

    def strings(self) -> list[str]:
        """All texts, by number."""
        first = self._first[: self._n + 1]
        whole = self._pool[: first[-1]].tobytes()
        bounds = first.tolist()
        if whole.isascii():  # slicing text is cheaper than decoding pieces
            text = whole.decode("ascii")
            return [text[a:b] for a, b in pairwise(bounds)]
        return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]

    def _grow(self, size: int) -> None:
        """Make room for as many texts again, and for one of this size."""
        from chainfield.kernels.strings import rebuild

        room = max(1024, 2 * self._n)
        pool = np.zeros(max(4096, 2 * (int(self._first[self._n]) + size + PADDING)), np.uint8)
        used = int(self._first[self._n])
        pool[:used] = self._pool[:used]
        first = np.zeros(room + 2, np.int64)
        first[: self._n + 1] = self._first[: self._n + 1]
        table = np.zeros((1 << (2 * room).bit_length(), 4), np.uint64)
        rebuild(self._n, pool, first, table)
        self._pool, self._first, self._table = pool, first, table
