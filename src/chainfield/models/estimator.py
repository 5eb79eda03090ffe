"""The one road from settings and data to a fitted model, for every model that a trainer fits.

A model gives seven answers, each a method without side effects: which features there are, which states, which scorers,
what is minimised, where training starts, by which trainer, and what the result is made into.
:meth:`ChainEstimator._fit` asks for them; nothing else happens on the way.
"""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np

import chainfield
from chainfield.arrays import Float, Int32
from chainfield.corpora.corpus import Corpus
from chainfield.errors import ConfigError, ConvergenceWarning
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import FITTED, FittedModel, compacted
from chainfield.objectives import Objective, objective_named
from chainfield.parallel import count_jobs, one_blas_thread
from chainfield.problem import AnchoredProblem
from chainfield.scorers import Chain
from chainfield.states import Rules, StateSpace
from chainfield.trainers import Mixing, Progress, Trainer

from .base import SequenceModel
from .classifying import ClassifyingModel
from .compose import number_features
from .constraints import check_rules
from .facts import TrainingFacts, thinned
from .groups import FeatureSettings, ObjectiveSettings, RunningSettings, TrainingSettings
from .inputs import choose_map, read_columns, split_sequences
from .kinds import seed_of
from .material import Material
from .prior import PriorSettings, check_tuning, tuned
from .rehearsal import Rehearsal
from .run import Run, Training, check_development
from .score_scale import crossfit_temperature, fit_temperature
from .stream import anchored_problem, check_chunk, firmness, remembered, stream_trainer, streams
from .tagging import TaggingModel
from .trainers import check_trainer, named_trainer, trainer_name
from .training_data import Held, ReadData, Spread, TrainingData
from .transfer import carry_over, check_alike
from .weights import check_class_weight, weighted_problem

M = TypeVar("M", bound="ChainEstimator")


class ChainEstimator(
    SequenceModel, RunningSettings, ObjectiveSettings, TrainingSettings, FeatureSettings, group="Model"
):
    """Base of the models that minimise a :class:`~chainfield.problem.Problem`, for any task."""

    remembered: ClassVar[tuple[str, ...]] = ("n_sequences_seen",)
    n_sequences_seen_: int = 0
    rehearsal_: Rehearsal | None = None
    scheme_: str | None
    #: What trainer="auto" stands for; None: a choice by the objective.
    auto_trainer: ClassVar[str | None] = None
    #: Whether labels with several states have weights of their own, beside those of the states.
    share_labels: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Copies for other processes hold no data."""
        return {name: value for name, value in vars(self).items() if name != "rehearsal_"}

    # ---- the seven answers ---------------------------------------------------------------------------------------

    def _features(self, sequences: Sequence[Any]) -> FeatureMap:
        """Which features such sequences have; the map is still empty."""
        return choose_map(sequences, self.template, self.scaling)

    @abstractmethod
    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        """The states behind the labels, and which may follow which."""

    def _sized_space(
        self,
        labels: tuple[Any, ...],
        rules: Rules | None,
        data: TrainingData,
        features: FeatureMap,
        previous: FittedModel | None,
    ) -> StateSpace:
        """The same, where the data have a say in it."""
        return self._space(labels, rules)

    @abstractmethod
    def _chain(self, material: Material, space: StateSpace) -> Chain:
        """The scorers, and how far from zero their weights start."""

    def _objective(self) -> Objective:
        """What training minimises."""
        return objective_named(self.objective)

    def _start(self, problem: Any, material: Material, theta: Float) -> tuple[Any, Float]:
        """Where training starts, given θ: random weights, and those of an older model where there is one.

        The problem may be told anew, relative to the start; what it is about stays the same.
        """
        return problem, theta

    def _trainer(self, problem: Any, theta: Float, partial: bool) -> Trainer[Any]:
        """What minimises the problem, from θ on."""
        return named_trainer(self, self._trainer_name(problem, partial), problem.objective, partial)

    def _trainer_name(self, problem: Any, partial: bool) -> str:
        """What that trainer is called."""
        return trainer_name(self, problem.objective, partial)

    # (the seventh, ``_make``, belongs to every model: see SequenceModel)

    # ---- fit -----------------------------------------------------------------------------------------------------

    def fit(
        self: M,
        X: Any,
        y: Any = None,
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
        all positions end to end. In place of both, X may be a corpus in pieces (docs/cluster.md).
        ``X_dev``, ``y_dev``: development data; the parameters with the best score on them are kept.
        ``callback``: called with each iteration's ``Progress``; chainfield.watching has some.
        ``checkpoint``: a file that is written again and again, from which ``resume=True`` continues. With several
        random starts (``n_init``), it is written once the best of them is known.
        ``start_from``: a fitted model with features of the same kind, and the same template, whose weights training
        starts from, wherever they mean the same: a latent model can start from a plain one. Its features stay.
        """
        self.check_settings()
        previous = getattr(self, "fitted_", None) if self.warm_start else None
        if start_from is not None:
            if not isinstance(start_from, SequenceModel):
                raise ConfigError(f"start_from is {start_from!r}; a fitted model is expected.")
            previous = start_from._fitted()
            if not isinstance(X, Corpus):
                check_alike(self._features(split_sequences(X, lengths)), previous.features)
        run = Run(
            development=check_development(self, X_dev, y_dev), callback=callback, checkpoint=checkpoint, resume=resume
        )
        data = self._data(X, y, sample_weight, lengths, previous, run)
        if run.development is not None and data.columns is not None:
            read_columns(X_dev, run.development[0], None, data.columns, "X_dev")
        self._fit(data, previous, run)
        return self

    def partial_fit(self: M, X: Any, y: Any, sample_weight: Any = None, *, classes: Sequence[Any] | None = None) -> M:
        """Continue training with more data: after any number of calls, much as if all data had come at once.

        Every weight is drawn to its old value by as much as earlier data were sure of it (see ``forgetting``). New
        features and labels are added to the model; ``classes`` announces labels that will come later. With a trainer of
        your own choice, or steps of your own, a call makes one pass (or ``max_iter`` of them) over these sequences.
        """
        self.check_settings()
        run = Run(partial=True, classes=classes or ())
        previous = getattr(self, "fitted_", None)
        data = self._data(X, y, sample_weight, None, previous, run)
        check_chunk(self.task_type, data.label_sequences)
        self._fit(data, previous, run)
        return self

    def _data(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        lengths: Sequence[int] | None,
        previous: FittedModel | None,
        run: Run,
    ) -> TrainingData:
        """What the user gives: sequences with their labels, or a corpus in pieces, which has them."""
        if isinstance(X, Corpus):
            if y is not None or sample_weight is not None or lengths is not None:
                raise ConfigError("A corpus has its labels already; leave out y, sample_weight and lengths.")
            return Spread(X, self, run, previous)
        sequences = split_sequences(X, lengths)
        goes_on = previous is not None and previous is getattr(self, "fitted_", None)
        columns = read_columns(X, sequences, lengths, self.columns_ if goes_on else None)
        return Held(sequences, self._repaired(self._targets(y, lengths)), sample_weight, columns)

    def _fit(self, data: TrainingData, previous: FittedModel | None, run: Run) -> None:
        """The road. ``previous``: a fitted model whose weights training starts from."""
        objective = self._objective()
        self.stored_settings()  # refuses what could not be saved
        features = data.learn(self, previous)
        known = (*(() if previous is None else previous.task.labels), *run.classes)
        labels = data.labels(self.task_type, known, run.development)
        check_class_weight(self.class_weight, labels)
        self._check_tuning(labels, data, run)
        scheme, rules = self._rules(labels, data.label_sequences)
        task, space = self.task_type(labels), self._sized_space(labels, rules, data, features, previous)
        check_rules(rules, labels, data.label_sequences)
        task.check(space)
        material = data.material(self, features, task, space, previous)
        n_sequences, n_positions = material.extent.n_sequences, material.extent.n_positions
        seen = n_sequences + (self.n_sequences_seen_ if run.partial and previous is not None else 0)
        material = number_features(material, space, all_features=self.all_features, share_labels=self.share_labels)
        chain = self._chain(material, space)
        streaming = run.partial and streams(self, chain)
        if streaming:  # in a stream, penalties are those of all data at once
            objective = objective.softened()
        else:
            material = replace(material, share=n_sequences / seen)
        problem: Any = weighted_problem(self, task, chain, material, objective, data.sample_weight)
        random = self._random_weights(chain, material)
        with one_blas_thread():
            problem, theta = self._start(problem, material, random(0))
        if streaming:
            problem = anchored_problem(self, problem, material, theta, task)
        trainer = stream_trainer(self, problem) if streaming else self._trainer(problem, theta, run.partial)
        if trainer.online and not problem.stepwise:
            trainer = Mixing.of(trainer, self.strands)
        trainer.check(problem)

        def make(parameters: Float) -> FittedModel:
            return self._make(features, task, problem.chain, parameters, self._objective().how)

        training = Training(self, trainer, problem, make, data.label_sequences, labels, run)
        n_starts = 1 if run.partial else self._n_starts(n_positions)
        with one_blas_thread():
            try:
                training.run(theta, n_starts, lambda number: self._start(problem, material, random(number))[1])
            finally:
                session = training.session
                if session is not None and session.history:  # an interrupted training leaves its best behind
                    self.firmness_ = firmness(problem, session.best) if streaming else None
                    best = make(session.best)  # what is remembered of a stream has a number for every parameter
                    self.fitted_ = best if streaming else self._compacted(best, theta, material)
                    self.rehearsal_ = remembered(self, data) if streaming and isinstance(data, Held) else None
                    self.n_sequences_seen_ = seen
                    self.scheme_, self.columns_ = scheme, data.columns
                    slim = self.fitted_.features is not features  # without the features that have no weight
                    read = data.read(self.fitted_.features, material, count_jobs(self.n_jobs), slim=slim)
                    self.feature_counts_ = self._counted(read.counts, material.numbers, run.partial, slim)
                    self._remember(self._facts(training, read, scheme))
                    self.history_ = session.history  # all of it
                    self.training_mark_ = training.mark
        assert session is not None
        self._tune(data, run)
        self.fitted_ = replace(self.fitted_, temperature=self._temperature(data, previous, run))
        chosen = self.max_iter is not None or isinstance(self.trainer, Trainer)  # when to stop
        if not session.state.done and not chosen and not trainer.online:
            warnings.warn(
                f"Training stopped after {trainer.max_iter} iterations before it converged; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_tuning(self, labels: tuple[Any, ...], data: TrainingData, run: Run) -> None:
        """Refuse what a fitted model cannot be tuned for."""

    def _tune(self, data: TrainingData, run: Run) -> None:
        """Change the fitted model until it is what the settings ask for."""

    def _compacted(self, fitted: FittedModel, start: Float, material: Material) -> FittedModel:
        """The same model without what it does not need; ``start``: where training began."""
        return compacted(fitted) if self.l1 else fitted

    def _temperature(self, data: TrainingData, previous: FittedModel | None, run: Run) -> float:
        """What scores are divided by: given, or fitted on data that training did not see."""
        given = getattr(self, "temperature", "auto")
        if given != "auto":
            return float(given)
        fitted = self.fitted_
        if fitted.how == "sum" or type(fitted) not in FITTED.values():  # those that vote have shares of votes
            return 1.0
        if run.development is not None:
            return fit_temperature(fitted, *run.development)
        if run.partial or "temperature" not in self.settings:
            return 1.0 if previous is None else previous.temperature
        if not isinstance(data, Held):
            return 1.0
        seed = seed_of(self.random_state)
        return crossfit_temperature(self, data.sequences, data.label_sequences, data.sample_weight, seed)

    def _facts(self, training: Training, read: ReadData, scheme: str | None) -> TrainingFacts:
        """What is told of this training in reports and model files."""
        session, trainer, problem, run = training.session, training.trainer, training.problem, training.options
        assert session is not None
        streaming = isinstance(problem, AnchoredProblem)
        name = type(trainer).__name__.lower() if streaming else self._trainer_name(problem, run.partial)
        in_effect = {"trainer": name, "scheme": scheme, "l1": problem.l1, "l2": problem.l2}
        in_effect["scaling"] = self.fitted_.features.scaling
        settings = {
            key: in_effect.get(key, getattr(trainer, key, None) if value is None else value)
            for key, value in self.stored_settings().items()
        }
        history, every = thinned(session.history, session.best_iteration)
        development = run.development
        return TrainingFacts(
            version=chainfield.__version__,
            settings=settings,
            trainer=name,
            n_iter=session.state.iteration,
            best_iteration=session.best_iteration,
            stop_reason=session.reason or "interrupted",
            history=history,
            every=every,
            seconds=round(session.seconds, 3),
            n_sequences=read.n_sequences,
            n_positions=read.n_positions,
            n_dev_sequences=None if development is None else len(development[0]),
            fingerprint=read.fingerprint,
        )

    def _counted(self, counts: Any, numbers: Int32 | None, partial: bool, slim: bool) -> Any:
        """How often each feature occurred; with ``partial_fit``, in all data so far: unknown where features went."""
        before = getattr(self, "feature_counts_", None)
        if not partial or counts is None:
            return counts
        if slim or (before is None and hasattr(self, "training_")):
            return None
        if before is not None:
            counts[np.arange(len(before)) if numbers is None else numbers[: len(before)]] += before
        return counts

    def _random_weights(self, chain: Chain, material: Material) -> Callable[[int], Float]:
        """The start of each number; where there is an older model, with its weights."""
        seed = seed_of(self.random_state)

        def weights(number: int) -> Float:
            theta = chain.start(np.random.default_rng([seed, number] if number else seed))
            if material.previous is not None:
                carry_over(material.previous, chain, material.origin(chain.space), theta)
            return theta

        return weights

    def _n_starts(self, n_positions: int) -> int:
        """How many random starts are tried."""
        return 1

    def check_settings(self) -> None:
        """Refuse settings that are not possible, or contradict each other, before any work is done."""
        super().check_settings()
        check_trainer(self, trainer_name(self, self._objective(), False))


class ChainTagger(ChainEstimator, TaggingModel, PriorSettings):
    """Base of the taggers that are fitted by a trainer."""

    remembered: ClassVar[tuple[str, ...]] = ("n_sequences_seen", "outside_shift")
    #: What ``tune_for`` added to the scores of O at every position.
    outside_shift_: float = 0.0

    def _check_tuning(self, labels: tuple[Any, ...], data: TrainingData, run: Run) -> None:
        if self.tune_for is not None:
            check_tuning(self, labels, data, run)

    def _tune(self, data: TrainingData, run: Run) -> None:
        self.outside_shift_ = 0.0
        if self.tune_for is not None:
            self.fitted_, self.outside_shift_ = tuned(self, self.tagger_, data, run)


class ChainClassifier(ChainEstimator, ClassifyingModel):
    """Base of the classifiers that are fitted by a trainer: ``_space`` makes class blocks."""
