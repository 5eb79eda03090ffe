"""What ``chainfield train`` learns from: column files for taggers, arrays for models of whole sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chainfield.errors import ConfigError, DataError


@dataclass(frozen=True)
class TrainingData:
    """Sequences with their labels, and development data beside them."""

    source: str
    size: str  # as a person reads it
    X: Any
    y: Any
    X_dev: Any = None
    y_dev: Any = None
    notes: dict[str, Any] = field(default_factory=dict)  # for the model file
    named: Callable[[DataError], Exception] = lambda error: error  # an error with the name of what it is about


def load_columns(data: str, dev: str | None, columns: dict[str, Any]) -> TrainingData:
    """Column files: one label per token."""
    from chainfield.data import load_corpus

    if data.endswith(".npz"):
        raise ConfigError(f"{data} holds arrays; --model hmm and --model hcrf learn from them.")
    corpus = load_corpus(data, **columns)
    held_out = load_corpus(dev, **columns) if dev else None
    width = len(corpus.rows[0][0])
    if held_out is not None and len(held_out.rows[0][0]) != width:
        raise DataError(
            f"{held_out.source} has {len(held_out.rows[0][0]) + 1} columns, but {corpus.source} has {width + 1}."
        )
    return TrainingData(
        corpus.source,
        f"{len(corpus.rows):,} sentences, {sum(map(len, corpus.rows)):,} tokens",
        corpus.rows,
        corpus.labels,
        None if held_out is None else held_out.rows,
        None if held_out is None else held_out.labels,
        {"label_column": columns["label_column"], "separator": corpus.separator},
    )


def load_sequences(data: str, dev: str | None) -> TrainingData:
    """Arrays: one label per sequence."""
    from chainfield.data.array_corpus import load_arrays

    found = load_arrays(data)
    held_out = load_arrays(dev) if dev else None
    for part in (found, held_out):
        if part is not None and not part.labelled:
            raise DataError(f"{part.source} has no labels; give y in the .npz file, or a folder for each label.")
    return TrainingData(
        found.source,
        f"{len(found.sequences):,} sequences, {sum(map(len, found.sequences)):,} positions",
        found.sequences,
        found.labels,
        None if held_out is None else held_out.sequences,
        None if held_out is None else held_out.labels,
        named=found.named,
    )
