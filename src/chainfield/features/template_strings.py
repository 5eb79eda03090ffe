"""Feature strings taken apart: which templates write a string, and with which texts in their slots.

Models of other programs hold strings. A string may be cut in several ways (``a/b/c`` by ``%x/%x``); all of them become
keys of the same feature, so that whatever writes the string finds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from chainfield.arrays import Int, Int32, distinct
from chainfield.errors import ConfigError

from .program import Program

MOST_WAYS = 1000  # to cut one string


def cut_strings(program: Program, strings: Sequence[str]) -> tuple[list[int], list[int], list[list[str]]]:
    """(string, form, texts of its slots) of every way to cut every string; none for strings that nothing writes."""
    literals = {form: program.literals(i) for i, form in reversed(list(enumerate(program.form.tolist())))}
    of_string: list[int] = []
    of_form: list[int] = []
    texts: list[list[str]] = []
    for number, string in enumerate(strings):
        before = len(texts)
        for form, around in literals.items():
            for way in ways(string, around):
                of_string.append(number)
                of_form.append(form)
                texts.append(way)
                if len(texts) - before > MOST_WAYS:
                    raise ConfigError(
                        f"The feature {string!r:.60} can be read in too many ways; simplify the template."
                    )
    return of_string, of_form, texts


def ways(string: str, literals: Sequence[str]) -> Iterator[list[str]]:
    """All ways to cut a string into texts between literals."""
    first, *rest = literals
    if not string.startswith(first):
        return
    if not rest:
        if string == first:
            yield []
        return
    yield from _cut(string, len(first), rest)


def _cut(string: str, at: int, literals: Sequence[str]) -> Iterator[list[str]]:
    literal, *rest = literals
    if not rest:  # the last text runs to the end
        if string.endswith(literal) and len(string) - len(literal) >= at:
            yield [string[at : len(string) - len(literal)]]
        return
    end = string.find(literal, at)
    while end >= 0:
        text = string[at:end]
        yield from ([text, *others] for others in _cut(string, end + len(literal), rest))
        end = string.find(literal, end + 1)


def slot_values(program: Program, of_form: Sequence[int], texts: Sequence[Sequence[str]]) -> dict[int, dict[str, None]]:
    """The texts that stand where a column is read as it is, by column: values that the model knows."""
    found: dict[int, dict[str, None]] = {}
    slots = {form: program.templates[i].slots for i, form in enumerate(program.form.tolist())}
    for form, own in zip(of_form, texts, strict=True):
        for slot, text in zip(slots[form], own, strict=True):
            if slot.transform.name == "identity" and not slot.lower:
                found.setdefault(slot.column, {})[text] = None
    return found


def compact(of_string: Sequence[int], n_strings: int) -> tuple[Int, Int32]:
    """The strings that can be written at all, and the number of each cut's string among them."""
    kept = distinct(np.array(of_string, np.int64))
    number = np.full(n_strings, -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    return kept, number[np.array(of_string, np.int64)]
