"""The labels of a training, with warnings where they look wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from chainfield.errors import DataError, DataWarning
from chainfield.files.values import to_json
from chainfield.tasks import Task, ordered_labels

MANY_LABELS = 100
_CALLER = 5  # frames up to the line that called fit


def check_savable(labels: Iterable[Any]) -> None:
    """Refuse labels that a model file cannot hold: after training it would be too late."""
    for label in labels:
        if not (type(label) is str and label.isascii()):
            to_json(label, "label")


def all_labels(
    task: type[Task],
    targets: Sequence[Any],
    known: Iterable[Any],
    development: tuple[Any, Sequence[Any]] | None,
    n: int | None = None,
) -> tuple[Any, ...]:
    """The labels of the targets and those that are known besides, in order; n: how many places there are for labels."""
    labels = ordered_labels([*known, *task.labels_in(targets)])
    if not labels:
        raise DataError("y holds no label at all; at least one position needs a known label.")
    check_savable(labels)
    if n is None:
        n = sum(map(len, targets)) if task.every_position else len(targets)
    what = "positions" if task.every_position else "sequences"
    if len(labels) > MANY_LABELS and 5 * len(labels) > n:
        warnings.warn(
            f"There are {len(labels)} labels for {n} {what}; are X and y swapped, or is the label in another column?",
            DataWarning,
            stacklevel=_CALLER,
        )
    strange = set() if development is None else set(task.labels_in(development[1])) - set(labels)
    if strange:
        names = ", ".join(sorted(map(repr, strange))[:5])
        warnings.warn(
            f"The development data have labels that training never saw; they count as errors: {names}.",
            DataWarning,
            stacklevel=_CALLER,
        )
    return labels
