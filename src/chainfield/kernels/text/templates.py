"""Features of text by integers: a template's slots are looked up as a short key in a hash table."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Bool, Int, Int32, Int32_2D, Out, UInt64_2D
from chainfield.kernels.elements import prefetch
from chainfield.kernels.jit import inner, kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
WAITING = -4  # in place of a key's number: it is still to be looked up


@inner
def append(code: Any, text: int, bits: int) -> Any:
    """A key's code with one more text (-1: none). With bits > 0 the code holds all of the key; with 0 it is a hash."""
    if bits > 0:
        return (code << np.uint64(bits)) | np.uint64(text + 1)
    code = (code ^ np.uint64(text + 3)) * _MULTIPLIER
    return code ^ (code >> _SHIFT)


@inner
def first_place(code: Any, table: Any) -> int:
    """Where the search for a key begins."""
    mixed = code * _MULTIPLIER
    return np.int64((mixed ^ (mixed >> _SHIFT)) & np.uint64(len(table) - 1))


@inner
def find(table: Any, keys: Any, key: Any, code: Any, bits: int) -> int:
    """The place of a key in ``table``, or an empty one where it would go.

    table (a power of two, 2): code and number + 1 (0: empty), side by side, so that most keys are found with one access
    to memory. Where codes are hashes, the keys decide.
    """
    mask = np.uint64(len(table) - 1)
    place = first_place(code, table)
    while table[place, 1] != 0:
        if table[place, 0] == code:
            if bits > 0:
                return place
            f = np.int64(table[place, 1]) - 1
            same = True
            for i in range(len(key)):
                same = same and keys[f, i] == key[i]
            if same:
                return place
        place = np.int64(np.uint64(place + 1) & mask)
    return place


@kernel
def rebuild_table(keys: Int32_2D, n: int, bits: int, table: Out[UInt64_2D]) -> None:
    """Fill a hash table with the first n rows of ``keys`` (F, 1 + arity)."""
    for i in range(len(table)):
        table[i, 1] = 0
    for f in range(n):
        code = np.uint64(keys[f, 0])
        for i in range(1, keys.shape[1]):
            code = append(code, keys[f, i], bits)
        place = find(table, keys, keys[f], code, bits)
        table[place, 0] = code
        table[place, 1] = np.uint64(f + 1)


@kernel
def insert_keys(
    rows: Int32_2D, keys: Out[Int32_2D], n_keys: int, bits: int, table: Out[UInt64_2D], out: Out[Int32]
) -> int:
    """The number of each row among ``keys``; new ones are added, for which there must be room. Returns how many keys
    there are.
    """
    width = keys.shape[1]
    for i in range(len(rows)):
        code = np.uint64(rows[i, 0])
        for k in range(1, width):
            code = append(code, rows[i, k], bits)
        place = find(table, keys, rows[i], code, bits)
        if table[place, 1] == 0:
            for k in range(width):
                keys[n_keys, k] = rows[i, k]
            n_keys += 1
            table[place, 0] = code
            table[place, 1] = np.uint64(n_keys)
        out[i] = np.int64(table[place, 1]) - 1
    return n_keys


@kernel
def encode_templates(
    values: Int32_2D, offsets: Int, lo: int, hi: int, tables: Int32, table_first: Int, extra: Int32_2D, pads: Int32_2D,
    column: Int32, form: Int32, first: Int32, slot_view: Int32, slot_offset: Int32, slot_absolute: Bool, reach: int,
    flagged: Bool, careful: Bool, skip_first: bool, keys: Out[Int32_2D], n_keys: int, bits: int, table: Out[UInt64_2D],
    insert: bool, target: Int32, out: Out[Int32_2D],
) -> int:  # fmt: skip
    """Key numbers of sequences lo:hi into ``out`` (N, columns). Returns the number of keys.

    Template i writes to the column target[i].

    values (C, N): numbers of the columns' values; tables: a view's texts by value, from table_first[v] on, and
    ``extra`` (V, new values) for those behind; pads (V, 2 reach); column (V,); form, first, slot_*: the program; keys
    (capacity, 1 + arity): known features; ``insert`` adds new ones, for which there must be room. A text is a number
    >= 0, -1 absent, -2 unknown, -3 unknown and with a separator inside; ``flagged`` texts are known and have one
    inside. In ``out``, -1 stands for absent or unknown, -3 for unknown but to be compared as a string. With
    ``skip_first`` the first position of a sequence has no features (label pairs start at the second).
    """
    width = keys.shape[1]
    n_templates = len(form)
    # All keys of a position first, then all look-ups: waiting for memory one by one would cost most of the time.
    waiting = np.empty((n_templates, width), np.int32)
    codes = np.empty(n_templates, np.uint64)
    unsure = np.empty(n_templates, np.bool_)
    for s in range(lo, hi):
        a = offsets[s]
        n = offsets[s + 1] - a
        for t in range(n):
            for i in range(n_templates):
                to = target[i]
                out[a + t, to] = -1
                if skip_first and t == 0:
                    continue
                key = waiting[i]
                key[0] = form[i]
                code = np.uint64(key[0])
                several = first[i + 1] - first[i] > 1
                flag = careful[i]
                absent = False
                unknown = False
                m = 1
                for j in range(first[i], first[i + 1]):
                    v = slot_view[j]
                    p = t + slot_offset[j]
                    if slot_absolute[j]:
                        p = slot_offset[j] + n if slot_offset[j] < 0 else slot_offset[j] - 1
                    if p < 0:
                        text = pads[v, min(-p, reach) - 1]
                    elif p >= n:
                        text = pads[v, reach + min(p - n + 1, reach) - 1]
                    else:
                        value = values[column[v], a + p]
                        known = table_first[v + 1] - table_first[v]
                        if value < known:
                            text = tables[table_first[v] + value]
                        else:
                            text = extra[v, value - known]
                    if text == -1:
                        absent = True
                        break
                    if text < 0:
                        unknown = True
                        flag = flag or (several and text == -3)
                        continue
                    flag = flag or (several and flagged[text])
                    key[m] = text
                    code = append(code, text, bits)
                    m += 1
                if absent:
                    continue
                if unknown:
                    if flag:
                        out[a + t, to] = -3
                    continue
                while m < width:
                    key[m] = -1
                    code = append(code, -1, bits)
                    m += 1
                codes[i] = code
                unsure[i] = flag
                out[a + t, to] = WAITING
                prefetch(table, 2 * first_place(code, table))
            for i in range(n_templates):
                to = target[i]
                if out[a + t, to] != WAITING:
                    continue
                place = find(table, keys, waiting[i], codes[i], bits)
                if table[place, 1] == 0:
                    if not insert:
                        out[a + t, to] = -3 if unsure[i] else -1
                        continue
                    for k in range(width):
                        keys[n_keys, k] = waiting[i, k]
                    n_keys += 1
                    table[place, 0] = codes[i]
                    table[place, 1] = np.uint64(n_keys)
                out[a + t, to] = np.int64(table[place, 1]) - 1
    return n_keys


@kernel
def place_readings(
    rows: Int32_2D, offsets: Int, lo: int, hi: int, readings: Int32_2D, column: Int32, offset: Int32, reach: int,
    target: Int32, out: Out[Int32_2D],
) -> None:  # fmt: skip
    """What templates of one slot read, into ``out`` (N, columns) of sequences lo:hi.

    readings (2 reach + values, T): the key of each template for a value; those beyond the ends come first: 1, 2, …
    positions before the start, then after the end. rows (C, N): the row of each cell's value. column, offset, target
    (T,): the cell that a template reads, and the column that it writes.
    """
    for s in range(lo, hi):
        a = offsets[s]
        n = offsets[s + 1] - a
        for t in range(n):
            for i in range(len(column)):
                p = t + offset[i]
                if p < 0:
                    row = min(-p, reach) - 1
                elif p >= n:
                    row = reach + min(p - n + 1, reach) - 1
                else:
                    row = np.int64(rows[column[i], a + p])
                out[a + t, target[i]] = readings[row, i]
