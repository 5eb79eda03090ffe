"""What everything fitted shares, however it came about: inspection and files, in scikit-learn's manner."""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from chainfield.arrays import Array, Float, Int32
from chainfield.errors import DataError, DataWarning, NotTrainedError
from chainfield.features.feature_map import FeatureMap
from chainfield.features.numbers import DenseFeatures, SparseFeatures
from chainfield.features.scale import Scale
from chainfield.files.model import save_model
from chainfield.files.values import check_notes, to_json
from chainfield.fitted import FittedModel, names
from chainfield.parallel import count_jobs
from chainfield.potentials import How
from chainfield.scorers import Chain
from chainfield.states import Rules
from chainfield.tasks import Task

from .facts import TrainingFacts
from .groups import Grouped
from .inputs import read_columns, split_sequences
from .portrait import portrait

if TYPE_CHECKING:
    from chainfield.inspection.states import HiddenStates, StatePath

OF_THE_MACHINE = ("n_jobs", "verbose", "device")


def not_trained(model: Any) -> Exception:
    """The error for a model that is used before it is trained; one of scikit-learn's too, where that is in use."""
    message = f"This {type(model).__name__} is not trained yet; call fit first."
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return NotTrainedError(message)
    kinds = (NotTrainedError, exceptions.NotFittedError)
    return type("NotTrainedError", kinds, {"__module__": NotTrainedError.__module__})(message)


class SequenceModel(Grouped, ABC):
    """Base of all models: one that is fitted can be looked into and saved. How it is fitted is not said here.

    ``fit`` of a subclass sets ``fitted_``. The two kinds below it, :class:`~chainfield.models.tagging.TaggingModel`
    and :class:`~chainfield.models.classifying.ClassifyingModel`, say what a model predicts.
    """

    fitted_: FittedModel
    #: The names of the columns of training, if data frames were given whose columns have names.
    columns_: list[str] | None = None
    n_jobs: int | None
    #: What targets mean.
    task_type: ClassVar[type[Task]]
    #: Attributes (without their trailing _) that a model file keeps besides.
    remembered: ClassVar[tuple[str, ...]] = ()
    #: How it was trained, where a trainer did; files of 0.1.0 do not tell.
    training_: TrainingFacts
    trainer_: str
    n_iter_: int
    best_iteration_: int
    stop_reason_: str
    history_: list[dict[str, Any]]
    #: (F,) how often each sparse feature occurred in training, beside ``feature_names_``.
    feature_counts_: Any = None
    #: (P,) what ``partial_fit`` remembers of earlier data (:mod:`chainfield.models.stream`), where it was called.
    firmness_: Any = None

    # ---- what a kind of model says -------------------------------------------------------------------------------

    @abstractmethod
    def _targets(self, y: Any, lengths: Sequence[int] | None, what: str = "y") -> Sequence[Any]:
        """The user's targets, one per sequence."""

    @abstractmethod
    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> FittedModel:
        """A fitted model from its parts."""

    @abstractmethod
    def _quality(self, truth: Sequence[Any], guess: Sequence[Any], labels: tuple[Any, ...]) -> float:
        """How good predictions are: what development data are scored by."""

    def _check_truth(self, truth: Sequence[Any]) -> None:
        """Refuse to score by labels that are all unknown, and warn of those that no prediction can have."""
        from chainfield.metrics.scoring import NOTHING_KNOWN

        given, labels = self.task_type.labels_in(truth), self._fitted().task.labels
        if not given:
            raise DataError(NOTHING_KNOWN)
        if not set(given) & set(labels):
            shown = f"{', '.join(map(repr, labels[:3]))}{' …' if len(labels) > 3 else ''}"
            warnings.warn(
                f"y holds {given[0]!r}, but the model's labels are {shown}: no label of y is one of them, so every "
                "prediction counts as wrong; give labels as in training, of the same type.",
                DataWarning,
                stacklevel=3,
            )

    def _input(self, X: Any, lengths: Sequence[int] | None = None) -> Sequence[Any]:
        """Sequences to predict, in the columns of training."""
        sequences = split_sequences(X, lengths)
        if sequences is not X and self.columns_ is not None:
            read_columns(X, sequences, lengths, self.columns_)
        return sequences

    def _prediction_settings(self) -> dict[str, Any]:
        """Settings that may change after ``fit``, and change predictions from then on."""
        return {"n_jobs": count_jobs(self.n_jobs)}

    def _rules(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> tuple[str | None, Rules | None]:
        """The tagging scheme of the labels, and the rules that label sequences must obey."""
        return None, None

    def _repaired(self, targets: Sequence[Any]) -> Sequence[Any]:
        """Targets that obey the rules, where the settings ask for a repair."""
        return targets

    def _fitted(self) -> FittedModel:
        if not hasattr(self, "fitted_"):
            raise not_trained(self)
        fitted = self.fitted_
        changed = {name: v for name, v in self._prediction_settings().items() if getattr(fitted, name) != v}
        if changed:
            self.fitted_ = fitted = replace(fitted, **changed)
        return fitted

    # ---- inspection ----------------------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """How many columns the arrays or sparse matrices of training had; text and dicts have none."""
        features = self._fitted().features
        if isinstance(features, DenseFeatures):
            return features.n_columns
        if isinstance(features, SparseFeatures):
            return features.n_features
        raise AttributeError("n_features_in_ is for models of arrays and sparse matrices; this one reads text.")

    @property
    def feature_names_in_(self) -> Array:
        """(columns,) the names of the columns of training, where data frames were given."""
        self._fitted()
        if self.columns_ is None:
            raise AttributeError("feature_names_in_ is for models of data frames whose columns have names.")
        return np.array(self.columns_, object)

    @property
    def scale_(self) -> Scale | None:
        """What counts as 0 (``centre``) and as 1 (``spread``) in each column of arrays; None: numbers are as given."""
        features = self._fitted().features
        return features.scale if isinstance(features, DenseFeatures) else None

    @property
    def feature_names_(self) -> Sequence[str]:
        """Names of the features by number."""
        return self._fitted().feature_names

    @property
    def feature_weights_(self) -> dict[tuple[str, Any], float]:
        """Weight of each (feature, label) pair; of each (feature, state) pair where a label has several states."""
        return {(feature, label): w for feature, label, w in names.feature_weights(self._fitted())}

    @property
    def transition_weights_(self) -> dict[tuple[Any, ...], float]:
        """Weight of each transition: (from, to), or (before, from, to) in second order."""
        return names.transition_weights(self._fitted())

    @property
    def boundary_weights_(self) -> dict[str, dict[Any, float]]:
        """Weights of labels or states at the first position ("start") and at the last one ("end")."""
        return names.boundary_weights(self._fitted())

    @property
    def states_(self) -> list[Any]:
        """The states by number: a label, or (label, number) where a label has several."""
        fitted = self._fitted()
        return names.row_names(fitted.chain.space, fitted.task.labels)

    def predict_states(self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None) -> list[Int32]:
        """The states of the best path of each sequence, as numbers into ``states_``; ``given`` fixes labels."""
        known = None if given is None else self._targets(given, lengths, "given")
        rows = self._fitted().chain.space.row_of
        return [rows[path] for path in self._fitted().states(self._input(X, lengths), known)]

    def predict_state_marginals(
        self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None
    ) -> list[Float]:
        """Probabilities of states: one (length, states) array per sequence, columns in the order of ``states_``."""
        known = None if given is None else self._targets(given, lengths, "given")
        return self._fitted().occupancies(self._input(X, lengths), known)

    def hidden_states(
        self, X: Any, given: Any = None, *, n: int = 10, lengths: Sequence[int] | None = None
    ) -> HiddenStates:
        """The tokens that fire each hidden state, ``n`` of each, and how states follow each other, on some data."""
        from chainfield.inspection.states import hidden_states

        known = None if given is None else self._targets(given, lengths, "given")
        return hidden_states(self._fitted(), self._input(X, lengths), known, n=n)

    def state_path(self, x: Any, given: Any = None) -> StatePath:
        """The states along one sequence, with their probabilities."""
        from chainfield.inspection.states import state_path

        return state_path(self._fitted(), x, given)

    def _repr_html_(self) -> str:
        """In a notebook: the settings as scikit-learn shows them, and below them what was learned from what."""
        page = super()._repr_html_()
        if not hasattr(self, "fitted_"):
            return page
        return page + portrait(self)

    # ---- files ---------------------------------------------------------------------------------------------------

    def stored_settings(self) -> dict[str, Any]:
        """The settings as JSON, but for those of the machine at hand."""
        found = {name: setting.default for name, setting in self.settings.items()}
        parts = {name: value for name, value in found.items() if callable(value)}  # JSON holds the others as they are
        for name, value in (parts | self.changed()).items():
            kept = None if value is None else self.settings[name].kind.stored(value)
            found[name] = to_json(kept.item() if isinstance(kept, np.generic) else kept, f"setting {name}")
        return {name: value for name, value in found.items() if name not in OF_THE_MACHINE}

    def save(
        self,
        path: str | os.PathLike[str],
        notes: dict[str, Any] | None = None,
        *,
        wrapper: dict[str, Any] | None = None,
    ) -> None:
        """Write a model file (docs/file_format.md); :func:`chainfield.load` reads it. ``notes``: anything for JSON.

        ``wrapper``: what stands around the model, such as a :class:`~chainfield.TextTagger`; ``load`` puts it back.
        """
        check_notes(notes)
        fitted = self._fitted()  # or refuse: a model that was not trained has nothing of what follows
        about = {
            "class": type(self).__name__,
            "settings": self.stored_settings(),
            "notes": notes or {},
            **{name: getattr(self, f"{name}_") for name in self.remembered},
            **({} if self.columns_ is None else {"columns": self.columns_}),
            **({} if wrapper is None else {"wrapper": wrapper}),
        }
        if hasattr(self, "training_"):
            about["training"] = self.training_.to_json()
        save_model(path, fitted, about, self.feature_counts_, self.firmness_)

    def _restore(self, fitted: FittedModel, about: dict[str, Any]) -> None:
        """Become what a file describes."""
        self.fitted_, self.columns_ = fitted, about.get("columns")
        for name in self.remembered:
            if name in about or not hasattr(type(self), f"{name}_"):
                setattr(self, f"{name}_", about.get(name))
        if "training" in about:
            self._remember(TrainingFacts.from_json(about["training"]))
        self.feature_counts_, self.firmness_ = about.get("feature_counts"), about.get("firmness")

    def _remember(self, facts: TrainingFacts) -> None:
        """Know how the training went; the same from a training and from a file."""
        self.training_ = facts
        self.trainer_, self.stop_reason_ = facts.trainer, facts.stop_reason
        self.n_iter_, self.best_iteration_ = facts.n_iter, facts.best_iteration
        self.history_ = facts.history


def check_savable(labels: Iterable[Any]) -> None:
    """Refuse labels that a model file cannot hold: after training it would be too late."""
    for label in labels:
        if not (type(label) is str and label.isascii()):
            to_json(label, "label")
