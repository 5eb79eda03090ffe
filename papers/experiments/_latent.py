"""What the experiments of the latent perceptron share."""

from __future__ import annotations

import time
from typing import Any

PAPER = "Sun, Matsuzaki, Okanohara and Tsujii 2009, Latent variable perceptron algorithm for structured classification"
PUBLISHED = "published"
Sequences = list[list[Any]]


def trained(model: Any, X: Any, y: Any, **arguments: Any) -> tuple[Any, float]:
    """The model, trained, and the seconds that it took; every kernel has run once before."""
    passes = {"max_iter": 1} | ({"n_init": 1} if "n_init" in model.get_params() else {})
    warm = type(model)(**(model.get_params() | passes))
    warm.fit(X[:20], y[:20])
    started = time.perf_counter()
    model.fit(X, y, **arguments)
    return model, time.perf_counter() - started
