"""What everything fitted shares, however it came about: inspection and files, in scikit-learn's manner."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from chainfield.arrays import Float
from chainfield.features.map import FeatureMap
from chainfield.files.model import save_model
from chainfield.files.values import to_json
from chainfield.fitted import FittedModel, names
from chainfield.inspection.states import HiddenStates, StatePath, hidden_states, state_path
from chainfield.parallel import count_jobs
from chainfield.potentials import How
from chainfield.scorers import Chain
from chainfield.tasks import Task

from .inputs import as_template, split_sequences
from .settings import seed_of


class SequenceModel(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all models: one that is fitted can be looked into and saved. How it is fitted is not said here.

    ``fit`` of a subclass sets ``fitted_``. The two kinds below it, :class:`~chainfield.models.tagging.TaggingModel`
    and :class:`~chainfield.models.classifying.ClassifyingModel`, say what a model predicts.
    """

    fitted_: FittedModel
    #: What targets mean.
    task_type: ClassVar[type[Task]]
    #: Attributes (without their trailing _) that a model file keeps besides.
    remembered: ClassVar[tuple[str, ...]] = ()

    n_jobs: int | None
    random_state: Any

    # ---- what a kind of model says -------------------------------------------------------------------------------

    @abstractmethod
    def _targets(self, y: Any, lengths: Sequence[int] | None, what: str = "y") -> Sequence[Any]:
        """The user's targets, one a sequence."""

    @abstractmethod
    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> FittedModel:
        """A fitted model from its parts."""

    @abstractmethod
    def _quality(self, truth: Sequence[Any], guess: Sequence[Any], labels: tuple[Any, ...]) -> float:
        """How good predictions are: what development data are scored by."""

    def _prediction_settings(self) -> dict[str, Any]:
        """Settings that may change after ``fit``, and change predictions from then on."""
        return {"n_jobs": count_jobs(self.n_jobs)}

    def _fitted(self) -> FittedModel:
        if not hasattr(self, "fitted_"):
            raise NotFittedError(f"This {type(self).__name__} is not trained yet; call fit first.")
        wanted = self._prediction_settings()
        if any(getattr(self.fitted_, name) != value for name, value in wanted.items()):
            self.fitted_ = replace(self.fitted_, **wanted)
        return self.fitted_

    # ---- inspection ----------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[Any]:
        """The labels, in the order of the columns of probabilities."""
        return list(self._fitted().task.labels)

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

    def hidden_states(
        self, X: Any, given: Any = None, *, n: int = 10, lengths: Sequence[int] | None = None
    ) -> HiddenStates:
        """The tokens that fire each hidden state, ``n`` of each, and how states follow each other, on some data."""
        known = None if given is None else self._targets(given, lengths, "given")
        return hidden_states(self._fitted(), split_sequences(X, lengths), known, n=n)

    def state_path(self, x: Any, given: Any = None) -> StatePath:
        """The states along one sequence, with their probabilities."""
        return state_path(self._fitted(), x, given)

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
            "notes": notes or {},
            **{name: getattr(self, f"{name}_") for name in self.remembered},
        }
        save_model(path, self._fitted(), about)

    def _restore(self, fitted: FittedModel, about: dict[str, Any]) -> None:
        """Become what a file describes."""
        self.fitted_ = fitted
        for name in self.remembered:
            if name in about:
                setattr(self, f"{name}_", about[name])
