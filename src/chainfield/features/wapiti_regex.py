"""Wapiti's small regular expressions, translated to Python's `re` over bytes.

The dialect knows `.`, the classes `\\d \\a \\w \\l \\u \\p \\s` (upper case: the complement), `\\x` for x
itself, `^` at the very start, `$` at the very end, and `*` and `?` after one item; everything else stands for
itself. It sees bytes, not characters, and its classes are those of ASCII. Its star takes as little as it can,
its question mark as much as it can (`pattern.c` of Wapiti 1.5).

One difference is meant: where `?` has to give back what it took, Wapiti counts the match too long and runs
beyond it (`a?ab` on "abc" gives "abc"); here the match is what the expression says ("ab").
"""

from __future__ import annotations

import re
import string
from functools import lru_cache

from chainfield.errors import ConfigError

_LETTER = "A-Za-z"
_CLASS_OF = {
    "a": _LETTER,
    "d": "0-9",
    "l": "a-z",
    "p": re.escape(string.punctuation),
    "s": r" \t\n\r\f\v",
    "u": "A-Z",
    "w": _LETTER + "0-9",
}


@lru_cache(maxsize=512)
def compile_regex(expression: str) -> re.Pattern[bytes]:
    """Translate one expression of Wapiti's dialect; a faulty one gives a ConfigError."""
    source = expression.encode("utf-8", "surrogatepass")
    at, parts = 0, []
    if source.startswith(b"^"):
        at, parts = 1, [rb"\A"]
    while at < len(source):
        if source[at:] == b"$":
            parts.append(rb"\Z")
            break
        item, at = _read_item(source, at, expression)
        if source[at : at + 1] == b"*":
            item, at = item + b"*?", at + 1
        elif source[at : at + 1] == b"?":
            item, at = item + b"?", at + 1
        parts.append(item)
    return re.compile(b"".join(parts), re.DOTALL)


def is_matched(expression: str, value: str) -> bool:
    """Whether the expression matches anywhere in the value."""
    return compile_regex(expression).search(_bytes_of(value)) is not None


def first_match(expression: str, value: str) -> str:
    """Return the text of the first match, the empty string when there is none.

    A match may cut a character in two, since the dialect sees bytes; loose bytes are written `\\xc3`,
    so that a feature's name is always text that can be stored.
    """
    found = compile_regex(expression).search(_bytes_of(value))
    return found.group().decode("utf-8", "backslashreplace") if found else ""


def _read_item(source: bytes, at: int, expression: str) -> tuple[bytes, int]:
    """Translate the item at `at` (a byte, `.`, or an escape), and say where the next one starts."""
    byte = source[at : at + 1]
    if byte in (b"*", b"?"):
        raise ConfigError(
            f"Expression {expression!r}: {byte.decode()!r} has nothing before it to repeat; "
            f"write \\{byte.decode()} for the character itself."
        )
    if byte == b".":
        return b".", at + 1
    if byte != b"\\":
        return re.escape(byte), at + 1
    escaped = source[at + 1 : at + 2]
    if not escaped:
        raise ConfigError(f"Expression {expression!r} ends in a backslash; write \\\\ for a backslash itself.")
    name = escaped.decode("latin-1")
    members = _CLASS_OF.get(name.lower()) if name.isascii() else None
    if members is None:
        return re.escape(escaped), at + 2
    complement = "^" if name.isupper() else ""
    return f"[{complement}{members}]".encode("ascii"), at + 2


def _bytes_of(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")
