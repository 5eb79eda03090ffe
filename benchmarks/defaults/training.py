"""One cell of the harness: a model of these settings, trained and judged on every split of its corpus."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import chainfield
from chainfield.errors import ChainfieldError

from .cells import Cell
from .corpora import SOURCES, Split

MACHINE = ("n_jobs", "verbose", "device")


def estimator(cell: Cell) -> Any:
    """The model, on one thread."""
    return getattr(chainfield, cell.family.kind)(n_jobs=1, **(cell.family.base | dict(cell.chosen)))


def in_effect(cell: Cell, sample: int | None) -> dict[str, Any]:
    """All settings by which a cell is known, those left at their defaults too: a new default is a new cell."""
    settings = {name: value for name, value in estimator(cell).get_params().items() if name not in MACHINE}
    return settings | {"sequences": sample}


def training(cell: Cell, sample: int | None) -> Callable[[], dict[str, Any]]:
    """What trains a cell, by code that is told apart from that of grids and reports."""
    return lambda: train(cell, sample)


def train(cell: Cell, sample: int | None) -> dict[str, Any]:
    """The score in per cent (span F1, or accuracy), its mean over splits, and CPU seconds of training."""
    scores, seconds = [], 0.0
    for split in SOURCES[cell.corpus].load():
        own, started = split.first(sample), time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # iterations may run out: that is what a default is judged by
                model = estimator(cell).fit(own.X, own.y)
                seconds += time.process_time() - started
                scores.append(judged(model, own))
        except ChainfieldError as error:
            return {"score": None, "seconds": seconds, "error": str(error)}
    return {"score": 100.0 * float(np.mean(scores)), "seconds": seconds}


def judged(model: Any, split: Split) -> float:
    """What development data are scored by: F1 of spans where labels stand for spans, else accuracy."""
    return float(model._quality(split.y_dev, list(model.predict(split.X_dev)), tuple(model.classes_)))
