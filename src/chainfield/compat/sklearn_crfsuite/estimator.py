"""``CRF``: python-crfsuite's trainer and tagger behind ``fit`` and ``predict``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from chainfield.arrays import Array
from chainfield.compat.pycrfsuite import Tagger, Trainer, _dumpparser, _logparser
from chainfield.errors import NotTrainedError

from ._fileresource import FileResource
from .compat import BaseEstimator
from .metrics import flat_accuracy_score
from .trainer import LinePerIterationTrainer

#: Parameters that CRFsuite calls otherwise.
_NAMES = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "calibration_eta": "calibration.eta",
    "calibration_rate": "calibration.rate",
    "calibration_samples": "calibration.samples",
    "calibration_candidates": "calibration.candidates",
    "calibration_max_trials": "calibration.max_trials",
    "pa_type": "type",
}
_OTHERS = (
    "c1", "c2", "max_iterations", "num_memories", "epsilon", "period", "delta", "linesearch", "max_linesearch", "c",
    "error_sensitive", "averaging", "variance", "gamma",
)  # fmt: skip
_PARAMETERS = _NAMES | {name: name for name in _OTHERS}

C = TypeVar("C", bound="CRF")


class CRF(BaseEstimator):  # type: ignore[misc]
    """A linear-chain CRF with the interface of sklearn-crfsuite.

    Parameters are CRFsuite's, with None for its default: see :meth:`chainfield.compat.pycrfsuite.Trainer.help`.
    ``model_filename``: where the model is kept; None: a temporary file, which pickles take along.
    ``trainer_cls``: a subclass of :class:`chainfield.compat.pycrfsuite.Trainer`.
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: type[Trainer] | None = None,
    ) -> None:
        for name, value in list(locals().items()):
            if name not in ("self", "__class__"):
                setattr(self, name, value)
        self.modelfile = FileResource(model_filename, keep_tempfiles, suffix=".crfsuite", prefix="model")
        self.training_log_: _logparser.TrainLogParser | None = None
        self._tagger: Tagger | None = None
        self._info_cached: _dumpparser.ParsedDump | None = None

    verbose: bool
    algorithm: str | None
    trainer_cls: type[Trainer] | None

    def fit(self: C, X: Iterable[Any], y: Iterable[Any], X_dev: Any = None, y_dev: Any = None) -> C:
        """Train on sequences of items X and their labels y; development data are evaluated in every iteration."""
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data")
        self._tagger = self._info_cached = None
        self.modelfile.refresh()
        given = {crfsuite: getattr(self, name) for name, crfsuite in _PARAMETERS.items()}
        params = {name: value for name, value in given.items() if value is not None}
        kind = self.trainer_cls or LinePerIterationTrainer
        trainer = kind(algorithm=self.algorithm, params=params, verbose=self.verbose)
        for sequence, labels in _pairs(X, y):
            trainer.append(sequence, labels)
        if X_dev is not None:
            for sequence, labels in _pairs(X_dev, y_dev):
                trainer.append(sequence, labels, 1)
        assert self.modelfile.name is not None
        trainer.train(self.modelfile.name, holdout=-1 if X_dev is None else 1)
        self.training_log_ = trainer.logparser
        return self

    # ---- predictions ---------------------------------------------------------------------------------------------

    def predict(self, X: Iterable[Any]) -> Array:
        """The best labels of every sequence, on all processors: an array of lists (of labels, if all are as long)."""
        return np.array(self._open().tag_many(X), dtype=object)

    def predict_single(self, xseq: Any) -> list[str]:
        """The best labels of one sequence."""
        return self._open().tag(xseq)

    def predict_marginals(self, X: Iterable[Any]) -> Array:
        """The probabilities of all labels at all positions: an array of lists of dicts."""
        return np.array([self.predict_marginals_single(xseq) for xseq in X], dtype=object)

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """The probabilities of all labels at every position of one sequence."""
        return self._open().marginals(xseq)

    def score(self, X: Iterable[Any], y: Any) -> float:
        """The share of items that are right."""
        return flat_accuracy_score(y, self.predict(X))

    def _open(self) -> Tagger:
        tagger = self.tagger_
        if tagger is None:
            raise NotTrainedError("This CRF is not trained yet; call fit first, or give model_filename.")
        return tagger

    # ---- what was learned ----------------------------------------------------------------------------------------

    @property
    def tagger_(self) -> Tagger | None:
        """The tagger; None before ``fit``."""
        if self._tagger is None and self.modelfile.name is not None:
            tagger = Tagger()
            tagger.open(self.modelfile.name)
            self._tagger, self._info_cached = tagger, None
        return self._tagger

    @property
    def classes_(self) -> list[str] | None:
        """The labels, in the order of their numbers."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def _info(self) -> _dumpparser.ParsedDump | None:
        if self._info_cached is None and self.tagger_ is not None:
            self._info_cached = self.tagger_.info()
        return self._info_cached

    @property
    def size_(self) -> int | None:
        """The size of the model, in bytes."""
        return None if self._info is None else int(self._info.header["size"])

    @property
    def num_attributes_(self) -> int | None:
        """How many attributes have a weight."""
        return None if self._info is None else int(self._info.header["num_attrs"])

    @property
    def attributes_(self) -> Sequence[str] | None:
        """The attributes, by number."""
        return None if self._info is None else list(self._info.attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """{(attribute, label): weight}."""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """{(label before, label): weight}."""
        return None if self._info is None else self._info.transitions

    # ---- pickles -------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_tagger": None, "_info_cached": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _pairs(X: Iterable[Any], y: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    """Sequences and labels; a list that is longer than the other is a mistake, which sklearn-crfsuite passes over."""
    try:
        yield from zip(X, y, strict=True)
    except ValueError as error:
        if "zip()" not in str(error):
            raise
        raise ValueError("X and y do not have as many sequences as each other.") from None
