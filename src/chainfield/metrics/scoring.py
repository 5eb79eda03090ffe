"""Scores by name, for tools that choose models: functions of a tagger, its data and the labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from chainfield.errors import ConfigError
from chainfield.spans import rule_of

from .scores import sequence_accuracy, span_f1, token_accuracy
from .span_counts import Sequences, check_aligned

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
        """The score of the tagger's predictions for X. Where a label is unknown (None), nothing is held against it."""
        guess = estimator.predict(X)
        check_aligned(y, guess)
        if self.name == "token_accuracy":
            return token_accuracy(*_known(y, guess))
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


def filled(y_true: Sequences, y_pred: Sequences) -> list[list[Any]]:
    """The gold labels; where one is unknown (None), the predicted one."""
    pairs = zip(y_true, y_pred, strict=True)
    return [[p if t is None else t for t, p in zip(gold, guess, strict=True)] for gold, guess in pairs]


def _known(y_true: Sequences, y_pred: Sequences) -> tuple[Sequence[Any], Sequence[Any]]:
    """Both, without the positions whose gold label is unknown."""
    pairs = [
        [(t, p) for t, p in zip(gold, guess, strict=True) if t is not None]
        for gold, guess in zip(y_true, y_pred, strict=True)
    ]
    return [[t for t, _ in pair] for pair in pairs], [[p for _, p in pair] for pair in pairs]
