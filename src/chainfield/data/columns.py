"""Sentences from column files: one token a line, its cells side by side, a blank line between sentences.

This is the format of the CoNLL shared tasks, of CRF++ and of Wapiti. Reading holds one sentence at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from chainfield.errors import ConfigError, DataError

from .opening import Readable, line_runs_of

_DOCSTART = "-DOCSTART-"
# Tokens may hold no-break and other Unicode spaces: only these two separate cells or make a line blank.
_SPACES = " \t"


@dataclass(frozen=True)
class Sentence:
    """One sentence of a column file, with what is needed to write it out again and to point at it.

    `lines` is the raw text of each row, `line` the number of the first row's line (from 1). `leading` holds
    the raw lines before the sentence that are not rows: comments, -DOCSTART-, blank lines beyond one. `newline` is
    how the first row's line ends.
    """

    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...]
    line: int
    leading: tuple[str, ...]
    source: str
    newline: str = "\n"


def read_columns(
    path_or_file: Readable,
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
    comments: bool = True,
    docstart: Literal["skip", "keep"] = "skip",
) -> Iterator[Sentence]:
    """Read a column file sentence by sentence, from a path (`-`: standard input), an open file, or lines.

    Without a separator, the file's first row decides: tabs if it has one, else runs of spaces. With
    `comments`, a line that begins with "#" at the start of a sentence is a comment, unless it has as many
    columns as the rows ("#" may be a token). With docstart="skip", -DOCSTART- lines end a sentence and belong
    to none.
    Rows that differ in their number of columns are refused with a DataError.
    """
    if separator == "":
        raise ConfigError("The separator is empty; give a character, or None to let the first row decide.")
    if docstart not in ("skip", "keep"):
        raise ConfigError(f"docstart must be 'skip' or 'keep', but is {docstart!r}.")
    return _sentences(path_or_file, encoding, separator, comments, docstart == "skip")


def _sentences(
    path_or_file: Readable, encoding: str, separator: str | None, comments: bool, skip_docstart: bool
) -> Iterator[Sentence]:
    with line_runs_of(path_or_file, encoding) as (source, runs):
        reader = SentenceReader(source, separator, comments, skip_docstart)
        for run in runs:
            yield from reader.read(run)
        yield from reader.finish()


def _end(run: list[str], at: int) -> int:
    """Where the next empty line is; if there is none, ``at`` itself: the sentence may go on in the next run."""
    try:
        return run.index("", at)
    except ValueError:
        return at


class SentenceReader:
    """What is known in the middle of a file; it is fed with lines, and gives the sentences that they end."""

    def __init__(self, source: str, separator: str | None, comments: bool, skip_docstart: bool) -> None:
        self.grid = _Grid(source, separator)
        self.comments = comments
        self.skip_docstart = skip_docstart
        self.n_lines = 0  # so far
        self.leading: list[str] = []
        self.rows: list[_Row] = []
        # Lines with "#" in front, met before the file's first row has told how many columns rows have.
        self.undecided: list[tuple[int, str]] = []
        self.newline = "\n"

    def read(self, run: list[str]) -> Iterator[Sentence]:
        """Take some lines."""
        at = 0
        while at < len(run):
            end = _end(run, at) if self.between_sentences else at
            plain = self.grid.plain_rows(run[at:end]) if end > at else None
            number = self.n_lines + at + 1
            if plain is None:
                sentence = self._feed(number, run[at])
                at += 1
            else:
                leading, self.leading = self.leading, []
                sentence = Sentence(plain, tuple(run[at:end]), number, tuple(leading), self.grid.source)
                at = end + 1
            if sentence is not None:
                yield sentence
        self.n_lines += len(run)

    def finish(self) -> Iterator[Sentence]:
        """The last sentence, if there is one: the file ends here."""
        sentence = self._end_sentence()
        if sentence is not None:
            yield sentence

    @property
    def between_sentences(self) -> bool:
        """Whether a new sentence may begin, in a file whose columns are known."""
        return not self.rows and self.grid.n_columns > 0

    def _feed(self, number: int, raw: str) -> Sentence | None:
        """Take one line; returns the sentence that it ends, if it does."""
        grid, text, ended = self.grid, raw.removesuffix("\r"), None
        is_blank = not text.strip(_SPACES)
        if is_blank or (self.skip_docstart and grid.is_docstart(text)):
            self.leading += [comment for _, comment in self.undecided]
            self.undecided = []
            ended = self._end_sentence()
            if ended is None or not is_blank:
                self.leading.append(text)
        elif self.comments and not self.rows and text.startswith("#") and not grid.n_columns:
            self.undecided.append((number, text))
        elif self.comments and not self.rows and text.startswith("#") and not grid.fits(text):
            self.leading.append(text)
        else:
            if not self.rows:
                self.newline = "\n" if len(text) == len(raw) else "\r\n"
            row = grid.row(number, text)
            for earlier, candidate in self.undecided:
                if self.rows or grid.fits(candidate):
                    self.rows.append(grid.row(earlier, candidate))
                else:
                    self.leading.append(candidate)
            self.undecided = []
            self.rows.append(row)
        return ended

    def _end_sentence(self) -> Sentence | None:
        """The sentence so far, if there is one."""
        if not self.rows:
            return None
        sentence = _sentence(self.rows, self.leading, self.grid.source, self.newline)
        self.rows, self.leading = [], []
        return sentence


@dataclass(frozen=True)
class _Row:
    number: int
    text: str
    cells: tuple[str, ...]


class _Grid:
    """What a file's first row teaches: how cells are separated, and how many there are."""

    def __init__(self, source: str, separator: str | None) -> None:
        self.source = source
        self.separator = separator
        self.n_columns = 0
        self.learned_at = 0

    def row(self, number: int, text: str) -> _Row:
        if not self.n_columns:
            if self.separator is None and "\t" in text:
                self.separator = "\t"
            self.n_columns, self.learned_at = len(self.split(text)), number
        cells = self.split(text)
        if len(cells) != self.n_columns:
            raise DataError(
                f"{self.source}, line {number}: {_columns(len(cells))}, but {self.n_columns} expected, as in "
                f"line {self.learned_at}; all rows need the same number. Cells are split at {self._between}."
            )
        return _Row(number, text, cells)

    def plain_rows(self, lines: list[str]) -> tuple[tuple[str, ...], ...] | None:
        """The rows of a sentence's lines; None if anything about them needs a closer look."""
        whole = "\n".join(lines)
        odd = whole[0] in "# \t" or "\r" in whole or _DOCSTART in whole or "\n\t" in whole or "\n " in whole
        if self.separator is None:
            odd = odd or "\t" in whole or "  " in whole or " \n" in whole or whole[-1] == " "
        if odd:
            return None
        between = " " if self.separator is None else self.separator
        rows = tuple([tuple(line.split(between)) for line in lines])
        return rows if set(map(len, rows)) == {self.n_columns} else None

    def fits(self, text: str) -> bool:
        """Whether a line that begins with "#" is a row; in a file of one column, "# some words" is not."""
        return len(self.split(text)) == self.n_columns and (self.n_columns > 1 or len(_split_spaces(text)) == 1)

    def split(self, text: str) -> tuple[str, ...]:
        return _split_spaces(text) if self.separator is None else tuple(text.split(self.separator))

    def is_docstart(self, text: str) -> bool:
        return _DOCSTART in text and _DOCSTART in (self.split(text)[0], _split_spaces(text)[0])

    @property
    def _between(self) -> str:
        return "runs of spaces" if self.separator is None else repr(self.separator)


def _split_spaces(text: str) -> tuple[str, ...]:
    return tuple(cell for cell in text.replace("\t", " ").split(" ") if cell)


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _sentence(rows: list[_Row], leading: list[str], source: str, newline: str) -> Sentence:
    return Sentence(
        rows=tuple(row.cells for row in rows),
        lines=tuple(row.text for row in rows),
        line=rows[0].number,
        leading=tuple(leading),
        source=source,
        newline=newline,
    )
