"""Counts a sequence: what every score is a ratio of sums of.

Shapes: S sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import eq
from typing import Any

import numpy as np

from chainfield.arrays import Int
from chainfield.errors import DataError
from chainfield.spans import may_mark_spans, rule_of, spans

Sequences = Sequence[Sequence[str]]
"""One sequence of labels for each sequence of tokens."""


@dataclass(frozen=True, eq=False)
class SequenceCounts:
    """Token and span counts of each sequence, as arrays of shape (S,)."""

    tokens: Int
    correct_tokens: Int
    gold_spans: Int
    predicted_spans: Int
    correct_spans: Int


def check_aligned(y_true: Sequences, y_pred: Sequences, name: str = "y_pred") -> None:
    """Refuse predictions that do not lie beside the gold labels, token by token."""
    if len(y_true) != len(y_pred):
        raise DataError(
            f"y_true has {len(y_true)} sequences but {name} has {len(y_pred)}: both need the same sequences."
        )
    for index, (gold, predicted) in enumerate(zip(y_true, y_pred, strict=True)):
        for side, labels in (("y_true", gold), (name, predicted)):
            # A string is a sequence of strings, so a flat list of labels would be scored letter by letter.
            if isinstance(labels, str):
                raise DataError(f"{side}[{index}] is the string {labels!r}: give a list of labels a sequence.")
        if len(gold) != len(predicted):
            raise DataError(
                f"Sequence {index} has {len(gold)} labels in y_true but {len(predicted)} in {name}: "
                "give one label for each token."
            )


def check_strings(y_true: Sequences, y_pred: Sequences, name: str = "y_pred") -> None:
    """Refuse labels that no reading of spans can split."""
    for side, sequences in (("y_true", y_true), (name, y_pred)):
        for index, labels in enumerate(sequences):
            place = next((t for t, label in enumerate(labels) if not isinstance(label, str)), None)
            if place is not None:
                raise DataError(
                    f"{side}[{index}][{place}] is {labels[place]!r:.40}, but spans are read from strings such as B-PER "
                    "and O; use token_accuracy or evaluate for other labels."
                )


_OPEN: tuple[type[Any], ...] = (type(None), set, frozenset)  # what a label may be that is unknown, or one of several


def check_single(y_true: Sequences, y_pred: Sequences) -> None:
    """Refuse positions that do not have one label."""
    for side, sequences in (("y_true", y_true), ("y_pred", y_pred)):
        for index, labels in enumerate(sequences):
            place = next((t for t, label in enumerate(labels) if type(label) in _OPEN), None)
            if place is not None:
                raise DataError(
                    f"{side}[{index}][{place}] is {labels[place]!r:.40}, but every position needs one label here; "
                    "leave unknown ones out, or ask the model's score, which does not count them."
                )


def check_spans(y_true: Sequences) -> None:
    """Refuse gold labels that mark no spans in any scheme: what would be read into them is not there."""
    names = set(chain.from_iterable(y_true))
    if not may_mark_spans(names):
        shown = ", ".join(map(repr, sorted(names)[:3]))
        raise DataError(
            f"The labels of y_true ({shown}{' …' if len(names) > 3 else ''}) mark no spans, as B-PER, I-PER and O do; "
            "use token_accuracy, or evaluate for the scores of single labels."
        )


def correct_token_counts(y_true: Sequences, y_pred: Sequences) -> Int:
    """Number of tokens of each sequence whose label is right, shape (S,)."""
    pairs = zip(y_true, y_pred, strict=True)
    return np.array([sum(map(eq, gold, predicted)) for gold, predicted in pairs], dtype=np.int64)


def token_counts(y_true: Sequences) -> Int:
    """Number of tokens of each sequence, shape (S,)."""
    return np.array([len(gold) for gold in y_true], dtype=np.int64)


def count(y_true: Sequences, y_pred: Sequences, scheme: str = "conlleval", name: str = "y_pred") -> SequenceCounts:
    """Count tokens and spans of aligned sequences; a span is correct if type, start and end are.

    ``name``: that of the predictions in messages.
    """
    rule_of(scheme)
    check_aligned(y_true, y_pred, name)
    check_strings(y_true, y_pred, name)
    # shape: (S, 3), columns gold, predicted, correct
    n_spans = np.zeros((len(y_true), 3), dtype=np.int64)
    for index, (gold, predicted) in enumerate(zip(y_true, y_pred, strict=True)):
        true_spans, found_spans = spans(gold, scheme), spans(predicted, scheme)
        n_correct = len(set(true_spans).intersection(found_spans))
        n_spans[index] = len(true_spans), len(found_spans), n_correct
    return SequenceCounts(
        tokens=token_counts(y_true),
        correct_tokens=correct_token_counts(y_true, y_pred),
        gold_spans=n_spans[:, 0],
        predicted_spans=n_spans[:, 1],
        correct_spans=n_spans[:, 2],
    )
