"""Scores by name, for tools that choose models: functions of a tagger, its data and the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, final

from chainfield.errors import ConfigError, DataError
from chainfield.spans import rule_of

from .scores import sequence_accuracy, span_f1, token_accuracy
from .span_counts import Sequences, check_aligned

NOTHING_KNOWN = "y holds no known label, so there is nothing to score by; give labels that are not None."

_SCORES: dict[str, Callable[..., float]] = {
    "span_f1": span_f1,
    "token_accuracy": token_accuracy,
    "sequence_accuracy": sequence_accuracy,
}


@final
@dataclass(frozen=True)
class Scoring:
    """A score of a tagger: ``scoring(tagger, X, y)``, the larger the better, as GridSearchCV and its like call it."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """The score of the tagger's predictions for X. Where a label is unknown (None), nothing is held against it.

        A set of labels is "one of these".
        """
        guess = estimator.predict(X)
        check_aligned(y, guess)
        if all(label is None for labels in y for label in labels):
            raise DataError(NOTHING_KNOWN)
        if self.name == "token_accuracy":
            return share_right(y, guess)
        return _SCORES[self.name](filled(y, guess), guess, **self.options)


def get_scorer(name: str, *, scheme: str | None = None) -> Scoring:
    """A score by its name: span_f1, token_accuracy or sequence_accuracy.

    ``scheme``: how span_f1 reads labels, as a reading of :mod:`chainfield.spans`; "conlleval" if it is not given.
    """
    if name not in _SCORES:
        raise ConfigError(f"There is no score {name!r}; choose one of {', '.join(_SCORES)}.")
    if scheme is None:
        return Scoring(name)
    if name != "span_f1":
        raise ConfigError(f"{name} does not look at spans, so that scheme has no meaning; leave it out.")
    rule_of(scheme)
    return Scoring(name, {"scheme": scheme})


def share_right(y_true: Sequences, y_pred: Sequences, weights: Iterable[float] | None = None) -> float:
    """Share of positions with a right label among those where one is known; 0.0 if none is.

    A set of labels is right if it holds the prediction. ``weights``: how much the positions of each sequence count.
    """
    right = total = 0.0
    weights = repeat(1.0, len(y_true)) if weights is None else weights
    for weight, gold, guess in zip(weights, y_true, y_pred, strict=True):
        known = [_settled(t, p) == p for t, p in zip(gold, guess, strict=True) if t is not None]
        right += weight * sum(known)
        total += weight * len(known)
    return float(right / total) if total else 0.0


def filled(y_true: Sequences, y_pred: Sequences) -> list[list[Any]]:
    """The gold labels; the predicted one where it may be right: where gold is unknown (None), or a set that holds it.

    Of a set that does not hold it, one label stands for all.
    """
    pairs = zip(y_true, y_pred, strict=True)
    return [[_settled(t, p) for t, p in zip(gold, guess, strict=True)] for gold, guess in pairs]


def _settled(target: Any, label: Any) -> Any:
    if target is None:
        return label
    if not isinstance(target, set | frozenset) or not target:
        return target
    return label if label in target else min(target, key=str)
