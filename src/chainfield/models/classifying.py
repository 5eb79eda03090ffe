"""What all classifiers of whole sequences share: prediction of one label per sequence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from chainfield.arrays import Array, Float
from chainfield.checking import is_list, shown, weights_of
from chainfield.errors import DataError
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import Classifier
from chainfield.parallel import count_jobs
from chainfield.potentials import How
from chainfield.scorers import Chain
from chainfield.tasks import Classifying, Task, label_array

from .base import SequenceModel, not_trained


class ClassifyingModel(SequenceModel):
    """Base of the classifiers, trained in whatever way: one label for a whole sequence."""

    task_type: ClassVar[type[Task]] = Classifying
    #: What scikit-learn asks for, to keep the shares of classes in every fold, for example.
    _estimator_type: ClassVar[str] = "classifier"

    @property
    def classifier_(self) -> Classifier:
        """The parts themselves: features, task, chain and parameters."""
        if "fitted_" not in self.__dict__:
            raise not_trained(self)
        return cast(Classifier, self.fitted_)

    def _targets(self, y: Any, lengths: Sequence[int] | None, what: str = "y") -> Sequence[Any]:
        if not is_list(y):
            raise DataError(f"{what} is {shown(y)}; a list with a label for each sequence is expected.")
        return list(y)

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Classifier:
        return Classifier(features, task, chain, theta, how, count_jobs(self.n_jobs))

    def _quality(self, truth: Sequence[Any], guess: Sequence[Any], labels: tuple[Any, ...]) -> float:
        """Accuracy over sequences with a known label."""
        return _accuracy(truth, guess)

    def _classifier(self) -> Classifier:
        return cast(Classifier, self._fitted())

    @property
    def classes_(self) -> Array:
        """(labels,) the labels, in the order of the columns of probabilities."""
        return label_array(self._fitted().task.labels)

    def predict(self, X: Any, *, lengths: Sequence[int] | None = None) -> Array:
        """(sequences,) the best label of each sequence."""
        model = self._classifier()
        return self.classes_[model.labels(model.encode(self._input(X, lengths)))]

    def classify(self, x: Any) -> Any:
        """The best label of one sequence: ``predict([x])[0]``."""
        return self._classifier().predict(self._input([x]))[0]

    def decision_function(self, X: Any, *, lengths: Sequence[int] | None = None) -> Float:
        """(sequences, labels) how far the score of a label lies above the best of the others: only the predicted one
        lies above 0. With two labels, (sequences,): how far the second lies above the first.

        Models that were trained to tell labels apart without probabilities (a perceptron, a large margin) are compared
        by these.
        """
        model = self._classifier()
        scores = model.scores(model.encode(self._input(X, lengths)))
        if scores.shape[1] < 2:
            return np.zeros_like(scores)
        ordered = np.sort(scores, axis=1)
        others = np.where(scores == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
        margins: Float = np.nan_to_num(scores - others)  # a class without any path lies as far below as numbers go
        return margins[:, 1] if margins.shape[1] == 2 else margins

    def predict_proba(self, X: Any, *, lengths: Sequence[int] | None = None) -> Float:
        """(sequences, labels) probabilities, columns in the order of ``classes_``."""
        return self._classifier().probabilities(self._input(X, lengths))

    def predict_log_proba(self, X: Any, *, lengths: Sequence[int] | None = None) -> Float:
        """The same, as logarithms."""
        return self._classifier().log_probabilities(self._input(X, lengths))

    def log_likelihood(self, X: Any, y: Any, *, lengths: Sequence[int] | None = None) -> Float:
        """Log-probability of each label; it may be None or a set."""
        return self._classifier().log_likelihood(self._input(X, lengths), self._targets(y, lengths))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Sequence[int] | None = None) -> float:
        """Accuracy; unknown labels (None) do not count, and a set is right if it holds the answer."""
        truth = self._targets(y, lengths)
        guess = self.predict(X, lengths=lengths)
        if len(truth) != len(guess):
            raise DataError(f"X has {len(guess)} sequences, but there are labels for {len(truth)}.")
        self._check_truth(truth)
        return _accuracy(truth, guess, weights_of(sample_weight, len(truth)))


def _accuracy(truth: Sequence[Any], guess: Iterable[Any], weights: Float | None = None) -> float:
    from chainfield.metrics.scoring import share_right

    return share_right([[one] for one in truth], [[one] for one in guess], weights)
