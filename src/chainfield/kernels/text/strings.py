"""A table of byte strings: numbers for texts, looked up in bulk by compiled code.

Texts lie end to end in one buffer. Equal texts have equal numbers, in order of first appearance; a hash of 64 bits
finds the place, and the bytes themselves decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from chainfield.kernels.jit import inner, kernel
from chainfield.kernels.layout import PADDING
from chainfield.kernels.vector import prefetch

AHEAD = 64  # texts that are announced before they are looked up
SHORT = 16  # bytes of a text that fit into the table itself
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@intrinsic
def word(typing: Any, buffer: Any, offset: Any) -> Any:
    """Eight bytes from ``offset`` on, as a number."""

    if not (isinstance(buffer, types.Array) and buffer.layout == "C" and buffer.dtype == types.uint8):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        at = context.cast(builder, args[1], signature.args[1], types.intp)
        pointer = builder.bitcast(builder.gep(array.data, [at]), ir.IntType(64).as_pointer())
        value = builder.load(pointer)
        value.align = 1
        return value

    return types.uint64(buffer, offset), generate


@inner
def last_word(buffer: Any, at: int, n: int) -> Any:
    """The same for the n < 8 last bytes of a text: those behind them count as 0."""
    return word(buffer, at) & (_ALL >> np.uint64(64 - 8 * n)) if n > 0 else np.uint64(0)


@inner
def hash_text(buffer: Any, lo: int, hi: int) -> Any:
    """A hash of 64 bits."""
    state = np.uint64(hi - lo) * _OTHER
    at = lo
    while at + 8 <= hi:
        state = (state ^ word(buffer, at)) * _MULTIPLIER
        state ^= state >> _HALF
        at += 8
    state = (state ^ last_word(buffer, at, hi - at)) * _MULTIPLIER
    state ^= state >> _HALF
    state *= _OTHER
    return state ^ (state >> _HALF)


@inner
def same_text(a: Any, i: int, b: Any, j: int, n: int) -> bool:
    """Whether n bytes are equal."""
    while n >= 8:
        if word(a, i) != word(b, j):
            return False
        i += 8
        j += 8
        n -= 8
    return last_word(a, i, n) == last_word(b, j, n)


@inner
def first_place(hashed: Any, table: Any) -> int:
    """Where the search for a text begins."""
    return np.int64((hashed >> np.uint64(20)) & np.uint64(len(table) - 1))


@inner
def place_of(buffer: Any, lo: int, hi: int, hashed: Any, table: Any, pool: Any, first: Any) -> int:
    """The place of a text in the table, or an empty one if it is not there.

    A place holds four words: the text itself if it is short (16 bytes at most), else its hash and its beginning; its
    length + 1 (0: empty); its number. So most texts are found with one access to memory.
    """
    n = hi - lo
    size = np.uint64(n + 1)
    a, b = head(buffer, lo, n, hashed)
    mask = np.uint64(len(table) - 1)
    place = first_place(hashed, table)
    while table[place, 2] != 0:
        alike = table[place, 0] == a and table[place, 1] == b and table[place, 2] == size
        if alike and (n <= SHORT or same_text(buffer, lo, pool, first[np.int64(table[place, 3])], n)):
            break
        place = np.int64(np.uint64(place + 1) & mask)
    return place


@inner
def head(buffer: Any, lo: int, n: int, hashed: Any) -> Any:
    """The first two words of a place."""
    if n > SHORT:
        return hashed, word(buffer, lo)
    if n >= 8:
        return word(buffer, lo), last_word(buffer, lo + 8, n - 8) if n < SHORT else word(buffer, lo + 8)
    return last_word(buffer, lo, n), np.uint64(0)


@inner
def occupy(buffer: Any, lo: int, hi: int, hashed: Any, table: Any, place: int, number: int) -> None:
    """Put a text at an empty place."""
    table[place, 0], table[place, 1] = head(buffer, lo, hi - lo, hashed)
    table[place, 2] = np.uint64(hi - lo + 1)
    table[place, 3] = np.uint64(number)


@inner
def announce(buffer: Any, starts: Any, ends: Any, lo: int, table: Any, hashes: Any) -> int:
    """Hash some texts from the one numbered lo on and ask for their places: waiting for memory one by one would cost
    most of the time. Returns the end of the run."""
    hi = min(lo + len(hashes), len(starts))
    for i in range(lo, hi):
        hashes[i - lo] = hash_text(buffer, starts[i], ends[i])
        prefetch(table, 4 * first_place(hashes[i - lo], table))
    return hi


@kernel
def look_up(buffer: Any, starts: Any, ends: Any, table: Any, pool: Any, first: Any, out: Any) -> None:
    """The numbers of texts buffer[starts[i]:ends[i]], -1 for those that are not in the table."""
    hashes = np.empty(AHEAD, np.uint64)
    lo = 0
    while lo < len(starts):
        hi = announce(buffer, starts, ends, lo, table, hashes)
        for i in range(lo, hi):
            place = place_of(buffer, starts[i], ends[i], hashes[i - lo], table, pool, first)
            out[i] = np.int64(table[place, 3]) if table[place, 2] != 0 else -1
        lo = hi


@kernel
def intern(
    buffer: Any, starts: Any, ends: Any, lo: int, n: int, table: Any, pool: Any, first: Any, out: Any
) -> tuple[int, int]:
    """The numbers of texts from the one numbered lo on; new ones are added behind the n known ones.

    Stops where table, pool or first have no room left; returns how far it came, and the number of texts.
    """
    hashes = np.empty(AHEAD, np.uint64)
    while lo < len(starts):
        hi = announce(buffer, starts, ends, lo, table, hashes)
        for i in range(lo, hi):
            size = ends[i] - starts[i]
            hashed = hashes[i - lo]
            place = place_of(buffer, starts[i], ends[i], hashed, table, pool, first)
            if table[place, 2] == 0:
                if 3 * (n + 1) > 2 * len(table) or n + 2 > len(first) or first[n] + size + PADDING > len(pool):
                    return i, n
                occupy(buffer, starts[i], ends[i], hashed, table, place, n)
                for k in range(size):
                    pool[first[n] + k] = buffer[starts[i] + k]
                first[n + 1] = first[n] + size
                n += 1
            out[i] = np.int64(table[place, 3])
        lo = hi
    return len(starts), n


@kernel
def rebuild(n: int, pool: Any, first: Any, table: Any) -> int:
    """Fill an empty table with n texts; returns the number of one that occurs twice, or -1."""
    for i in range(n):
        hashed = hash_text(pool, first[i], first[i + 1])
        place = place_of(pool, first[i], first[i + 1], hashed, table, pool, first)
        if table[place, 2] != 0:
            return i
        occupy(pool, first[i], first[i + 1], hashed, table, place, i)
    return -1
