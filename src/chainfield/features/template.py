"""TemplateSet: a whole template file, and the feature strings it stands for.

`expand` is the definition of the features, written out as strings: whatever computes features faster has to
agree with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import get_args

from chainfield.data.opening import open_text
from chainfield.errors import ConfigError, DataError
from chainfield.limits import TEMPLATE_BYTES, TEMPLATE_LINE, TEMPLATES

from .template_line import Dialect, Slot, Template, padding
from .template_syntax import detect_dialect, parse_line

__all__ = ["Dialect", "Slot", "Template", "TemplateSet", "load_template", "padding", "parse_template"]


@dataclass(frozen=True)
class TemplateSet:
    """The templates of one file, in its order; `parse_template(text, dialect=dialect)` gives an equal set."""

    templates: tuple[Template, ...]
    dialect: Dialect
    text: str

    @cached_property
    def n_columns_needed(self) -> int:
        """How many columns a row must have at least."""
        return max((slot.column + 1 for template in self.templates for slot in template.slots), default=0)

    @cached_property
    def unigrams(self) -> tuple[Template, ...]:
        """The templates whose features look at one label."""
        return tuple(template for template in self.templates if template.kind != "b")

    @cached_property
    def has_plain_bigram(self) -> bool:
        """Whether label pairs are scored by themselves (a line without slots, such as `B`)."""
        return any(template.kind != "u" and not template.slots for template in self.templates)

    @cached_property
    def conditioned_bigrams(self) -> tuple[Template, ...]:
        """The templates whose features look at a label pair and at the input."""
        return tuple(template for template in self.templates if template.kind != "u" and template.slots)

    def check_columns(self, n_columns: int, source: str = "data") -> None:
        """Raise a DataError if rows of `n_columns` columns lack one that a template asks for."""
        for template in self.templates:
            for slot in template.slots:
                if slot.column >= n_columns:
                    columns = f"{n_columns} columns (0 to {n_columns - 1})" if n_columns > 1 else "only column 0"
                    raise DataError(
                        f"{source}: template line {template.line} asks for column {slot.column}, "
                        f"but rows have {columns}. Change {template.text!r}, or add the column."
                    )

    def expand(self, rows: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[list[str]]]:
        """Return the feature strings on labels and on label pairs at every position of one sequence.

        Label pairs start at the second position, so that the first has no strings of that kind; a plain
        bigram has none anywhere, since it does not depend on the input.
        """
        for position, row in enumerate(rows):
            if len(row) < self.n_columns_needed:
                self.check_columns(len(row), f"Position {position}")
        nodes = [self._strings(self.unigrams, rows, at) for at in range(len(rows))]
        edges = [self._strings(self.conditioned_bigrams, rows, at) if at else [] for at in range(len(rows))]
        return nodes, edges

    def _strings(self, templates: tuple[Template, ...], rows: Sequence[Sequence[str]], at: int) -> list[str]:
        expanded = (template.expand(rows, at, self.dialect) for template in templates)
        return [feature for feature in expanded if feature is not None]


def parse_template(text: str, source: str = "template", dialect: Dialect | None = None) -> TemplateSet:
    """Read a template's text; without a dialect, tell it by the text (see `template_syntax`)."""
    if dialect is not None and dialect not in get_args(Dialect):
        raise ConfigError(f"There is no template dialect {dialect!r}; use {', '.join(get_args(Dialect))}.")
    if not TEMPLATE_BYTES.allows(len(text)):
        raise ConfigError(f"{source} is too long; {TEMPLATE_BYTES.remedy}")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    longest = TEMPLATE_LINE.value()
    for number, line in enumerate(lines, start=1):
        if len(line) > longest:
            raise ConfigError(f"{source}, line {number} is too long; {TEMPLATE_LINE.remedy}")
    dialect = dialect or detect_dialect(lines)
    templates: list[Template] = []
    for number, line in enumerate(lines, start=1):
        try:
            template = parse_line(line, number, dialect)
        except ConfigError as fault:
            raise ConfigError(f"{source}, line {number}: {fault}") from None
        if template is not None:
            templates.append(template)
    if not TEMPLATES.allows(len(templates)):
        raise ConfigError(f"{source} holds {len(templates):,} templates; {TEMPLATES.remedy}")
    if not templates:
        raise ConfigError(f"{source} holds no template; write at least one line, such as U00:%x[0,0].")
    if dialect == "chainfield":
        _check_names(templates, source)
    return TemplateSet(tuple(templates), dialect, text)


def load_template(path: str | PathLike[str], dialect: Dialect | None = None, encoding: str = "utf-8") -> TemplateSet:
    """Read a template file."""
    kept, size, most = list[str](), 0, TEMPLATE_BYTES.value()
    with open_text(path, encoding) as lines:
        for line in lines:
            kept.append(line)
            size += len(line) + 1
            if size > most + 1:
                raise ConfigError(f"{path} is too long for a template; {TEMPLATE_BYTES.remedy}")
    return parse_template("\n".join(kept), str(path), dialect)


def _check_names(templates: list[Template], source: str) -> None:
    """Refuse two templates whose features could not be told apart in an explanation."""
    first_of: dict[tuple[str, str], Template] = {}
    for template in templates:
        first = first_of.setdefault((template.kind, template.name), template)
        if first is not template:
            raise ConfigError(
                f"{source}, line {template.line}: the name {template.name!r} is taken by line {first.line}; "
                f"give each template a name of its own before its first %x."
            )
