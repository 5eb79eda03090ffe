"""CQDB, the tables of strings in CRFsuite's models: strings by number, and numbers by string.

    header     "CQDB", size, flag 0, byte order 0x62445371, length and offset of the array below   (24 bytes)
    tables     256 pairs: offset of a hash table (0: none), number of its slots
    records    number, length of the string with its NUL, the string with its NUL
    hash       slots: hash, offset of the record (0: empty); twice as many as strings, linear probing
    backward   offset of the record of each number

Offsets count from the header on. Numbers are 32-bit little-endian. The hash of a string (with its NUL) is lookup3 of
Bob Jenkins (2006); its rest by 256 is the table, and what remains of it the first slot to try.
"""

from __future__ import annotations

import struct

import numpy as np

from chainfield.arrays import Array, Int, offsets_of
from chainfield.compat.bytes_reader import Bytes

HEADER = struct.Struct("<4s5I")
BYTE_ORDER = 0x62445371
N_TABLES = 256
RECORDS = HEADER.size + 8 * N_TABLES  # where the first record begins


def read_strings(data: Bytes, at: int, n: int, what: str) -> list[bytes]:
    """The strings of a table by number; there must be ``n``, all different."""
    magic, size, _, order, length, backward = HEADER.unpack(data.piece(at, HEADER.size, f"the table of {what}"))
    data.demand(magic == b"CQDB", f"its table of {what} does not begin with CQDB")
    data.demand(order == BYTE_ORDER, f"its table of {what} has another byte order")
    data.demand(length == n, f"its table of {what} has {length:,} entries, not {n:,}")
    data.demand(RECORDS <= size <= len(data) - at, f"its table of {what} does not end where it should")
    table = Bytes(data.content[at : at + size], data.name)
    if n == 0:
        return []
    places = table.array(backward, n, "<u4", f"the list of {what}").astype(np.int64)
    table.demand(places.min() >= RECORDS, f"its {what} lie outside of their table")
    numbers = table.words_at(places, f"a record of {what}")
    lengths = table.words_at(places + 4, f"a record of {what}")
    table.demand((numbers == np.arange(n)).all(), f"the numbers of its {what} contradict each other")
    table.demand(lengths.min() >= 1 and (places + 8 + lengths).max() <= size, f"its {what} lie outside of their table")
    # Records that overlap would let a short file hold any number of long strings.
    table.demand(int((lengths + 8).sum()) <= size, f"its {what} overlap")
    found = [table.content[a : a + k] for a, k in zip((places + 8).tolist(), lengths.tolist(), strict=True)]
    clean = all(text.find(b"\0") == len(text) - 1 for text in found)
    table.demand(clean, f"one of its {what} does not end with a NUL, or contains one")
    table.demand(len(set(found)) == n, f"two of its {what} are the same")
    return [text[:-1] for text in found]


def write_strings(strings: list[bytes]) -> bytes:
    """The table of some strings, all different and without NUL."""
    keys = [text + b"\0" for text in strings]
    lengths = np.array([len(key) for key in keys], np.int64)
    place = RECORDS + offsets_of(lengths + 8)  # (n + 1,) of each record, and the end
    records = b"".join(struct.pack("<2I", i, len(key)) + key for i, key in enumerate(keys))
    hashes = lookup3(keys)
    tables, slots, at = [], [], int(place[-1])
    by_table = np.argsort(hashes % N_TABLES, kind="stable")
    counts = np.bincount(hashes % N_TABLES, minlength=N_TABLES)
    for members in np.split(by_table, np.cumsum(counts)[:-1]):
        tables.append((at if len(members) else 0, 2 * len(members)))
        table = _hash_table(hashes[members].tolist(), place[members].tolist())
        slots.append(table)
        at += len(table)
    backward = at
    size = backward + 4 * len(keys)
    header = HEADER.pack(b"CQDB", size, 0, BYTE_ORDER, len(keys), backward)
    refs = np.array(tables, "<u4").tobytes()
    return b"".join([header, refs, records, *slots, place[:-1].astype("<u4").tobytes()])


def _hash_table(hashes: list[int], places: list[int]) -> bytes:
    n = 2 * len(hashes)
    table = [0] * (2 * n)
    for value, place in zip(hashes, places, strict=True):
        slot = (value >> 8) % n
        while table[2 * slot + 1]:
            slot = (slot + 1) % n
        table[2 * slot], table[2 * slot + 1] = value, place
    return np.array(table, "<u4").tobytes()


def lookup3(keys: list[bytes]) -> Int:
    """(n,) hashlittle(key, seed 0) of many keys, none of them empty: those of one length in blocks side by side."""
    lengths = np.array([len(key) for key in keys], np.int64)
    blocks = -(-lengths // 12)
    found = np.zeros(len(keys), np.int64)
    for n_blocks in np.unique(blocks).tolist():
        chosen = np.flatnonzero(blocks == n_blocks)
        padded = b"".join(keys[i].ljust(12 * n_blocks, b"\0") for i in chosen.tolist())
        words = np.frombuffer(padded, "<u4").reshape(len(chosen), n_blocks, 3)
        start = (0xDEADBEEF + lengths[chosen]).astype(np.uint32)
        a, b, c = start.copy(), start.copy(), start.copy()
        for block in range(n_blocks):
            a, b, c = a + words[:, block, 0], b + words[:, block, 1], c + words[:, block, 2]
            a, b, c = _mix(a, b, c) if block < n_blocks - 1 else _final(a, b, c)
        found[chosen] = c
    return found


def _rotate(x: Array, k: int) -> Array:
    return (x << np.uint32(k)) | (x >> np.uint32(32 - k))


def _mix(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    for i, j, k in ((4, 6, 8), (16, 19, 4)):
        a = (a - c) ^ _rotate(c, i)
        c = c + b
        b = (b - a) ^ _rotate(a, j)
        a = a + c
        c = (c - b) ^ _rotate(b, k)
        b = b + a
    return a, b, c


def _final(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    c = (c ^ b) - _rotate(b, 14)
    a = (a ^ c) - _rotate(c, 11)
    b = (b ^ a) - _rotate(a, 25)
    c = (c ^ b) - _rotate(b, 16)
    a = (a ^ c) - _rotate(c, 4)
    b = (b ^ a) - _rotate(a, 14)
    c = (c ^ b) - _rotate(b, 24)
    return a, b, c
