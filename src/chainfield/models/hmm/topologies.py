"""Class blocks as users describe them: left to right, ergodic, or a matrix of their own."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from chainfield.errors import ConfigError
from chainfield.states import StateSpace, class_blocks, left_to_right, partitioned, topology

TOPOLOGIES = ("left-to-right", "ergodic")


def block_space(n_classes: int, n_states: Any, kind: Any, skip: Any) -> StateSpace:
    """A block of states a class, all of the same form.

    ``kind``: "left-to-right" (stay, or go ahead by up to ``skip``; starts at the first state, ends at the last),
    "ergodic" (every state follows every state), or a square boolean matrix [from, to], alone or as a tuple
    (matrix, starts, ends).
    """
    if isinstance(kind, str):
        for name, value in (("n_states", n_states), ("skip", skip)):
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
                raise ConfigError(f"{name} is {value!r}; a whole number of at least 1 is expected.")
        if kind not in TOPOLOGIES:
            raise ConfigError(f"Unknown topology {kind!r}; choose one of {', '.join(TOPOLOGIES)}, or give a matrix.")
        block = left_to_right(int(n_states), skip=int(skip)) if kind == TOPOLOGIES[0] else partitioned([int(n_states)])
    else:
        parts = kind if isinstance(kind, tuple) else (kind,)
        try:
            block = topology(*parts)
        except (TypeError, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                "topology is no name and no matrix; give a square matrix of allowed transitions, or a tuple (matrix, "
                "starts, ends)."
            ) from None
    return class_blocks([block] * n_classes)


def plainly(model: Any, settings: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The settings of a model, with a topology of arrays as lists: model files hold plain values."""
    own = model.topology
    if isinstance(own, str):
        return settings()
    parts = own if isinstance(own, tuple) else (own,)
    model.topology = tuple(None if part is None else np.asarray(part, np.bool_).tolist() for part in parts)
    try:
        return settings()
    finally:
        model.topology = own
