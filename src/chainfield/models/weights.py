"""Weights of sequences and of labels, as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError, DataError


def sequence_weights(given: Any, n_sequences: int) -> Float:
    """(S,) the weights of sequences; 1 each if none are given."""
    weight = np.ones(n_sequences) if given is None else np.asarray(given, np.float64)
    if weight.shape != (n_sequences,):
        raise DataError(f"sample_weight has shape {weight.shape}; one weight for each of {n_sequences} sequences.")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise DataError("sample_weight must be finite and not negative.")
    if not weight.any():
        raise DataError("sample_weight is 0 for every sequence; at least one must count.")
    return weight


def check_class_weight(given: Any, labels: tuple[Any, ...]) -> None:
    """Refuse class weights that make no sense, before any work is done."""
    if given is None or (isinstance(given, str) and given == "balanced"):
        return
    if not isinstance(given, dict):
        raise ConfigError(f'class_weight is {given!r}; give a dict of weights, or "balanced".')
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise ConfigError(f"class_weight names {unknown[0]!r}, which is not a label of the training data.")
    for label, weight in given.items():
        try:
            value = float(weight)
        except (TypeError, ValueError):
            raise ConfigError(f"Class weights must be numbers, but that of {label!r} is {weight!r}.") from None
        if not (np.isfinite(value) and value > 0):
            raise ConfigError(f"Class weights must be finite and larger than 0, but that of {label!r} is {weight!r}.")


def label_weights(given: Any, labels: tuple[Any, ...], counts: Int) -> Float:
    """(L,) the weights of labels; "balanced" makes each label count the same, whatever its count."""
    if isinstance(given, str):
        counts = np.maximum(counts, 1)
        return counts.sum() / (len(labels) * counts)
    return np.array([float(given.get(label, 1.0)) for label in labels])
