"""Calibration on held-out data: of all answers with a probability of 0.9, nine in ten are to be right.

Three maps from a probability p to a better one, all monotone, so that the order of answers stays:

identity      p itself
temperature   σ(logit(p) / T), one number, for little data (Guo et al. 2017)
isotonic      the best monotone step function, with straight lines between its steps (Zadrozny and Elkan 2002)

Probabilities that are good already would only become worse by a map with noise in it. So "auto" takes the simplest map
whose log-loss on answers that it has not seen is not beaten by more than one standard error (Breiman et al. 1984). A
label with enough answers of its own has a map of its own, if "auto" finds that this is better than the common one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, DataError
from chainfield.schema import Part, Value

from .temperature import best_temperature

METHODS = ("auto", "isotonic", "temperature")
LEAST = 20  # answers to learn from
FOLDS = 10
SCHEMA = Part(
    (
        Value("method", "text", "how probabilities are mapped", choices=METHODS),
        Value("shared", "list", "isotonic: two lists, probabilities and what they become; temperature: [[T]]"),
        Value("labels", "object", "the same for single labels"),
    )
)
_EDGE = 1e-12


@final
@dataclass(frozen=True, eq=False)
class Map:
    """One map: knots of a line (isotonic), or a temperature."""

    knots: Float  # (2, K) probabilities, ascending, and what they become; (1, 1) the temperature

    def apply(self, p: Float) -> Float:
        """Better probabilities."""
        if self.knots.shape[0] == 1:
            clipped = np.clip(p, _EDGE, 1 - _EDGE)
            return 1 / (1 + np.exp(-np.log(clipped / (1 - clipped)) / self.knots[0, 0]))
        return np.interp(p, self.knots[0], self.knots[1])


_Fit = Callable[[Float, Float], Map]
"""Probabilities and whether answers were right → a map."""


@final
@dataclass(frozen=True, eq=False)
class Calibration:
    """Maps of probabilities: one that all labels share, and those of labels that had enough data."""

    method: str
    shared: Map
    labels: Mapping[str, Map] = field(default_factory=dict)

    def apply(self, probabilities: Any, labels: Sequence[str] | None = None) -> Float:
        """Calibrated probabilities; ``labels``: those of the answers."""
        p = np.asarray(probabilities, float)
        found = self.shared.apply(p)
        if labels is not None:
            names = np.asarray(labels, object)
            for label, own in self.labels.items():
                at = names == label
                found[at] = own.apply(p[at])
        return found

    def describe(self) -> dict[str, Any]:
        """For a model file."""
        kept = {label: own.knots.tolist() for label, own in self.labels.items()}
        return {"method": self.method, "shared": self.shared.knots.tolist(), "labels": kept}

    @classmethod
    def restore(cls, config: dict[str, Any]) -> Calibration:
        """The inverse; what is not possible is a ValueError."""
        SCHEMA.check(config, {}, {})
        method = config["method"]
        own = {str(label): _map(knots) for label, knots in config["labels"].items()}
        return cls(method, _map(config["shared"]), own)


def _map(knots: Any) -> Map:
    found = np.asarray(knots, float)
    line = found.ndim == 2 and found.shape[0] == 2 and found.shape[1] > 0
    if not line and found.shape != (1, 1):
        raise ValueError("the calibration has another shape")
    if not np.isfinite(found).all() or (not line and found[0, 0] <= 0):
        raise ValueError("the calibration is not finite")
    if line and (np.any(np.diff(found, axis=1) < 0) or found.min() < 0 or found.max() > 1):
        raise ValueError("the calibration does not rise from 0 to 1")
    return Map(found)


def fit_calibration(
    probabilities: Any,
    right: Any,
    labels: Sequence[str] | None = None,
    *,
    method: str = "auto",
    per_label: int = 200,
) -> Calibration:
    """Learn from answers on held-out data: their probabilities, and whether each was right.

    Labels with at least ``per_label`` answers get maps of their own; with "auto", where these are better.
    """
    if method not in METHODS:
        raise ConfigError(f"There is no calibration {method!r}; choose one of {', '.join(METHODS)}.")
    p, truth = np.asarray(probabilities, float), np.asarray(right, float)
    if p.ndim != 1 or p.shape != truth.shape or (labels is not None and len(labels) != len(p)):
        raise DataError("Calibration needs as many outcomes, and labels, as probabilities.")
    if len(p) < LEAST:
        raise DataError(f"Calibration needs {LEAST} answers or more on held-out data, but there are {len(p)}.")
    if not (np.isfinite(p).all() and p.min() >= 0 and p.max() <= 1 and np.isin(truth, (0.0, 1.0)).all()):
        raise DataError("Calibration needs probabilities from 0 to 1, and outcomes that are right or wrong.")
    candidates = _CANDIDATES[method]
    shared = _simplest(p, truth, candidates)(p, truth)
    own: dict[str, Map] = {}
    if labels is not None:
        names = np.asarray(labels, object)
        for label in sorted(set(labels)):
            at = names == label
            if at.sum() >= per_label:
                also = [lambda *_: shared] if method == "auto" else []
                found = _simplest(p[at], truth[at], [*also, *candidates])(p[at], truth[at])
                own |= {} if found is shared else {label: found}
    return Calibration(method, shared, own)


def _simplest(p: Float, truth: Float, candidates: Sequence[_Fit]) -> _Fit:
    """The first of some ways to learn a map that none of the others beats by more than a standard error.

    What counts is the log-loss of answers that a map has not learned from.
    """
    if len(candidates) == 1:
        return candidates[0]
    fold = np.random.default_rng(0).permutation(len(p)) % FOLDS
    losses = np.empty((len(candidates), len(p)))
    for k in range(FOLDS):
        rest, own = fold != k, fold == k
        for i, fit in enumerate(candidates):
            losses[i, own] = _log_loss(fit(p[rest], truth[rest]).apply(p[own]), truth[own])
    best = losses[np.argmin(losses.mean(axis=1))]
    worse = losses - best
    close = worse.mean(axis=1) <= worse.std(axis=1) / np.sqrt(len(p))
    return candidates[int(np.argmax(close))]


def _log_loss(p: Float, truth: Float) -> Float:
    clipped = np.clip(p, _EDGE, 1 - _EDGE)
    return -np.log(np.where(truth > 0, clipped, 1 - clipped))


def _identity(p: Float, truth: Float) -> Map:
    """No change."""
    return Map(np.ones((1, 1)))


def _temperature(p: Float, truth: Float) -> Map:
    """The temperature with the least log-loss."""
    clipped = np.clip(p, _EDGE, 1 - _EDGE)
    logit = np.log(clipped / (1 - clipped))
    sign = np.where(truth > 0, logit, -logit)
    return Map(np.array([[best_temperature(lambda t: float(np.logaddexp(0, -sign / t).sum()))]]))


def _isotonic(p: Float, truth: Float) -> Map:
    """Pool adjacent violators: neighbours that fall are joined to their mean.

    One answer that is right and one that is wrong are added at either end, so that nothing becomes certain.
    """
    lowest, highest = p.min(), p.max()
    x, which, counts = np.unique([lowest, *p, highest], return_inverse=True, return_counts=True)
    y = np.bincount(which, weights=[1.0, *truth, 0.0]) / counts
    means, weights, centres = list[float](), list[float](), list[float]()
    for point, value, count in zip(x.tolist(), y.tolist(), counts.tolist(), strict=True):
        means.append(value)
        weights.append(float(count))
        centres.append(point)
        while len(means) > 1 and means[-2] >= means[-1]:
            total = weights[-2] + weights[-1]
            for column in (means, centres):
                column[-2:] = [(column[-2] * weights[-2] + column[-1] * weights[-1]) / total]
            weights[-2:] = [total]
    return Map(np.array([centres, means]))


_CANDIDATES: dict[str, list[_Fit]] = {  # the simplest first
    "auto": [_identity, _temperature, _isotonic],
    "isotonic": [_isotonic],
    "temperature": [_temperature],
}
