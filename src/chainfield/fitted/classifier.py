"""A fitted classifier: a label for every sequence as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.features.batch import Batch
from chainfield.inference import class_log_probabilities, class_scores
from chainfield.tasks import Classifying, check_long_enough

from .model import FittedModel


@dataclass(frozen=True, eq=False)
class Classifier(FittedModel):
    """Predicts one label per sequence, over class blocks.

    The best class is that of the largest sum over paths, or of the best path if the model was trained with ``how``
    "max". The best state path of a sequence, within its label if that is given, comes from ``states``.
    """

    task: Classifying

    def predict(self, sequences: Sequence[Any]) -> list[Any]:
        """The best label of each sequence."""
        return self.decode(self.encode(sequences))

    def decode(self, batch: Batch) -> list[Any]:
        """The same for sequences that are encoded already."""
        return self.task.decode(self.labels(batch), batch.offsets)

    def labels(self, batch: Batch) -> Int32:
        """(S,) the best labels by number."""
        return self.scores(batch).argmax(axis=1).astype(np.int32)

    def scores(self, batch: Batch) -> Float:
        """(S, L) the scores of labels, each up to a number that a sequence's labels share; the best has the largest."""
        parts = self.map(lambda space, p: class_scores(space, p, self.how), batch)
        return np.concatenate(parts or [np.empty((0, len(self.task.labels)))])

    def log_probabilities(self, sequences: Sequence[Any]) -> Float:
        """(S, L) log-probabilities of labels, exact however small they are."""
        parts = self.map(class_log_probabilities, self.encode(sequences))
        return np.concatenate(parts or [np.empty((0, len(self.task.labels)))])

    def probabilities(self, sequences: Sequence[Any]) -> Float:
        """(S, L) probabilities of labels."""
        return np.exp(self.log_probabilities(sequences))

    def encode(self, sequences: Sequence[Any]) -> Batch:
        """Sequences as numbers; refuses those that are shorter than every path."""
        batch = super().encode(sequences)
        check_long_enough(self.chain.space, batch.offsets)
        return batch
