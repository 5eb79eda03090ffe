"""Kinds of characters, by their Unicode properties.

``unicode.txt`` holds them: one line per run of code points of one kind, its first code point and the kind. It is data,
so that every version of Python cuts texts alike. ``python -m chainfield.text.properties`` writes it anew, from the
Unicode database of the Python that runs it.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

import numpy as np

from chainfield.arrays import Array, Bytes
from chainfield.kernels.text.tokens import (
    CLOSING,
    DIGIT,
    EXTEND,
    LOWER,
    PUNCTUATION,
    SINGLE,
    SPACE,
    SYMBOL,
    TERMINAL,
    WORD,
)

FILE = Path(__file__).with_name("unicode.txt")
CODES = 0x110000

_KINDS = {
    "L": WORD,
    "N": WORD,
    "Nd": DIGIT,
    "M": EXTEND,
    "P": PUNCTUATION,
    "S": SYMBOL,
    "Z": SPACE,
    "Cc": SPACE,
    "Cf": EXTEND,
    "Co": SYMBOL,
    "Cs": SYMBOL,
}
# Scripts that are written without spaces: every character is a token.
_SINGLE = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),  # 々 and its like
    (0x3040, 0x309F),  # Hiragana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
# Signs of direction, the zero-width space and the byte order mark separate, and belong to no token.
_SPACES = frozenset([0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF])
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_PICTURES = range(0x1F000, 0x1FB00)
_TERMINALS = frozenset(".!?…。！？｡．؟۔।॥։።၊။")
_CLOSING = frozenset("\"'’”»")


def describe_character(code: int) -> int:
    """The entry of a code point: its kind, and whether it is in lower case, ends a sentence, or closes a quotation."""
    character = chr(code)
    category = unicodedata.category(character)
    if category == "Cn":  # not assigned yet: most likely a letter, or a picture
        kind = SYMBOL if code in _PICTURES else WORD
    else:
        kind = _KINDS[category] if category in _KINDS else _KINDS[category[0]]
    if code in _SPACES:
        kind = SPACE
    elif character == "_":
        kind = WORD
    elif code in _SKIN_TONES:
        kind = EXTEND
    elif kind == SYMBOL and code < 128:
        kind = PUNCTUATION
    elif kind == WORD and any(lo <= code <= hi for lo, hi in _SINGLE):
        kind = SINGLE
    lower = LOWER if category == "Ll" else 0
    terminal = TERMINAL if character in _TERMINALS else 0
    closing = CLOSING if character in _CLOSING or category in ("Pe", "Pf") else 0
    return kind | lower | terminal | closing


def unicode_version() -> str:
    """The version of Unicode that the table is of."""
    with FILE.open(encoding="ascii") as lines:
        return next(lines).removeprefix("# Unicode ").strip()


@lru_cache(maxsize=1)
def table() -> tuple[Array, Bytes]:
    """The table as kernels read it: character c has the entry blocks[256 · stage[c >> 8] + (c & 255)]."""
    lines = FILE.read_text(encoding="ascii").splitlines()[1:]
    firsts, entries = zip(*(line.split() for line in lines), strict=True)
    bounds = np.array([*(int(first, 16) for first in firsts), CODES])
    whole = np.repeat(np.array(list(map(int, entries)), np.uint8), np.diff(bounds))
    numbers: dict[bytes, int] = {}  # of the blocks that differ; sorting them would take a quarter of a second
    stage = [numbers.setdefault(block.tobytes(), len(numbers)) for block in whole.reshape(-1, 256)]
    return np.array(stage, np.uint16), np.frombuffer(b"".join(numbers), np.uint8)


def write_table() -> None:
    """Write the file anew."""
    entries = [describe_character(code) for code in range(CODES)]
    lines = [f"# Unicode {unicodedata.unidata_version}"]
    lines += [f"{code:X} {entries[code]}" for code in range(CODES) if code == 0 or entries[code] != entries[code - 1]]
    FILE.write_text("\n".join([*lines, ""]), encoding="ascii")


if __name__ == "__main__":
    write_table()
