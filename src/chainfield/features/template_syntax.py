"""How one line of a template is written, in each of the three dialects.

crfpp       `U01:%x[-1,0]/%x[0,0]`, `B`; a line that starts with "#" is a comment.
wapiti      `u`, `b` or `*` first; `%x`, `%t[0,0,"re"]` (true or false), `%m[0,0,"re"]` (the matched text);
            upper case lower-cases the value; `@n` counts from the sequence's ends; "#" starts a comment.
chainfield  CRF++'s, plus a transform: `U:suffix3=%x[0,0,suffix:3]`. A leading `U:` or `B:` tells the kind and
            is not part of the feature's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from chainfield.errors import ConfigError
from chainfield.limits import COLUMNS, TEMPLATE_OFFSET, TEMPLATE_SLOTS

from .template_line import IDENTITY, Dialect, Kind, Slot, Template
from .transform import Transform, parse_transform

# A transform's argument runs to the first "]" that no backslash escapes, so that expressions may hold "\]".
_CELL = re.compile(r"%x\[ *([+-]?[0-9]{1,9}) *, *([0-9]{1,9}) *(?:,((?:[^\]\\]|\\.)*))?\]")
# C's "%i" for the offset (0x1f, 017) and "%u" for the column; both skip spaces before the number.
_COMMAND = re.compile(
    r"%(?P<command>[xXtTmM])\[(?P<absolute>@?)\s*(?P<sign>[+-]?)"
    r"(?P<offset>0[xX][0-9a-fA-F]{1,7}|0[0-7]{0,9}|[1-9][0-9]{0,8}),\s*(?P<column>[0-9]{1,9})"
    r'(?:,"(?P<regex>(?:[^"\\]|\\.)*)")?\]',
    re.ASCII,
)
_CHAINFIELD_MARK = re.compile(r"%x\[[^\],\[]*,[^\],\[]*,")
_WAPITI_MARK = re.compile(r"^[ub*]|%[XtTmM]\[|%x\[@")
_SPACES = " \t\v\f\r"
_KIND_OF: dict[str, Kind] = {"U": "u", "B": "b", "u": "u", "b": "b", "*": "*"}


def detect_dialect(lines: Iterable[str]) -> Dialect:
    """Tell the dialect by what only one of them can write; what all of them share is read as CRF++'s."""
    wapiti = False
    for line in lines:
        if line.startswith("#"):
            continue
        if _CHAINFIELD_MARK.search(line):
            return "chainfield"
        wapiti = wapiti or _WAPITI_MARK.search(line) is not None
    return "wapiti" if wapiti else "crfpp"


def parse_line(line: str, number: int, dialect: Dialect) -> Template | None:
    """Read one line; None if it is blank or a comment. Faults do not name the place: the caller knows it."""
    body = line.partition("#")[0].rstrip(_SPACES) if dialect == "wapiti" else line
    if not body.strip(_SPACES) or body.startswith("#"):
        return None
    if body[0] not in ("UBub*" if dialect == "wapiti" else "UB"):
        expected = "u, b or *" if dialect == "wapiti" else "U or B"
        raise ConfigError(f"A template ({dialect} dialect) starts with {expected}, but here stands {body!r}.")
    kind = _KIND_OF[body[0]]
    if dialect == "wapiti":
        return Template(kind, _pieces(kind + body[1:], _COMMAND, _command_slot, dialect), body, number)
    drops_kind = dialect == "chainfield" and body[1:2] == ":"
    pieces = _pieces(body[2:] if drops_kind else body, _CELL, _cell_slot, dialect)
    if not pieces:
        raise ConfigError(f"{body!r} names no feature; write {body}name=%x[0,0], or {body[0]} alone.")
    return Template(kind, pieces, body, number)


def _pieces(
    body: str, pattern: re.Pattern[str], make_slot: Callable[[re.Match[str], Dialect], Slot], dialect: Dialect
) -> tuple[str | Slot, ...]:
    pieces: list[str | Slot] = []
    at = 0
    while at < len(body):
        percent = body.find("%", at)
        end = percent if percent >= 0 else len(body)
        if end > at:
            pieces.append(body[at:end])
        if percent < 0:
            break
        found = pattern.match(body, percent)
        if found is None:
            raise ConfigError(f"Cannot read {body[percent:]!r}; expected {_EXPECTED[dialect]}.")
        pieces.append(_within_limits(make_slot(found, dialect), sum(isinstance(piece, Slot) for piece in pieces)))
        at = found.end()
    return tuple(pieces)


def _within_limits(slot: Slot, n_before: int) -> Slot:
    """A slot that asks for neither too much memory nor too many columns."""
    if not TEMPLATE_OFFSET.allows(abs(slot.offset)):
        raise ConfigError(f"A template reads the cell {slot.offset} positions away; {TEMPLATE_OFFSET.remedy}")
    if not COLUMNS.allows(slot.column + 1):
        raise ConfigError(f"A template reads column {slot.column}; {COLUMNS.remedy}")
    if not TEMPLATE_SLOTS.allows(n_before + 1):
        raise ConfigError(f"A template combines too many cells; {TEMPLATE_SLOTS.remedy}")
    return slot


_EXPECTED: dict[Dialect, str] = {
    "crfpp": "%x[row,column], such as %x[-1,0]",
    "wapiti": '%x[offset,column], %t[offset,column,"regex"] or %m[offset,column,"regex"]',
    "chainfield": "%x[row,column] or %x[row,column,transform], such as %x[-1,0,lower]",
}


def _cell_slot(found: re.Match[str], dialect: Dialect) -> Slot:
    row, column, transform = found.groups()
    if transform is None:
        return Slot(int(row), int(column))
    if dialect == "crfpp":
        raise ConfigError(f"{found.group()!r} has a transform; CRF++ has none, the chainfield dialect does.")
    return Slot(int(row), int(column), parse_transform(transform))


def _command_slot(found: re.Match[str], dialect: Dialect) -> Slot:
    command, regex, digits = found["command"], found["regex"], found["offset"]
    if (regex is None) != (command in "xX"):
        raise ConfigError(f"Cannot read {found.group()!r}; expected {_EXPECTED[dialect]}.")
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10
    offset = int(digits, base) * (-1 if found["sign"] == "-" else 1)
    transform = IDENTITY if regex is None else Transform("test" if command in "tT" else "match", regex)
    return Slot(offset, int(found["column"]), transform, found["absolute"] == "@", command.isupper())
