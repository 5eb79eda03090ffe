"""What is known of characters, for a page: browsers have other versions of Unicode than Python.

A table is a list of runs: the step to the first code point of a run, and its entry.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np

from chainfield.arrays import Array
from chainfield.text.properties import CODES, table

UPPER, LOWER, TITLE, DECIMAL, MARK_OR_SIGN, HAS_LOWER = 1, 2, 4, 8, 16, 32


def _runs(entries: Array) -> list[int]:
    firsts = np.append(0, np.flatnonzero(np.diff(entries.astype(np.int16))) + 1)
    steps = np.diff(firsts, prepend=0)
    return np.stack([steps, entries[firsts]], axis=1).ravel().tolist()


@lru_cache(maxsize=1)
def kind_runs() -> list[int]:
    """By what the built-in tokeniser cuts."""
    stage, blocks = table()
    return _runs(blocks.reshape(-1, 256)[stage].ravel())


@lru_cache(maxsize=1)
def letter_runs() -> list[int]:
    """What features ask of a character: as Python's strings answer."""
    entries = np.zeros(CODES, np.uint8)
    for code in range(CODES):
        c = chr(code)
        category = unicodedata.category(c)
        if category == "Cn":
            continue
        entries[code] = (
            UPPER * c.isupper()
            | LOWER * c.islower()
            | TITLE * (category == "Lt")
            | DECIMAL * c.isdecimal()
            | MARK_OR_SIGN * (category[0] in "PS")
            | HAS_LOWER * (c.lower() != c)
        )
    return _runs(entries)
