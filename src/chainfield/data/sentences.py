"""Sentences from column files: one token per line, its cells side by side, a blank line between sentences.

This is the format of the CoNLL shared tasks, of CRF++ and of Wapiti. Its rules are written here; reading holds one
sentence at a time. :mod:`~chainfield.data.column_blocks` reads the same sentences by the thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from chainfield.errors import ConfigError, DataError
from chainfield.limits import COLUMNS, SENTENCE_LINES

from .opening import Readable, line_runs_of

DOCSTART = "-DOCSTART-"
# Tokens may hold no-break and other Unicode spaces: only these two separate cells or make a line blank.
_SPACES = " \t"
_NO_ROW = ("#", " ", "\t", "\r", DOCSTART)  # lines that begin so may be comments or blank


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
    reader = SentenceReader(separator, comments, docstart)
    return _sentences(path_or_file, encoding, reader)


def _sentences(path_or_file: Readable, encoding: str, reader: SentenceReader) -> Iterator[Sentence]:
    with line_runs_of(path_or_file, encoding) as (reader.source, runs):
        yield from reader.sentences(runs)


class SentenceReader:
    """What is known in the middle of a file; it is fed with lines, and gives the sentences that they end."""

    def __init__(self, separator: str | None, comments: bool, docstart: str, source: str = "input") -> None:
        if separator == "":
            raise ConfigError("The separator is empty; give a character, or None to let the first row decide.")
        if docstart not in ("skip", "keep"):
            raise ConfigError(f"docstart must be 'skip' or 'keep', but is {docstart!r}.")
        self.source = source
        self.comments = comments
        self.skip_docstart = docstart == "skip"
        # What the file's first row teaches: how cells are separated, how many there are, and which line that was.
        self.separator = separator
        self.n_columns = 0
        self.learned_at = 0
        self.n_lines = 0  # so far
        self.leading: list[str] = []
        # The sentence so far: its first line's number and end, its lines and their cells.
        self._line = 0
        self._newline = "\n"
        self._lines: list[str] = []
        self._rows: list[tuple[str, ...]] = []
        # Lines with "#" in front, met before the file's first row has told how many columns rows have.
        self._undecided: list[tuple[int, str]] = []
        self._most_lines = SENTENCE_LINES.value()

    @property
    def between_sentences(self) -> bool:
        """Whether a new sentence may begin, in a file whose columns are known."""
        return not self._rows and self.n_columns > 0

    def sentences(self, runs: Iterable[list[str]]) -> Iterator[Sentence]:
        """All sentences of a file, given as runs of lines."""
        for run in runs:
            yield from self.read(run)
        yield from self.finish()

    def read(self, run: list[str]) -> Iterator[Sentence]:
        """Take some lines."""
        at, blank = 0, -1  # where we are, and the next empty line
        while at < len(run):
            blank = _end(run, at) if blank < at else blank
            # Lines that cannot begin a sentence go one by one: looking beyond each would be quadratic in their number.
            whole = self.between_sentences and blank < len(run) and not run[at].startswith(_NO_ROW)
            end = blank if whole else at
            plain = self._plain_rows(run[at:end]) if end > at else None
            number = self.n_lines + at + 1
            if end - at > self._most_lines:
                raise self._endless(self.n_lines + at + self._most_lines)
            if plain is None:
                sentence = self._feed(number, run[at])
                at += 1
            else:
                leading, self.leading = self.leading, []
                sentence = Sentence(plain, tuple(run[at:end]), number, tuple(leading), self.source)
                at = end + 1
            if sentence is not None:
                yield sentence
        self.n_lines += len(run)

    def finish(self) -> Iterator[Sentence]:
        """The last sentence, if there is one: the file ends here."""
        self._decide()
        if self._rows:
            yield self._ended()

    def _feed(self, number: int, raw: str) -> Sentence | None:
        """Take one line; returns the sentence that it ends, if it does."""
        text = raw.removesuffix("\r")
        if len(self._rows) + len(self.leading) + len(self._undecided) >= self._most_lines:
            raise self._endless(number)
        is_blank = not text.strip(_SPACES)
        may_be_comment = self.comments and not self._rows and text.startswith("#")
        if is_blank or (self.skip_docstart and self._is_docstart(text)):
            self._decide()
            ended = self._ended() if self._rows else None
            if ended is None or not is_blank:
                self.leading.append(text)
            return ended
        if may_be_comment and not self.n_columns:
            self._undecided.append((number, text))
        elif may_be_comment and not self._fits(text):
            self.leading.append(text)
        else:
            if not self.n_columns:
                self._learn(number, text)
            if not self._rows:
                self._newline = "\n" if len(text) == len(raw) else "\r\n"
            self._decide()
            self._add(number, text)
        return None

    def _decide(self) -> None:
        """Lines with "#" in front that waited for the first row. Without one they are comments, but for ``#<tab>O``."""
        waiting, self._undecided = self._undecided, []
        if waiting and not self.n_columns:
            number, last = waiting[-1]
            word, tab, _ = last.partition("\t")
            if tab and " " not in word and self.separator in (None, "\t"):
                self._learn(number, last)
        for number, text in waiting:
            if self._rows or (self.n_columns and self._fits(text)):
                self._add(number, text)
            else:
                self.leading.append(text)

    def _endless(self, number: int) -> DataError:
        return DataError(
            f"{self.source}, line {number}: the sentence does not end; write a blank line between sentences. Here "
            f"{SENTENCE_LINES.remedy}"
        )

    def _learn(self, number: int, text: str) -> None:
        """The first row of the file."""
        if self.separator is None and "\t" in text:
            self.separator = "\t"
        self.n_columns, self.learned_at = len(self._split(text)), number
        if not COLUMNS.allows(self.n_columns):
            raise DataError(f"{self.source}, line {number}: there are {self.n_columns:,} columns; {COLUMNS.remedy}")

    def _add(self, number: int, text: str) -> None:
        """One more row of the sentence."""
        cells = self._split(text)
        if len(cells) != self.n_columns:
            columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            between = "runs of spaces" if self.separator is None else repr(self.separator)
            raise DataError(
                f"{self.source}, line {number}: {columns}, but {self.n_columns} expected, as in line "
                f"{self.learned_at}; all rows need the same number. Cells are split at {between}."
            )
        if not self._rows:
            self._line = number
        self._lines.append(text)
        self._rows.append(cells)

    def _ended(self) -> Sentence:
        """The sentence so far; the next one begins."""
        rows, lines, leading = tuple(self._rows), tuple(self._lines), tuple(self.leading)
        self._rows, self._lines, self.leading = [], [], []
        return Sentence(rows, lines, self._line, leading, self.source, self._newline)

    def _plain_rows(self, lines: list[str]) -> tuple[tuple[str, ...], ...] | None:
        """The rows of a sentence's lines; None if anything about them needs a closer look."""
        whole = "\n".join(lines)
        odd = whole[0] in "# \t" or "\r" in whole or DOCSTART in whole or "\n\t" in whole or "\n " in whole
        if self.separator is None:
            odd = odd or "\t" in whole or "  " in whole or " \n" in whole or whole[-1] == " "
        if odd:
            return None
        between = " " if self.separator is None else self.separator
        rows = tuple([tuple(line.split(between)) for line in lines])
        return rows if set(map(len, rows)) == {self.n_columns} else None

    def _fits(self, text: str) -> bool:
        """Whether a line that begins with "#" is a row; in a file of one column, "# some words" is not."""
        return len(self._split(text)) == self.n_columns and (self.n_columns > 1 or len(_split_spaces(text)) == 1)

    def _split(self, text: str) -> tuple[str, ...]:
        return _split_spaces(text) if self.separator is None else tuple(text.split(self.separator))

    def _is_docstart(self, text: str) -> bool:
        return DOCSTART in text and DOCSTART in (self._split(text)[0], _split_spaces(text)[0])


def _end(run: list[str], at: int) -> int:
    """Where the next empty line is; behind the run if there is none: the sentence may go on in the next one."""
    try:
        return run.index("", at)
    except ValueError:
        return len(run)


def _split_spaces(text: str) -> tuple[str, ...]:
    return tuple(cell for cell in text.replace("\t", " ").split(" ") if cell)
