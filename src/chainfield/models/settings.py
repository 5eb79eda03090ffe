"""Hyper-parameters that every model has: are they possible at all?"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from chainfield.errors import ConfigError


def check_settings(model: Any) -> None:
    """Refuse hyper-parameters that make no sense, before any work is done."""
    model._objective()
    check_decoder(model)

    check_whole(model, "min_count", 0)
    for name in ("margin", "l1"):
        check_number(model, name, 0)
    check_number(model, "l2", 0, optional=True)
    for name in ("max_iter", "batch_size", "restart_every"):
        check_whole(model, name, 1, optional=True)
    check_whole(model, "n_init", 1)
    for name in ("average_from", "patience"):
        check_whole(model, name, 0, optional=True)
    for name in ("tol", "learning_rate"):
        check_number(model, name, 0, optional=True, strict=True)


def check_number(
    model: Any, name: str, low: float, *, optional: bool = False, strict: bool = False, kinds: Any = numbers.Real
) -> None:
    """Refuse a setting that is no number, or too small; ``strict``: it must be above ``low``."""
    value: Any = getattr(model, name)
    if (value is None and optional) or (value == "auto" and name in getattr(model, "choosable", ())):
        return
    fits = isinstance(value, kinds) and not isinstance(value, bool) and np.isfinite(float(value))
    if not fits or value < low or (strict and value == low):
        what = "a whole number" if kinds is numbers.Integral else "a number"
        raise ConfigError(f"{name} is {value!r}; {what} {'above' if strict else 'of at least'} {low:g} is expected.")


def check_whole(model: Any, name: str, low: float, *, optional: bool = False) -> None:
    """The same for whole numbers."""
    check_number(model, name, low, optional=optional, kinds=numbers.Integral)


def check_decoder(model: Any) -> None:
    """Refuse a decoder that the model does not have; classifiers have none."""
    decoders = getattr(model, "decoders", None)
    if decoders is not None and model.decoder not in decoders:
        raise ConfigError(f"Unknown decoder {model.decoder!r}; choose one of {', '.join(decoders)}.")


def seed_of(state: Any) -> int:
    """A seed from anything that scikit-learn takes for random_state; None stands for 0."""
    if state is None:
        return 0
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31 - 1))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31 - 1))
    if not isinstance(state, numbers.Integral) or state < 0:
        raise ConfigError(f"random_state is {state!r}; a whole number of at least 0 is expected.")
    return int(state)
