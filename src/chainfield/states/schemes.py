"""Tagging schemes: which labels may start a sequence, end it, and follow each other.

A scheme writes spans of typed tokens as labels. X is a type, and O is outside of every span:

======  ==========================  ====================================================================
scheme  labels                      a span of X is
======  ==========================  ====================================================================
io      I-X                         I-X ... I-X; neighbouring spans of one type cannot be told apart
iob1    I-X, B-X                    I-X ... I-X; its first label is B-X if it touches a span of X before it
iob2    B-X, I-X                    B-X I-X ... I-X
bioes   B-X, I-X, E-X, S-X          B-X I-X ... E-X, or S-X alone
bilou   B-X, I-X, L-X, U-X          B-X I-X ... L-X, or U-X alone
======  ==========================  ====================================================================

``bio`` is another name of ``iob2``, and ``iobes`` of ``bioes``. Shapes: L labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chainfield.errors import ConfigError, DataError
from chainfield.spans import WRITTEN, scheme_name, spans, split_label, violations, write_labels

from .rules import Rules

_RULED = {"iob1": "BI", "iob2": "BI", "bioes": "BIES", "bilou": "BILU"}


@dataclass(frozen=True, eq=False)
class SchemeRules(Rules):
    """The rules of a scheme, with its name and the labels that the arrays are over."""

    scheme: str
    labels: tuple[str, ...]


def scheme_rules(labels: Sequence[str], scheme: str) -> SchemeRules:
    """The rules of a scheme (iob1, iob2 or bio, bioes or iobes, bilou) for these labels, in their order.

    A sequence obeys the rules exactly if the strict reading of the scheme, ``spans(labels, scheme)``,
    explains every label of it.
    """
    name = scheme_name(scheme, _RULED)
    parts = [_member(label, name) for label in labels]
    prefixes = np.array([prefix for prefix, _ in parts], dtype="U1")
    kinds = [kind for _, kind in parts]
    number = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    kind_of = np.array([number[kind] for kind in kinds], dtype=np.int64)
    same = kind_of[:, None] == kind_of[None, :]  # shape: (L, L)
    if name in ("bioes", "bilou"):
        # Here every label says whether the span goes on behind it and whether it came from before it.
        continues = np.isin(prefixes, ["I", "E", "L"])
        unfinished = np.isin(prefixes, ["B", "I"])
        start, end = ~continues, ~unfinished
        edge = np.where(unfinished[:, None], continues & same, ~continues)
    else:
        # Only one prefix needs a left neighbour of its own type: I in IOB2, B in IOB1.
        bound = prefixes == ("I" if name == "iob2" else "B")
        start, end = ~bound, np.ones(len(parts), dtype=bool)
        edge = ~bound | same
    for rule in (start, end, edge):
        rule.setflags(write=False)
    return SchemeRules(scheme=name, labels=tuple(labels), start=start, end=end, edge=edge)


def detect_scheme(labels: Iterable[str], sequences: Iterable[Sequence[str]] | None = None) -> str | None:
    """The scheme that label names point to, or None if they point to none or to several at once.

    U or L means bilou, E or S bioes, B with or without I iob2, I without B iob1. The names alone cannot tell
    IOB1 from IOB2: with ``sequences`` of labels, an I that IOB2 forbids means iob1, unless the sequences
    break the rules of IOB1 as well, which gives None.
    """
    parts = [split_label(label) for label in labels if label != "O"]
    prefixes = {prefix for prefix, _ in parts}
    if not parts or not all(kind for _, kind in parts):
        return None
    if prefixes == {"I"}:
        return "iob1"
    if not prefixes <= {"B", "I"}:
        return next((name for name in ("bioes", "bilou") if prefixes <= set(_RULED[name])), None)
    given = [] if sequences is None else list(sequences)
    for name in ("iob2", "iob1"):
        if not any(violations(sequence, name) for sequence in given):
            return name
    return None


def nearest_scheme(labels: Iterable[str], sequences: Iterable[Sequence[str]]) -> str | None:
    """The scheme that label names point to; of IOB1 and IOB2 the one that fewer labels break."""
    found = detect_scheme(labels)
    if found != "iob2":
        return found
    given = list(sequences)
    return min(("iob2", "iob1"), key=lambda name: sum(len(violations(sequence, name)) for sequence in given))


def convert(labels: Sequence[str], source: str, target: str) -> list[str]:
    """Labels of one sequence rewritten from one scheme to another: io, iob1, iob2, bioes, bilou.

    Labels that break the rules of ``source`` raise a DataError; ``source="conlleval"`` reads any labels
    leniently instead, which repairs them. ``target="io"`` joins neighbouring spans of one type.
    """
    name = scheme_name(target, WRITTEN)
    if source in ("conlleval", "conlleval.pl"):
        return write_labels(spans(labels, source), len(labels), name)
    given = scheme_name(source, WRITTEN)
    wrong = violations(labels, given)
    if wrong:
        raise DataError(
            f"Label {labels[wrong[0]]!r} at position {wrong[0]} does not fit the scheme {given}: "
            "correct the labels, or convert with source='conlleval' to read them leniently."
        )
    return write_labels(spans(labels, given), len(labels), name)


def _member(label: str, scheme: str) -> tuple[str, str]:
    prefix, kind = split_label(label)
    if label != "O" and (not kind or prefix not in set(_RULED[scheme])):
        accepted = ", ".join(f"{accepted}-type" for accepted in _RULED[scheme])
        raise ConfigError(f"Label {label!r} does not belong to the scheme {scheme}: it accepts {accepted} and O.")
    return prefix, kind
