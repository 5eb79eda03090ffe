"""Templates of one slot: what they read off a value is the same wherever the value stands.

In a batch of text most values occur many times. Each is looked up once per template, and the results are then placed:
at a position, the key of a template is the reading of the value that its slot sees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from chainfield.arrays import Bool, Int, Int32

from .program import Program

LEAST = 1024  # positions for which it is worth the while


@dataclass(frozen=True, eq=False)
class Selection:
    """Some templates of a program, as the kernel reads them, and the columns that they write."""

    form: Int32
    first: Int32
    slot_view: Int32
    slot_offset: Int32
    slot_absolute: Bool
    careful: Bool
    target: Int32

    @classmethod
    def of(cls, program: Program, careful: Bool, which: Int) -> Selection:
        """Templates by number."""
        lengths = np.diff(program.first)[which]
        slots = np.concatenate([np.empty(0, np.int64), *(np.arange(*program.first[i : i + 2]) for i in which.tolist())])
        slots = slots.astype(np.int64)
        return cls(
            program.form[which],
            np.append(0, np.cumsum(lengths)).astype(np.int32),
            program.slot_view[slots],
            program.slot_offset[slots],
            program.slot_absolute[slots],
            careful[which],
            which.astype(np.int32),
        )


@dataclass(frozen=True, eq=False)
class SingleSlots:
    """The templates of one slot whose keys need no comparing as strings, and all others."""

    alone: Selection  # as if they stood at the position itself
    rest: Selection
    column: Int32  # (T,) what each of them reads
    offset: Int32
    target: Int32
    reach: int

    @classmethod
    def of(cls, program: Program, careful: Bool) -> SingleSlots:
        """Those of a program."""
        single = (np.diff(program.first) == 1) & ~careful
        at = program.first[:-1][single]
        single[np.flatnonzero(single)[program.slot_absolute[at]]] = False
        found = Selection.of(program, careful, np.flatnonzero(single))
        column = np.array([view.column for view in program.views], np.int32)[found.slot_view]
        here = replace(
            found, slot_offset=np.zeros_like(found.slot_offset), target=np.arange(len(column), dtype=np.int32)
        )
        rest = Selection.of(program, careful, np.flatnonzero(~single))
        return cls(here, rest, column, found.slot_offset, found.target, program.reach)

    def distinct(self, numbers: Int32, known: list[int], n_fresh: int) -> tuple[Int32, Int32]:
        """(C, 2 reach + values) the distinct values of each column, and (C, N) where each cell's value stands there.

        ``known``: how many values each column has in training; ``n_fresh`` are behind them, and behind those the texts
        beyond the ends, which come first here.
        """
        ends = 2 * self.reach
        rows, found = np.empty_like(numbers), []
        for own, column, n in zip(rows, numbers, known, strict=True):
            place = np.zeros(n + n_fresh, np.int32)
            place[column] = 1
            values = np.flatnonzero(place)
            place[values] = np.arange(ends, ends + len(values), dtype=np.int32)
            own[:] = place[column]
            found.append(np.append(n + n_fresh + np.arange(ends), values))
        whole = np.empty((len(numbers), max(map(len, found))), np.int32)
        for own, values in zip(whole, found, strict=True):
            own[: len(values)], own[len(values) :] = values, values[0]
        return whole, rows


@dataclass(frozen=True, eq=False)
class Readings:
    """What the templates of one slot read off the values of a batch."""

    slots: SingleSlots
    keys: Int32  # (2 reach + values, T)
    rows: Int32  # (C, N)

    def place(self, offsets: Int, lo: int, hi: int, out: Int32) -> None:
        """Write the keys of sequences lo:hi."""
        from chainfield.kernels.text.templates import place_readings

        s = self.slots
        place_readings(self.rows, offsets, lo, hi, self.keys, s.column, s.offset, s.reach, s.target, out)
