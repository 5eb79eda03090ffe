"""Tagging Arrow batches: what Spark's ``mapInArrow``, DuckDB, Polars' ``map_batches`` and Ray Data call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainfield.errors import ConfigError, DataError


def tag_arrow(
    tagger: Any, batches: Iterable[Any], *, column: str = "text", into: str = "spans", probabilities: bool = True
) -> Iterator[Any]:
    """Record batches with one more column: the spans that a :class:`~chainfield.TextTagger` finds in ``column``.

    A span is a struct of start, end, label, text and probability; a missing text gets a missing list. Batches are read
    one at a time, and their order and rows stay.
    """
    arrow = _arrow()
    kind = span_type()
    for batch in batches:
        if column not in batch.schema.names:
            raise DataError(f"The batch has no column {column!r}; it has {', '.join(map(repr, batch.schema.names))}.")
        texts = batch.column(column).to_pylist()
        for row, text in enumerate(texts):
            if text is not None and not isinstance(text, str):
                raise DataError(f"Row {row} of the column {column!r} is {text!r:.40}; a text is expected.")
        found = iter(tagger.predict([text for text in texts if text is not None], probabilities=probabilities))
        rows = [
            None
            if text is None
            else [
                {"start": s.start, "end": s.end, "label": s.label, "text": s.text, "probability": s.probability}
                for s in next(found)
            ]
            for text in texts
        ]
        columns = [batch.column(i) for i in range(batch.num_columns)]
        fields = [*batch.schema, arrow.field(into, kind)]
        yield type(batch).from_arrays([*columns, arrow.array(rows, kind)], schema=arrow.schema(fields))


def span_type() -> Any:
    """The Arrow type of the spans of one text."""
    arrow = _arrow()
    members = [("start", arrow.int64()), ("end", arrow.int64()), ("label", arrow.string()), ("text", arrow.string())]
    return arrow.list_(arrow.struct([*members, ("probability", arrow.float64())]))


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ConfigError(
            "Arrow needs the package pyarrow; install it with: pip install 'chainfield[frames]'."
        ) from None
    return pyarrow
