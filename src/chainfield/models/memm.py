"""The maximum-entropy Markov model (McCallum, Freitag and Pereira 2000)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

from chainfield.arrays import Float
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import Tagger
from chainfield.objectives import LocalLikelihood, Objective
from chainfield.potentials import How
from chainfield.scorers import Chain
from chainfield.settings import Choice, but
from chainfield.trainers import GRADIENT_TRAINERS

from .groups import TrainingSettings
from .linear_crf import LinearTagger


@final
class MEMM(
    LinearTagger,
    without=("objective", "margin", "temperature", "class_weight", "tune_for", "boundary", "aggressiveness"),
):
    """A chain of maximum-entropy classifiers: P(label | label before, input), each normalised by itself.

    It trains faster than a CRF, because a position needs no sum over all paths. But a label that few labels can follow
    passes its probability on whatever the input says (the label bias, Lafferty et al. 2001). Compare it with
    :class:`~chainfield.models.LinearCRF` on your data before you rely on it.

    >>> X = [["Anna", "lives", "in", "Oslo"], ["Oslo", "is", "cold"]]
    >>> y = [["B-PER", "O", "O", "B-LOC"], ["B-LOC", "O", "O"]]
    >>> MEMM().fit(X, y).predict([["Anna", "is", "in", "Oslo"]])
    [['B-PER', 'O', 'O', 'B-LOC']]
    """

    trainer: str = but(TrainingSettings.trainer, kind=Choice((*GRADIENT_TRAINERS, "sdca")))

    def _objective(self) -> Objective:
        return LocalLikelihood()

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Tagger:
        # Training has its scores as they are; prediction needs probabilities of steps.
        return super()._make(features, task, replace(chain, normalised=True), theta, how)
