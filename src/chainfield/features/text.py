"""The built-in features for tagging text: column 0 is the word, the columns after it are tags such as POS."""

from __future__ import annotations

from collections.abc import Iterator

from chainfield.errors import ConfigError

from .template import TemplateSet, parse_template

_AFFIXES = (1, 2, 3, 4)
_WINDOW = (-2, -1, 0, 1, 2)
_FLAGS = ("has-digit", "has-hyphen", "has-upper", "is-upper", "is-title", "is-digits", "is-punctuation")


def text_template(n_columns: int) -> TemplateSet:
    """Return the features for rows of `n_columns` columns (without the label), in the chainfield dialect."""
    if n_columns < 1:
        raise ConfigError(f"Text features need one column or more (the word first), but there are {n_columns}.")
    lines = [*_word_lines()]
    for column in range(1, n_columns):
        lines += _column_lines(column)
    return parse_template("\n".join([*lines, "B", ""]), "text features", "chainfield")


def _word_lines() -> Iterator[str]:
    yield "U:bias"
    for name in ("identity", "lower", "shape", "short-shape", "digits"):
        yield _line([(0, 0, name)])
    for length in _AFFIXES:
        yield _line([(0, 0, f"prefix:{length}")])
        yield _line([(0, 0, f"suffix:{length}")])
    for flag in _FLAGS:
        yield _line([(0, 0, flag)])
    for offset in _WINDOW:
        if offset != 0:
            for name in ("identity", "lower", "short-shape", "suffix:3"):
                yield _line([(offset, 0, name)])
    yield _line([(-1, 0, "identity"), (0, 0, "identity")])
    yield _line([(0, 0, "identity"), (1, 0, "identity")])


def _column_lines(column: int) -> Iterator[str]:
    for size in (1, 2, 3):
        for first in range(_WINDOW[0], _WINDOW[-1] - size + 2):
            yield _line([(offset, column, "identity") for offset in range(first, first + size)])
    yield _line([(0, 0, "identity"), (0, column, "identity")])


def _line(cells: list[tuple[int, int, str]]) -> str:
    """Write one template, named after its cells: `U:word[-1]|word=%x[-1,0]|%x[0,0]`."""
    names = "|".join(_name(*cell) for cell in cells)
    slots = "|".join(
        f"%x[{offset},{column}]" if transform == "identity" else f"%x[{offset},{column},{transform}]"
        for offset, column, transform in cells
    )
    return f"U:{names}={slots}"


def _name(offset: int, column: int, transform: str) -> str:
    value = "word" if column == 0 else f"column{column}"
    name = value if transform == "identity" else transform.replace(":", "")
    return f"{name}[{offset:+d}]" if offset else name
