"""Wapiti's small regular expressions, as automata over bytes.

The dialect knows `.`, the classes `\\d \\a \\w \\l \\u \\p \\s` (upper case: the complement), `\\x` for x
itself, `^` at the very start, `$` at the very end, and `*` and `?` after one item; everything else stands for
itself. It sees bytes, not characters, and its classes are those of ASCII. Its star takes as little as it can,
its question mark as much as it can (`pattern.c` of Wapiti 1.5).

One difference is meant: where `?` has to give back what it took, Wapiti counts the match too long and runs
beyond it (`a?ab` on "abc" gives "abc"); here the match is what the expression says ("ab").

An expression never takes longer than the length of the text times its own: see
:mod:`chainfield.kernels.text.expressions`.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from chainfield.arrays import Bool, Int, Int32
from chainfield.data.string_table import pieces_of
from chainfield.errors import ConfigError
from chainfield.limits import EXPRESSION_ITEMS

_LETTERS = string.ascii_letters
_CLASS_OF = {
    "a": _LETTERS,
    "d": string.digits,
    "l": string.ascii_lowercase,
    "p": string.punctuation,
    "s": " \t\n\r\f\v",
    "u": string.ascii_uppercase,
    "w": _LETTERS + string.digits,
}
_KINDS = {b"*": 1, b"?": 2}  # as the kernel counts them: 0 once, 1 any number of times, 2 at most once


@dataclass(frozen=True, eq=False)
class Expression:
    """m items, each a set of bytes, and how often each may occur; whether a match begins, or ends, with the text."""

    accepts: Bool  # (m, 256)
    kind: Int32  # (m,)
    from_start: bool
    to_end: bool

    def search(self, values: Sequence[str]) -> tuple[Int, Int]:
        """(P,) where the first match of each value begins and ends, in bytes of UTF-8; -1 where there is none."""
        from chainfield.kernels.text.expressions import find_matches

        pieces = pieces_of(values)
        starts, ends = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
        items = self.accepts, self.kind, self.from_start, self.to_end
        find_matches(pieces.buffer, pieces.starts, pieces.ends, *items, starts, ends)
        return np.where(starts < 0, -1, starts - pieces.starts), np.where(starts < 0, -1, ends - pieces.starts)


@lru_cache(maxsize=512)
def compile_regex(expression: str) -> Expression:
    """Read one expression of Wapiti's dialect; a faulty one gives a ConfigError."""
    source = expression.encode("utf-8", "surrogatepass")
    from_start, to_end = source.startswith(b"^"), False
    at = int(from_start)
    accepts, kinds = [], []
    while at < len(source):
        if source[at:] == b"$":
            to_end = True
            break
        members, at = _read_item(source, at, expression)
        kind = _KINDS.get(source[at : at + 1], 0)
        at += kind > 0
        accepts.append(members)
        kinds.append(kind)
    if not EXPRESSION_ITEMS.allows(len(kinds)):
        raise ConfigError(f"An expression has {len(kinds):,} items; {EXPRESSION_ITEMS.remedy}")
    table = np.array(accepts, np.bool_).reshape(-1, 256)
    return Expression(table, np.array(kinds, np.int32), from_start, to_end)


def matched(expression: str, values: Sequence[str]) -> list[bool]:
    """Whether the expression matches anywhere in each value."""
    return (compile_regex(expression).search(values)[0] >= 0).tolist()


def first_matches(expression: str, values: Sequence[str]) -> list[str]:
    """The text of the first match in each value, the empty string when there is none.

    A match may cut a character in two, since the dialect sees bytes; loose bytes are written `\\xc3`,
    so that a feature's name is always text that can be stored.
    """
    starts, ends = compile_regex(expression).search(values)
    return [
        value.encode("utf-8", "surrogatepass")[a:b].decode("utf-8", "backslashreplace") if a >= 0 else ""
        for value, a, b in zip(values, starts.tolist(), ends.tolist(), strict=True)
    ]


def _read_item(source: bytes, at: int, expression: str) -> tuple[Bool, int]:
    """The bytes that the item at `at` stands for (a byte, `.`, or an escape), and where the next one starts."""
    byte = source[at : at + 1]
    if byte in (b"*", b"?"):
        raise ConfigError(
            f"Expression {expression!r}: {byte.decode()!r} has nothing before it to repeat; "
            f"write \\{byte.decode()} for the character itself."
        )
    if byte == b".":
        return np.ones(256, np.bool_), at + 1
    if byte != b"\\":
        return _bytes(byte), at + 1
    escaped = source[at + 1 : at + 2]
    if not escaped:
        raise ConfigError(f"Expression {expression!r} ends in a backslash; write \\\\ for a backslash itself.")
    name = escaped.decode("latin-1")
    members = _CLASS_OF.get(name.lower()) if name.isascii() else None
    if members is None:
        return _bytes(escaped), at + 2
    found = _bytes(members.encode("ascii"))
    return ~found if name.isupper() else found, at + 2


def _bytes(members: bytes) -> Bool:
    found = np.zeros(256, np.bool_)
    found[list(members)] = True
    return found
