"""Column files: one token per line with its label beside it, a blank line between documents (CoNLL, CRF++, Wapiti)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, final

from chainfield.data.sentences import Sentence, read_columns
from chainfield.errors import ConfigError, DataError
from chainfield.text.document import Document

from .format import Format, Options, Report, writing
from .lines import parse_json
from .token_view import from_words, note_violations, views

TEXT = "# text = "
JSON_TEXT = "# json_text = "  # for texts that do not fit into a line


def text_comment(text: str) -> str:
    """A comment from which the text can be read again."""
    plain = text == text.strip() and text.isprintable()
    return f"{TEXT}{text}" if plain else f"{JSON_TEXT}{json.dumps(text)}"


def text_of(comments: Iterable[str], where: str) -> str | None:
    """The text that comments give."""
    for comment in comments:
        if comment.startswith(JSON_TEXT):
            text = parse_json(comment.removeprefix(JSON_TEXT), where)
            if not isinstance(text, str):
                raise DataError(f"{where}: the comment 'json_text' does not hold a string.")
            return text
    return next((comment.removeprefix(TEXT) for comment in comments if comment.startswith(TEXT)), None)


@final
class Columns(Format):
    """The words stand in the first column, the labels in the last one, unless options say otherwise."""

    name: ClassVar[str] = "columns"
    title: ClassVar[str] = "one token per line, columns separated by tabs or spaces, labels such as B-PER I-PER O"

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Documents are sentences; a comment ``# text = …`` gives the text, otherwise words have spaces between."""
        for sentence in read_columns(path, encoding=options.encoding, separator=options.separator):
            yield self._document(sentence, options, report)

    def _document(self, sentence: Sentence, options: Options, report: Report) -> Document:
        where = f"{sentence.source}, line {sentence.line}"
        width = len(sentence.rows[0])
        word = _column(options.word_column, width, 0, where)
        label = _column(options.label_column, width, -1, where) if width > 1 else None
        cells = list(zip(*sentence.rows, strict=True))
        others = {str(c): cells[c] for c in range(width) if c not in (word, label)}
        labels: Sequence[str] | None = None if label is None else cells[label]
        if labels is not None:
            note_violations(labels, where, report)
        text = text_of(sentence.leading, where)
        return from_words(cells[word], labels, where=where, text=text, columns=dict(others))

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """Words, other columns, labels."""
        with writing(path, options) as out:
            for document, found in views(documents, report, options.scheme):
                if not found.plain:
                    out.write(text_comment(document.text) + "\n")
                rows = zip(found.words, *found.columns.values(), found.labels, strict=True)
                out.write("\n".join("\t".join(cell or "_" for cell in row) for row in rows) + "\n\n")


def _column(wanted: str | None, width: int, default: int, where: str) -> int:
    """The number of a column."""
    try:
        number = default if wanted is None else int(wanted)
    except ValueError:
        raise ConfigError(
            f"There is no column {wanted!r}: columns of such files have numbers, from 0 or from -1 backwards."
        ) from None
    if not -width <= number < width:
        raise DataError(f"{where}: there is no column {number}; there are {width}.")
    return number % width
