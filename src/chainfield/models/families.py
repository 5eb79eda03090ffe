"""The families of models: where each of them lives, and which parts of model files belong to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainfield.features import MAPS
from chainfield.lazy import Registry
from chainfield.scorers import SCORERS

if TYPE_CHECKING:
    from .base import SequenceModel

#: Models by the name that the command line gives them; files name them by their class.
MODELS: Registry[SequenceModel] = Registry()

for _name, _module, _kind in (
    ("linear", "linear_crf", "LinearCRF"),
    ("latent", "latent_crf", "LatentCRF"),
    ("empirical", "empirical.empirical_crf", "EmpiricalCRF"),
    ("memm", "memm", "MEMM"),
    ("neural", "neural.neural_crf", "NeuralCRF"),
    ("hmm", "hmm.hmm_classifier", "HMMClassifier"),
    ("hcrf", "hmm.hidden_crf", "HiddenCRF"),
    ("hidden-unit", "hidden_units.hidden_unit_crf", "HiddenUnitCRF"),
):
    MODELS.announce(_name, f"chainfield.models.{_module}", _kind)

#: The general estimators, by the names of their classes: they have no name on the command line.
COMPOSED: Registry[SequenceModel] = Registry()
for _kind in ("ComposedTagger", "ComposedClassifier"):
    COMPOSED.announce(_kind, "chainfield.models.composed", _kind)

#: What may stand around a model in its file, by kind.
WRAPPERS: Registry[Any] = Registry()
WRAPPERS.announce("text", "chainfield.text.tagging.text_tagger", "TextTagger")

# Scorers and feature maps that only one family uses.
for _module, _kinds in {
    "empirical.known_words": ("Words",),
    "empirical.unseen": ("UnseenAverage", "UnseenExponential"),
    "empirical.word_rates": ("WordRates",),
    "empirical.half_rates": ("HalfRates",),
    "empirical.joint_rates": ("JointRates",),
    "hmm.mixture": ("GaussianMixture",),
    "neural.scorer": ("Neural",),
}.items():
    for _kind in _kinds:
        SCORERS.announce(_kind, f"chainfield.models.{_module}", _kind)
MAPS.announce("words", "chainfield.models.neural.word_features", "WordFeatures")
