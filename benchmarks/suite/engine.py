"""Where the benchmarks look into chainfield: the problem behind a fit, and the time that training itself takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from chainfield import LinearCRF
from chainfield.models import run as road
from chainfield.problem import Problem

from .measure import timed
from .tasks import Task
from .trajectory import Trajectory

TIGHT = 1e-8
MOST_ITERATIONS = 5000


@dataclass
class Fit:
    """A trained model, and what it took from the moment at which the data were encoded."""

    model: LinearCRF
    problem: Problem
    encode_seconds: float
    seconds: float
    trajectory: Trajectory

    @property
    def objective(self) -> float:
        """What was reached in the end."""
        return float(self.model.history_[-1]["objective"])


@contextmanager
def begin_watched(note: Callable[[Problem], None]) -> Iterator[None]:
    """Training begins when an estimator calls ``begin`` with its problem, everything being encoded by then.

    The name is looked up by a string: it is not the estimator module's own, and type checkers would complain.
    """
    original = getattr(road, "begin")  # noqa: B009

    def begin(trainer: Any, problem: Problem, theta: Any, **options: Any) -> Any:
        note(problem)
        return original(trainer, problem, theta, **options)

    setattr(road, "begin", begin)  # noqa: B010
    try:
        yield
    finally:
        setattr(road, "begin", original)  # noqa: B010


def fit(model: LinearCRF, rows: Any, labels: Any, **options: Any) -> Fit:
    """Train, with the clock running from encoded data to the end: all preparations and the stopping rule count."""
    begun: list[tuple[float, Problem]] = []
    trajectory = Trajectory()

    def watch(progress: Any) -> None:
        trajectory.add(time.perf_counter() - begun[0][0], progress.objective, int(progress.notes.get("evaluations", 1)))

    started = time.perf_counter()
    with begin_watched(lambda problem: begun.append((time.perf_counter(), problem))):
        model.fit(rows, labels, callback=watch, **options)
    ended = time.perf_counter()
    at, problem = begun[0]
    return Fit(model, problem, at - started, ended - at, trajectory)


def linear(task: Task, **settings: Any) -> LinearCRF:
    """The model that CRFsuite and Wapiti have as well: no weights for the borders."""
    return LinearCRF(boundary=False, template=task.templates, **settings)


def optimum(task: Task, **settings: Any) -> float:
    """The lowest objective there is, by training until it hardly moves."""
    model = linear(task, tol=TIGHT, max_iter=MOST_ITERATIONS, **settings)
    return fit(model, task.train.rows, task.train.labels).objective


def warm_up(task: Task, settings: Sequence[dict[str, Any]], n: int = 60) -> None:
    """Compile what these settings need: compilation is no part of training."""
    for chosen in settings:
        linear(task, **{"max_iter": 8, **chosen}).fit(task.train.rows[:n], task.train.labels[:n])


def evaluation_seconds(problem: Problem, threads: int, times: int = 5) -> list[float]:
    """Seconds of loss and gradient."""
    problem = replace(problem, n_jobs=threads)
    theta = np.random.default_rng(0).normal(scale=0.1, size=problem.n_parameters)
    seconds = []
    with threadpool_limits(1, "blas"):
        for _ in range(times):
            started = time.perf_counter()
            problem.evaluate(theta)
            seconds.append(time.perf_counter() - started)
    return seconds


def decoding_seconds(found: Fit, threads: int, times: int = 3) -> list[float]:
    """Seconds of Viterbi, from encoded data to labels."""
    tagger = replace(found.model.tagger_, n_jobs=threads)
    with threadpool_limits(1, "blas"):
        return [timed(lambda: tagger.decode(found.problem.batch))[0] for _ in range(times)]
