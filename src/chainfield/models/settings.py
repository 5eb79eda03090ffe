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

    def demand(name: str, low: float, kinds: Any, optional: bool, strict: bool = False) -> None:
        value: Any = getattr(model, name)
        if value is None and optional:
            return
        fits = isinstance(value, kinds) and not isinstance(value, bool) and np.isfinite(float(value))
        if not fits or value < low or (strict and value == low):
            what = "a whole number" if kinds is numbers.Integral else "a number"
            raise ConfigError(
                f"{name} is {value!r}; {what} {'above' if strict else 'of at least'} {low:g} is expected."
            )

    for name in ("min_count", "margin", "l1"):
        demand(name, 0, numbers.Integral if name == "min_count" else numbers.Real, False)
    demand("l2", 0, numbers.Real, True)
    for name in ("max_iter", "batch_size", "restart_every"):
        demand(name, 1, numbers.Integral, True)
    for name in ("average_from", "patience"):
        demand(name, 0, numbers.Integral, True)
    for name in ("tol", "learning_rate"):
        demand(name, 0, numbers.Real, True, strict=True)


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
