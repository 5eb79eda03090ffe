"""What all taggers of the library share: training, prediction, inspection, saving, in scikit-learn's manner."""

from __future__ import annotations

import copy
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from chainfield.errors import ConfigError, ConvergenceWarning, DataError, DataWarning
from chainfield.features.batch import Batch
from chainfield.features.map import offsets_of
from chainfield.files.checkpoint import fingerprint, load_checkpoint, saver
from chainfield.files.container import check_writable
from chainfield.files.model import save_tagger
from chainfield.files.values import to_json
from chainfield.fitted import Confidence, Explanation, Tagger, confidences, explain, names
from chainfield.objectives import Targets, hamming_cost, objective_named
from chainfield.parallel import count_jobs, one_blas_thread
from chainfield.potentials import Clamp
from chainfield.problem import Problem
from chainfield.scorers import Chain
from chainfield.states import StateSpace
from chainfield.tasks import Tagging, check_lengths, labels_in, ordered_labels
from chainfield.trainers import Progress, begin, make_trainer, resolve_trainer, run

from .compose import Material, with_pairs
from .development import check_development, dev_scorer
from .inputs import as_template, choose_map, split_sequences
from .settings import check_settings, seed_of
from .transfer import carry_over

Float = NDArray[np.float64]
CHECKPOINT_SECONDS = 0.5  # at least; a checkpoint never takes more than a tenth of the time
DEFAULT_L2 = 0.5
PARTIAL_RATE = 0.1
MANY_LABELS = 100


class ChainTagger(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the taggers. A subclass stores its hyper-parameters and says which chain they stand for."""

    tagger_: Tagger
    n_sequences_seen_: int = 0

    # Hyper-parameters that every tagger has; subclasses store them in their constructors.
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
    patience: int | None
    template: Any
    min_count: int
    all_features: bool
    class_weight: Any
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    verbose: int | bool

    @abstractmethod
    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        """The state space of these hyper-parameters over some labels."""

    @abstractmethod
    def _chain(self, material: Material, space: StateSpace) -> Chain:
        """The scorers of these hyper-parameters."""

    def fit(
        self,
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
    ) -> ChainTagger:
        """Train on sequences X and their labels y (None: unknown, a set: one of these).

        X is a list of sequences. A sequence is a list of dicts or of lists of strings (attributes), a list of tuples
        or strings (columns of text), a two-dimensional array, or a SciPy sparse matrix. With ``lengths``, X and y hold
        all positions end to end.
        ``X_dev``, ``y_dev``: development data; the parameters with the best score on them are kept.
        ``checkpoint``: a file that is written again and again, from which ``resume=True`` continues.
        """
        previous = getattr(self, "tagger_", None) if self.warm_start else None
        development = check_development(X_dev, y_dev)
        self._fit(
            split_sequences(X, lengths), split_sequences(y, lengths, "y"), sample_weight, previous, (), False,
            development, callback, checkpoint, resume,
        )  # fmt: skip
        return self

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, classes: Sequence[Any] | None = None
    ) -> ChainTagger:
        """Go on training with more data: one pass (or ``max_iter`` of them) over these sequences, from where we stand.

        New features and labels are added to the model; ``classes`` announces labels that will come later. The penalties
        are shared out over all sequences seen so far, so that old weights do not fade with every call.
        """
        previous = getattr(self, "tagger_", None)
        self._fit(split_sequences(X, None), split_sequences(y, None, "y"), sample_weight, previous, classes or (), True)
        return self

    def _fit(
        self,
        sequences: Sequence[Any],
        targets: Sequence[Any],
        sample_weight: Any,
        previous: Tagger | None,
        classes: Sequence[Any],
        partial: bool,
        development: tuple[Sequence[Any], Sequence[Any]] | None = None,
        callback: Callable[[Progress], None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> None:
        check_settings(self)
        # A copy: the fitted model stays as it is, whatever happens on the way to the next one.
        features = choose_map(sequences, self.template) if previous is None else copy.deepcopy(previous.features)
        old = previous.task.labels if previous is not None else ()
        labels = ordered_labels([*old, *classes, *labels_in(targets)])
        if not labels:
            raise DataError("y holds no label at all; at least one position needs a known label.")
        if len(labels) > MANY_LABELS and 5 * len(labels) > sum(map(len, targets)):
            warnings.warn(
                f"There are {len(labels)} labels for {sum(map(len, targets))} positions; are X and y swapped, or is "
                "the label in another column?",
                DataWarning,
                stacklevel=4,
            )
        if development is not None:
            strange = set(labels_in(development[1])) - set(labels)
            if strange:
                names_ = ", ".join(sorted(map(repr, strange))[:5])
                warnings.warn(
                    f"The development data have labels that training never saw; they count as errors: {names_}.",
                    DataWarning,
                    stacklevel=4,
                )
        task = Tagging(labels)
        space = self._space(labels, targets)
        batch = features.learn(sequences, self.min_count)
        clamp = task.clamp(space, targets, batch.offsets)
        material = Material(features, batch, clamp, labels, previous)
        material = with_pairs(material, space, all_features=self.all_features)
        chain = self._chain(material, space)
        seen = batch.n_sequences + (self.n_sequences_seen_ if partial and previous is not None else 0)
        problem = self._problem(chain, material.batch, clamp, labels, sample_weight, batch.n_sequences / seen)
        seed = seed_of(self.random_state)
        theta = chain.start(np.random.default_rng(seed))
        if previous is not None:
            carry_over(previous, chain, labels, theta, material.numbers)
        name, smooth = resolve_trainer(self.trainer, problem.objective), problem.objective.smooth
        if partial and self.trainer == "auto":
            name = "sgd" if smooth else "averaged"
        trainer = make_trainer(
            name,
            smooth=smooth,
            max_iter=1 if partial and self.max_iter is None else self.max_iter,
            tol=self.tol,
            seed=seed,
            # A step chosen on a handful of new sequences would be bold, at the cost of what is known already.
            rate=PARTIAL_RATE if partial and smooth and self.learning_rate is None else self.learning_rate,
            batch_size=self.batch_size,
            average_from=self.average_from,
        )
        trainer.check(problem)

        def make(parameters: Float) -> Tagger:
            return Tagger(features, task, chain, parameters, problem.objective.how, problem.n_jobs)

        save, session = None, None
        if checkpoint is not None:
            check_writable(checkpoint)
            changeable = ("max_iter", "tol", "patience")  # they decide when training ends, not where it goes
            settings = {k: v for k, v in self._settings().items() if k not in changeable}
            mark = fingerprint(problem, theta, settings | {"labels": repr(labels)})
            if resume and Path(checkpoint).exists():
                session = load_checkpoint(checkpoint, trainer, mark)
                if session.state.iteration > trainer.max_iter:
                    raise ConfigError(
                        f"The checkpoint stands at iteration {session.state.iteration} already; give a larger max_iter "
                        f"than {trainer.max_iter} to go on."
                    )
            save = saver(checkpoint, mark, CHECKPOINT_SECONDS)
        with one_blas_thread():
            if session is None:
                session = begin(trainer, problem, theta)
            try:
                run(
                    trainer,
                    problem,
                    session,
                    dev_score=None if development is None else dev_scorer(make, *development, labels),
                    patience=self.patience,
                    watch=callback if callback is not None else _printer if self.verbose else None,
                    save=save,
                )
            finally:
                if session.history:  # an interrupted training leaves its best parameters behind
                    self.tagger_ = make(session.best)
                    self.trainer_ = name
                    self.n_iter_ = session.state.iteration
                    self.history_ = session.history
                    self.best_iteration_ = session.best_iteration
                    self.stop_reason_ = session.reason or "interrupted"
                    self.n_sequences_seen_ = seen
        if not session.state.done and self.max_iter is None and not trainer.online:
            warnings.warn(
                f"Training stopped after {trainer.max_iter} iterations before it converged; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _problem(
        self,
        chain: Chain,
        batch: Batch,
        clamp: Clamp,
        labels: tuple[Any, ...],
        sample_weight: Any,
        penalty_share: float,
    ) -> Problem:
        objective = objective_named(self.objective)
        weight = np.ones(batch.n_sequences) if sample_weight is None else np.asarray(sample_weight, np.float64)
        if weight.shape != (batch.n_sequences,):
            raise DataError(
                f"sample_weight has shape {weight.shape}; one weight for each of {batch.n_sequences} sequences."
            )
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise DataError("sample_weight must be finite and not negative.")
        if not weight.any():
            raise DataError("sample_weight is 0 for every sequence; at least one must count.")
        cost = hamming_cost(chain.space, clamp.table, self.margin) if objective.uses_cost else None
        return Problem(
            chain,
            objective,
            batch,
            Targets(clamp, weight, cost),
            l1=self.l1 * penalty_share,
            l2=penalty_share * ((DEFAULT_L2 if objective.smooth else 0.0) if self.l2 is None else self.l2),
            offset=self._prior_shift(chain.space, clamp, labels),
            n_jobs=count_jobs(self.n_jobs),
        )

    def _prior_shift(self, space: StateSpace, clamp: Clamp, labels: tuple[Any, ...]) -> Float | None:
        """Class weights as a shift of the label prior.

        Training with scores minus log w and predicting without it multiplies a label's odds by its weight w at every
        position, which is what repeating its tokens w times would do to a classifier (Menon et al. 2021).
        """
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            if self.class_weight != "balanced":
                raise ConfigError(f'class_weight is {self.class_weight!r}; give a dict, or "balanced".')
            rows = clamp.single_row[clamp.index]
            found = space.label_of_row[rows[rows >= 0]]
            counts = np.maximum(np.bincount(found, minlength=len(labels)), 1)
            weights = counts.sum() / (len(labels) * counts)
        else:
            if not isinstance(self.class_weight, dict):
                raise ConfigError(f'class_weight is {self.class_weight!r}; give a dict of weights, or "balanced".')
            unknown = [label for label in self.class_weight if label not in labels]
            if unknown:
                raise ConfigError(f"class_weight names {unknown[0]!r}, which is not a label of the training data.")
            try:
                weights = np.array([float(self.class_weight.get(label, 1.0)) for label in labels])
            except (TypeError, ValueError):
                raise ConfigError("Class weights must be numbers.") from None
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ConfigError("Class weights must be finite and larger than 0.")
        return -np.log(weights)[space.label_of_row]

    # ---- prediction ----------------------------------------------------------------------------------------------

    def _fitted(self) -> Tagger:
        if not hasattr(self, "tagger_"):
            raise NotFittedError(f"This {type(self).__name__} is not trained yet; call fit first.")
        if self.tagger_.n_jobs != count_jobs(self.n_jobs):
            self.tagger_ = replace(self.tagger_, n_jobs=count_jobs(self.n_jobs))
        return self.tagger_

    def predict(self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None) -> list[list[Any]]:
        """The best label sequence of each sequence; ``given`` fixes labels (None elsewhere, a set: one of these)."""
        fixed = None if given is None else split_sequences(given, lengths, "given")
        return self._fitted().predict(split_sequences(X, lengths), fixed)

    def predict_marginals(self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None) -> list[Float]:
        """Label probabilities: a (length, labels) array a sequence, columns in the order of ``classes_``."""
        fixed = None if given is None else split_sequences(given, lengths, "given")
        return self._fitted().marginals(split_sequences(X, lengths), fixed)

    def predict_n_best(
        self, X: Any, n: int = 5, given: Any = None, *, lengths: Sequence[int] | None = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The n best label sequences of each sequence with their probabilities, best first."""
        fixed = None if given is None else split_sequences(given, lengths, "given")
        return self._fitted().n_best(split_sequences(X, lengths), n, fixed)

    def predict_confidence(self, X: Any, *, lengths: Sequence[int] | None = None) -> list[Confidence]:
        """The best labels with the exact probabilities of tokens, of spans, and of the whole sequence."""
        return confidences(self._fitted(), split_sequences(X, lengths))

    def log_likelihood(self, X: Any, y: Any, *, lengths: Sequence[int] | None = None) -> Float:
        """Log-probability of each label sequence (-inf if it breaks the rules); labels may be None or sets."""
        return self._fitted().log_likelihood(split_sequences(X, lengths), split_sequences(y, lengths, "y"))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Sequence[int] | None = None) -> float:
        """Token accuracy; positions with an unknown label (None) do not count."""
        truth = split_sequences(y, lengths, "y")
        guess = self.predict(X, lengths=lengths)
        check_lengths(truth, offsets_of([len(labels) for labels in guess]))
        weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, float)
        right = total = 0.0
        for w, labels, predicted in zip(weight, truth, guess, strict=True):
            right += w * sum(a == b for a, b in zip(labels, predicted, strict=True) if a is not None)
            total += w * sum(a is not None for a in labels)
        return right / total if total else 0.0

    def explain(self, x: Any) -> Explanation:
        """Each feature's contribution to the prediction at every position of one sequence."""
        return explain(self._fitted(), x)

    # ---- inspection ----------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[Any]:
        """The labels, in the order of marginals' columns."""
        return list(self._fitted().task.labels)

    @property
    def feature_names_(self) -> Sequence[str]:
        """Names of the features by number."""
        return self._fitted().feature_names

    @property
    def feature_weights_(self) -> dict[tuple[str, Any], float]:
        """Weight of each (feature, label) pair."""
        return {(feature, label): w for feature, label, w in names.feature_weights(self._fitted())}

    @property
    def transition_weights_(self) -> dict[tuple[Any, ...], float]:
        """Weight of each transition: (from, to), or (before, from, to) in second order."""
        return names.transition_weights(self._fitted())

    # ---- files ---------------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        """The hyper-parameters as JSON, but for those of the machine at hand."""
        left_out = ("n_jobs", "verbose")
        settings = {}
        for key, value in self.get_params(deep=False).items():
            if key == "random_state":
                value = seed_of(self.random_state) if isinstance(value, int | None) else None
            elif key in left_out:
                continue
            elif key == "template" and value is not None:
                value = as_template(value)
            elif key == "forbidden" and value is not None:
                value = [tuple(rule) for rule in value]
            settings[key] = to_json(value.item() if isinstance(value, np.generic) else value, f"setting {key}")
        return settings

    def save(self, path: str | os.PathLike[str], notes: dict[str, Any] | None = None) -> None:
        """Write a model file (docs/file_format.md); :func:`chainfield.load` reads it. ``notes``: anything for JSON."""
        about = {
            "class": type(self).__name__,
            "settings": self._settings(),
            "n_sequences_seen": self.n_sequences_seen_,
            "notes": notes or {},
        }
        save_tagger(path, self._fitted(), about)


def _printer(progress: Progress) -> None:
    parts = [f"iteration {progress.iteration}", f"objective {progress.objective:.6g}"]
    if progress.gradient_norm is not None:
        parts.append(f"gradient {progress.gradient_norm:.3g}")
    if progress.dev_score is not None:
        parts.append(f"dev {progress.dev_score:.4f}")
    print("  ".join([*parts, f"{progress.seconds:.1f} s"]))
