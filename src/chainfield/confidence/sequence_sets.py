"""Sets of label sequences that hold the right one with a promised probability.

The n best label sequences of a model come with their probabilities. A set holds those whose probability is above a
threshold that was learned on held-out data, which gives the smallest sets (Sadinle et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from chainfield.errors import ConfigError, DataError

from .conformal import conformal_threshold


@final
@dataclass(frozen=True)
class AnswerSet:
    """Label sequences with their probabilities, best first; ``complete``: the listed ones reached the threshold."""

    answers: tuple[tuple[tuple[Any, ...], float], ...]
    complete: bool

    def __len__(self) -> int:
        return len(self.answers)

    def __contains__(self, labels: object) -> bool:
        return isinstance(labels, Sequence) and tuple(labels) in {answer for answer, _ in self.answers}


@final
@dataclass(frozen=True, eq=False)
class SequenceSets:
    """A fitted tagger with a threshold: ``SequenceSets.fit(model, X, y)`` on data that the model was not trained on."""

    model: Any
    threshold: float  # of 1 - probability
    alpha: float
    n: int  # answers that are listed at most

    @classmethod
    def fit(cls, model: Any, X: Any, y: Any, *, alpha: float = 0.1, n: int = 100) -> SequenceSets:
        """Learn the threshold; ``n``: how many answers a set has at most."""
        if n < 1:
            raise ConfigError(f"n is {n}; sets have at least one answer.")
        best = model.predict_n_best(X, n)
        if len(best) != len(y):
            raise DataError(f"X has {len(best)} sequences, but y has {len(y)}.")
        scores = [_score(found, truth) for found, truth in zip(best, y, strict=True)]
        return cls(model, conformal_threshold(scores, alpha), alpha, n)

    def predict(self, X: Any) -> list[AnswerSet]:
        """The set of each sequence; it holds the best answer at least."""
        return [self._set(found) for found in self.model.predict_n_best(X, self.n)]

    def _set(self, found: list[tuple[list[Any], float]]) -> AnswerSet:
        inside = [pair for i, pair in enumerate(found) if i == 0 or 1.0 - pair[1] <= self.threshold]
        # What is not listed has no more than the last one that is, and no more than what is left.
        rest = min(found[-1][1], 1.0 - sum(p for _, p in found)) if found else 0.0
        complete = len(inside) < len(found) or 1.0 - rest > self.threshold or rest < 1e-9
        return AnswerSet(tuple((tuple(labels), p) for labels, p in inside), complete)


def _score(found: list[tuple[list[Any], float]], truth: Sequence[Any]) -> float:
    wanted = list(truth)
    return 1.0 - next((p for labels, p in found if list(labels) == wanted), 0.0)
