"""Models that are fitted by a trainer: from settings and data to a problem, and from its solution to a model."""

from __future__ import annotations

import copy
import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, ConvergenceWarning
from chainfield.files.checkpoint import fingerprint, load_checkpoint, saver
from chainfield.files.container import check_writable
from chainfield.fitted import FittedModel
from chainfield.objectives import Objective, Targets, objective_named
from chainfield.parallel import count_jobs, one_blas_thread
from chainfield.problem import Problem
from chainfield.scorers import Chain
from chainfield.states import StateSpace
from chainfield.tasks import Task
from chainfield.trainers import Progress, Session, Trainer, begin, make_trainer, resolve_trainer, run

from .base import SequenceModel
from .classifying import ClassifyingModel
from .compose import Material, with_pairs
from .development import Development, check_development, dev_scorer
from .inputs import choose_map, split_sequences
from .labels import all_labels
from .settings import check_settings, seed_of
from .starts import Starts
from .tagging import TaggingModel
from .transfer import carry_over
from .weights import check_class_weight, label_weights, sequence_weights

CHECKPOINT_SECONDS = 0.5  # at least; a checkpoint never takes more than a tenth of the time
DEFAULT_L2 = 0.5
PARTIAL_RATE = 0.1
M = TypeVar("M", bound="ChainEstimator")


@dataclass(frozen=True)
class Run:
    """How a training is to go, besides the hyper-parameters."""

    partial: bool = False
    classes: Sequence[Any] = ()
    development: Development | None = None
    callback: Callable[[Progress], None] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    resume: bool = False


class ChainEstimator(SequenceModel):
    """Base of the models that minimise a :class:`~chainfield.problem.Problem`, for any task.

    A subclass stores its hyper-parameters and says which chain they stand for.
    """

    remembered: ClassVar[tuple[str, ...]] = ("n_sequences_seen",)
    n_sequences_seen_: int = 0

    # Hyper-parameters that every model has; subclasses store them in their constructors.
    objective: str
    trainer: str
    margin: float
    l1: float
    l2: float | None
    max_iter: int | None
    tol: float | None
    learning_rate: float | None
    batch_size: int | None
    average_from: int | None
    restart_every: Any = None
    n_init: Any = 1
    #: Settings for which "auto" stands for a choice of the model's own.
    choosable: ClassVar[tuple[str, ...]] = ()
    #: Whether labels with several states have weights of their own, beside those of the states.
    share_labels: bool = False
    patience: int | None
    template: Any
    min_count: int
    all_features: Any
    class_weight: Any
    warm_start: bool
    verbose: int | bool

    @abstractmethod
    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        """The state space of these hyper-parameters over some labels."""

    @abstractmethod
    def _chain(self, material: Material, space: StateSpace) -> Chain:
        """The scorers of these hyper-parameters, and how far from zero they start."""

    def _theta(self, chain: Chain, material: Material) -> Float:
        """Where training starts, unless it goes on from a fitted model."""
        return chain.start(np.random.default_rng(seed_of(self.random_state)))

    def _objective(self) -> Objective:
        """What training minimises."""
        return objective_named(self.objective)

    def _default_l2(self, objective: Objective) -> float:
        """The penalty if none is given."""
        return DEFAULT_L2 if objective.smooth else 0.0

    def _prepared(self, problem: Problem, theta: Float, previous: FittedModel | None) -> Float:
        """Where training starts, given where the chain would."""
        return theta

    def _adapted(self, trainer: Trainer[Any], problem: Problem, theta: Float) -> Trainer[Any]:
        """The trainer with settings that depend on the data, where none were given."""
        return trainer

    def fit(
        self: M,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        lengths: Sequence[int] | None = None,
        X_dev: Any = None,
        y_dev: Any = None,
        callback: Callable[[Progress], None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        start_from: SequenceModel | None = None,
    ) -> M:
        """Train on sequences X and their labels y (None: unknown, a set: one of these).

        X is a list of sequences. A sequence is a list of dicts or of lists of strings (attributes), a list of tuples
        or strings (columns of text), a two-dimensional array, or a SciPy sparse matrix. With ``lengths``, X and y hold
        all positions end to end.
        ``X_dev``, ``y_dev``: development data; the parameters with the best score on them are kept.
        ``checkpoint``: a file that is written again and again, from which ``resume=True`` continues. With several
        random starts (``n_init``), it is written once the best of them is known.
        ``start_from``: a fitted model of any kind whose weights training starts from, wherever they mean the same: a
        latent model can start from a plain one.
        """
        previous = getattr(self, "fitted_", None) if self.warm_start else None
        if start_from is not None:
            if not isinstance(start_from, SequenceModel):
                raise ConfigError(f"start_from is {start_from!r}; a fitted model is expected.")
            previous = start_from._fitted()
        options = Run(
            development=check_development(self, X_dev, y_dev), callback=callback, checkpoint=checkpoint, resume=resume
        )
        self._fit(split_sequences(X, lengths), self._targets(y, lengths), sample_weight, previous, options)
        return self

    def partial_fit(self: M, X: Any, y: Any, sample_weight: Any = None, *, classes: Sequence[Any] | None = None) -> M:
        """Go on training with more data: one pass (or ``max_iter`` of them) over these sequences, from where we stand.

        New features and labels are added to the model; ``classes`` announces labels that will come later. The penalties
        are shared out over all sequences seen so far, so that old weights do not fade with every call.
        """
        previous = getattr(self, "fitted_", None)
        options = Run(partial=True, classes=classes or ())
        self._fit(split_sequences(X, None), self._targets(y, None), sample_weight, previous, options)
        return self

    def _fit(
        self,
        sequences: Sequence[Any],
        targets: Sequence[Any],
        sample_weight: Any,
        previous: FittedModel | None,
        options: Run,
    ) -> None:
        check_settings(self)
        objective = self._objective()
        name, trainer = self._trainer(objective, options.partial)
        # A copy: the fitted model stays as it is, whatever happens on the way to the next one.
        features = choose_map(sequences, self.template) if previous is None else copy.deepcopy(previous.features)
        old = () if previous is None else previous.task.labels
        labels = all_labels(self.task_type, targets, [*old, *options.classes], options.development)
        check_class_weight(self.class_weight, labels)
        task, space = self.task_type(labels), self._space(labels, targets)
        task.check(space)
        batch = features.learn(sequences, self.min_count)
        clamp = task.clamp(space, targets, batch.offsets)
        material = Material(features, batch, clamp, labels, previous)
        material = with_pairs(material, space, all_features=self.all_features, share_labels=self.share_labels)
        chain = self._chain(material, space)
        seen = batch.n_sequences + (self.n_sequences_seen_ if options.partial and previous is not None else 0)
        penalty_share = batch.n_sequences / seen
        problem = self._problem(task, chain, material, objective, sample_weight, penalty_share)
        problem = self._tailored(problem, penalty_share)
        seed = seed_of(self.random_state)

        def start(number: int) -> Float:
            """The start of that number."""
            theta = chain.start(np.random.default_rng([seed, number])) if number else self._theta(chain, material)
            if previous is not None:
                carry_over(previous, chain, material.origin(space), theta)
            return theta

        theta = start(0)
        trainer = self._adjusted(trainer, problem)
        trainer.check(problem)
        theta = self._prepared(problem, theta, previous)
        trainer = self._adapted(trainer, problem, theta)

        def make(parameters: Float) -> FittedModel:
            return self._make(features, task, chain, parameters, objective.how)

        watch = options.callback if options.callback is not None else print_progress if self.verbose else None
        dev_score = options.development and dev_scorer(self, make, options.development, labels)
        arguments: dict[str, Any] = {"dev_score": dev_score, "patience": self.patience}
        session, save = self._session(trainer, problem, theta, labels, options)
        # Models in single precision are large; and steps on a maximum are bounded, so that they cannot run away.
        frugal = chain.dtype == "float32" and not objective.smooth and options.development is None
        n_starts = 1 if session is not None or options.partial else self._n_starts(batch.n_positions)
        with one_blas_thread():
            try:
                if n_starts > 1:
                    rivals = Starts(trainer, problem, lambda best: self._merit(best, problem, make, targets, labels))
                    for number in range(n_starts):
                        rivals.add(number, theta if number == 0 else start(number), watch, **arguments)
                    if save is not None and rivals.best is not None:
                        save(rivals.best)
                else:
                    session = begin(trainer, problem, theta, frugal=frugal) if session is None else session
                    del theta
                    run(trainer, problem, session, watch=watch, save=save, frugal=frugal, **arguments)
            finally:
                if n_starts > 1:
                    session = rivals.best
                if session is not None and session.history:  # an interrupted training leaves its best behind
                    self.fitted_ = make(session.best)
                    self.trainer_ = name
                    self.n_iter_ = session.state.iteration
                    self.history_ = session.history
                    self.best_iteration_ = session.best_iteration
                    self.stop_reason_ = session.reason or "interrupted"
                    self.n_sequences_seen_ = seen
        assert session is not None
        if not session.state.done and self.max_iter is None and not trainer.online:
            warnings.warn(
                f"Training stopped after {trainer.max_iter} iterations before it converged; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _tailored(self, problem: Problem, penalty_share: float) -> Problem:
        """The problem, with what only its chain tells."""
        return problem

    def _adjusted(self, trainer: Trainer[Any], problem: Problem) -> Trainer[Any]:
        """The trainer, once the data are known."""
        return trainer

    def _restart_every(self, objective: Objective) -> int | None:
        """Every how many passes an online trainer goes on from the average; None: never."""
        return None if self.restart_every is None else int(self.restart_every)

    def _n_starts(self, n_positions: int) -> int:
        """How many random starts are tried."""
        return int(self.n_init)

    def _merit(
        self,
        theta: Float,
        problem: Problem,
        make: Callable[[Float], Any],
        targets: Sequence[Any],
        labels: tuple[Any, ...],
    ) -> float:
        """How good a start turned out on the training data: the objective; the labels, where scores have no scale."""
        if problem.objective.smooth:
            return -problem.evaluate(theta)[0] - (problem.penalty(theta) if problem.l1 else 0.0)
        return self._quality(targets, make(theta).decode(problem.batch), labels)

    def _trainer(self, objective: Objective, partial: bool) -> tuple[str, Trainer[Any]]:
        """The trainer with its name."""
        name = resolve_trainer(self.trainer, objective)
        if partial and self.trainer == "auto":
            name = "sgd" if objective.smooth else "averaged"
        return self._named_trainer(name, objective, partial)

    def _named_trainer(
        self,
        name: str,
        objective: Objective,
        partial: bool,
        *,
        rate: float | None = None,
        max_iter: int | None = None,
        average_from: int | None = None,
        batch_size: int | None = None,
    ) -> tuple[str, Trainer[Any]]:
        """The trainer of a name with the model's settings; the arguments stand in for settings that are None."""
        smooth = objective.smooth
        rate = rate if self.learning_rate is None else self.learning_rate
        max_iter = max_iter if self.max_iter is None else self.max_iter
        if average_from is not None and max_iter is not None:
            average_from = min(average_from, max_iter // 3)
        if rate is None and partial and smooth and name in ("sgd", "averaged", "adam"):
            rate = PARTIAL_RATE  # a step chosen on a handful of new sequences would be bold, at the cost of old ones
        return name, make_trainer(
            name,
            smooth=smooth,
            max_iter=1 if partial and self.max_iter is None else max_iter,
            tol=self.tol,
            seed=seed_of(self.random_state),
            rate=rate,
            batch_size=batch_size if self.batch_size is None else self.batch_size,
            average_from=average_from if self.average_from is None else self.average_from,
            restart_every=self._restart_every(objective),
        )

    def _problem(
        self,
        task: Task,
        chain: Chain,
        material: Material,
        objective: Objective,
        sample_weight: Any,
        penalty_share: float,
    ) -> Problem:
        space, batch, clamp = chain.space, material.batch, material.clamp
        weight, shift = sequence_weights(sample_weight, batch.n_sequences), None
        if self.class_weight is not None:
            counts = task.count(space, clamp, batch.offsets)
            favoured = label_weights(self.class_weight, task.labels, counts)
            shift, factor = task.favour(space, clamp, batch.offsets, favoured)
            weight = weight if factor is None else weight * factor
        return Problem(
            chain,
            objective,
            batch,
            Targets(clamp, weight, task.cost(space, clamp, self.margin) if objective.uses_cost else None),
            l1=self.l1 * penalty_share,
            l2=penalty_share * (self._default_l2(objective) if self.l2 is None else self.l2),
            offset=shift,
            n_jobs=count_jobs(self.n_jobs),
        )

    def _session(
        self, trainer: Trainer[Any], problem: Problem, theta: Float, labels: tuple[Any, ...], options: Run
    ) -> tuple[Session | None, Callable[[Session], None] | None]:
        """The session of a checkpoint, if one is to be resumed, and what writes new checkpoints."""
        checkpoint = options.checkpoint
        if checkpoint is None:
            return None, None
        check_writable(checkpoint)
        changeable = ("max_iter", "tol", "patience")  # they decide when training ends, not where it goes
        settings = {k: v for k, v in self._settings().items() if k not in changeable}
        mark = fingerprint(problem, theta, settings | {"labels": repr(labels)})
        session = None
        if options.resume and Path(checkpoint).exists():
            session = load_checkpoint(checkpoint, trainer, mark)
            if session.state.iteration > trainer.max_iter:
                raise ConfigError(
                    f"The checkpoint stands at iteration {session.state.iteration} already; give a larger max_iter "
                    f"than {trainer.max_iter} to go on."
                )
        return session, saver(checkpoint, mark, CHECKPOINT_SECONDS)


class ChainTagger(ChainEstimator, TaggingModel):
    """Base of the taggers that are fitted by a trainer."""


class ChainClassifier(ChainEstimator, ClassifyingModel):
    """Base of the classifiers that are fitted by a trainer: ``_space`` makes class blocks."""


def print_progress(progress: Progress) -> None:
    """A line an iteration."""
    parts = [f"iteration {progress.iteration}", f"objective {progress.objective:.6g}"]
    if progress.gradient_norm is not None:
        parts.append(f"gradient {progress.gradient_norm:.3g}")
    if progress.dev_score is not None:
        parts.append(f"dev {progress.dev_score:.4f}")
    print("  ".join([*parts, f"{progress.seconds:.1f} s"]))
