"""brat standoff: a text file and an annotation file beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, final

from chainfield.errors import DataError
from chainfield.limits import ANNOTATION_BYTES
from chainfield.text.document import Document, make_document

from .format import Format, Options, Report, writing

_PAIR = (".txt", ".ann")
PART = 1 << 20  # bytes that are read at a time
_LINE = re.compile(r"(T\S*)\t(\S+) (\d{1,18}) (\d{1,18})((?:;\d+ \d+)*)(?:\t(.*))?", re.DOTALL)


@final
class Brat(Format):
    """A folder of pairs ``name.txt`` and ``name.ann``, or one such pair."""

    name: ClassVar[str] = "brat"
    title: ClassVar[str] = "brat standoff: a folder of name.txt with name.ann beside it"

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Text-bound annotations (T); the others are counted."""
        place = Path(path)
        texts = sorted(place.glob("*.txt")) if place.is_dir() else [place.with_suffix(".txt")]
        if not texts:
            raise DataError(f"{place} holds no .txt file; brat has a text file beside every .ann file.")
        for notes in sorted(set(place.glob("*.ann")) - {file.with_suffix(".ann") for file in texts}):
            report.add("annotations without their .txt file left out", str(notes))
        for file in texts:
            text = _content(file, options)
            notes = file.with_suffix(".ann")
            spans = list(self._spans(notes, text, options, report)) if notes.exists() else []
            if not notes.exists():
                report.add("text without an .ann file: no spans", str(file))
            yield make_document(text, spans, meta={"name": file.stem}, where=str(notes))

    def _spans(self, notes: Path, text: str, options: Options, report: Report) -> Iterator[tuple[int, int, str]]:
        for number, line in enumerate(_content(notes, options).split("\n"), 1):
            where, line = f"{notes}, line {number}", line.removesuffix("\r")
            if not line.strip():
                continue
            if not line.startswith("T"):
                report.add("annotation that is no span (relation, event, attribute, note) left out", where)
                continue
            match = _LINE.fullmatch(line)
            if match is None:
                raise DataError(f"{where}: {line!r:.60} is not 'T1<TAB>label start end<TAB>text'.")
            if match[5]:
                report.add("span in several pieces left out", where)
                continue
            start, end = int(match[3]), int(match[4])
            said = match[6]
            if (
                said is not None
                and end <= len(text)
                and re.sub(r"\s", " ", text[start:end]) != re.sub(r"\s", " ", said)
            ):
                raise DataError(
                    f"{where}: the annotation says {said!r:.60}, but the text there is {text[start:end]!r:.60}."
                )
            yield start, end, match[2]

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """A folder with one pair of files per document."""
        folder = Path(path)
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file; brat needs a folder.")
        os.makedirs(folder, exist_ok=True)
        there = sorted(file.name for ending in _PAIR for file in folder.glob(f"*{ending}"))
        if there:
            raise DataError(
                f"{folder} holds files of brat already, such as {there[0]}; give a new folder, "
                "or projects would be mixed."
            )
        used = set[str]()
        for number, document in enumerate(documents):
            name = str(document.meta.get("name", f"{number:06d}"))
            if not re.fullmatch(r"[\w.-]+", name) or name in used:
                name = f"{number:06d}"
            used.add(name)
            if document.tokens is not None:
                report.add("tokens left out", f"document {number}")
            with writing(str(folder / f"{name}.txt"), options) as out:
                out.write(document.text)
            with writing(str(folder / f"{name}.ann"), options) as out:
                for i, (start, end, label) in enumerate(document.spans, 1):
                    if not re.fullmatch(r"\S+", label):
                        report.add("span whose label has a space left out", f"document {number}, {label!r}")
                        continue
                    said = re.sub(r"\s", " ", document.text[start:end])
                    out.write(f"T{i}\t{label} {start} {end}\t{said}\n")


def _content(file: Path, options: Options) -> str:
    """A whole file; line ends stay as they are, because offsets count them."""
    if not file.exists():
        raise FileNotFoundError(f"There is no file {file}; brat has a text file beside every .ann file.")
    from chainfield.data.opening import undecodable

    most = ANNOTATION_BYTES.value()
    with file.open("rb") as opened:
        parts, size = [], 0
        while size <= most and (part := opened.read(PART)):  # asking for the whole limit would set as much aside
            parts.append(part)
            size += len(part)
    raw = b"".join(parts)
    if size > most:
        raise DataError(f"{file} is too large to be read as a whole; {ANNOTATION_BYTES.remedy}")
    try:
        return raw.decode(options.encoding)
    except UnicodeError as error:
        raise undecodable(str(file), 0, error) from None
