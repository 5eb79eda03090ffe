"""Column files, cut into cells by compiled code."""

from __future__ import annotations

from chainfield.kernels.declare import Bytes, Int, Int32, Out
from chainfield.kernels.jit import kernel

_NEWLINE = 10
_SPACE = 32
_TAB = 9
_HASH = 35


@kernel
def cut_cells(
    buffer: Bytes, n: int, separator: int, n_columns: int, comments: bool, starts: Out[Int], ends: Out[Int],
    offsets: Out[Int],
) -> tuple[int, int]:  # fmt: skip
    """Cells of the first n bytes; returns the numbers of sentences and of rows, or -1 if a row has too many or too few.

    separator: the byte between cells; 0 for runs of spaces and tabs. starts, ends (rows · columns,), offsets
    (sentences + 1,) have room for all lines. With ``comments``, a line that begins with "#" at the start of a sentence
    is one, unless it has as many cells as the rows.
    """
    at = 0
    n_rows = 0
    n_sentences = 0
    offsets[0] = 0
    while at < n:
        line = at
        found = 0
        first = n_rows * n_columns
        blank = True
        inside = False
        if separator != 0:
            starts[first] = at
        while at < n and buffer[at] != _NEWLINE:
            c = buffer[at]
            space = c in (_SPACE, _TAB)
            blank = blank and space
            if separator != 0:
                if c == separator:
                    if found + 1 >= n_columns:
                        found = n_columns
                    else:
                        ends[first + found] = at
                        found += 1
                        starts[first + found] = at + 1
            elif space:
                if inside and found <= n_columns:
                    ends[first + found - 1] = at
                inside = False
            elif not inside:
                if found < n_columns:
                    starts[first + found] = at
                found += 1
                inside = True
            at += 1
        at += 1
        if blank:
            if n_rows > offsets[n_sentences]:
                n_sentences += 1
                offsets[n_sentences] = n_rows
            continue
        if separator != 0 and found < n_columns:
            ends[first + found] = at - 1
            found += 1
        elif separator != 0:
            found += 1
        elif inside and found <= n_columns:
            ends[first + found - 1] = at - 1
        if found == n_columns:
            n_rows += 1
        elif not (comments and buffer[line] == _HASH and n_rows == offsets[n_sentences]):
            return -1, n_rows
    if n_rows > offsets[n_sentences]:
        n_sentences += 1
        offsets[n_sentences] = n_rows
    return n_sentences, n_rows


@kernel
def append_cells(
    buffer: Bytes, n: int, row_ends: Int, cells: Int32, names: Bytes, name_first: Int, separator: int, out: Out[Bytes]
) -> int:
    """Copy n bytes of lines, a separator and names[cells[i]] added to the line of row i; returns how many were written.

    row_ends (rows,): where the last cell of each row ends, ascending; what follows it on its line stays there.
    names: the bytes of all names, of which number c begins at name_first[c].
    """
    at = 0
    to = 0
    for i in range(len(row_ends)):
        end = row_ends[i]
        while end < n and buffer[end] != _NEWLINE:
            end += 1
        while at < end:
            out[to] = buffer[at]
            at += 1
            to += 1
        out[to] = separator
        to += 1
        for c in range(name_first[cells[i]], name_first[cells[i] + 1]):
            out[to] = names[c]
            to += 1
    while at < n:
        out[to] = buffer[at]
        at += 1
        to += 1
    return to
