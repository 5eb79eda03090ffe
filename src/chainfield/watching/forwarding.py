"""Callbacks that hand progress on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from chainfield.errors import ConfigError

if TYPE_CHECKING:
    from chainfield.trainers import Progress


def scalars(progress: Progress, prefix: str = "") -> dict[str, float]:
    """The numbers of an iteration by name: objective, gradient_norm, dev_score, seconds, and notes of the trainer."""
    found = {name: value for name, value in progress.to_dict().items() if name not in ("iteration", "max_iter")}
    return {prefix + name: float(value) for name, value in found.items()}


def log_to(log: Callable[..., Any], prefix: str = "") -> Callable[[Progress], None]:
    """A callback that gives the numbers of each iteration to ``log(numbers, step=iteration)``.

    ``mlflow.log_metrics`` and the ``log`` of a run of Weights & Biases are such functions. ``prefix`` stands in front
    of each name.

    >>> from chainfield import LinearCRF
    >>> from chainfield.watching import log_to
    >>> seen = []
    >>> crf = LinearCRF(max_iter=2)
    >>> crf = crf.fit([["a", "b"]], [["A", "B"]], callback=log_to(lambda numbers, step: seen.append((step, numbers))))
    >>> [step for step, _ in seen], seen[0][1]["objective"] > seen[1][1]["objective"]
    ([1, 2], True)
    """
    if not callable(log):
        raise ConfigError(f"log is {log!r}; a function log(numbers, step=iteration) is expected.")

    def watch(progress: Progress) -> None:
        log(scalars(progress, prefix), step=progress.iteration)

    return watch


def each_of(*callbacks: Callable[[Progress], None] | None) -> Callable[[Progress], None]:
    """One callback that calls several, in their order; None stands for nobody."""
    chosen = [callback for callback in callbacks if callback is not None]
    for callback in chosen:
        if isinstance(callback, Mapping) or not callable(callback):
            raise ConfigError(f"{callback!r} is no callback; a function of one Progress is expected.")

    def watch(progress: Progress) -> None:
        for callback in chosen:
            callback(progress)

    return watch
