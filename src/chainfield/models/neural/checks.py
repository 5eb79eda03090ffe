"""Hyper-parameters and word vectors of the neural CRF: are they possible at all?"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from chainfield.arrays import Single
from chainfield.errors import ConfigError, DataError
from chainfield.models.settings import check_decoder

from .vectors import read_vectors

CHOICES = {"chars": ("lstm", "cnn", "none"), "context": ("none", "lstm"), "order": (1, 2)}
FASTEST_DECAY = 0.05
SIZES = ("states_per_label", "char_dim", "char_hidden", "context_hidden", "hidden", "batch_size", "max_iter")


def check_neural_settings(model: Any) -> None:
    """Refuse hyper-parameters that make no sense, before any work is done."""
    check_decoder(model)
    for name, choices in CHOICES.items():
        if getattr(model, name) not in choices:
            known = ", ".join(map(str, choices))
            raise ConfigError(f"{name} is {getattr(model, name)!r}; choose one of {known}.")
    for name in SIZES:
        _demand(model, name, 1, whole=True)
    for name in ("rank", "word_dim"):
        if getattr(model, name) is not None:
            _demand(model, name, 1, whole=True)
    for name in ("min_count", "word_column"):
        _demand(model, name, 0, whole=True)
    if model.patience is not None:
        _demand(model, "patience", 0, whole=True)
    for name in ("learning_rate", "clip", "l2"):
        _demand(model, name, 0, whole=False, strict=name != "l2")
    if model.learning_rate * model.l2 > FASTEST_DECAY:
        raise ConfigError(
            f"learning_rate · l2 is {model.learning_rate * model.l2:g}; weights would lose more than {FASTEST_DECAY:g} "
            "of themselves a step. Lower one of them."
        )
    for name in ("dropout", "unknown"):
        _demand(model, name, 0, whole=False)
        if getattr(model, name) > 1 or (name == "dropout" and model.dropout == 1):
            raise ConfigError(f"{name} is {getattr(model, name)!r}; a share from 0 to below 1 is expected.")


def _demand(model: Any, name: str, low: float, *, whole: bool, strict: bool = False) -> None:
    value = getattr(model, name)
    kind: Any = numbers.Integral if whole else numbers.Real
    fits = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(float(value))
    if not fits or value < low or (strict and value == low):
        what = "a whole number" if whole else "a number"
        raise ConfigError(f"{name} is {value!r}; {what} {'above' if strict else 'of at least'} {low:g} is expected.")


def known_vectors(given: Any, dimension: int | None) -> tuple[Sequence[str], Single]:
    """Words and their vectors: from a file, or as they are given; none of either if there are none."""
    if given is None:
        return [], np.empty((0, 0), np.float32)
    if isinstance(given, str | PathLike):
        words, table = read_vectors(given)
        what = str(given)
    else:
        try:
            words, table = given
            words, table, what = list(words), np.asarray(table, np.float32), "vectors"
        except (TypeError, ValueError):
            raise ConfigError("vectors must be the name of a file, or a pair of words and an array.") from None
        if table.ndim != 2 or len(table) != len(words) or not all(isinstance(w, str) for w in words):
            raise DataError(
                f"vectors has {len(words)} words and an array of the shape {table.shape}; give a row a word."
            )
        if not np.isfinite(table).all():
            raise DataError("vectors holds NaN or infinite numbers.")
    if dimension is not None and table.shape[1] != dimension:
        raise DataError(f"{what} has vectors of {table.shape[1]} dimensions, but word_dim is {dimension}.")
    first = {word: i for i, word in reversed(list(enumerate(words)))}
    if len(first) < len(words):
        words, table = list(first), table[list(first.values())]
    return words, table
