"""A training under way: its progress, checkpoints, development data, and several starts where one may end badly."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, DataError, SettingWarning
from chainfield.features.batch import Batch
from chainfield.files.checkpoint import fingerprint, load_checkpoint, saver
from chainfield.files.replacing import check_writable
from chainfield.problem import Problem
from chainfield.trainers import Progress, Session, Trainer, begin, run
from chainfield.watching import NotebookBar, in_notebook

from .base import SequenceModel
from .inputs import len_of, split_sequences

Development = tuple[Sequence[Any], Sequence[Any]]

CHECKPOINT_SECONDS = 0.5  # at least; a checkpoint never takes more than a tenth of the time
# Settings that decide when training ends, not where it goes: they may change when a training is resumed.
CHANGEABLE = ("max_iter", "tol", "patience")


@dataclass(frozen=True)
class Run:
    """How a training is to go, besides the settings of the model."""

    partial: bool = False
    classes: Sequence[Any] = ()
    development: Development | None = None
    callback: Callable[[Progress], None] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    resume: bool = False


@dataclass
class Training:
    """A trainer at work on a problem, from one start or from several. ``session`` holds the best so far."""

    model: Any
    trainer: Trainer[Any]
    problem: Problem
    make: Callable[[Float], Any]
    targets: Sequence[Any]
    labels: tuple[Any, ...]
    options: Run
    session: Session | None = None
    mark: str | None = None  # tells this training from others, where there are checkpoints
    value: float = field(default=-np.inf)  # how good the best start turned out

    def run(self, theta: Float, n_starts: int, start: Callable[[int], Float]) -> None:
        """Train from θ, and from more starts if there are to be several: the best is kept."""
        self._train(theta, n_starts, start)
        if isinstance(self._watch, NotebookBar) and self.session is not None:
            self._watch.finish(self.session.reason)

    def _train(self, theta: Float, n_starts: int, start: Callable[[int], Float]) -> None:
        resumed, save = self._checkpoint(theta)
        if resumed is not None or n_starts == 1:
            frugal = self._frugal
            self.session = begin(self.trainer, self.problem, theta, frugal=frugal) if resumed is None else resumed
            run(self.trainer, self.problem, self.session, save=save, frugal=frugal, watch=self._watch, **self._judge())
            return
        for number in range(n_starts):
            self._try(number, theta if number == 0 else start(number))
        if save is not None and self.session is not None:
            save(self.session, True)

    def _try(self, number: int, theta: Float) -> None:
        """Train from one more start. The best has the best development score, if there is one; else the best merit."""

        def numbered(progress: Progress) -> None:
            if self._watch is not None:
                self._watch(replace(progress, notes=progress.notes | {"start": float(number + 1)}))

        session = begin(self.trainer, self.problem, theta)
        if self.session is None:
            self.session = session  # whatever happens, there is one
        run(self.trainer, self.problem, session, watch=numbered, **self._judge())
        value = session.best_score if np.isfinite(session.best_score) else self._merit(session.best)
        if value > self.value:
            self.session, self.value = session, value

    def _merit(self, theta: Float) -> float:
        """How good a start turned out on the training data: the objective; the labels, where scores have no scale."""
        problem = self.problem
        if problem.objective.smooth:
            return -problem.evaluate(theta)[0] - (problem.penalty(theta) if problem.l1 else 0.0)
        return float(self.model._quality(self.targets, self.make(theta).decode(problem.batch), self.labels))

    def _judge(self) -> dict[str, Any]:
        development = self.options.development
        score = development and dev_scorer(self.model, self.make, development, self.labels)
        return {"dev_score": score, "patience": self.model.patience}

    @property
    def _frugal(self) -> bool:
        # Models in single precision are large; and steps on a maximum are bounded, so that they cannot run away.
        single = self.problem.chain.dtype == "float32" and not self.problem.objective.smooth
        return single and self.options.development is None

    @property
    def _watch(self) -> Callable[[Progress], None] | None:
        if self.options.callback is not None:
            return self.options.callback
        return self._shown if self.model.verbose else None

    @cached_property
    def _shown(self) -> Callable[[Progress], None]:
        return NotebookBar() if in_notebook() else print_progress

    def _checkpoint(self, theta: Float) -> tuple[Session | None, Callable[[Session, bool], None] | None]:
        """The session of a checkpoint, if one is to be resumed, and what writes new checkpoints."""
        path = self.options.checkpoint
        if path is None:
            return None, None
        check_writable(path)
        settings = {k: v for k, v in self.model.stored_settings().items() if k not in CHANGEABLE}
        mark = self.mark = fingerprint(self.problem, theta, settings | {"labels": repr(self.labels)})
        session = None
        if self.options.resume and Path(path).exists():
            session = load_checkpoint(path, self.trainer, self.problem, mark)
            if session.state.iteration > self.trainer.max_iter:
                raise ConfigError(
                    f"The checkpoint stands at iteration {session.state.iteration} already; give a larger max_iter "
                    f"than {self.trainer.max_iter} to continue."
                )
        return session, saver(path, mark, CHECKPOINT_SECONDS)


def check_development(model: SequenceModel, X_dev: Any, y_dev: Any) -> Development | None:
    """Development sequences and their labels, checked; None if there are none."""
    if X_dev is None and y_dev is None:
        if "patience" in model.changed() and model.patience is not None:
            warnings.warn(
                f"patience={model.patience} changes nothing without development data; give X_dev and y_dev too.",
                SettingWarning,
                stacklevel=3,
            )
        return None
    if X_dev is None or y_dev is None:
        raise DataError(f"X_dev and y_dev go together, but {'X_dev' if X_dev is None else 'y_dev'} is missing.")
    sequences, truth = split_sequences(X_dev, None, "X_dev"), model._targets(y_dev, None, "y_dev")
    if len(sequences) != len(truth):
        raise DataError(f"X_dev has {len(sequences)} sequences, but y_dev has {len(truth)}.")
    if model.task_type.every_position:
        for s, (x, t) in enumerate(zip(sequences, truth, strict=True)):
            if len_of(x) != len(t):
                raise DataError(f"X_dev: sequence {s} has {len_of(x)} positions but {len(t)} labels.")
    if not model.task_type.labels_in(truth):
        raise DataError("y_dev holds no known label, so there is nothing to score by; give labels that are not None.")
    return sequences, truth


def dev_scorer(
    model: SequenceModel, make: Callable[[Float], Any], development: Development, labels: tuple[Any, ...]
) -> Callable[[Float], float]:
    """The quality of the model's predictions, by parameters."""
    sequences, truth = development
    batch: Batch | None = None

    def score(theta: Float) -> float:
        nonlocal batch
        fitted = make(theta)
        if batch is None:
            try:
                batch = fitted.encode(sequences)
            except DataError as error:
                raise DataError(f"X_dev: {error}") from None
        return model._quality(truth, fitted.decode(batch), labels)

    return score


def print_progress(progress: Progress) -> None:
    """Print one line per iteration."""
    parts = [f"iteration {progress.iteration}", f"objective {progress.objective:.6g}"]
    if progress.gradient_norm is not None:
        parts.append(f"gradient {progress.gradient_norm:.3g}")
    if progress.dev_score is not None:
        parts.append(f"dev {progress.dev_score:.4f}")
    if "lost" in progress.notes:
        parts.append(f"pruned to {progress.notes['width']:.1f} labels, {100 * progress.notes['lost']:.2f} % lost")
    print("  ".join([*parts, f"{progress.seconds:.1f} s"]))
