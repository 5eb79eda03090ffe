"""chaine: CRFsuite once more, with another binding; it takes dicts only."""

from __future__ import annotations

import logging
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chaine.crf import Model, Trainer

from suite.trajectory import CAP, TOLERANCE, Enough, Trajectory

_ITERATION = re.compile(r"Iteration \d+, training loss: (\S+)")


class _Watch(logging.Handler):
    """chaine tells its progress through logging, in the thread that trains."""

    def __init__(self, optimum: float | None) -> None:
        super().__init__()
        self.stop_at = None if optimum is None else (1.0 + TOLERANCE) * optimum
        self.trajectory = Trajectory()
        self.begun = time.perf_counter()

    def emit(self, record: logging.LogRecord) -> None:
        """A line of its log."""
        now, text = time.perf_counter(), record.getMessage()
        if text.startswith("Start training with"):
            self.begun = now
        elif found := _ITERATION.match(text):
            self.trajectory.add(now - self.begun, float(found[1]))
            if self.stop_at is not None and self.trajectory.objective[-1] <= self.stop_at:
                raise Enough


def train(
    sequences: Sequence[Any],
    labels: Sequence[Any],
    optimum: float | None = None,
    **params: float,
) -> Trajectory:
    """Train with L-BFGS on ready dicts, all transitions included; the clock starts when the data are encoded."""
    loggers = [logging.getLogger(name) for name in ("chaine._core.crf", "chaine.crf")]
    trainer = Trainer("lbfgs", all_possible_transitions=True, **{"max_iterations": CAP, **params})
    watch = _Watch(optimum)
    kept = [logger.handlers[:] for logger in loggers]
    for logger in loggers:
        logger.handlers[:] = []
        logger.propagate = False
    loggers[0].addHandler(watch)
    try:
        with tempfile.TemporaryDirectory() as folder:
            trainer.train(sequences, labels, model_filepath=str(Path(folder) / "model"))
    except Enough:
        pass
    finally:
        for logger, handlers in zip(loggers, kept, strict=True):
            logger.handlers[:] = handlers
    return watch.trajectory


def open_model(path: str) -> Model:
    """A tagger; model files are CRFsuite's."""
    return Model(path)
