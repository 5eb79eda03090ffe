"""Slot and Template: one line of a template file, taken apart.

Every slot is "the value at (position + offset, column), passed through a pure function of that value", and
every template is a fixed arrangement of slots and literal text. Nothing else may enter here, so that
a template can be compiled to a program over integers.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .transform import Transform

Dialect = Literal["crfpp", "wapiti", "chainfield"]
Kind = Literal["u", "b", "*"]

IDENTITY = Transform("identity")

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

# Wapiti counts four positions beyond each end by name, and calls all further ones "#".
_WAPITI_NAMED = 4


@dataclass(frozen=True)
class Slot:
    """The value of one cell, seen from the current position.

    With `absolute`, the offset counts from the sequence's start (1 is the first position) or, if negative,
    from its end (-1 is the last). With `lower`, ASCII letters are lower-cased after the transform (Wapiti).
    """

    offset: int
    column: int
    transform: Transform = IDENTITY
    absolute: bool = False
    lower: bool = False

    def position(self, at: int, length: int) -> int:
        """Return the position that is read when standing at `at`; it may lie outside the sequence."""
        if not self.absolute:
            return at + self.offset
        return self.offset + length if self.offset < 0 else self.offset - 1

    def value_of(self, cell: str) -> str | None:
        """Return what the slot makes of a cell's text; None if the feature is absent."""
        return self.values_of([cell])[0]

    def values_of(self, cells: Sequence[str]) -> list[str | None]:
        """The same for many cells."""
        values = self.transform.apply(cells)
        return [None if v is None else v.translate(_ASCII_LOWER) for v in values] if self.lower else values


@dataclass(frozen=True)
class Template:
    """One line: its kind (u: on labels, b: on label pairs, ``*``: on both), its pieces, and where it was read."""

    kind: Kind
    pieces: tuple[str | Slot, ...]
    text: str
    line: int

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots, from left to right."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Slot))

    @property
    def name(self) -> str:
        """The literal text before the first slot, by which the template's features are told from others."""
        return self.pieces[0] if self.pieces and isinstance(self.pieces[0], str) else ""

    def expand(self, rows: Sequence[Sequence[str]], at: int, dialect: Dialect) -> str | None:
        """Return the feature string at position `at` of one sequence; None if the feature is absent there."""
        strings: list[str] = []
        for piece in self.pieces:
            value = piece if isinstance(piece, str) else _read(piece, rows, at, dialect)
            if value is None:
                return None
            strings.append(value)
        return "".join(strings)


def padding(position: int, length: int, dialect: Dialect) -> str:
    """Return what stands at a position outside a sequence of `length` positions: `_B-1`, `_B+1`, `_x-1` …"""
    sign, distance = ("-", -position) if position < 0 else ("+", position - length + 1)
    if dialect != "wapiti":
        return f"_B{sign}{distance}"
    return f"_x{sign}{distance if distance <= _WAPITI_NAMED else '#'}"


def _read(slot: Slot, rows: Sequence[Sequence[str]], at: int, dialect: Dialect) -> str | None:
    position = slot.position(at, len(rows))
    if 0 <= position < len(rows):
        return slot.value_of(rows[position][slot.column])
    pad = padding(position, len(rows), dialect)
    # Wapiti runs its commands on the padding as if it were a token; elsewhere padding is never transformed.
    return slot.value_of(pad) if dialect == "wapiti" else pad
