"""Templates compiled to a program over integers.

Texts become numbers once. A *view* is a (column, transform) pair that some slot reads: a table from the number of a
column's value to the number of the transformed text, so that a transform runs once a distinct value. A feature
is then a template's *form* (its literal text, shared by templates that read alike) with the numbers of its slots'
texts: a short row of integers, looked up in a hash table by compiled code. Equal strings are equal features: texts
are numbered across all columns, and the rare texts that contain a template's own separators are flagged, so that
``a/b`` + ``c`` and ``a`` + ``b/c`` can be recognised as the same string.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Bool, Int32

from .template_line import Dialect, Slot, Template, padding


@dataclass(frozen=True)
class View:
    """What slots read: a column through a transform."""

    column: int
    slot: Slot  # the slot's transform, with offset 0

    def texts(self, values: Sequence[str]) -> list[str | None]:
        """The texts that some values give."""
        return self.slot.values_of(values)


@dataclass(frozen=True, eq=False)
class Program:
    """T templates over V views; slots of template i: first[i]:first[i+1]."""

    templates: tuple[Template, ...]
    dialect: Dialect
    views: tuple[View, ...]
    form: Int32  # (T,) templates with the same literals have the same form
    first: Int32  # (T+1,)
    slot_view: Int32
    slot_offset: Int32
    slot_absolute: Bool
    reach: int  # how far beyond the ends a slot may look

    @property
    def arity(self) -> int:
        """The largest number of slots of a template."""
        return int(np.diff(self.first).max(initial=0))

    def literals(self, template: int) -> tuple[str, ...]:
        """The texts around the slots: one more than there are slots."""
        return _literals(self.templates[template])

    def pad_texts(self) -> list[list[str | None]]:
        """For each view the texts beyond the ends: reach before (nearest first), then reach after."""
        texts: list[list[str | None]] = []
        for view in self.views:
            pads = [padding(-d, 0, self.dialect) for d in range(1, self.reach + 1)]
            pads += [padding(d - 1, 0, self.dialect) for d in range(1, self.reach + 1)]
            # Wapiti runs its commands on the padding as if it were a token.
            texts.append(view.texts(pads) if self.dialect == "wapiti" else [*pads])
        return texts

    def string(self, form_template: int, texts: list[str]) -> str:
        """The feature string of a template with given slot texts."""
        literals = self.literals(form_template)
        return literals[0] + "".join(t + after for t, after in zip(texts, literals[1:], strict=True))


def _literals(template: Template) -> tuple[str, ...]:
    texts = [""]
    for piece in template.pieces:
        if isinstance(piece, Slot):
            texts.append("")
        else:
            texts[-1] += piece
    return tuple(texts)


def compile_templates(templates: tuple[Template, ...], dialect: Dialect) -> Program:
    """The program of some templates."""
    views: dict[View, int] = {}
    forms: dict[tuple[str, ...], int] = {}
    form, first, slot_view, slot_offset, slot_absolute = [], [0], [], [], []
    reach = 1
    for template in templates:
        form.append(forms.setdefault(_literals(template), len(forms)))
        for slot in template.slots:
            view = View(slot.column, Slot(0, slot.column, slot.transform, False, slot.lower))
            slot_view.append(views.setdefault(view, len(views)))
            slot_offset.append(slot.offset)
            slot_absolute.append(slot.absolute)
            # An absolute slot may lie far outside a short sequence.
            reach = max(reach, abs(slot.offset) + 1)
        first.append(len(slot_view))
    return Program(
        templates,
        dialect,
        tuple(views),
        np.array(form, np.int32),
        np.array(first, np.int32),
        np.array(slot_view, np.int32),
        np.array(slot_offset, np.int32),
        np.array(slot_absolute, np.bool_),
        reach,
    )


def careful_templates(program: Program) -> Bool:
    """(T,) templates whose strings another template could write too, or whose slots touch each other."""
    literals = [program.literals(i) for i in range(len(program.form))]
    careful = np.zeros(len(literals), np.bool_)
    for i, own in enumerate(literals):
        careful[i] |= any(text == "" for text in own[1:-1])
        for j, other in enumerate(literals):
            # A template without slots writes one string, which a longer beginning cannot equal.
            if own != other and len(own) > 1 and other[0].startswith(own[0]):
                careful[i] = careful[j] = True
    return careful
