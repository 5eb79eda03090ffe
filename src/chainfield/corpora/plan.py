"""Which piece holds which sentences: decided by the files alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from chainfield.errors import DataError
from chainfield.frames.tables import TableColumns

from .parquet import plan_parquet
from .source import ArraySource, ColumnSource, Source
from .storage import cuts_between_sentences, expand, is_compressed, size_of

# Small corpora are cut into this many pieces, so that several processors have some; no piece is smaller or larger than
# these bytes of text. A piece of eight megabytes has some hundred thousand tokens: encoded, a few dozen megabytes.
PIECES = 16
SMALLEST, LARGEST = 1 << 16, 1 << 23
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def plan_sources(paths: Paths, **options: Any) -> list[Source]:
    """The pieces of some files, by what their names end in: arrays (.npz), Parquet (.parquet), else column files.

    ``options``: those of :func:`plan_columns`, which mean nothing to arrays; for Parquet ``words``, ``label`` and
    ``sequence``, the names of columns (:class:`~chainfield.frames.tables.TableColumns`).
    """
    files = expand_all(paths)
    kinds = {Path(path).suffix if path.endswith((".npz", ".parquet")) else "" for path in files}
    if len(kinds) > 1:
        odd = [next(path for path in files if path.endswith(kind)) for kind in sorted(kinds, reverse=True)]
        raise DataError(f"{odd[0]} and {odd[1]} are of different kinds; give files of one kind.")
    if kinds == {".npz"}:
        return [ArraySource(path, i) for i, path in enumerate(files)]
    if kinds == {".parquet"}:
        return plan_parquet(files, columns_of(options))
    return plan_columns(files, **options)


def columns_of(options: dict[str, Any]) -> TableColumns:
    """What users say of the columns of a table; other options mean nothing to tables."""
    return TableColumns.of(**{name: options[name] for name in ("words", "label", "sequence") if name in options})


def expand_all(paths: Paths) -> list[str]:
    """The files that names, patterns and addresses stand for; at least one."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = [path for pattern in given for path in expand(pattern)]
    if not files:
        raise DataError("There is no file to read; give at least one.")
    return files


def plan_columns(
    paths: Paths,
    *,
    label_column: int = -1,
    unknown: str | None = None,
    piece_bytes: int | None = None,
    **reading: Any,
) -> list[Source]:
    """The pieces of some column files, given by names, patterns or URLs; large files are cut between sentences.

    A compressed file is one piece, because it can be read from its beginning only; so is one in another encoding than
    UTF-8.
    """
    files = expand_all(paths)
    sizes = [size_of(path) for path in files]
    size = min(max(sum(sizes) // PIECES, SMALLEST), LARGEST) if piece_bytes is None else piece_bytes
    whole = reading.get("encoding", "utf-8").lower() not in ("utf-8", "utf8")
    sources: list[ColumnSource] = []
    for path, n_bytes in zip(files, sizes, strict=True):
        options: dict[str, Any] = {"label_column": label_column, "unknown": unknown, "reading": reading}
        if whole or is_compressed(path) or n_bytes <= size:
            sources.append(ColumnSource(path, **options))
        else:
            cuts = cuts_between_sentences(path, n_bytes, size)
            sources += [ColumnSource(path, a, b, **options) for a, b in pairwise(cuts)]
    return [replace(source, number=i) for i, source in enumerate(sources)]
