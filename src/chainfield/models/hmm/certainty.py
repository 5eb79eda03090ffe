"""How sure an HMM may be of its classes: ``kappa="auto"``.

HMMs take neighbouring frames and columns for independent, and count the same evidence many times: their posteriors are
far too sure. How far is seen on sequences that they were not fitted to. HMMs of one half of the sequences score the
other half, and P(w) ∝ exp(S_w / T) is most probable there at some T. The start of a hidden CRF is flattened by

    κ = min(1, 1.5 / T)

1.5, because HMMs of all sequences are better than those of half of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.arrays import Float, Int, distinct
from chainfield.confidence.temperature import best_temperature
from chainfield.errors import DataError
from chainfield.inference import class_scores
from chainfield.models.material import Examples, Material
from chainfield.scorers import Chain

from .chains import Fitting, fit_hmm
from .starting import take_sample

USUAL = 0.1  # where data are in pieces, or too few to be divided
HALVES, LARGEST = 1.5, 1000.0  # the gain of all data over half of them; the highest temperature
MOST = 2000  # sequences of a half: more would not change κ


def flattening(chain: Chain, material: Material, start: Fitting) -> float:
    """κ for a start from HMMs."""
    whole = material.whole
    if whole is None:
        return USUAL
    labels = take_sample(whole, chain.space, None).labels
    first, second = _halves(labels)
    try:
        theta = fit_hmm(chain, _part(material, whole, first), start)
    except DataError:
        return USUAL
    scores, truth = _scored(chain, theta, whole, second), labels[second]
    own = scores[np.arange(len(truth)), truth]
    possible = np.isfinite(own)
    if not possible.any():
        return USUAL

    def loss(t: float) -> float:
        scaled = (scores[possible] - own[possible, None]) / t
        top = scaled.max(axis=1)
        return float((top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))).sum())

    return float(min(1.0, HALVES / best_temperature(loss, 0.5, LARGEST, 30)))


def _halves(labels: Int) -> tuple[Int, Int]:
    """Sequences of every class alternate between two halves; those of unknown classes are in neither."""
    first, second = [], []
    for label in distinct(labels[labels >= 0]):
        own = np.flatnonzero(labels == label)
        first.append(own[::2])
        second.append(own[1::2])
    return tuple(np.sort(np.concatenate(half))[:MOST] for half in (first, second))  # type: ignore[return-value]


def _part(material: Material, whole: Examples, chosen: Int) -> Material:
    """The material of some sequences."""
    batch, clamp = whole.batch.take(chosen), whole.clamp[whole.batch.positions(chosen)]
    return Material.of(material.features, batch, clamp, material.labels)


def _scored(chain: Chain, theta: Float, whole: Examples, chosen: Int) -> Any:
    """(S, L) scores of the classes of some sequences."""
    potentials, _ = chain.potentials(chain.views(theta), whole.batch.take(chosen), "sum")
    return class_scores(chain.space, potentials)
