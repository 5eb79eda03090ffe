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
from collections.abc import Sequence

import numpy as np

from chainfield.arrays import Array, Int, distinct, offsets_of
from chainfield.arrays import Bytes as Octets
from chainfield.compat.bytes_reader import Bytes
from chainfield.data.string_table import Pieces, StringTable, padded_buffer

from .names import Names

HEADER = struct.Struct("<4s5I")
BYTE_ORDER = 0x62445371
N_TABLES = 256
RECORDS = HEADER.size + 8 * N_TABLES  # where the first record begins


def read_strings(data: Bytes, at: int, n: int, what: str) -> Names:
    """The strings of a table by number; there must be ``n``, all different."""
    magic, size, _, order, length, backward = HEADER.unpack(data.piece(at, HEADER.size, f"the table of {what}"))
    data.demand(magic == b"CQDB", f"its table of {what} does not begin with CQDB")
    data.demand(order == BYTE_ORDER, f"its table of {what} has another byte order")
    data.demand(length == n, f"its table of {what} has {length:,} entries, not {n:,}")
    data.demand(RECORDS <= size <= len(data) - at, f"its table of {what} does not end where it should")
    if n == 0:
        return Names.of([])
    table = Bytes(data.content[at : at + size], data.name)
    places = table.array(backward, n, "<u4", f"the list of {what}").astype(np.int64)
    table.demand(places.min() >= RECORDS, f"its {what} lie outside of their table")
    numbers = table.words_at(places, f"a record of {what}")
    lengths = table.words_at(places + 4, f"a record of {what}")
    table.demand((numbers == np.arange(n)).all(), f"the numbers of its {what} contradict each other")
    starts, ends = places + 8, places + 8 + lengths - 1  # without the NUL
    table.demand(lengths.min() >= 1 and int(ends.max()) < size, f"its {what} lie outside of their table")
    # Records that overlap would let a short file hold any number of long strings.
    table.demand(int((lengths + 8).sum()) <= size, f"its {what} overlap")
    buffer = padded_buffer(table.content)
    clean = f"one of its {what} does not end with a NUL, or contains one"
    table.demand(not buffer[ends].any(), clean)
    found = Names(StringTable.of(Pieces(buffer, starts, ends)))
    table.demand(not found.has_nul(), clean)
    table.demand(len(found) == n, f"two of its {what} are the same")
    return found


def write_strings(strings: Sequence[bytes]) -> bytes:
    """The table of some strings, all different and without NUL."""
    whole, sizes = Names.of(strings).laid_out()
    lengths = sizes + 1  # with the NUL
    place = RECORDS + offsets_of(lengths + 8)  # (n + 1,) of each record, and the end
    records = np.zeros(int(place[-1]) - RECORDS, np.uint8)
    heads = np.stack([np.arange(len(lengths)), lengths], 1).astype("<u4")
    at = place[:-1] - RECORDS
    records[at[:, None] + np.arange(8)] = heads.view(np.uint8)
    before = np.repeat(at + 8 - offsets_of(sizes)[:-1], sizes)
    records[before + np.arange(len(whole))] = whole
    hashes = lookup3(whole, sizes, 1)
    counts = np.bincount(hashes % N_TABLES, minlength=N_TABLES)
    first = offsets_of(2 * counts)  # (257,) slots before those of each table
    slots = _slots(hashes, first, place[:-1])
    refs = np.stack([np.where(counts > 0, place[-1] + 8 * first[:-1], 0), 2 * counts], 1)
    backward = int(place[-1]) + slots.nbytes
    size = backward + 4 * len(lengths)
    header = HEADER.pack(b"CQDB", size, 0, BYTE_ORDER, len(lengths), backward)
    numbers = place[:-1].astype("<u4")
    return b"".join([header, refs.astype("<u4").tobytes(), records.tobytes(), slots.tobytes(), numbers.tobytes()])


def _slots(hashes: Int, first: Int, places: Int) -> Array:
    """(slots, 2) hashes and places of all tables: each string takes the first free slot from its own on.

    Strings come in order, so a slot belongs to the first of all strings that ask for it. Here all ask at once: whoever
    is not the first asks for the next slot, and so does whoever had a slot until an earlier string asked.
    """
    n = len(hashes)
    table = hashes % N_TABLES
    width = first[table + 1] - first[table]
    slot = first[table] + (hashes >> 8) % np.maximum(width, 1)
    owner = np.full(int(first[-1]), n, np.int64)
    asking = np.arange(n)
    while len(asking):
        wanted = slot[asking]
        before = owner[wanted]
        np.minimum.at(owner, wanted, asking)
        displaced = distinct(before[(before < n) & (owner[wanted] < before)])
        asking = np.concatenate([asking[owner[wanted] != asking], displaced])
        begin = first[table[asking]]
        slot[asking] = begin + (slot[asking] - begin + 1) % width[asking]
    found = np.zeros((len(owner), 2), "<u4")
    taken = owner < n
    found[taken, 0], found[taken, 1] = hashes[owner[taken]], places[owner[taken]]
    return found


def lookup3(whole: Octets, sizes: Int, n_nul: int = 0) -> Int:
    """(n,) hashlittle(string, seed 0) of strings that lie end to end; ``n_nul``: how many NUL count as part of each.

    None is empty with these. Strings of as many blocks are hashed together.
    """
    lengths = sizes + n_nul
    begin = offsets_of(sizes)[:-1]
    blocks = -(-lengths // 12)
    found = np.zeros(len(sizes), np.int64)
    for n_blocks in distinct(blocks).tolist():
        chosen = np.flatnonzero(blocks == n_blocks)
        padded = np.zeros((len(chosen), 12 * n_blocks), np.uint8)
        within = np.arange(12 * n_blocks) < sizes[chosen, None]
        padded[within] = whole[(begin[chosen, None] + np.arange(12 * n_blocks))[within]]
        words = padded.view("<u4").reshape(len(chosen), n_blocks, 3)
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
