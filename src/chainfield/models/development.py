"""Development data: held out from training, to choose the best parameters by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainfield.arrays import Float
from chainfield.errors import DataError
from chainfield.features.batch import Batch

from .base import SequenceModel
from .inputs import len_of, split_sequences

Development = tuple[Sequence[Any], Sequence[Any]]


def check_development(model: SequenceModel, X_dev: Any, y_dev: Any) -> Development | None:
    """Development sequences and their labels, checked; None if there are none."""
    if X_dev is None and y_dev is None:
        return None
    if X_dev is None or y_dev is None:
        raise DataError(f"X_dev and y_dev go together, but {'X_dev' if X_dev is None else 'y_dev'} is missing.")
    sequences, truth = split_sequences(X_dev, None, "X_dev"), model._targets(y_dev, None, "y_dev")
    if len(sequences) != len(truth):
        raise DataError(f"X_dev has {len(sequences)} sequences, but y_dev has {len(truth)}.")
    if model.task_type.every_position:
        for s, (x, t) in enumerate(zip(sequences, truth, strict=True)):
            if len_of(x) != len(t):
                raise DataError(f"X_dev: sequence {s} has {len_of(x)} positions but {len(t)} labels.")
    return sequences, truth


def dev_scorer(
    model: SequenceModel, make: Callable[[Float], Any], development: Development, labels: tuple[Any, ...]
) -> Callable[[Float], float]:
    """The quality of the model's predictions, by parameters."""
    sequences, truth = development
    batch: Batch | None = None

    def score(theta: Float) -> float:
        nonlocal batch
        fitted = make(theta)
        if batch is None:
            try:
                batch = fitted.encode(sequences)
            except DataError as error:
                raise DataError(f"X_dev: {error}") from None
        return model._quality(truth, fitted.decode(batch), labels)

    return score
