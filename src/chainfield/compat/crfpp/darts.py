"""Darts, CRF++'s table of feature strings: a double-array trie (Aoe 1989).

A unit is (base, check). The child of a node by byte c is unit base + 1 + c, if its check is that base; where a string
ends, unit base itself has that check, and a base of -1 - value. So every unit tells its parent, and strings are read
from their ends.
"""

from __future__ import annotations

import numpy as np

from chainfield.arrays import distinct
from chainfield.compat.bytes_reader import Bytes

UNIT = np.dtype([("base", "<i4"), ("check", "<u4")])
LONGEST = 1 << 16
MOST_BYTES = 1 << 28  # of all strings together


def read_trie(data: Bytes, at: int, size: int) -> dict[bytes, int]:
    """All strings with their values."""
    data.demand(size % UNIT.itemsize == 0, "the size of its table of features is wrong")
    units = data.array(at, size // UNIT.itemsize, UNIT, "the table of features")
    base, check = units["base"].astype(np.int64), units["check"].astype(np.int64)
    inner = (base > 0) & ((check > 0) | (np.arange(len(units)) == 0))
    bases = base[inner]
    data.demand(len(distinct(bases)) == len(bases), "two nodes of its table of features have the same children")
    owner = dict(zip(bases.tolist(), np.flatnonzero(inner).tolist(), strict=True))
    ends = np.flatnonzero((base < 0) & (check == np.arange(len(units))))
    found: dict[bytes, int] = {}
    total, checks = 0, check.tolist()
    for end in ends.tolist():
        string = bytearray()
        node = owner.get(checks[end])
        while node != 0:
            data.demand(node is not None and len(string) < LONGEST, "its table of features leads nowhere")
            assert node is not None
            byte = node - checks[node] - 1
            data.demand(0 <= byte < 256, "its table of features has no such byte")
            string.append(byte)
            node = owner.get(checks[node])
        total += len(string)
        data.demand(total <= MOST_BYTES, "its table of features is not to be believed")
        string.reverse()
        found[bytes(string)] = -1 - int(base[end])
    return found
