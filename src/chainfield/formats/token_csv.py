"""CSV and TSV with one row per token and a column that says which sentence it belongs to (the habit of Kaggle)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import ClassVar, NamedTuple, final

from chainfield.data.opening import line_runs_of, open_text, source_name
from chainfield.errors import ConfigError, DataError
from chainfield.limits import DOCUMENT_BYTES, SENTENCE_LINES
from chainfield.text.document import Document

from .format import Format, Options, Report, writing
from .token_view import LABEL, from_words, view

# Names as _plain writes them.
_DOCUMENT = ("document", "document_id", "doc_id", "doc")
_SENTENCE = ("sentence_#", "sentence_id", "sentence", "sent_id", *_DOCUMENT, "sequence", "id")
_WORD = ("word", "token", "form", "text", "words", "tokens")
_LABEL = ("tag", "label", "ner", "ner_tag", "iob", "entity", "tags", "labels")
_GAP = "gap"
_LOOKED_AT = 20  # lines that tell a CSV from a column file


@final
class TokenCsv(Format):
    """Columns have their usual names, or options name them. A sentence may be named in its first row only.

    This writer adds the column ``gap``, the text in front of each token, so that the text can be put together again.
    """

    name: ClassVar[str] = "token-csv"
    title: ClassVar[str] = "CSV or TSV, one row per token, with columns such as: Sentence #, Word, Tag"

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Row by row."""
        name = source_name(path)
        csv.field_size_limit(DOCUMENT_BYTES.value())
        with line_runs_of(path, options.encoding, limit=DOCUMENT_BYTES) as (_, runs):  # cells may hold line ends
            lines = (line + "\n" for run in runs for line in run)
            head = next(lines, "")
            rows = csv.reader(chain([head], lines), delimiter=_separator(path, head, options))
            try:
                header = next(rows, [])
                columns = _Columns(header, options, name)
                current, group = _Key("", ""), list[list[str]]()
                first, begun = 2, dict[_Key, int]()
                for row in rows:
                    if not row:
                        continue
                    if len(row) != len(header):
                        raise DataError(
                            f"{name}, line {rows.line_num}: {len(row)} columns, but the header has {len(header)}."
                        )
                    key = columns.key(row, current)
                    if group and key != current:
                        yield columns.document(group, f"{name}, line {first}")
                        group, first = [], rows.line_num
                    if not group:
                        if key in begun:
                            raise DataError(
                                f"{name}, line {rows.line_num}: the sentence {key.shown} comes again after others (it "
                                f"began in line {begun[key]}); sort the rows by sentence, or give every sentence a "
                                "name of its own."
                            )
                        begun[key] = rows.line_num
                    current = key
                    group.append(row)
                    if not SENTENCE_LINES.allows(len(group)):
                        raise DataError(
                            f"{name}, line {rows.line_num}: the sentence does not end; {SENTENCE_LINES.remedy}"
                        )
                if group:
                    yield columns.document(group, f"{name}, line {first}")
            except csv.Error as error:
                raise DataError(f"{name}, line {rows.line_num}: this is not CSV ({error}).") from None

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """Sentence, gap, word, label."""
        with writing(path, options) as out:
            rows = csv.writer(
                out, delimiter=_separator(path, "", options), lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC
            )
            rows.writerow(["sentence", _GAP, "word", "label"])
            for number, document in enumerate(documents):
                found = view(document, number, report, options.scheme)
                if found.columns:
                    report.add("columns of tokens left out", f"document {number}")
                for gap, word, label in zip(found.gaps, found.words, found.labels, strict=False):
                    rows.writerow([number, gap, word, label])
                if found.gaps[-1] or not found.words:  # what is behind the last word
                    rows.writerow([number, found.gaps[-1], "", "O"])


def has_header(path: str, encoding: str = "utf-8") -> bool:
    """Whether the first line of a file names a word and a sentence: column files have no such line.

    A CSV with other names, or without any, is refused here: taken for a column file, it would be read line by line.
    """
    try:
        with open_text(path, encoding, limit=DOCUMENT_BYTES) as lines:
            head = list(islice((line for line in lines if line.strip()), _LOOKED_AT))
    except OSError:  # whoever reads the file says so
        return False
    if not head:
        return False
    separator = _separator(path, head[0], Options())
    csv.field_size_limit(DOCUMENT_BYTES.value())
    try:
        names, *rows = csv.reader(head, delimiter=separator)
    except csv.Error:  # an old end of lines, such as a lone "\r"
        return False
    cells = {_plain(name) for name in names}
    if cells & set(_WORD) and cells & set(_SENTENCE):
        return True
    # Spaces separate the cells of column files, where few lines hold a comma; a CSV may have spaces in its cells.
    table = " " not in head[0] or 2 * sum(len(row) > 1 for row in rows) >= len(rows)
    if ".csv" in path.lower() and separator != "\t" and len(names) > 1 and table:
        raise DataError(
            f"{path}: its columns ({', '.join(map(repr, names[:6]))}) do not say which holds the words and which tells "
            "sentences apart; name them with --word-column, --sentence-column and --label-column, or write a line such "
            "as sentence,word,label in front if there are no names. (If it is a column file all the same: --format "
            "columns.)"
        )
    return False


def _plain(name: str) -> str:
    """A column's name as it is compared: ``Sentence ID`` and ``sentence-id`` are ``sentence_id``."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


class _Key(NamedTuple):
    """Which sentence a row belongs to; sentences may be counted anew in every document."""

    document: str
    sentence: str

    @property
    def shown(self) -> str:
        """For people."""
        return f"{self.sentence!r} of {self.document!r}" if self.document else repr(self.sentence)


class _Columns:
    """Which column is what."""

    def __init__(self, header: list[str], options: Options, source: str) -> None:
        self.header = header
        self.source = source
        self.sentence = self._find(options.sentence_column, _SENTENCE, required=False)
        named = options.sentence_column is not None
        self.of_document = None if named else self._find(None, _DOCUMENT, required=False)
        self.word = self._find(options.word_column, _WORD)
        self.label = self._find(options.label_column, _LABEL, required=False)
        self.gap = self._find(None, (_GAP,), required=False)
        if self.sentence is None:
            raise DataError(
                f"{source}: no column says where a sentence ends; name it with --sentence-column. "
                f"There are {', '.join(map(repr, header))}."
            )

    def _find(self, wanted: str | None, usual: tuple[str, ...], required: bool = True) -> int:
        lowered = [_plain(name) for name in self.header]
        if wanted is not None:
            if wanted in self.header:
                return self.header.index(wanted)
            raise DataError(f"{self.source}: there is no column {wanted!r}; there are {self.header!r}.")
        for name in usual:
            if name in lowered:
                return lowered.index(name)
        if required:
            raise DataError(
                f"{self.source}: no column is called {', '.join(usual[:4])}; name it with --word-column. "
                f"There are {', '.join(map(repr, self.header)) or 'none'}."
            )
        return None  # type: ignore[return-value]

    def key(self, row: list[str], before: _Key) -> _Key:
        """The sentence of a row; empty cells are those of the row before."""
        document = "" if self.of_document in (None, self.sentence) else row[self.of_document]
        return _Key(document or before.document, row[self.sentence] or before.sentence)

    def document(self, rows: list[list[str]], where: str) -> Document:
        words = [row[self.word] for row in rows]
        gaps = None if self.gap is None else [row[self.gap] for row in rows]
        if gaps is not None:  # a row without a word holds what is behind the last one
            tail = gaps.pop() if not words[-1] else ""
            rows, words = rows[: len(gaps)], words[: len(gaps)]
            gaps = [*gaps, tail]
        if not all(words):
            raise DataError(f"{where}: the word in row {words.index('') + 1} of the sentence is empty; fill it in.")
        labels = None if self.label is None else [row[self.label] for row in rows]
        if labels is not None and not all(labels):
            raise DataError(f"{where}: the label of row {labels.index('') + 1} of the sentence is empty; fill it in.")
        taken = {self.sentence, self.word, self.label, self.gap}
        others = {name: [row[c] for row in rows] for c, name in enumerate(self.header) if c not in taken and name}
        return from_words(
            words, labels, where=where, gaps=gaps, columns={k: v for k, v in others.items() if k != LABEL}
        )


def _separator(path: str, head: str, options: Options) -> str:
    if options.separator is not None:
        if len(options.separator) != 1 or options.separator in '"\r\n':
            raise ConfigError(
                f"The separator is {options.separator!r}; give the one character that separates columns (\\t is a tab)."
            )
        return options.separator
    if ".tsv" in str(path).lower() or ("\t" in head and "," not in head and ";" not in head):
        return "\t"
    return ";" if ";" in head and "," not in head else ","
