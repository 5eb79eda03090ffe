"""Token classification of Hugging Face's ``datasets``: Parquet and Arrow files with ``tokens`` and ``ner_tags``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, final

from chainfield.errors import DataError
from chainfield.frames.tables import LABELS, WORDS, class_names
from chainfield.text.document import Document, make_document

from .format import Format, Options, Report, temporary_name
from .token_view import from_words, view

ROWS = 1024


@final
class Parquet(Format):
    """Lists of words and of labels, which are numbers of a ``ClassLabel`` or names; or ``text`` and ``spans``."""

    name: ClassVar[str] = "parquet"
    title: ClassVar[str] = "Hugging Face datasets: Parquet or Arrow with tokens and ner_tags, or with text and spans"
    needs: ClassVar[tuple[str, str] | None] = ("pyarrow", "frames")

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Batch by batch."""
        self.package()
        if not Path(path).exists():
            raise FileNotFoundError(f"There is no file {path}; check the name and the directory you are in.")
        number = 0
        for names, metadata, rows in _batches(path):
            reader = _Rows(names, metadata, options, path)
            for row in rows:
                yield reader.document(row, f"{path}, row {number}")
                number += 1

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """Words, numbers of labels, and text and spans beside them, so that nothing is lost."""
        self.package()
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows, labels = [], {"O": 0}
        for number, document in enumerate(documents):
            found = view(document, number, Report())
            for label in found.labels:
                labels.setdefault(label, len(labels))
            if document.columns or document.meta:
                report.add("columns and other fields left out", f"document {number}")
            rows.append(
                {
                    "text": document.text,
                    "spans": [span._asdict() for span in document.spans],
                    "tokens": found.words,
                    "ner_tags": [labels[label] for label in found.labels],
                }
            )
        span = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("label", pa.string())])
        fields = [
            ("text", pa.string()),
            ("spans", pa.list_(span)),
            ("tokens", pa.list_(pa.string())),
            ("ner_tags", pa.list_(pa.int64())),
        ]
        features = {
            "text": {"dtype": "string", "_type": "Value"},
            "spans": [
                {
                    "start": {"dtype": "int64", "_type": "Value"},
                    "end": {"dtype": "int64", "_type": "Value"},
                    "label": {"dtype": "string", "_type": "Value"},
                }
            ],
            "tokens": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
            "ner_tags": {"feature": {"names": list(labels), "_type": "ClassLabel"}, "_type": "Sequence"},
        }
        described = json.dumps({"info": {"features": features}})
        try:
            table = pa.Table.from_pylist(rows, pa.schema(fields, metadata={"huggingface": described}))
        except UnicodeEncodeError as error:
            raise DataError(
                f"{path}: the character {error.object[error.start]!a} cannot be written as UTF-8; repair the text."
            ) from None
        temporary = temporary_name(path)
        try:
            if str(path).endswith(".parquet"):
                pq.write_table(table, temporary)
            else:
                with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
                    out.write_table(table)
            temporary.replace(os.path.realpath(path))
        finally:
            temporary.unlink(missing_ok=True)


def _batches(path: str) -> Iterator[tuple[list[str], dict[bytes, bytes], list[dict[str, Any]]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if str(path).endswith(".parquet"):
            file = pq.ParquetFile(path)
            for batch in file.iter_batches(batch_size=ROWS):
                yield batch.schema.names, file.schema_arrow.metadata or {}, _rows(batch)
            return
        with pa.OSFile(str(path), "rb") as source:
            opened = pa.ipc.open_file(source) if source.read(6) == b"ARROW1" else None
            source.seek(0)
            reader = opened or pa.ipc.open_stream(source)
            batches = (opened.get_batch(i) for i in range(opened.num_record_batches)) if opened else iter(reader)
            for batch in batches:
                yield batch.schema.names, reader.schema.metadata or {}, _rows(batch)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"{path} cannot be read as Parquet or Arrow: {reason}.") from None


def _rows(batch: Any) -> list[dict[str, Any]]:
    """The rows of a batch; offsets that lead nowhere are refused before they are followed."""
    batch.validate(full=True)
    found: list[dict[str, Any]] = batch.to_pylist()
    return found


class _Rows:
    """Which column is what."""

    def __init__(self, names: list[str], metadata: dict[bytes, bytes], options: Options, path: str) -> None:
        self.path = path
        self.text = next((n for n in (options.text_field, "text") if n in names), None)
        self.spans = next((n for n in ("spans", "entities") if n in names), None)
        self.words = options.word_column or next((n for n in WORDS if n in names), None)
        self.labels = options.label_column or next((n for n in LABELS if n in names), None)
        for name in (self.words, self.labels):
            if name is not None and name not in names:
                raise DataError(f"{path} has no column {name!r}; it has {', '.join(names)}.")
        if self.words is None and self.text is None:
            raise DataError(f"{path} has neither words nor texts: its columns are {', '.join(names)}.")
        self.names = class_names(metadata, self.labels)

    def document(self, row: dict[str, Any], where: str) -> Document:
        if self.text is not None and self.spans is not None:
            spans = [(s.get("start"), s.get("end"), s.get("label")) for s in row[self.spans] or []]
            return make_document(row[self.text], spans, where=where)
        if self.words is None:
            return make_document(row[self.text or ""], where=where)
        words = row[self.words]
        if words is None or not all(isinstance(word, str) and word for word in words):
            raise DataError(f"{where}: a word is missing or empty.")
        labels = None if self.labels is None else [self._label(label, where) for label in row[self.labels] or []]
        if labels is not None and len(labels) != len(words):
            raise DataError(f"{where}: there are {len(words)} words, but {len(labels)} labels.")
        return from_words(words, labels, where=where)

    def _label(self, label: Any, where: str) -> str:
        if isinstance(label, str) and label:
            return label
        if isinstance(label, int) and self.names is not None and 0 <= label < len(self.names):
            return str(self.names[label])
        if isinstance(label, int) and self.names is None:
            raise DataError(
                f"{where}: the label is the number {label}, and the file does not say what it stands for "
                "(datasets keeps the names in the file's metadata); write the names in place of numbers."
            )
        raise DataError(f"{where}: the label is {label!r}, which is not one of the file's.")
