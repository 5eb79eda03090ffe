"""Tables for tools that know no sequences: a row of a table is a sequence, and a model is an ordinary classifier.

Models take lists of sequences, and most of scikit-learn's tools pass them on as they are. Some demand a two-dimensional
array (bagging, boosting, its own checks); here is how to come by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from chainfield.arrays import Array, Bool, Float
from chainfield.checking import ROWS
from chainfield.errors import ConfigError, DataError
from chainfield.models import SequenceModel
from chainfield.settings import is_whole
from chainfield.tasks import label_array

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError:
    raise ConfigError(
        "chainfield.adapters needs scikit-learn; install it with: pip install 'chainfield[sklearn]'."
    ) from None

R = TypeVar("R", bound="RowClassifier")


def pad(sequences: Sequence[Any]) -> Float:
    """(S, T · D) a table of S arrays of D columns and at most T positions, one row each; the rest of a row is NaN.

    ``RowClassifier(model, width=D)`` reads it again.
    """
    arrays = [ROWS.read(sequence, f"Sequence {s}") for s, sequence in enumerate(sequences)]
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise DataError("Only two-dimensional arrays with the same number of columns make a table.")
    longest = max(map(len, arrays))
    table = np.full((len(arrays), longest, *shapes.pop()), np.nan)
    for row, array in zip(table, arrays, strict=True):
        row[: len(array)] = array
    return table.reshape(len(arrays), -1)


class RowClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of the rows of a table, by a model of sequences.

    Parameters
    ----------
    estimator : a tagger or a classifier of chainfield
        The model. ``fit`` trains a copy, ``estimator_``. A tagger labels the one position of every sequence.
    width : int, or None, default None
        None: a row is a sequence of one position. Else a row is cut into positions of so many numbers, of which those
        at the end that are all NaN are left out; this is for classifiers.
    text : bool, default False
        Values are written as strings, and a position is a tuple of them: for models that read text.
    """

    def __init__(self, estimator: Any, *, width: int | None = None, text: bool = False) -> None:
        self.estimator = estimator
        self.width = width
        self.text = text

    def fit(self: R, X: Any, y: Any, sample_weight: Any = None) -> R:
        """Train a copy of the model on the rows of X and a label for each."""
        self._check()
        X, y = self._table(X, y)
        check_classification_targets(y)
        labels = [[label] for label in y] if self._tags_positions else y
        self.estimator_ = clone(self.estimator).fit(self._sequences(X), labels, sample_weight)
        self.classes_ = label_array(list(self.estimator_.classes_))
        return self

    def predict(self, X: Any) -> Array:
        """(rows,) the best label of each row."""
        rows = self._rows(X)
        found = self.estimator_.predict(rows)
        if not self._tags_positions:
            return found
        number = {label: i for i, label in enumerate(self.estimator_.classes_)}
        return self.classes_[[number[label] for (label,) in found]]

    def predict_proba(self, X: Any) -> Float:
        """(rows, labels) probabilities, columns in the order of ``classes_``."""
        rows = self._rows(X)
        if not self._tags_positions:
            return self.estimator_.predict_proba(rows)
        return np.concatenate(self.estimator_.predict_marginals(rows))

    @property
    def _tags_positions(self) -> bool:
        return self.estimator.task_type.every_position

    def _check(self) -> None:
        if not isinstance(self.estimator, SequenceModel):
            raise ConfigError(f"estimator is {self.estimator!r}; a model of chainfield is expected.")
        if self.width is None:
            return
        if not is_whole(self.width) or self.width < 1:
            raise ConfigError(f"width is {self.width!r}; a whole number of at least 1 is expected, or None.")
        if self._tags_positions or self.text:
            what = "text" if self.text else f"{type(self.estimator).__name__}, which labels positions"
            raise ConfigError(f"width is for classifiers of numbers, not for {what}; leave it out.")

    def _rows(self, X: Any) -> list[Any]:
        check_is_fitted(self)
        return self._sequences(self._table(X))

    def _table(self, X: Any, y: Any = "no_validation") -> Any:
        """X (and y), checked; ``fit`` remembers the number of columns, and their names where they have any."""
        return validate_data(
            self,
            X,
            y,
            reset=not isinstance(y, str),
            dtype=None if self.text else np.float64,
            ensure_all_finite=True if self.width is None else "allow-nan",
        )

    def _sequences(self, X: Array) -> list[Any]:
        if self.text:
            return [[tuple(map(str, row))] for row in X.tolist()]
        if self.width is None:
            return list(X[:, None, :])
        if X.shape[1] % self.width:
            raise DataError(f"A row has {X.shape[1]} numbers, which are no whole positions of width {self.width}.")
        cut = X.reshape(len(X), -1, self.width)
        there: Bool = np.logical_not(np.isnan(cut))
        lengths = (there.any(axis=2) * np.arange(1, cut.shape[1] + 1)).max(axis=1, initial=0)
        return [rows[:length] for rows, length in zip(cut, lengths.tolist(), strict=True)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.width is not None
        tags.input_tags.string = bool(self.text)
        return tags
