"""How much a file or an input may ask for: each limit is declared here, once, and can be raised.

Nothing that is read may take memory or time without bounds, whoever wrote it. Beyond a limit, reading stops with an
error that says how to raise it: by an environment variable (``CHAINFIELD_LINE_BYTES=1000000000``), or for a while, in
Python: ``with chainfield.limits.raised(line_bytes=10**9): …``. The table of ``docs/reliability.md`` is made from these
declarations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .errors import ConfigError

_raised: dict[str, int] = {}


@dataclass(frozen=True)
class Limit:
    """A whole number that is not to be exceeded; ``what`` it counts completes "at most N …"."""

    name: str
    default: int
    what: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"CHAINFIELD_{self.name.upper()}"

    def value(self) -> int:
        """The limit as it stands now."""
        if self.name in _raised:
            return _raised[self.name]
        text = os.environ.get(self.variable, "")
        if not text:
            return self.default
        if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text) > 0):
            raise ConfigError(f"{self.variable} is {text[:40]!r}; a whole number of at least 1 is expected.")
        return int(text)

    @property
    def remedy(self) -> str:
        """The end of a message: how to raise the limit."""
        return f"the limit is {self.value():,} {self.what}. If it is meant, set {self.variable} to more."

    def allows(self, n: int) -> bool:
        """Whether so many are not too many."""
        return n <= self.value()


def _declared(*limits: Limit) -> dict[str, Limit]:
    return {limit.name: limit for limit in limits}


LINE_BYTES = Limit("line_bytes", 1 << 22, "bytes in one line of a text file")
SENTENCE_LINES = Limit(
    "sentence_lines", 1_000_000, "lines in one sentence, with the comments and blank lines before it"
)
COLUMNS = Limit("columns", 10_000, "columns in a column file")
UNPACKED_RATIO = Limit("unpacked_ratio", 200, "unpacked bytes for each byte of a compressed file")
UNPACKED_BYTES = Limit("unpacked_bytes", 1 << 28, "bytes that a compressed file may unpack to, whatever its ratio")
UNPACKING_MEMORY = Limit("unpacking_memory", 1 << 28, "bytes of memory to unpack a compressed file")
TEMPLATE_BYTES = Limit("template_bytes", 1 << 20, "characters in a template file")
TEMPLATE_LINE = Limit("template_line", 10_000, "characters in one line of a template")
TEMPLATES = Limit("templates", 4_096, "templates in a file")  # every two are compared
TEMPLATE_SLOTS = Limit("template_slots", 50, "cells that one template combines")
TEMPLATE_OFFSET = Limit("template_offset", 1_000, "positions between a template and the cell that it reads")
EXPRESSION_ITEMS = Limit("expression_items", 100, "items in a regular expression of a template")
MATRIX_COLUMNS = Limit("matrix_columns", 100_000_000, "columns in a matrix of features")
DOCUMENT_BYTES = Limit("document_bytes", 1 << 26, "characters in one line or cell of a text or annotation file")
ANNOTATION_BYTES = Limit("annotation_bytes", 1 << 30, "bytes in an annotation file that is read as a whole")
N_BEST = Limit("n_best", 10_000, "label sequences that are listed for one input")

#: Every limit by its name.
LIMITS = _declared(
    LINE_BYTES,
    SENTENCE_LINES,
    COLUMNS,
    UNPACKED_RATIO,
    UNPACKED_BYTES,
    UNPACKING_MEMORY,
    TEMPLATE_BYTES,
    TEMPLATE_LINE,
    TEMPLATES,
    TEMPLATE_SLOTS,
    TEMPLATE_OFFSET,
    EXPRESSION_ITEMS,
    MATRIX_COLUMNS,
    DOCUMENT_BYTES,
    ANNOTATION_BYTES,
    N_BEST,
)


@contextmanager
def raised(**limits: int) -> Iterator[None]:
    """Other limits for a while, in all threads of the process: ``raised(line_bytes=10**9, columns=10**6)``."""
    for name, value in limits.items():
        if name not in LIMITS:
            raise ConfigError(f"There is no limit {name!r}; there are {', '.join(LIMITS)}.")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ConfigError(f"The limit {name} is {value!r}; a whole number of at least 1 is expected.")
    before = {name: _raised.get(name) for name in limits}
    _raised.update(limits)
    try:
        yield
    finally:
        for name, value_before in before.items():
            if value_before is None:
                _raised.pop(name, None)
            else:
                _raised[name] = value_before
