"""Tagging Arrow data: what Spark's ``mapInArrow``, DuckDB, Polars' ``map_batches`` and Ray Data call."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from chainfield.errors import ConfigError, DataError
from chainfield.models.loading import load

from .text_tagger import TextTagger


def tag_arrow(
    tagger: Any, batches: Iterable[Any], *, column: str = "text", into: str = "spans", probabilities: bool = True
) -> Iterator[Any]:
    """Record batches with one more column: the spans that a :class:`~chainfield.TextTagger` finds in ``column``.

    A span is a struct of start, end, label, text and probability; a missing text gets a missing list. Batches are read
    one at a time, and their order and rows stay. ``tagger`` may be the path of a model file: every process loads it
    once, and tags by one thread, because engines start as many processes as there are processors.
    """
    arrow = _arrow()
    for batch in batches:
        names = batch.schema.names
        if column not in names:
            raise DataError(f"The batch has no column {column!r}; it has {', '.join(map(repr, names))}.")
        if into in names:
            raise DataError(f"The batch has a column {into!r} already; give another name as into=.")
        spans = _spans(tagger, batch.column(column), f"the column {column!r}", probabilities=probabilities)
        columns = [batch.column(i) for i in range(batch.num_columns)]
        schema = arrow.schema([*batch.schema, arrow.field(into, span_type())], batch.schema.metadata)
        yield type(batch).from_arrays([*columns, spans], schema=schema)


def tag_array(tagger: Any, texts: Any, *, probabilities: bool = True) -> Any:
    """The spans of an Arrow array of texts, as an array of the same length: what functions of SQL are made of.

    ``tagger``: as :func:`tag_arrow` takes it.
    """
    return _spans(tagger, texts, "the array", probabilities=probabilities)


def span_type() -> Any:
    """The Arrow type of the spans of one text."""
    arrow = _arrow()
    return arrow.list_(arrow.struct(_members()))


def _members() -> list[Any]:
    arrow = _arrow()
    kinds = {"start": arrow.int64(), "end": arrow.int64(), "label": arrow.string(), "text": arrow.string()}
    return [arrow.field(name, kind) for name, kind in {**kinds, "probability": arrow.float64()}.items()]


def _spans(tagger: Any, array: Any, where: str, *, probabilities: bool) -> Any:
    """The spans of a column: a list for every text, and a missing list for a missing text."""
    arrow = _arrow()
    texts = array.to_pylist()
    for row, text in enumerate(texts):
        if text is not None and not isinstance(text, str):
            raise DataError(f"Row {row} of {where} is {text!r:.40}; a text is expected.")
    present = [text for text in texts if text is not None]
    answers = iter(_fitted(tagger).predict(present, probabilities=probabilities))
    offsets, found = list[Any](), list[Any]()
    for text in texts:
        offsets.append(None if text is None else len(found))  # Arrow's way to say that a list is missing
        found += [] if text is None else next(answers)
    values = list(zip(*(span[: len(_members())] for span in found), strict=True)) or [()] * len(_members())
    columns = [arrow.array(own, field.type) for own, field in zip(values, _members(), strict=True)]
    structs = arrow.StructArray.from_arrays(columns, fields=_members())
    return arrow.ListArray.from_arrays(arrow.array([*offsets, len(found)], arrow.int32()), structs, type=span_type())


def _fitted(tagger: Any) -> Any:
    if not isinstance(tagger, str | os.PathLike):
        return tagger
    path = Path(tagger).absolute()
    try:
        state = path.stat()
    except OSError:
        raise DataError(f"There is no model file {path}; every process of the engine has to see it.") from None
    return _loaded(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _loaded(path: Path, *_state: int) -> Any:
    """The model of a file, as long as the file stays as it is."""
    return TextTagger.around(load(path, n_jobs=1), str(path))


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ConfigError(
            "Arrow needs the package pyarrow; install it with: pip install 'chainfield[frames]'."
        ) from None
    return pyarrow
