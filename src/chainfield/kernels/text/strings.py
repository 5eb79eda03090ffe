"""A table of byte strings: numbers for texts, looked up in bulk by compiled code.

Three arrays, which hold no addresses, so that a file may hold them as they are:

pool    uint8, all texts end to end in the order of their numbers, PADDING bytes behind them
first   int64, text i is pool[first[i] : first[i + 1]]
slots   uint64, a power of two of them, some empty: 0, or the upper half of a text's hash and, below it, its number + 1

A text stands in the first empty slot from its hash (modulo the number of slots) on, in the order of the numbers. The
hash (:func:`hash_text`) finds the slot, and the bytes themselves decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.compiler import intrinsic, ir, types
from chainfield.kernels.declare import Bytes, Int, Int32, Out, UInt64
from chainfield.kernels.elements import prefetch
from chainfield.kernels.jit import inner, kernel
from chainfield.kernels.layout import PADDING

AHEAD = 64  # texts that are announced before they are looked up
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)
_NUMBER = np.uint64(0xFFFFFFFF)
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
    """A hash of 64 bits: multiplications (modulo 2**64), and halves laid over each other.

    It is part of the layout: tables in files were made with it.
    """
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
def first_place(hashed: Any, slots: Any) -> int:
    """Where the search for a text begins."""
    return np.int64(hashed & np.uint64(len(slots) - 1))


@inner
def next_place(place: int, slots: Any) -> int:
    """Where it goes on."""
    return (place + 1) & (len(slots) - 1)


@inner
def number_at(place: int, slots: Any) -> int:
    """The number of the text at a place, -1 if it is empty."""
    return np.int64(slots[place] & _NUMBER) - 1


@inner
def likely_place(hashed: Any, place: int, slots: Any) -> int:
    """From this place on, the first that is empty or has the upper half of the hash."""
    while slots[place] != 0 and (slots[place] ^ hashed) >> _HALF != 0:
        place = next_place(place, slots)
    return place


@inner
def place_of(buffer: Any, lo: int, hi: int, hashed: Any, place: int, slots: Any, pool: Any, first: Any) -> int:
    """From this place on, that of a text, or an empty one if it is not there."""
    while True:
        place = likely_place(hashed, place, slots)
        number = number_at(place, slots)
        if number < 0:
            return place
        begin = first[number]
        if first[number + 1] - begin == hi - lo and same_text(buffer, lo, pool, begin, hi - lo):
            return place
        place = next_place(place, slots)


@inner
def occupy(hashed: Any, slots: Any, place: int, number: int) -> None:
    """Put a text at an empty place."""
    slots[place] = (hashed & ~_NUMBER) | np.uint64(number + 1)


@inner
def announce(
    buffer: Any, starts: Any, ends: Any, lo: int, slots: Any, pool: Any, first: Any, hashes: Any, places: Any
) -> int:
    """Hash some texts from the one numbered lo on and find their likely places.

    Each step asks for the memory that the next one reads, for all of these texts: waiting for it text by text would
    cost most of the time. Returns the end of the run.
    """
    hi = min(lo + len(hashes), len(starts))
    for i in range(hi - lo):
        hashes[i] = hash_text(buffer, starts[lo + i], ends[lo + i])
        places[i] = first_place(hashes[i], slots)
        prefetch(slots, places[i])
    for i in range(hi - lo):
        places[i] = likely_place(hashes[i], places[i], slots)
        prefetch(first, max(number_at(places[i], slots), 0))
    for i in range(hi - lo):
        prefetch(pool, first[max(number_at(places[i], slots), 0)])
    return hi


@kernel
def look_up(buffer: Bytes, starts: Int, ends: Int, slots: UInt64, pool: Bytes, first: Int, out: Out[Int32]) -> None:
    """The numbers of texts buffer[starts[i]:ends[i]], -1 for those that are not in the table."""
    hashes, places = np.empty(AHEAD, np.uint64), np.empty(AHEAD, np.int64)
    lo = 0
    while lo < len(starts):
        hi = announce(buffer, starts, ends, lo, slots, pool, first, hashes, places)
        for i in range(lo, hi):
            place = place_of(buffer, starts[i], ends[i], hashes[i - lo], places[i - lo], slots, pool, first)
            out[i] = number_at(place, slots)
        lo = hi


@kernel
def intern(
    buffer: Bytes, starts: Int, ends: Int, lo: int, n: int, slots: Out[UInt64], pool: Out[Bytes], first: Out[Int],
    out: Out[Int32],
) -> tuple[int, int]:  # fmt: skip
    """The numbers of texts from the one numbered lo on; new ones are added behind the n known ones.

    Stops where slots, pool or first have no room left; returns how far it came, and the number of texts.
    """
    hashes, places = np.empty(AHEAD, np.uint64), np.empty(AHEAD, np.int64)
    while lo < len(starts):
        hi = announce(buffer, starts, ends, lo, slots, pool, first, hashes, places)
        for i in range(lo, hi):
            size = ends[i] - starts[i]
            # What was empty may have been taken by a text of this run, so that the search goes on from there.
            place = place_of(buffer, starts[i], ends[i], hashes[i - lo], places[i - lo], slots, pool, first)
            if slots[place] == 0:
                if 3 * (n + 1) > 2 * len(slots) or n + 2 > len(first) or first[n] + size + PADDING > len(pool):
                    return i, n
                occupy(hashes[i - lo], slots, place, n)
                for k in range(size):
                    pool[first[n] + k] = buffer[starts[i] + k]
                first[n + 1] = first[n] + size
                n += 1
            out[i] = number_at(place, slots)
        lo = hi
    return len(starts), n


@kernel
def rebuild(n: int, pool: Bytes, first: Int, slots: Out[UInt64]) -> int:
    """Fill an empty table with n texts; returns the number of one that occurs twice, or -1."""
    for i in range(n):
        hashed = hash_text(pool, first[i], first[i + 1])
        place = place_of(pool, first[i], first[i + 1], hashed, first_place(hashed, slots), slots, pool, first)
        if slots[place] != 0:
            return i
        occupy(hashed, slots, place, i)
    return -1
