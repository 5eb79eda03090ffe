"""Models of parts of the data: doubtful labels out of fold, and how scores grow with the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chainfield.arrays import Int
from chainfield.errors import ConfigError, DataError
from chainfield.inspection.doubtful import Disagreement, disagreements, surest_first
from chainfield.metrics.resampling import group_numbers
from chainfield.spans import has_spans

from .base import SequenceModel
from .inputs import split_sequences
from .tagging import TaggingModel

Watch = Callable[[int, int], None]
"""Called after each training: how many are done, and how many there are."""


def doubtful_labels(
    model: TaggingModel,
    X: Any,
    y: Any,
    *,
    n_folds: int = 5,
    groups: Sequence[Any] | None = None,
    random_state: int = 0,
    watch: Watch | None = None,
) -> list[Disagreement]:
    """Where models that have not seen a sequence disagree with its labels; where they are surest comes first.

    Trains ``n_folds`` models with the settings of ``model``, each without one part of the data, and asks it about that
    part. ``groups`` names the group of each sequence, such as its document: a group is never divided. The model itself
    need not be fitted and stays as it is.
    """
    sequences, targets = split_sequences(X, None), model._targets(y, None)
    fold_of = _folds(len(sequences), len(targets), n_folds, groups, random_state)
    found: list[Disagreement] = []
    for fold in range(n_folds):
        inside, outside = (np.flatnonzero(own).tolist() for own in (fold_of != fold, fold_of == fold))
        fresh = _fitted(model, [sequences[i] for i in inside], [targets[i] for i in inside])
        asked, known = [sequences[i] for i in outside], [targets[i] for i in outside]
        for place in disagreements(fresh._tagger(), asked, known):
            found.append(replace(place, sequence=outside[place.sequence], fold=fold))
        if watch is not None:
            watch(fold + 1, n_folds)
    return sorted(found, key=surest_first)


@dataclass(frozen=True)
class CurvePoint:
    """Scores of models trained on ``n`` sequences: means over the draws, and the lowest and highest on test data."""

    n: int
    train: float
    test: float
    low: float
    high: float
    draws: int


@dataclass(frozen=True)
class LearningCurve:
    """How the score grows with the data. ``metric``: "span_f1", "token_accuracy" or "accuracy"."""

    metric: str
    points: tuple[CurvePoint, ...]

    @property
    def gain(self) -> float:
        """What the last step brought."""
        return self.points[-1].test - self.points[-2].test if len(self.points) > 1 else 0.0

    @property
    def still_rising(self) -> bool:
        """Whether the last step brought more than draws differ: more data should help."""
        if len(self.points) < 2:
            return False
        before, last = self.points[-2:]
        return last.low > before.high and self.gain > max(before.high - before.low, last.high - last.low)


def learning_curve(
    model: SequenceModel,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    shares: Sequence[float] = (0.1, 0.25, 0.5, 1.0),
    n_draws: int = 3,
    groups: Sequence[Any] | None = None,
    random_state: int = 0,
    watch: Watch | None = None,
) -> LearningCurve:
    """Train on growing parts of the data, ``n_draws`` random ones of each size, and score each on the same test data.

    Scores are those that development data are scored by: F1 of spans where labels stand for spans, else accuracy.
    ``groups`` are drawn as wholes. All data have one draw. The model itself stays as it is.
    """
    if not shares or not all(0 < share <= 1 for share in shares) or sorted(set(shares)) != list(shares):
        raise ConfigError(f"shares are {list(shares)}; growing numbers up to 1 are expected, such as 0.25, 0.5 and 1.")
    if n_draws < 1:
        raise ConfigError(f"n_draws is {n_draws}; at least one is needed.")
    sequences, targets = split_sequences(X, None), model._targets(y, None)
    test = split_sequences(X_test, None, "X_test"), model._targets(y_test, None, "y_test")
    if len(sequences) != len(targets):
        raise DataError(f"X has {len(sequences)} sequences, but there are labels for {len(targets)}.")
    unit, n_units = group_numbers(groups, len(sequences))
    rng = np.random.default_rng(random_state)
    plan = [(share, 1 if share == 1.0 else n_draws) for share in shares]
    done, points, metric = 0, [], ""
    for share, n in plan:
        rows = []
        for _ in range(n):
            drawn = rng.permutation(n_units)[: max(1, round(share * n_units))]
            inside = np.flatnonzero(np.isin(unit, drawn)).tolist()
            own = [sequences[i] for i in inside], [targets[i] for i in inside]
            fresh = _fitted(model, *own)
            rows.append((len(inside), _score(fresh, *own), _score(fresh, *test)))
            metric = metric or _metric(fresh)
            done += 1
            if watch is not None:
                watch(done, sum(draws for _, draws in plan))
        size, train, held_out = (np.array(column, float) for column in zip(*rows, strict=True))
        ends = float(held_out.min()), float(held_out.max())
        points.append(CurvePoint(round(float(size.mean())), float(train.mean()), float(held_out.mean()), *ends, n))
    return LearningCurve(metric, tuple(points))


def _fitted(model: Any, X: Sequence[Any], y: Sequence[Any]) -> Any:
    """A new model of the same settings."""
    return type(model)(**model.get_params(deep=False)).fit(X, y)


def _score(model: Any, X: Sequence[Any], y: Sequence[Any]) -> float:
    return float(model._quality(y, list(model.predict(X)), model._fitted().task.labels))


def _metric(model: Any) -> str:
    """What the score of a model is."""
    labels = model._fitted().task.labels
    if not model.task_type.every_position:
        return "accuracy"
    return "span_f1" if all(isinstance(y, str) for y in labels) and has_spans(labels) else "token_accuracy"


def _folds(n: int, n_targets: int, n_folds: int, groups: Sequence[Any] | None, random_state: int) -> Int:
    """(S,) the fold of each sequence; groups stay together, folds are as equal as groups allow."""
    if n != n_targets:
        raise DataError(f"X has {n} sequences, but there are labels for {n_targets}.")
    unit, n_units = group_numbers(groups, n)
    if not 2 <= n_folds <= n_units:
        what = "sequences" if groups is None else "groups"
        raise ConfigError(f"n_folds is {n_folds}; there are {n_units} {what}, so from 2 to {n_units} are possible.")
    rng = np.random.default_rng(random_state)
    size = np.bincount(unit, minlength=n_units)
    fold, filled = np.zeros(n_units, np.int64), np.zeros(n_folds, np.int64)
    order = rng.permutation(n_units)
    for g in order[np.argsort(-size[order], kind="stable")]:  # large groups first, each into the emptiest fold
        fold[g] = int(filled.argmin())
        filled[fold[g]] += size[g]
    return fold[unit]
