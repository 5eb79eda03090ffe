"""Spans: the typed stretches of tokens that a sequence of labels such as ``B-NP I-NP O`` stands for, and back.

Every reading is one rule on two neighbouring labels: does a span close between them, was the closed span
well formed, and does a span open at the second one. ``spans`` walks over the labels with such a rule.

Labels are split at their first hyphen: ``B-NP`` has the prefix ``B`` and the type ``NP``, ``I-a-b`` has the
type ``a-b``, and a label without a hyphen is a prefix with the empty type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from .errors import ConfigError

# Rules and splits are pure functions of label names, of which there are few: each pair is worked out once.
_CACHE = 1 << 16

Rule = Callable[[str, str], tuple[bool, bool, bool]]
"""(previous label, label) -> (a span closes between them, it was well formed, a span opens at the label)."""


class Span(NamedTuple):
    """One typed stretch of tokens; ``end`` is exclusive, so ``labels[start:end]`` are its labels."""

    type: str
    start: int
    end: int


@lru_cache(maxsize=_CACHE)
def split_label(label: str) -> tuple[str, str]:
    """Prefix and type of a label, split at the first hyphen."""
    prefix, _, kind = label.partition("-")
    return prefix, kind


_OUTSIDE = frozenset({"O", "."})
_BRACKETS = frozenset({"[", "]"})
_PL_CLOSING = frozenset({("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("E", "E"), ("E", "I"), ("E", "O")})
_PL_OPENING = frozenset({("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("E", "E"), ("E", "I"), ("O", "E")})
_BILOU_AS_BIOES = {"L": "E", "U": "S"}
_SPAN_PREFIXES = frozenset("BIESLU[]")
_UNTYPED_SPAN_LABELS = frozenset("BIESO")
_BARE_LABELS = _SPAN_PREFIXES | _OUTSIDE


@lru_cache(maxsize=_CACHE)
def _conlleval_pl(previous: str, label: str) -> tuple[bool, bool, bool]:
    (before, type_before), (now, type_now) = split_label(previous), split_label(label)
    changed = type_before != type_now
    closes = (before, now) in _PL_CLOSING or before in _BRACKETS or (changed and before not in _OUTSIDE)
    opens = (before, now) in _PL_OPENING or now in _BRACKETS or (changed and now not in _OUTSIDE)
    return closes, True, opens


@lru_cache(maxsize=_CACHE)
def _conlleval(previous: str, label: str) -> tuple[bool, bool, bool]:
    (before, type_before), (now, type_now) = split_label(previous), split_label(label)
    before, now = _BILOU_AS_BIOES.get(before, before), _BILOU_AS_BIOES.get(now, now)
    changed = type_before != type_now
    closes = (
        now in _OUTSIDE
        or before in ("E", "S")
        or (before in ("B", "I") and now in ("B", "S"))
        or before in _BRACKETS
        or (changed and before not in _OUTSIDE)
    )
    opens = (
        now in ("B", "S")
        or (before in ("O", "E", "S") and now in ("I", "E"))
        or now in _BRACKETS
        or (changed and now not in _OUTSIDE)
    )
    return closes, True, opens


@lru_cache(maxsize=_CACHE)
def _iob1(previous: str, label: str) -> tuple[bool, bool, bool]:
    (before, type_before), (now, type_now) = split_label(previous), split_label(label)
    touches = before in ("B", "I") and type_before == type_now
    # An I after a refused B continues what B wanted to begin: it does not open a span of its own.
    return not (touches and now == "I"), True, (now == "I" and not touches) or (now == "B" and touches)


@lru_cache(maxsize=_CACHE)
def _iob2(previous: str, label: str) -> tuple[bool, bool, bool]:
    (before, type_before), (now, type_now) = split_label(previous), split_label(label)
    continues = before in ("B", "I") and now == "I" and type_before == type_now
    return not continues, True, now == "B"


@lru_cache(maxsize=_CACHE)
def _closed(previous: str, label: str, last: str, single: str) -> tuple[bool, bool, bool]:
    (before, type_before), (now, type_now) = split_label(previous), split_label(label)
    continues = before in ("B", "I") and now in ("I", last) and type_before == type_now
    return not continues, before in (last, single), now in ("B", single)


@lru_cache(maxsize=_CACHE)
def _io(previous: str, label: str) -> tuple[bool, bool, bool]:
    (before, type_before), (now, type_now) = split_label(previous), split_label(label)
    continues = before == now == "I" and type_before == type_now
    return not continues, True, now == "I" and not continues


_RULES: dict[str, Rule] = {
    "conlleval": _conlleval,
    "conlleval.pl": _conlleval_pl,
    "iob1": _iob1,
    "iob2": _iob2,
    "bio": _iob2,
    "bioes": partial(_closed, last="E", single="S"),
    "iobes": partial(_closed, last="E", single="S"),
    "bilou": partial(_closed, last="L", single="U"),
    "io": _io,
}


def spans(labels: Sequence[str], scheme: str = "conlleval") -> list[Span]:
    """The spans of one sequence of labels, from left to right.

    ``"conlleval"`` is lenient: it makes spans of any labels, by the rules of the script of the CoNLL-2000
    shared task, completed for BIOES and BILOU, which the script does not know: E or L always closes a span, S
    or U is a span by itself, B always opens one. On IOB1, IOB2, IOE and bracket labels it is the script's
    reading. ``"conlleval.pl"`` is the script to the letter, also on BIOES, where it joins what it should not.
    (For labels of no scheme, such as a bare ``NN`` after ``B-X``, the script finds as many spans but may call
    fewer of them correct, because some of them never close.)

    The other readings are strict: only spans that the scheme could have written count. ``"bio"`` is
    ``"iob2"``, ``"iobes"`` is ``"bioes"``, ``"bilou"`` is BIOES with L for E and U for S, and in ``"io"``
    every run of I of one type is a span.

    What they make of labels that do not obey every scheme (X and Y are types, ends exclusive):

    =================== ============ ============ ============ ============ ============
    labels              conlleval    conlleval.pl iob1         iob2         bioes
    =================== ============ ============ ============ ============ ============
    ``O I-X I-X``       X1:3         X1:3         X1:3         none         none
    ``B-X I-X O``       X0:2         X0:2         none         X0:2         none
    ``B-X I-Y``         X0:1 Y1:2    X0:1 Y1:2    Y1:2         X0:1         none
    ``I-X B-X``         X0:1 X1:2    X0:1 X1:2    X0:1 X1:2    X1:2         none
    ``I-X B-Y I-Y``     X0:1 Y1:3    X0:1 Y1:3    X0:1         Y1:3         none
    ``B-X E-X B-X E-X`` X0:2 X2:4    X0:4         none         X0:1 X2:3    X0:2 X2:4
    ``S-X S-X``         X0:1 X1:2    X0:2         none         none         X0:1 X1:2
    ``B-X E-X E-X``     X0:2 X2:3    X0:2 X2:3    none         X0:1         X0:2
    ``B I O B``         0:2 3:4      0:2 3:4      none         0:2 3:4      none
    =================== ============ ============ ============ ============ ============
    """
    rule = rule_of(scheme)
    found: list[Span] = []
    start = -1
    previous = "O"
    for position, label in enumerate(labels):
        closes, whole, opens = rule(previous, label)
        if start >= 0 and (closes or opens):
            if whole:
                found.append(Span(split_label(labels[start])[1], start, position))
            start = -1
        if opens:
            start = position
        previous = label
    if start >= 0 and rule(previous, "O")[1]:
        found.append(Span(split_label(labels[start])[1], start, len(labels)))
    return found


# How the labels of one span are written, in the order first, inside, last, only.
WRITTEN = {
    "io": ("I", "I", "I", "I"),
    "iob1": ("I", "I", "I", "I"),
    "iob2": ("B", "I", "I", "B"),
    "bioes": ("B", "I", "E", "S"),
    "bilou": ("B", "I", "L", "U"),
}


_ALIASES = {"bio": "iob2", "iobes": "bioes"}


def scheme_name(scheme: str, accepted: Iterable[str] = tuple(WRITTEN)) -> str:
    """The name of a scheme among those accepted: ``bio`` is another name of ``iob2``, and ``iobes`` of ``bioes``."""
    name = _ALIASES.get(scheme, scheme)
    if name not in accepted:
        names = [*accepted, *(alias for alias, meant in _ALIASES.items() if meant in accepted)]
        raise ConfigError(f"Unknown scheme {scheme!r}: use one of {', '.join(names)}.")
    return name


def write_labels(found: Iterable[Span], n_tokens: int, scheme: str = "iob2") -> list[str]:
    """The labels of so many tokens that stand for some spans."""
    scheme = scheme_name(scheme)
    first, inside, last, only = WRITTEN[scheme]
    labels = ["O"] * n_tokens
    before = Span("", -1, -1)
    for span in found:
        n = span.end - span.start
        prefixes = [only] if n == 1 else [first, *[inside] * (n - 2), last]
        if scheme == "iob1" and before.end == span.start and before.type == span.type:
            prefixes[0] = "B"
        # The empty type belongs to labels without a hyphen.
        labels[span.start : span.end] = [f"{p}-{span.type}" if span.type else p for p in prefixes]
        before = span
    return labels


def violations(labels: Sequence[str], scheme: str) -> list[int]:
    """Positions whose label is not what the scheme writes for the spans that its strict reading finds."""
    name = scheme_name(scheme)
    written = write_labels(spans(labels, name), len(labels), name)
    return [i for i, (a, b) in enumerate(zip(labels, written, strict=True)) if a != b]


def rule_of(scheme: str) -> Rule:
    """The rule on neighbouring labels behind a reading, or a ConfigError that lists the readings."""
    try:
        return _RULES[scheme]
    except KeyError:
        raise ConfigError(f"Unknown reading of labels {scheme!r}: use one of {', '.join(_RULES)}.") from None


def has_spans(labels: Iterable[str]) -> bool:
    """Whether label names stand for spans.

    They do if one is a prefix of a tagging scheme, a hyphen and a type (``B-NP``; not ``NN-TL``, ``-LRB-``),
    or if they are the bare prefixes of one unnamed type (``B I O``, perhaps with ``E`` and ``S``).
    """
    names = set(labels)
    if {"B", "I"} <= names <= _UNTYPED_SPAN_LABELS:
        return True
    return any(prefix in _SPAN_PREFIXES and kind for prefix, kind in map(split_label, names))


def may_mark_spans(labels: Iterable[str]) -> bool:
    """Whether the labels of some data can be those of spans: not all that a scheme writes needs to occur in them.

    As ``has_spans``, and also where there are bare prefixes only (``B O``), nothing but O, or no label at all.
    """
    names = set(labels)
    return names <= _BARE_LABELS or has_spans(names)
