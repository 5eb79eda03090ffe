"""Development data: held out from training, to choose the best parameters by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import DataError
from chainfield.features.batch import Batch
from chainfield.fitted import Tagger
from chainfield.metrics import span_f1, token_accuracy
from chainfield.spans import has_spans

from .inputs import len_of, split_sequences

Float = NDArray[np.float64]


def check_development(X_dev: Any, y_dev: Any) -> tuple[Sequence[Any], Sequence[Any]] | None:
    """Development sequences and their labels, checked; None if there are none."""
    if X_dev is None and y_dev is None:
        return None
    if X_dev is None or y_dev is None:
        raise DataError(f"X_dev and y_dev go together, but {'X_dev' if X_dev is None else 'y_dev'} is missing.")
    sequences, truth = split_sequences(X_dev, None, "X_dev"), split_sequences(y_dev, None, "y_dev")
    if len(sequences) != len(truth):
        raise DataError(f"X_dev has {len(sequences)} sequences, but y_dev has {len(truth)}.")
    for s, (x, t) in enumerate(zip(sequences, truth, strict=True)):
        if len_of(x) != len(t):
            raise DataError(f"X_dev: sequence {s} has {len_of(x)} positions but {len(t)} labels.")
    return sequences, truth


def dev_scorer(
    make: Callable[[Float], Tagger], sequences: Sequence[Any], truth: Sequence[Any], labels: tuple[Any, ...]
) -> Callable[[Float], float]:
    """Span F1 where labels stand for spans, else token accuracy."""
    batch: Batch | None = None
    textual = all(isinstance(label, str) for label in labels) and has_spans(labels)

    def score(theta: Float) -> float:
        nonlocal batch
        tagger = make(theta)
        batch = tagger.features.encode(sequences) if batch is None else batch
        guess = tagger.decode(batch)
        # Where the truth is not known, nothing is counted against the prediction.
        known = [[p if t is None else t for t, p in zip(*pair, strict=True)] for pair in zip(truth, guess, strict=True)]
        return span_f1(known, guess) if textual else token_accuracy(known, guess)

    return score
