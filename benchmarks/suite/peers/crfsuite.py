"""python-crfsuite: CRFsuite's L-BFGS, OWL-QN and perceptron, watched from outside by the wall clock."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import pycrfsuite

from suite.trajectory import CAP, TOLERANCE, Enough, Trajectory

_LOSS = re.compile(r"Loss: (\S+)")
_TRIALS = re.compile(r"Line search trials: (\d+)")


class Watched(pycrfsuite.Trainer):  # type: ignore[misc]
    """Notes when each iteration ends; CRFsuite's own clock counts processor time."""

    def watch(self, optimum: float | None, patience: float = math.inf) -> None:
        """Before training: an optimum to stop near (None: none), and seconds after which to stop."""
        self.patience = patience
        self.stop_at = None if optimum is None else (1.0 + TOLERANCE) * optimum
        self.trajectory = Trajectory()
        self.loss: float | None = None
        self.trials = 0
        self.begun = self.last = time.perf_counter()

    def message(self, message: str) -> None:
        """What CRFsuite says, line by line: an iteration ends with an empty line."""
        now = time.perf_counter()
        if message.startswith("***** ") and not self.trajectory.seconds:
            self.begun = self.last  # the line before was written when the optimiser was started
        if found := _LOSS.match(message):
            self.loss = float(found[1])
        elif found := _TRIALS.match(message):
            self.trials = int(found[1])
        elif message == "\n" and self.loss is not None:
            self.trajectory.add(now - self.begun, self.loss, max(self.trials, 1))
            self.loss = None
            if self.stop_at is not None and self.trajectory.objective[-1] <= self.stop_at:
                raise Enough
            if now - self.begun > self.patience:
                raise Enough
        self.last = now


def train(
    sequences: Iterable[Any],
    labels: Iterable[Any],
    algorithm: str = "lbfgs",
    optimum: float | None = None,
    model: str = "",
    patience: float = math.inf,
    **params: float,
) -> Trajectory:
    """Train on ready strings, all transitions included; the clock starts when the data are encoded."""
    trainer = Watched(algorithm, verbose=False)
    trainer.set_params({"feature.possible_transitions": 1, "max_iterations": CAP, **params})
    for x, y in zip(sequences, labels, strict=True):
        trainer.append(x, y)
    trainer.watch(optimum, patience)
    with suppress(Enough):
        trainer.train(model)
    return trainer.trajectory


def open_model(path: str) -> pycrfsuite.Tagger:
    """A tagger."""
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return tagger


def tag(tagger: pycrfsuite.Tagger, sequences: Sequence[Any]) -> list[list[str]]:
    """The best labels, sequence by sequence."""
    return [tagger.tag(x) for x in sequences]
