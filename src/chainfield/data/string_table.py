"""Numbers for texts: a table that compiled code reads and extends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Bytes, Int, Int32, Integers, Ragged, UInt64, offsets_of
from chainfield.kernels.layout import PADDING
from chainfield.parallel import ordered_map

CHUNK = 1 << 15  # texts that a thread looks up at a time
MARK = "\0"


@dataclass(frozen=True, eq=False)
class Pieces:
    """Texts as pieces of one buffer of UTF-8: piece i is buffer[starts[i]:ends[i]]."""

    buffer: Bytes
    starts: Int
    ends: Int

    def __len__(self) -> int:
        return len(self.starts)

    def texts(self) -> list[str]:
        """The strings themselves."""
        whole = self.buffer.tobytes()
        bounds = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [whole[start:end].decode("utf-8", "surrogatepass") for start, end in bounds]


def padded_buffer(whole: bytes) -> Bytes:
    """Bytes as the kernels read them."""
    return np.frombuffer(whole + bytes(PADDING), np.uint8)


def pieces_of(*columns: Sequence[str], prefixes: Sequence[str] = ("",)) -> Pieces:
    """Strings laid end to end, one column after the other, each string with its column's prefix in front of it.

    Anything but strings is a TypeError.
    """
    return _divided(columns, prefixes) or _measured(columns, prefixes)


def _divided(columns: Sequence[Sequence[str]], prefixes: Sequence[str]) -> Pieces | None:
    """By a mark between them: finding a byte is cheaper than asking for lengths. None if it occurs in a string."""
    texts = [p + (MARK + p).join(column) for column, p in zip(columns, prefixes, strict=True) if column]
    n, whole = sum(map(len, columns)), MARK.join(texts).encode("utf-8", "surrogatepass")
    if whole.count(MARK.encode()) != max(n - 1, 0):
        return None
    buffer = padded_buffer(whole)
    marks = np.flatnonzero(buffer[: len(whole)] == ord(MARK))
    starts, ends = np.zeros(n, np.int64), np.full(n, len(whole), np.int64)
    starts[1:], ends[: n - 1] = marks + 1, marks
    return Pieces(buffer, starts, ends)


def _measured(columns: Sequence[Sequence[str]], prefixes: Sequence[str]) -> Pieces:
    texts, lengths = [], []
    for column, prefix in zip(columns, prefixes, strict=True):
        if column:
            text = prefix + prefix.join(column)
            if text.isascii():
                texts.append(text.encode("ascii"))
                lengths.append(np.fromiter(map(len, column), np.int64, len(column)) + len(prefix))
            else:
                encoded = [(prefix + s).encode("utf-8", "surrogatepass") for s in column]
                texts.append(b"".join(encoded))
                lengths.append(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    bounds = offsets_of(np.concatenate(lengths) if lengths else [])
    return Pieces(padded_buffer(b"".join(texts)), bounds[:-1], bounds[1:])


def decoded_pieces(whole: bytes, bounds: Ragged) -> list[str]:
    """Strings that were laid end to end as UTF-8."""
    if bounds.n_positions == len(whole) and whole.isascii():  # slicing text is cheaper than decoding pieces
        return bounds.cut(whole.decode("ascii"))
    return [piece.decode("utf-8", "surrogatepass") for piece in bounds.cut(whole)]


def _sound(pool: Bytes, starts: Int) -> bool:
    """Whether every text is UTF-8 (halves of characters allowed): all of them together, and none begins within one."""
    if pool.max(initial=0) < 0x80:
        return True
    try:
        pool.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return not ((pool[starts] & 0xC0) == 0x80).any()


class StringTable:
    """Distinct texts, numbered in order of first appearance."""

    def __init__(self, strings: Sequence[str] = ()) -> None:
        self._n = 0
        self._pool = np.zeros(PADDING, np.uint8)
        self._first = np.zeros(2, np.int64)
        self._slots = np.zeros(2, np.uint64)
        if strings:
            self.add(pieces_of(strings))

    @classmethod
    def of(cls, pieces: Pieces) -> StringTable:
        """The table of many texts at once, with room for all of them; those that occur twice are there once."""
        table = cls()
        table._grow(int((pieces.ends - pieces.starts).sum()), len(pieces))
        table.add(pieces)
        return table

    @classmethod
    def restored(cls, whole: Bytes, lengths: Integers, slots: UInt64 | None) -> StringTable:
        """The table of texts that lie end to end, with the slots that :meth:`slots` gave, or new ones.

        Refuses (by a ValueError) what the kernels could not trust: texts that are no UTF-8, slots that lead nowhere,
        too many that are taken. Whether slots are those of the texts is not checked: that would take as long as new
        ones. Texts are not found where they are not.
        """
        table = cls()
        table._n, table._first = len(lengths), offsets_of(lengths)
        table._pool = np.zeros(len(whole) + PADDING, np.uint8)
        table._pool[: len(whole)] = whole
        if int(table._first[-1]) != len(whole) or not _sound(table._pool, table._first[:-1]):
            raise ValueError("the texts are not those of a table")
        if slots is None or sys.byteorder == "big":  # hashes are those of bytes in the usual order
            table._slots = table.slots()
        else:
            numbers = slots.view(np.uint32)[::2]  # the lower halves
            taken = int(np.count_nonzero(slots))
            fits = len(slots) > 1 and len(slots) & (len(slots) - 1) == 0 and 3 * taken <= 2 * len(slots)
            if not fits or taken != np.count_nonzero(numbers) or int(numbers.max()) > table._n:
                raise ValueError("the slots are not those of a table")
            table._slots = slots
        return table

    def slots(self) -> UInt64:
        """The slots of these texts, as files hold them: they depend on nothing but the texts and their order."""
        from chainfield.kernels.text.strings import rebuild

        slots = np.zeros(1 << max(1, (3 * self._n // 2).bit_length()), np.uint64)
        if rebuild(self._n, self._pool, self._first, slots) >= 0:
            raise ValueError("a text occurs twice")
        return slots

    def __len__(self) -> int:
        return self._n

    def copy(self) -> StringTable:
        """A table of the same texts that grows by itself."""
        other = StringTable()
        other._n = self._n
        other._pool, other._first, other._slots = self._pool.copy(), self._first.copy(), self._slots.copy()
        return other

    def add(self, pieces: Pieces) -> Int32:
        """The number of each piece; new texts get the next ones."""
        from chainfield.kernels.text.strings import intern

        numbers = np.empty(len(pieces), np.int32)
        at = 0
        while True:
            at, self._n = intern(
                pieces.buffer, pieces.starts, pieces.ends, at, self._n, self._slots, self._pool, self._first, numbers
            )
            if at == len(pieces):
                return numbers
            self._grow(int(pieces.ends[at] - pieces.starts[at]))

    def find(self, pieces: Pieces, n_jobs: int = 1) -> Int32:
        """The number of each piece, -1 for unknown texts."""
        buffer, starts, ends = pieces.buffer, pieces.starts, pieces.ends
        if len(starts) <= CHUNK:
            return self.find_in(buffer, starts, ends)
        from chainfield.kernels.text.strings import look_up

        known, numbers = (self._slots, self._pool, self._first), np.empty(len(starts), np.int32)

        def part(lo: int) -> None:
            bounds = slice(lo, lo + CHUNK)
            look_up(buffer, starts[bounds], ends[bounds], *known, numbers[bounds])

        for _ in ordered_map(part, range(0, len(numbers), CHUNK), n_jobs):
            pass
        return numbers

    def find_in(self, buffer: Bytes, starts: Int, ends: Int) -> Int32:
        """The same for the arrays of pieces, by this thread."""
        from chainfield.kernels.text.strings import look_up

        numbers = np.empty(len(starts), np.int32)
        look_up(buffer, starts, ends, self._slots, self._pool, self._first, numbers)
        return numbers

    def pieces(self) -> Pieces:
        """All texts by number, as they lie end to end."""
        return Pieces(self._pool, self._first[: self._n], self._first[1 : self._n + 1])

    def strings(self) -> list[str]:
        """All texts, by number."""
        bounds = Ragged(self._first[: self._n + 1])
        return decoded_pieces(self._pool[: bounds.n_positions].tobytes(), bounds)

    def _grow(self, size: int, more: int = 1) -> None:
        """Make room for as many texts again, and for ``more`` of this size together."""
        from chainfield.kernels.text.strings import rebuild

        room = max(1024, 2 * self._n, self._n + more)  # texts; a place for each, and half as many again
        pool = np.zeros(max(4096, 2 * (int(self._first[self._n]) + size + PADDING)), np.uint8)
        used = int(self._first[self._n])
        pool[:used] = self._pool[:used]
        first = np.zeros(room + 2, np.int64)
        first[: self._n + 1] = self._first[: self._n + 1]
        slots = np.zeros(1 << (3 * room // 2).bit_length(), np.uint64)
        rebuild(self._n, pool, first, slots)
        self._pool, self._first, self._slots = pool, first, slots
