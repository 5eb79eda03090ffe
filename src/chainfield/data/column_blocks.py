"""Column files by the block: thousands of sentences at a time, cut by compiled code where the text is plain.

Whatever is not plain goes sentence by sentence, by the rules and with the words of
:class:`~chainfield.data.sentences.SentenceReader`; the rows are the same either way.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from chainfield.arrays import Int, Int32, offsets_of
from chainfield.errors import DataError
from chainfield.limits import LINE_BYTES, SENTENCE_LINES

from .coded_rows import CodedRows, encode_columns
from .opening import Readable, check_lines, is_utf8_file, line_runs_of, open_bytes, source_name, undecodable
from .sentences import DOCSTART, Sentence, SentenceReader
from .string_table import Pieces, StringTable, padded_buffer

BYTES = 1 << 23  # of a block
SENTENCES = 1 << 14  # the same where bytes are not to be had
_BLANK = b"\n\n"
_DOCSTART = DOCSTART.encode()
_DOCSTART_LINE = re.compile(rb"^-DOCSTART-(?:[ \t][^\n]*)?$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Block:
    """Whole sentences of a column file: their rows, and their text, either as bytes or sentence by sentence."""

    rows: CodedRows
    source: str
    separator: str | None  # between cells; None: runs of spaces
    sentences: Sequence[Sentence] = ()
    text: bytes = b""
    line: int = 1  # number of the text's first line
    row_ends: Int = field(default_factory=lambda: np.empty(0, np.int64))  # (rows,) where the last cell of each ends

    @classmethod
    def of(cls, sentences: Sequence[Sentence], separator: str | None) -> Block:
        """Sentences that were read one by one, from a file that has such a separator."""
        flat = [row for sentence in sentences for row in sentence.rows]
        columns = [list(map(itemgetter(c), flat)) for c in range(len(flat[0]))]
        rows = encode_columns(columns, offsets_of([len(sentence.rows) for sentence in sentences]))
        return cls(rows, sentences[0].source, separator, sentences)

    def line_of(self, row: int) -> int:
        """The number of the line that a row stands on."""
        if not self.sentences:
            return self.line + self.text.count(b"\n", 0, int(self.row_ends[row]))
        s, t = self.rows.ragged.place(row)
        return self.sentences[s].line + t  # the rows of a sentence stand on consecutive lines

    def read_by(self, features: Any, about: Mapping[str, Any]) -> CodedRows:
        """The columns that the features of a model read: a label column is taken out if there is one.

        ``about``: what the model's file says; its notes know where the label stood in training.
        """
        width, n = features.width, self.rows.n_columns
        if width is None:
            raise DataError(
                f"The model was trained on {features.kind} features, not on column files; use it from Python."
            )
        if n == width:
            return self.rows
        if n != width + 1:
            raise DataError(
                f"{self.source}, line {self.line_of(0)}: there are {n} columns; the model reads {width} "
                f"({width + 1} with the label), one token per line."
            )
        return self.rows.without(int((about.get("notes") or {}).get("label_column", -1)) % n)

    def with_cells(self, cells: Int32, names: Sequence[str]) -> bytes:
        """The text with one more cell in every row: names[cells[i]] in row i."""
        from chainfield.kernels.text.columns import append_cells

        encoded = [name.encode() for name in names]
        first = offsets_of([len(name) for name in encoded])
        out = np.empty(len(self.text) + len(cells) + int(np.diff(first)[cells].sum()), np.uint8)
        joined = np.frombuffer(b"".join(encoded) or b" ", np.uint8)
        between = self.separator if self.separator is not None else "\t" if self.rows.n_columns == 1 else " "
        buffer = padded_buffer(self.text)
        n = append_cells(buffer, len(self.text), self.row_ends, cells, joined, first, ord(between), out)
        return out[:n].tobytes()

    def labelled(self, cells: Int32, names: Sequence[str]) -> bytes:
        """The same, for blocks that were read sentence by sentence too; comments and line ends stay as they were."""
        if not self.sentences:
            return self.with_cells(cells, names)
        written, at = list[str](), 0
        for sentence in self.sentences:
            end, first = sentence.newline, sentence.lines[0]
            between = self.separator or ("\t" if "\t" in first or " " not in first else " ")
            written += [line + end for line in sentence.leading]
            for line in sentence.lines:
                written.append(f"{line}{between}{names[cells[at]]}{end}")
                at += 1
            written.append(end)
        return "".join(written).encode("utf-8")


def read_blocks(
    readable: Readable,
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
    comments: bool = True,
    docstart: Literal["skip", "keep"] = "skip",
    prompt: bool = False,
) -> Iterator[Block]:
    """The sentences that :func:`~chainfield.data.sentences.read_columns` finds, as many at a time as a block holds.

    With ``prompt``, as many as have arrived.
    """
    reader = SentenceReader(separator, comments, docstart, source_name(readable))
    if is_utf8_file(readable, encoding):
        with open_bytes(readable) as read:
            chunks = iter(read, b"")
            yield from blocks_of(chunks if prompt else _gathered(chunks), reader)
        return
    with line_runs_of(readable, encoding) as (_, runs):
        yield from _blocks(reader.sentences(runs), reader, 1 if prompt else SENTENCES)


def blocks_of(chunks: Iterable[bytes], reader: SentenceReader, *, verbatim: bool = False) -> Iterator[Block]:
    """The sentences that each chunk of UTF-8 completes.

    With ``verbatim``, a block has bytes only if they can be written out as they are, a cell more in every row, and say
    what its sentences would, written one by one.
    """
    for text, whole in _pieces(chunks, reader.source):
        rest = text
        while rest:
            part = rest
            if not reader.between_sentences:  # up to its end; the first one tells how many columns there are
                end = rest.find(_BLANK)
                part = rest if end < 0 else rest[: end + len(_BLANK)]
            elif whole:
                block = cut_block(rest, reader, verbatim)
                if block is not None:
                    yield block
                    break
            try:
                lines = part.decode("utf-8").removesuffix("\n").split("\n")
            except UnicodeDecodeError as error:
                raise undecodable(reader.source, reader.n_lines, error) from None
            yield from _blocks(reader.read(lines), reader)
            rest = rest[len(part) :]
    yield from _blocks(reader.finish(), reader)


def _gathered(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Chunks joined to some of :data:`BYTES` or more."""
    parts, size = list[bytes](), 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size >= BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)


def _pieces(chunks: Iterable[bytes], name: str) -> Iterator[tuple[bytes, bool]]:
    """Chunks cut behind an empty line (True), or behind some line where there is no empty one (False).

    The empty line is the first one behind the last sentence that is complete.
    """
    parts, first, size, n_lines, most = list[bytes](), True, 0, 0, LINE_BYTES.value()
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if b"\n" not in chunk and size <= most:  # a long line: read on
            continue
        text = b"".join(parts)
        check_lines(text, name, n_lines, most)
        text, first = (text.removeprefix(codecs.BOM_UTF8) if first else text), False
        blank = text.rfind(_BLANK)
        end = text.rfind(b"\n") + 1
        if blank >= 0:
            sentences = len(text[: blank + 1].rstrip(b"\n"))
            end = (sentences or blank) + len(_BLANK)  # nothing but empty lines: all of them
        yield text[:end], blank >= 0
        n_lines += text.count(b"\n", 0, end)
        parts, size = [text[end:]], len(text) - end
    last = b"".join(parts)
    check_lines(last, name, n_lines, most)
    last = (last.removeprefix(codecs.BOM_UTF8) if first else last).rstrip(b"\n")
    if last:
        yield last + _BLANK, True


def _blocks(sentences: Iterator[Sentence], reader: SentenceReader, size: int = SENTENCES) -> Iterator[Block]:
    """Sentences in blocks of this size; those before a mistake come before it."""
    some = list[Sentence]()
    try:
        for sentence in sentences:
            some.append(sentence)
            if len(some) == size:
                yield Block.of(some, reader.separator)
                some = []
    except DataError:
        if some:
            yield Block.of(some, reader.separator)
        raise
    if some:
        yield Block.of(some, reader.separator)


def cut_block(text: bytes, reader: SentenceReader, verbatim: bool) -> Block | None:
    """The block of some lines between sentences, cut by compiled code; None if somebody has to look more closely."""
    from chainfield.kernels.text.columns import cut_cells

    n_columns, separator = reader.n_columns, reader.separator
    code = b"\0" if separator is None else separator.encode()  # 0 stands for runs of spaces
    if len(code) != 1 or separator == "\0" or b"\r" in text or not _is_text(text):
        return None
    # Lines that were read and belong to the next sentence: it is in this block.
    whole = "".join(line + "\n" for line in reader.leading).encode() + text
    if reader.comments and n_columns == 1 and (whole.startswith(b"#") or b"\n#" in whole):
        return None
    if verbatim and not _is_tidy(whole, n_columns, separator):
        return None
    blanked = whole
    if reader.skip_docstart and _DOCSTART in whole:  # such a line does what a blank one does: it ends a sentence
        blanked = _DOCSTART_LINE.sub(lambda found: b" " * len(found[0]), whole)
        if _DOCSTART in blanked:
            return None
    n_lines = whole.count(b"\n") + 1
    starts, ends = np.empty(n_lines * n_columns, np.int64), np.empty(n_lines * n_columns, np.int64)
    offsets = np.empty(n_lines + 1, np.int64)
    buffer = padded_buffer(blanked)
    n_sentences, n_rows = cut_cells(buffer, len(whole), code[0], n_columns, reader.comments, starts, ends, offsets)
    if n_sentences <= 0 or not SENTENCE_LINES.allows(int(np.diff(offsets[: n_sentences + 1]).max())):
        return None
    codes, values = np.empty((n_columns, n_rows), np.int32), []
    for c, column in enumerate(codes):
        own = slice(c, n_rows * n_columns, n_columns)
        table = StringTable()
        column[:] = table.add(Pieces(buffer, starts[own].copy(), ends[own].copy()))
        values.append(table.strings())
    rows = CodedRows(offsets[: n_sentences + 1].copy(), codes, values)
    line = reader.n_lines - len(reader.leading) + 1
    reader.n_lines += text.count(b"\n")
    reader.leading = []
    row_ends = ends[n_columns - 1 : n_rows * n_columns : n_columns].copy()
    return Block(rows, reader.source, separator, (), whole, line, row_ends)


def _is_text(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _is_tidy(text: bytes, n_columns: int, separator: str | None) -> bool:
    """Whether sentences written one by one have these very bytes: blank lines are empty, there is one behind every
    sentence, and cells are separated as one that is added would be.
    """
    if any(b"\n" + start in b"\n" + text for start in (b" ", b"\t")) or re.search(rb"[^\n]\n" + _DOCSTART, text):
        return False
    return separator is not None or not (b"\t" in text or (n_columns == 1 and b" " in text))
