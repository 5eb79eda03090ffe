"""Column files, whole or block by block, cut by compiled code where they are plain."""

from __future__ import annotations

import codecs
import re
from os import PathLike
from typing import TypeGuard

import numpy as np

from chainfield.arrays import Int

from .coded import CodedRows
from .opening import Readable, read_bytes
from .strings import Pieces, StringTable, padded_buffer

BOM = codecs.BOM_UTF8
_DOCSTART = b"-DOCSTART-"
_DOCSTART_LINE = re.compile(rb"^-DOCSTART-(?:[ \t][^\n]*)?$", re.MULTILINE)


def read_grid(
    path: Readable, encoding: str, separator: str | None, comments: bool, skip_docstart: bool
) -> tuple[CodedRows, str | None] | None:
    """All rows of a file (every column) and what separates cells; None if somebody has to look more closely.

    That is so for anything but UTF-8 in a file by name, for comments before the first row, carriage returns, a
    separator of several bytes, and for whatever is wrong with a file: ``read_columns`` knows the rules and the words
    for all of these.
    """
    if not is_utf8_file(path, encoding) or str(path) == "-":
        return None
    whole = read_bytes(path).removeprefix(BOM)
    # The first row tells how many columns there are; -DOCSTART- lines are none.
    begin = _DOCSTART_LINE.sub(b"", whole[: 1 << 16]) if skip_docstart else whole
    first = next((line for line in begin.split(b"\n", 1000)[:1000] if line.strip(b" \t")), b"")
    if not first or (comments and first.startswith(b"#")):
        return None
    between = separator if separator is not None else "\t" if b"\t" in first else None
    cells = first.split(between.encode()) if between is not None else first.replace(b"\t", b" ").split(b" ")
    n_columns = len(cells) if between is not None else sum(map(bool, cells))
    coded = cut_rows(whole, between, n_columns, comments, skip_docstart)
    return None if coded is None else (coded, between)


def is_utf8_file(path: Readable, encoding: str) -> TypeGuard[str | PathLike[str]]:
    """Whether this is the name of a file of UTF-8, so that its bytes can be cut as they are."""
    return isinstance(path, str | PathLike) and encoding.lower() in ("utf-8", "utf8")


def cut_rows(
    whole: bytes, between: str | None, n_columns: int, comments: bool, skip_docstart: bool
) -> CodedRows | None:
    """The rows of some lines; None if somebody has to look more closely."""
    if skip_docstart and _DOCSTART in whole:  # such a line does what a blank one does: it ends a sentence
        whole = _DOCSTART_LINE.sub(b"", whole)
    found = cut_text(whole, between, n_columns, comments, skip_docstart)
    return None if found is None else found[0]


def cut_text(
    whole: bytes, between: str | None, n_columns: int, comments: bool, skip_docstart: bool
) -> tuple[CodedRows, Int] | None:
    """The rows of lines among which no -DOCSTART- is to be skipped, and where the last cell of each row ends."""
    from chainfield.kernels.text.columns import cut_cells

    if (between is not None and len(between.encode()) != 1) or b"\r" in whole or not _is_text(whole):
        return None
    if skip_docstart and _DOCSTART in whole:
        return None
    if comments and n_columns == 1 and (whole.startswith(b"#") or b"\n#" in whole):
        return None
    n_lines = whole.count(b"\n") + 1
    starts, ends = np.empty(n_lines * n_columns, np.int64), np.empty(n_lines * n_columns, np.int64)
    offsets = np.empty(n_lines + 1, np.int64)
    buffer = padded_buffer(whole)
    code = ord(between) if between is not None else 0
    n_sentences, n_rows = cut_cells(buffer, len(whole), code, n_columns, comments, starts, ends, offsets)
    if n_sentences <= 0:
        return None
    codes, values = np.empty((n_columns, n_rows), np.int32), []
    for c, column in enumerate(codes):
        own = slice(c, n_rows * n_columns, n_columns)
        table = StringTable()
        column[:] = table.add(Pieces(buffer, starts[own].copy(), ends[own].copy()))
        values.append(table.strings())
    row_ends = ends[n_columns - 1 : n_rows * n_columns : n_columns].copy()
    return CodedRows(offsets[: n_sentences + 1].copy(), codes, values), row_ends


def _is_text(whole: bytes) -> bool:
    try:
        whole.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
