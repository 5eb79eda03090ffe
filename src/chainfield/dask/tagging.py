"""Tagging at scale: files in, files out, each written once and as a whole.

Every piece of the input has one file of its own in the output, which appears when it is complete: a run that was
interrupted leaves out what is there already when it is repeated. What the folder was made by is written into it first,
so that the labels of two models are never mixed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from chainfield.corpora.parquet import ParquetSource, opened_parquet, plan_parquet, pyarrow
from chainfield.corpora.plan import columns_of, expand_all, plan_columns
from chainfield.corpora.source import ColumnSource
from chainfield.errors import ConfigError, DataError
from chainfield.files.replacing import replace_file
from chainfield.frames.tables import read_table

from .connecting import connect
from .corpus import spread
from .output import Folder

ABOUT = "about.json"
INTO = "labels"


@dataclass(frozen=True)
class Tagged:
    """What a run did."""

    folder: str
    n_pieces: int
    n_skipped: int
    n_sentences: int  # those of this run
    n_tokens: int


def tag(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    client: Any = None,
    *,
    piece_bytes: int | None = None,
    watch: Callable[[int, int], None] | None = None,
    **reading: Any,
) -> Tagged:
    """Label column files or Parquet with a model, on the workers of a client.

    ``output``: a folder that all workers see, or an address such as s3://bucket/tagged (with fsspec).

    The model file is sent to each worker once. Rows come out as they were, with one more column. Pieces that are
    finished already are left out. ``watch`` is called with how many pieces are done, and how many there are.
    ``reading``: options of :func:`~chainfield.corpora.plan_columns`; for Parquet ``words``, ``sequence``, and ``into``,
    the name of the new column.
    """
    path = Path(model)
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    content = path.read_bytes()
    if isinstance(client, str):
        with connect(client) as own:
            return tag(path, data, output, own, piece_bytes=piece_bytes, watch=watch, **reading)
    found = connect(client)
    digest = hashlib.sha256(content).hexdigest()
    into = reading.pop("into", INTO)
    sources = plan_inputs(data, piece_bytes, reading)
    names = output_names(sources)
    folder = Folder(os.fspath(output))
    there = _claim(folder, {"model": digest, "pieces": [source.name for source in sources]})
    left = [(source, folder, name) for source, name in zip(sources, names, strict=True) if name not in there]
    skipped, sentences, tokens = len(sources) - len(left), 0, 0
    if left:
        pieces = spread(found, left)
        for done, (s, n) in enumerate(pieces.as_completed(tag_piece, content, digest, into), skipped + 1):
            sentences, tokens = sentences + s, tokens + n
            if watch is not None:
                watch(done, len(sources))
    return Tagged(str(folder), len(sources), skipped, sentences, tokens)


def plan_inputs(data: Any, piece_bytes: int | None, reading: dict[str, Any]) -> list[Any]:
    """The pieces: of Parquet files, or of column files."""
    files = expand_all(data)
    if all(path.endswith(".parquet") for path in files):
        return plan_parquet(files, columns_of(reading), labelled=False)
    return plan_columns(files, piece_bytes=piece_bytes, **reading)


def output_names(sources: Sequence[Any]) -> list[str]:
    """A name for each piece's output: that of the file, and the place in it where it has several pieces."""
    names = []
    for source in sources:
        own = Path(source.path)
        if isinstance(source, ParquetSource):
            names.append(f"{own.stem}.{source.start:012}.parquet")
        else:
            names.append(own.name if source.stop is None else f"{own.name}.{source.start:015}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"Two files have the name {twice}; tag them into different folders.")
    return names


def _claim(folder: Folder, about: dict[str, Any]) -> set[str]:
    """Say what a folder is for; refuse one that is for something else. Returns the names of what is there."""
    folder.make()
    names = folder.names()
    if ABOUT in names:
        try:
            same = json.loads(folder.read(ABOUT)) == about
        except ValueError:
            same = False
        if not same:
            raise ConfigError(
                f"{folder} holds labels of another model or of other data; give the name of a new folder, or remove it."
            )
    elif names:
        raise ConfigError(f"{folder} is not empty, and was not made by tagging; give the name of a new folder.")
    else:
        folder.write(ABOUT, json.dumps(about, indent=1).encode())
    return names


@lru_cache(maxsize=2)
def _loaded(digest: str, folder: str) -> tuple[Any, dict[str, Any]]:
    from chainfield.files.model import load_tagger

    return load_tagger(Path(folder) / f"{digest}.cf")


def model_of(content: bytes, digest: str) -> tuple[Any, dict[str, Any]]:
    """The model of a file's content, read once in a process."""
    folder = Path(tempfile.gettempdir()) / f"chainfield-models-{os.getuid() if hasattr(os, 'getuid') else 0}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{digest}.cf"
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        replace_file(path, content)
    return _loaded(digest, str(folder))


def tag_piece(job: tuple[Any, Folder, str], content: bytes, digest: str, into: str) -> tuple[int, int]:
    """Tag one piece; its file appears when it is complete. Returns how many sentences and tokens it has."""
    source, folder, name = job
    tagger, about = model_of(content, digest)
    if isinstance(source, ParquetSource):
        made, sentences, tokens = tag_rows(source, tagger, into)
    else:
        made, sentences, tokens = tag_columns(source, tagger, about)
    folder.write(name, made)
    return sentences, tokens


def tag_rows(source: ParquetSource, tagger: Any, into: str) -> tuple[bytes, int, int]:
    """Rows of a Parquet file, with one more column: lists of labels, or one label where a row is one position."""
    arrow = pyarrow()
    try:
        with opened_parquet(source.path) as file:
            table = source.table(file)
            X, _ = read_table(table, source.columns, labelled=False)
        if into in table.column_names:
            raise DataError(f"there is a column {into!r} already; give another name for the labels as into=.")
        width = getattr(tagger.features, "width", None)
        if width is not None and X and X[0] and len(X[0][0]) != width:
            raise DataError(f"the model reads {width} columns; name them as words=, the word first.")
    except DataError as error:
        raise DataError(f"{source.name}: {error}") from None
    labels = tagger.predict(X)
    if source.columns.sequence is not None:
        labels = [label for own in labels for label in own]
    out = io.BytesIO()
    arrow.parquet.write_table(table.append_column(into, arrow.array(labels)), out)
    return out.getvalue(), len(X), sum(map(len, X))


def tag_columns(source: ColumnSource, tagger: Any, about: dict[str, Any]) -> tuple[bytes, int, int]:
    """A column file, or a part of it: every row as it was, and its label."""
    if source.reading.get("separator") is None:  # that of the training data
        between = (about.get("notes") or {}).get("separator")
        source = replace(source, reading={**source.reading, "separator": between})
    names, sentences, tokens = list(map(str, tagger.task.labels)), 0, 0
    parts: list[bytes] = []
    for block in source.blocks(verbatim=True):
        rows = block.read_by(tagger.features, about)
        parts.append(block.labelled(tagger.labels(tagger.features.encode(rows)), names))
        sentences, tokens = sentences + len(rows), tokens + rows.ragged.n_positions
    return b"".join(parts), sentences, tokens
