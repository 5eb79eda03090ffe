"""Looking into hidden units: when they are on, and what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.fitted.model import FittedModel, cut
from chainfield.fitted.names import row_names
from chainfield.inference import marginals
from chainfield.scorers import HiddenUnits


@dataclass(frozen=True)
class UnitPortrait:
    """A unit: how far its output weights set labels apart, its strongest features, and labels for and against."""

    unit: int
    strength: float
    features: tuple[tuple[str, float], ...]
    labels: tuple[tuple[Any, float], ...]

    def __str__(self) -> str:
        features = ", ".join(f"{weight:+.3g} {name}" for name, weight in self.features)
        labels = ", ".join(f"{weight:+.3g} {name}" for name, weight in self.labels)
        return f"unit {self.unit}: {features} -> {labels}"


def has_units(model: FittedModel) -> bool:
    """Whether a model has hidden units."""
    return any(isinstance(scorer, HiddenUnits) for scorer in model.chain.emissions)


def units_of(model: FittedModel) -> HiddenUnits:
    """The hidden units of a model."""
    for scorer in model.chain.emissions:
        if isinstance(scorer, HiddenUnits):
            return scorer
    raise ConfigError("The model has no hidden units.")


def unit_posteriors(model: FittedModel, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Float]:
    """(length, H) probabilities that units are on, a sequence; labels that are not given are summed over."""
    units, batch = units_of(model), model.features.encode(sequences, model.n_jobs)
    summed = replace(model, how="sum")
    parts = summed.map(lambda space, p: marginals(space, p).expected.node, batch, given)
    rows = np.concatenate(parts or [np.empty((0, model.chain.space.n_rows))])
    found = []
    for lo, hi in model.chain.blocks(batch.ragged):
        own = rows[batch.ragged.slice_of(lo, hi)]
        found.append(units.posteriors(model.own(units), batch.window(lo, hi), own))
    return cut(np.concatenate(found or [np.empty((0, units.n_units))]), batch)


def portraits(model: FittedModel, n_features: int = 5, n_labels: int = 4) -> list[UnitPortrait]:
    """What each unit stands for; the unit that sets labels apart most comes first."""
    units = units_of(model)
    own, names = model.own(units), model.feature_names
    rows = row_names(model.chain.space, model.task.labels)
    spoken = own["output"] - own["output"].mean(axis=0)  # (R, H): what all labels share decides nothing
    strength = np.linalg.norm(spoken, axis=0)
    found = []
    for h in np.argsort(-strength, kind="stable").tolist():
        weight = own["input"][:, h]
        few = min(n_features, len(weight))
        top = np.argpartition(-np.abs(weight), few - 1)[:few] if few else np.empty(0, np.int64)
        top = top[np.argsort(-np.abs(weight[top]), kind="stable")]
        best = np.argsort(-np.abs(spoken[:, h]), kind="stable")[:n_labels]
        found.append(
            UnitPortrait(
                h,
                float(strength[h]),
                tuple((names[f], float(weight[f])) for f in top.tolist()),
                tuple((rows[r], float(spoken[r, h])) for r in best.tolist()),
            )
        )
    return found
