"""Models: estimators that compose the parts of the library."""

from chainfield.fitted import Classifier, Tagger

from .aligning import Alignment
from .base import SequenceModel
from .classifying import ClassifyingModel
from .empirical_crf import EmpiricalCRF
from .estimator import ChainClassifier, ChainEstimator, ChainTagger
from .hidden_crf import HiddenCRF
from .hidden_unit_crf import HiddenUnitCRF
from .hmm_classifier import HMMClassifier
from .latent_crf import LatentCRF
from .linear_crf import LinearCRF
from .loading import MODELS, load
from .memm import MEMM
from .neural_crf import NeuralCRF
from .tagging import TaggingModel

__all__ = [
    "MEMM",
    "MODELS",
    "Alignment",
    "ChainClassifier",
    "ChainEstimator",
    "ChainTagger",
    "Classifier",
    "ClassifyingModel",
    "EmpiricalCRF",
    "HMMClassifier",
    "HiddenCRF",
    "HiddenUnitCRF",
    "LatentCRF",
    "LinearCRF",
    "NeuralCRF",
    "SequenceModel",
    "Tagger",
    "TaggingModel",
    "load",
]
