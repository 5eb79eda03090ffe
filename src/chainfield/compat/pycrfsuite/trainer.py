"""``Trainer``: collects sequences, trains by one of CRFsuite's five algorithms, and writes a ``.crfsuite`` file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from chainfield.compat.crfsuite import CrfsuiteModel, write_crfsuite
from chainfield.compat.crfsuite.translate import as_bytes
from chainfield.errors import ModelFileError
from chainfield.files.replacing import check_writable, replace_file
from chainfield.parallel import one_blas_thread
from chainfield.trainers import Progress, begin, run
from chainfield.trainers.averaging import AveragedState

from . import report
from ._logparser import TrainLogParser
from .dataset import Dataset
from .items import whole_number
from .parameters import ALGORITHMS, ALIASES
from .training import Task, compose

_NONE = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


class PathError(ModelFileError, OSError):
    """A place where no model can be written; CRFsuite trains, writes nothing and says nothing."""


class BaseTrainer:
    """Data, an algorithm and its parameters. ``message`` receives the log, line by line."""

    _ALGORITHM_ALIASES: ClassVar[dict[str, str]] = ALIASES

    def __new__(cls, *_: Any, **__: Any) -> BaseTrainer:
        """Subclasses whose __init__ does not call this one's work, as they do with python-crfsuite."""
        self = super().__new__(cls)
        self.verbose = True
        self._data = Dataset()
        self._algorithm = "lbfgs"
        self._values = {name: parameter.default for name, parameter in ALGORITHMS["lbfgs"].items()}
        return self

    verbose: bool
    _data: Dataset
    _algorithm: str
    _values: dict[str, Any]

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    # ---- the algorithm and its parameters ------------------------------------------------------------------------

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose lbfgs, l2sgd, ap, pa or arow; its parameters get their defaults."""
        name = algorithm.lower()
        name = ALIASES.get(name, name)
        if name not in ALGORITHMS or type != "crf1d":
            known = ", ".join(ALGORITHMS)
            raise ValueError(f"Bad arguments: algorithm={algorithm!r}, type={type!r}; there are {known}, and crf1d.")
        self._algorithm = name
        self._values = {key: parameter.default for key, parameter in ALGORITHMS[name].items()}

    def params(self) -> list[str]:
        """The names of the parameters."""
        return list(self._values)

    def set(self, name: str, value: Any) -> None:
        """Give a parameter a value."""
        parameter = ALGORITHMS[self._algorithm].get(name)
        if parameter is None:
            raise ValueError(f"Parameter not found: {name} = {value}; {self._algorithm} has {', '.join(self._values)}.")
        text = str(int(value)) if isinstance(value, bool) else str(value)
        try:
            found = parameter.read(text)
        except (ValueError, OverflowError):
            raise ValueError(f"{name} is {value!r}; a number is expected.") from None
        if isinstance(found, float) and not np.isfinite(found):
            raise ValueError(f"{name} is {value!r}; a finite number is expected.")
        self._values[name] = found

    def get(self, name: str) -> Any:
        """The value of a parameter."""
        if name not in self._values:
            raise ValueError(f"Parameter not found: {name}; {self._algorithm} has {', '.join(self._values)}.")
        return self._values[name]

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Give several parameters values."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """All parameters."""
        return dict(self._values)

    def help(self, name: str) -> str:
        """What a parameter means."""
        self.get(name)
        return ALGORITHMS[self._algorithm][name].help

    # ---- data ----------------------------------------------------------------------------------------------------

    def append(self, xseq: Any, yseq: Sequence[Any], group: int = 0) -> None:
        """Add a sequence and its labels; ``group`` is what ``holdout`` of :meth:`train` names."""
        self._data.append(xseq, yseq, whole_number(group, "The group"))

    def clear(self) -> None:
        """Forget all sequences."""
        self._data = Dataset()

    # ---- training ------------------------------------------------------------------------------------------------

    def message(self, message: str) -> None:
        """Receive a line of the log. Overwrite it to read the log."""
        if self.verbose:
            print(message, end="")

    def _before_train(self) -> None:
        pass

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.message(line)

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Train, and write the model to a file ('': nowhere). Sequences of the group ``holdout`` are evaluated only."""
        if os.fspath(model):
            try:
                check_writable(model)
            except ModelFileError as error:
                raise PathError(str(error)) from None
        self._before_train()
        self._tell(report.starting(self._values, holdout))
        chosen = [group != holdout for group in self._data.groups]
        started = time.perf_counter()
        if any(chosen) and self._data.part(chosen)[0].n_positions:
            task = compose(self._data, chosen, self._algorithm, self._values)
            seconds = time.perf_counter() - started
            self._tell(report.generated(self._algorithm, self._values, task.problem.n_parameters, seconds))
            found = self._solve(task, [not wanted for wanted in chosen] if holdout >= 0 else None)
            n_all = (task.problem.n_parameters, task.features.n_features, len(task.labels))
        else:
            self._tell(report.generated(self._algorithm, self._values, 0, 0.0))
            self._tell([f"{self._algorithm} terminated with error: there are no data to train on\n"])
            found = CrfsuiteModel([as_bytes(name, "label") for name in self._data.labels], [], _NONE, _NONE)
            n_all = (0, 0, len(found.labels))
        seconds = time.perf_counter() - started
        self._tell([f"Total seconds required for training: {seconds:.3f}\n", "\n"])
        stored = time.perf_counter()
        if os.fspath(model):
            replace_file(model, write_crfsuite(found))
        active = (len(found.state[0]) + len(found.transition[0]), len(found.attributes), len(found.labels))
        self._tell(report.storing(active, n_all, time.perf_counter() - stored))

    def _solve(self, task: Task, held_out: list[bool] | None) -> CrfsuiteModel:
        problem, trainer = task.problem, task.trainer
        session = begin(trainer, problem, np.zeros(problem.n_parameters))
        evaluated = None if held_out is None else self._data.part(held_out)
        seen = 0.0

        def watch(progress: Progress) -> None:
            nonlocal seen
            theta = session.best
            facts = {
                "loss": progress.objective,
                "feature_norm": float(np.linalg.norm(theta)),
                "error_norm": progress.gradient_norm,
                "active": int(np.count_nonzero(theta)) if self._algorithm == "lbfgs" else None,
                "seconds": progress.seconds - seen,
            }
            seen = progress.seconds
            self._tell(report.iteration(self._algorithm, progress.iteration, facts))
            if evaluated is not None:
                self._tell(self._evaluated(task, theta, *evaluated))
            self._tell(["\n"])

        with one_blas_thread():
            run(trainer, problem, session, watch=watch)
        if isinstance(session.state, AveragedState) and session.state.clock:
            # CRFsuite goes on when all is right, and the average comes nearer to the last weights: done at once here.
            rest = (trainer.max_iter - session.state.iteration) * problem.n_sequences
            session.state.mass += rest
            session.state.clock += rest
            session.best = trainer.parameters(session.state)
        self._tell([f"{session.reason[:1].upper()}{session.reason[1:]}\n"])
        return task.model(session.best)

    def _evaluated(self, task: Task, theta: Any, batch: Any, truth: Any) -> Iterator[str]:
        guess = task.tagger(theta).labels(task.renumbered(batch))
        return report.evaluation(task.labels, truth, guess, batch.ragged)


class Trainer(BaseTrainer):
    """The same with a log that is read: ``logparser`` has the iterations as data, and each event has a method."""

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Read a line of the log, and call the method of the event that it completes."""
        assert self.logparser is not None
        event = self.logparser.feed(message)
        if not self.verbose or event is None:
            return
        log = self.logparser.last_log
        if event == "featgen_progress":
            self.on_featgen_progress(log, self.logparser.featgen_percent)
        elif event == "iteration":
            self.on_iteration(log, self.logparser.last_iteration or {})
        else:
            getattr(self, f"on_{event}")(log)

    def on_start(self, log: str) -> None:
        """Training begins."""
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Features are generated."""
        print(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """All features are generated."""
        print(log, end="")

    def on_prepared(self, log: str) -> None:
        """The first iteration is about to begin."""
        print(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """Training cannot begin."""
        print(log, end="")

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """An iteration has ended."""
        print(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """Training has ended."""
        print(log, end="")

    def on_end(self, log: str) -> None:
        """The model is stored."""
        print(log, end="")
