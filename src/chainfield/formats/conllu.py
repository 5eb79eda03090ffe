"""CoNLL-U: ten columns by name, as the treebanks of Universal Dependencies have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, final

from chainfield.data.opening import source_name
from chainfield.errors import ConfigError, DataError
from chainfield.limits import SENTENCE_LINES
from chainfield.text.document import Document

from .columns import text_comment, text_of
from .format import Format, Options, Report, writing
from .lines import text_lines
from .token_view import LABEL, from_words, views

NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ENTITY = "NE"  # the key of labels in MISC
_GLUED = "SpaceAfter=No"


@final
class ConllU(Format):
    """Words are the syntactic words (FORM); multiword tokens and empty nodes are counted, not read as words.

    Without a label column, labels are read from ``NE=`` in MISC, as this writer puts them there.
    """

    name: ClassVar[str] = "conllu"
    title: ClassVar[str] = "CoNLL-U: ten columns, ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Sentence by sentence."""
        word, label = _column(options.word_column or "FORM"), None
        if options.label_column is not None:
            label = _column(options.label_column)
        comments, rows, first = list[str](), list[list[str]](), 0
        for number, line in text_lines(path, options):
            place = f"{source_name(path)}, line {number}"
            if not line.strip():
                if rows:
                    yield self._document(comments, rows, word, label, f"{source_name(path)}, line {first}")
                comments, rows = [], []
            elif line.startswith("#") and not rows:
                comments.append(line)
            else:
                cells = line.split("\t")
                if len(cells) != len(NAMES):
                    raise DataError(
                        f"{place}: {len(cells)} columns, but CoNLL-U has {len(NAMES)}, separated by tabs; "
                        "if this is another column file, say --format columns."
                    )
                if "-" in cells[0] or "." in cells[0]:
                    what = "empty node" if "." in cells[0] else "multiword token, read as its words"
                    report.add(what, place)
                    continue
                if not cells[0].isdecimal():
                    raise DataError(f"{place}: the first column is {cells[0]!r}; the number of the word is expected.")
                first = first if rows else number
                rows.append(cells)
            if not SENTENCE_LINES.allows(len(rows) + len(comments)):
                raise DataError(f"{place}: the sentence does not end; {SENTENCE_LINES.remedy}")
        if rows:
            yield self._document(comments, rows, word, label, f"{source_name(path)}, line {first}")

    def _document(
        self, comments: list[str], rows: list[list[str]], word: int, label: int | None, where: str
    ) -> Document:
        words = [row[word] for row in rows]
        labels = [_entity(row[-1]) for row in rows] if label is None else [row[label] for row in rows]
        text = text_of(comments, where)
        if text is not None and not _in_order(text, words):
            text = None  # words of a multiword token need not stand in the text
        gaps = None if text is not None else ["", *("" if _GLUED in row[-1] else " " for row in rows[:-1]), ""]
        columns = {name: tuple(row[c] for row in rows) for c, name in enumerate(NAMES) if c not in (0, word)}
        kept = [comment for comment in comments if not comment.startswith(("# text =", "# json_text ="))]
        meta: dict[str, object] = {"comments": kept} if kept else {}
        return from_words(words, labels, where=where, text=text, gaps=gaps, columns=columns, meta=meta)  # type: ignore[arg-type]

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """Columns of the same names as they were; labels of spans in MISC as ``NE=``."""
        with writing(path, options) as out:
            for document, found in views(documents, report, options.scheme):
                for comment in document.meta.get("comments", ()):
                    out.write(f"{comment}\n")
                out.write(text_comment(document.text) + "\n")
                plain = LABEL in document.columns  # labels that are a column, such as UPOS
                for i, word in enumerate(found.words):
                    row = [found.columns[name][i] if name in found.columns else "_" for name in NAMES]
                    row[0], row[1] = str(i + 1), word
                    if plain and row[3] == "_":
                        row[3] = found.labels[i]
                    misc = [part for part in row[-1].split("|") if part not in ("_", "", _GLUED)]
                    misc = [part for part in misc if not part.startswith(f"{ENTITY}=")]
                    if not plain and found.labels[i] != "O":
                        misc.append(f"{ENTITY}={found.labels[i]}")
                    if i + 1 < len(found.words) and not found.gaps[i + 1]:
                        misc.append(_GLUED)
                    row[-1] = "|".join(misc) or "_"
                    out.write("\t".join(row) + "\n")
                out.write("\n")


def _entity(misc: str) -> str:
    """The label in MISC."""
    return next((part.removeprefix(f"{ENTITY}=") for part in misc.split("|") if part.startswith(f"{ENTITY}=")), "O")


def _column(name: str) -> int:
    """The number of a column, from its name or its number."""
    if name.upper() in NAMES:
        return NAMES.index(name.upper())
    if name.lstrip("-").isdecimal() and -len(NAMES) <= int(name) < len(NAMES):
        return int(name) % len(NAMES)
    raise ConfigError(f"CoNLL-U has no column {name!r}; it has {', '.join(NAMES)}.")


def _in_order(text: str, words: list[str]) -> bool:
    at = 0
    for word in words:
        at = text.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True
