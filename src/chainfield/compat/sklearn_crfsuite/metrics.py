"""Scores over the items of all sequences, by scikit-learn's functions, and over whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .utils import flatten


def flat_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of items that are right."""
    return _flat("accuracy_score", y_true, y_pred)


def flat_precision_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Precision over items."""
    return _flat("precision_score", y_true, y_pred, **kwargs)


def flat_recall_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Recall over items."""
    return _flat("recall_score", y_true, y_pred, **kwargs)


def flat_f1_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """F1 over items."""
    return _flat("f1_score", y_true, y_pred, **kwargs)


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **kwargs: Any) -> Any:
    """F-beta over items."""
    return _flat("fbeta_score", y_true, y_pred, beta=beta, **kwargs)


def flat_classification_report(y_true: Any, y_pred: Any, labels: Any = None, **kwargs: Any) -> Any:
    """Scikit-learn's report over items."""
    return _flat("classification_report", y_true, y_pred, labels=labels, **kwargs)


def sequence_accuracy_score(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    """The share of sequences that are right as a whole."""
    total = len(y_true)
    pairs = zip(y_true, y_pred, strict=True)
    return sum(list(truth) == list(guess) for truth, guess in pairs) / total if total else 0.0


def _flat(name: str, y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    from sklearn import metrics

    return getattr(metrics, name)(flatten(y_true), flatten(y_pred), **kwargs)
