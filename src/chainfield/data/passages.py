"""Column files as their bytes: what is written out again, with a cell more in every row, need not become strings.

A passage is a run of whole sentences that is plain: rows, comments and blank lines. It is cut by compiled code, and
written by it. Whatever is not plain comes as sentences, by the rules and with the words of ``read_columns``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Int, Int32

from .coded import CodedRows
from .columns import Sentence, SentenceReader
from .grid import BOM, cut_text
from .opening import undecodable
from .strings import padded_buffer

_BLANK = b"\n\n"


@dataclass(frozen=True)
class Passage:
    """The bytes of some sentences, their rows, and where the last cell of each row ends."""

    text: bytes
    rows: CodedRows
    row_ends: Int
    separator: str  # of a cell that is added
    source: str
    line: int  # number of its first row's line

    def with_cells(self, cells: Int32, names: Sequence[str]) -> bytes:
        """The text with one more cell in every row: names[cells[i]] in row i."""
        from chainfield.kernels.text.columns import append_cells

        encoded = [name.encode() for name in names]
        first = np.concatenate([[0], np.cumsum([len(name) for name in encoded])]).astype(np.int64)
        room = len(self.text) + len(cells) + int(np.diff(first)[cells].sum())
        out = np.empty(room, np.uint8)
        joined = np.frombuffer(b"".join(encoded) or b" ", np.uint8)
        buffer = padded_buffer(self.text)
        n = append_cells(buffer, len(self.text), self.row_ends, cells, joined, first, ord(self.separator), out)
        return out[:n].tobytes()


def read_passages(
    chunks: Iterable[bytes], source: str, separator: str | None, comments: bool, skip_docstart: bool
) -> Iterator[Passage | list[Sentence]]:
    """Passages, or sentences where the text is not plain, of bytes of UTF-8 as they arrive."""
    reader = SentenceReader(source, separator, comments, skip_docstart)
    rest, first = b"", True
    for chunk in chunks:
        rest += chunk
        if first and len(rest) >= len(BOM):
            rest, first = rest.removeprefix(BOM), False
        end = rest.rfind(_BLANK)
        if end < 0 and len(rest) < len(BOM):
            continue
        # Up to the first blank line behind the last sentence that is complete; without one, up to the last line.
        end = len(rest[: end + 1].rstrip(b"\n")) + len(_BLANK) if end >= 0 else rest.rfind(b"\n") + 1
        text, rest = rest[:end], rest[end:]
        if text:
            yield from _parts(text, reader, text.endswith(_BLANK))
    rest = rest.removeprefix(BOM) if first else rest
    if rest.strip(b"\n"):
        yield from _parts(rest.rstrip(b"\n") + _BLANK, reader, True)
    sentences = list(reader.finish())
    if sentences:
        yield sentences


def _parts(text: bytes, reader: SentenceReader, whole: bool) -> Iterator[Passage | list[Sentence]]:
    """A passage if that can be; until the first row has told what separates cells, only sentences."""
    while text:
        part = text
        if not reader.between_sentences:
            end = text.find(_BLANK)
            part = text if end < 0 else text[: end + len(_BLANK)]
        elif whole:
            passage = _plain(text, reader)
            if passage is not None:
                reader.n_lines += text.count(b"\n")
                yield passage
                return
        try:
            lines = part.decode("utf-8").removesuffix("\n").split("\n")
        except UnicodeDecodeError as error:
            raise undecodable(reader.grid.source, reader.n_lines, error) from None
        sentences = list(reader.read(lines))
        if sentences:
            yield sentences
        text = text[len(part) :]


def _plain(text: bytes, reader: SentenceReader) -> Passage | None:
    """The passage, if each of its lines is a row, a comment or empty."""
    grid = reader.grid
    if reader.leading or any(b"\n" + start in b"\n" + text for start in (b" ", b"\t")):
        return None
    if grid.separator is None and (b"\t" in text or (grid.n_columns == 1 and b" " in text)):
        return None
    found = cut_text(text, grid.separator, grid.n_columns, reader.comments, reader.skip_docstart)
    if found is None:
        return None
    between = grid.separator if grid.separator is not None else "\t" if grid.n_columns == 1 else " "
    line = reader.n_lines + 1 + len(text) - len(text.lstrip(b"\n"))
    return Passage(text, *found, between, grid.source, line)
