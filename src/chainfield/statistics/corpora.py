"""What to count in a corpus: labels with labels, words with labels, features with labels, words with words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from chainfield.errors import DataError
from chainfield.features.attributes import sequence_attributes
from chainfield.features.template import TemplateSet

from .association import Association, associate


def label_pairs(labels: Sequence[Sequence[Any]], *, strength: float = 0.0) -> Association:
    """Labels and the labels behind them. Unknown labels (None) are left out."""
    steps = (step for sequence in labels for step in pairwise(sequence))
    return associate((step for step in steps if None not in step), strength)


def words_with_labels(
    sequences: Sequence[Sequence[Any]], labels: Sequence[Sequence[Any]], *, column: int = 0, strength: float = 0.0
) -> Association:
    """Words and their labels; of rows of several columns, the one that is named."""
    words = ([_cell(row, column) for row in rows] for rows in sequences)
    return associate(_with_labels(words, sequences, labels), strength)


def word_pairs(sequences: Sequence[Sequence[Any]], *, column: int = 0, strength: float = 0.0) -> Association:
    """Words and the words behind them."""
    words = ([_cell(row, column) for row in rows] for rows in sequences)
    return associate((step for own in words for step in pairwise(own)), strength)


def features_with_labels(
    sequences: Sequence[Sequence[Any]],
    labels: Sequence[Sequence[Any]],
    template: TemplateSet | None = None,
    *,
    strength: float = 0.0,
) -> Association:
    """Features and the labels of their positions: those of a template, or attributes (dicts, lists of strings)."""

    def features() -> Iterator[list[list[str]]]:
        for s, rows in enumerate(sequences):
            if template is None:
                found = sequence_attributes(rows, f"Sequence {s}")
                yield [[name for name, value in own if value] for own in found]
            else:
                yield template.expand([(row,) if isinstance(row, str) else row for row in rows])[0]

    pairs = _with_labels(features(), sequences, labels)
    return associate(((name, label) for names, label in pairs for name in names), strength)


def _cell(row: Any, column: int) -> Any:
    if isinstance(row, str):
        return row
    if not isinstance(row, tuple | list) or not -len(row) <= column < len(row):
        raise DataError(f"{row!r:.40} has no column {column}; give strings, or rows of columns.")
    return row[column]


def _with_labels(
    events: Iterator[Sequence[Any]], sequences: Sequence[Any], labels: Sequence[Sequence[Any]]
) -> Iterator[tuple[Any, Any]]:
    if len(sequences) != len(labels):
        raise DataError(f"X has {len(sequences)} sequences, but there are labels for {len(labels)}.")
    for s, (own, given) in enumerate(zip(events, labels, strict=True)):
        if len(own) != len(given):
            raise DataError(f"Sequence {s} has {len(own)} positions but {len(given)} labels.")
        yield from ((event, label) for event, label in zip(own, given, strict=True) if label is not None)
