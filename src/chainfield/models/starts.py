"""Several random starts, of which the best is kept: objectives with hidden states have many optima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chainfield.arrays import Float
from chainfield.problem import Problem
from chainfield.trainers import Progress, Session, Trainer, begin, run


@dataclass
class Starts:
    """Trainings of one problem from several starts. The best has the best development score, if there is one; else
    the best ``merit`` of its parameters. Ties go to the first.
    """

    trainer: Trainer[Any]
    problem: Problem
    merit: Callable[[Float], float]
    best: Session | None = None
    value: float = field(default=-np.inf)

    def add(self, number: int, theta: Float, watch: Callable[[Progress], None] | None = None, **arguments: Any) -> None:
        """Train from one more start. ``arguments``: those of ``run``."""

        def numbered(progress: Progress) -> None:
            if watch is not None:
                watch(replace(progress, notes=progress.notes | {"start": float(number + 1)}))

        session = begin(self.trainer, self.problem, theta)
        if self.best is None:
            self.best = session  # whatever happens, there is one
        run(self.trainer, self.problem, session, watch=numbered, **arguments)
        value = session.best_score if np.isfinite(session.best_score) else self.merit(session.best)
        if value > self.value:
            self.best, self.value = session, value
