"""Sets of label sequences that hold the right one with a promised probability.

The n best label sequences of a model come with their probabilities. A set takes them, best first, until their mass has
reached a threshold that was learned on held-out data (adaptive prediction sets, Romano et al. 2020). The score of a
held-out example is the mass in front of its right answer, and a random share u of its own: so the promise is met, not
exceeded. The same u, from a seed, decides about the last answer of each set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from chainfield.arrays import Float
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
    threshold: float
    alpha: float
    n: int  # answers that are listed at most
    seed: int

    @classmethod
    def fit(cls, model: Any, X: Any, y: Any, *, alpha: float = 0.1, n: int = 100, seed: int = 0) -> SequenceSets:
        """Learn the threshold; ``n``: how many answers a set has at most."""
        if n < 1:
            raise ConfigError(f"n is {n}; sets have at least one answer.")
        best = model.predict_n_best(X, n)
        if len(best) != len(y):
            raise DataError(f"X has {len(best)} sequences, but y has {len(y)}.")
        shares = np.random.default_rng(seed).random(len(best))
        scores = [_score(found, truth, u) for found, truth, u in zip(best, y, shares.tolist(), strict=True)]
        return cls(model, conformal_threshold(scores, alpha), alpha, n, seed)

    def predict(self, X: Any, *, seed: int | None = None) -> list[AnswerSet]:
        """The set of each sequence; it holds the best answer at least."""
        best = self.model.predict_n_best(X, self.n)
        shares = np.random.default_rng(self.seed + 1 if seed is None else seed).random(len(best))
        return [self._set(found, u) for found, u in zip(best, shares.tolist(), strict=True)]

    def _set(self, found: list[tuple[list[Any], float]], share: float) -> AnswerSet:
        p = np.array([probability for _, probability in found])
        inside = max(1, int(np.searchsorted(_masses(p, share), self.threshold, side="right")))
        # All that there is was listed if it has the whole mass; otherwise more answers might belong to the set.
        complete = inside < len(found) or p.sum() > 1 - 1e-9
        return AnswerSet(tuple((tuple(labels), q) for labels, q in found[:inside]), complete)


def _masses(p: Float, share: float) -> Float:
    """The mass in front of each answer, and a share of its own: ascending."""
    return np.cumsum(p) - p + share * p


def _score(found: list[tuple[list[Any], float]], truth: Sequence[Any], share: float) -> float:
    wanted = list(truth)
    place = next((i for i, (labels, _) in enumerate(found) if list(labels) == wanted), None)
    if place is None:
        return 1.0  # behind everything that is listed
    return float(_masses(np.array([q for _, q in found]), share)[place])
