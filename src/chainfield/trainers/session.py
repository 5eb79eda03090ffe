"""The loop around a trainer: progress, development score, early stopping, checkpoints, interruption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chainfield.arrays import Array, Float
from chainfield.errors import DivergenceError
from chainfield.kernels.clock import working_time
from chainfield.problem import Trainable
from chainfield.schema import LARGEST, Part, Tensor, Value, demand, number, whole

from .interrupting import interruptible
from .trainer import State, Trainer


@dataclass(frozen=True)
class Progress:
    """What happened in an iteration, as data."""

    iteration: int
    max_iter: int
    objective: float
    gradient_norm: float | None
    dev_score: float | None
    seconds: float
    notes: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        plain = {k: v for k, v in self.__dict__.items() if k != "notes" and v is not None}
        return plain | self.notes


PARTS = Part(
    (Value("state", "object", "the plain values of the trainer's state"), Value("session", "object", "the loop's own"))
)
SESSION = Part(
    (
        Value(
            "best_score", "number", "the best development score; null: none yet", least=-LARGEST, most=LARGEST,
            null=True, infinite=True,
        ),
        whole("best_iteration", "the iteration with that score"),
        number("seconds", "how long training took"),
        Value("history", "list", "one record per iteration", of="object"),
        Value("reason", "text", "why training ended, if it did"),
    ),
    (
        Tensor(
            "best", ("F64", "F32"), ("best",),
            "the parameters to use if training ended now; those of a herd, one after the other",
        ),
    ),
)  # fmt: skip


@dataclass
class Session:
    """A training under way: the trainer's state and the best parameters so far. Can be saved and resumed."""

    state: State
    best: Float  # the parameters to use if training ended now
    best_score: float = -np.inf
    best_iteration: int = 0
    seconds: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)
    reason: str = ""

    def pack(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Arrays and plain values."""
        arrays, plain = self.state.pack()
        own = {k: getattr(self, k) for k in ("best_score", "best_iteration", "seconds", "history", "reason")}
        own["best_score"] = None if own["best_score"] == -np.inf else own["best_score"]
        return {f"state.{k}": v for k, v in arrays.items()} | {"best": self.best}, {
            "state": plain,
            "session": own,
        }

    @classmethod
    def unpack(
        cls, trainer: Trainer[Any], problem: Trainable, arrays: dict[str, Array], plain: dict[str, Any]
    ) -> Session:
        """The inverse of :meth:`pack`; refuses (by a ValueError) what the trainer could not go on from."""
        PARTS.check(plain, {}, {})
        own = dict(plain["session"])
        SESSION.check(own, arrays, {"P": problem.n_parameters})
        inner = {k.removeprefix("state."): v for k, v in arrays.items() if k.startswith("state.")}
        trainer.state_type.schema().check(plain["state"], inner, trainer.sizes(problem), "state.")
        state = trainer.state_type.unpack(inner, plain["state"])
        trainer.check_state(problem, state)
        own["best_score"] = -np.inf if own["best_score"] is None else own["best_score"]
        demand(own["best_iteration"] <= state.iteration == len(own["history"]), "the number of iterations")
        best = arrays["best"]
        sets = len(best) / max(problem.n_parameters, 1)  # a herd has several, one after the other
        demand(sets == int(sets) and best.dtype == problem.dtype, "the best parameters")
        return cls(state, np.array(best) if len(best) else trainer.parameters(state).copy(), **own)


def begin(trainer: Trainer[Any], problem: Trainable, theta: Float, *, frugal: bool = False) -> Session:
    """A session before its first iteration; ``frugal``: as for :func:`run`."""
    trainer.check(problem)
    return Session(trainer.begin(problem, theta), theta[:0].copy() if frugal else theta.copy())


def run(
    trainer: Trainer[Any],
    problem: Trainable,
    session: Session,
    *,
    dev_score: Callable[[Float], float] | None = None,
    patience: int | None = None,
    watch: Callable[[Progress], None] | None = None,
    save: Callable[[Session, bool], None] | None = None,
    frugal: bool = False,
) -> Session:
    """Train to the end. A KeyboardInterrupt passes through, with the best parameters so far left in the session.

    With a development score the best parameters by it are kept, and training ends after ``patience`` iterations
    without a better one; without it the latest parameters are the best. ``frugal``: without a development score no
    copy of them is made before the end, so that an interrupted iteration counts as far as it went.
    ``save(session, now)`` is called after every iteration, and decides whether to write; ``now``: it is the last one
    for a while. With it, Ctrl-C waits for the iteration to become whole (a second one does not).
    """
    frugal = frugal and dev_score is None
    try:
        with nullcontext() if save is None else interruptible() as interrupts:
            for progress in _iterations(trainer, problem, session, dev_score, patience, frugal):
                if save is not None:
                    save(session, False)
                try:
                    if watch is not None:
                        watch(replace(progress, notes=progress.notes | problem.engine_notes()))
                    if interrupts is not None:
                        interrupts.stop()
                except KeyboardInterrupt:
                    if save is not None:
                        save(session, True)
                    raise
    except DivergenceError as error:
        kept = f" The model of iteration {session.best_iteration} is kept." if session.history else ""
        raise DivergenceError(f"{error}{kept}") from None
    finally:
        if frugal and session.history:
            session.best = trainer.finish(session.state)
    session.reason = session.state.reason or f"the limit of {trainer.max_iter} iterations was reached"
    return session


def _iterations(
    trainer: Trainer[Any],
    problem: Trainable,
    session: Session,
    dev_score: Callable[[Float], float] | None,
    patience: int | None,
    frugal: bool,
) -> Iterator[Progress]:
    """Iterate until the trainer is done, or should stop. In between, the session is whole."""
    state = session.state
    while not state.done and state.iteration < trainer.max_iter:
        started = working_time()
        record = trainer.step(problem, state)
        score = None
        if dev_score is not None:
            parameters = trainer.parameters(state)
            score = dev_score(parameters)
            if score > session.best_score:
                session.best_score, session.best_iteration = score, record.iteration
                session.best = parameters.copy()
            elif patience is not None and record.iteration - session.best_iteration >= patience:
                state.done = True
                state.reason = f"the development score has not risen for {patience} iterations"
        else:
            if not frugal:
                session.best = trainer.keep(state, session.best)
            session.best_iteration = record.iteration
        session.seconds += working_time() - started
        progress = Progress(
            record.iteration,
            trainer.max_iter,
            record.objective,
            record.gradient_norm,
            score,
            session.seconds,
            problem.notes | record.notes,
        )
        session.history.append(progress.to_dict())
        yield progress
