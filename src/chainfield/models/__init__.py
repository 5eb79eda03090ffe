"""Models: estimators that compose the parts of the library."""

from chainfield.fitted import Tagger

from .estimator import ChainTagger
from .linear_crf import LinearCRF
from .loading import MODELS, load

__all__ = ["MODELS", "ChainTagger", "LinearCRF", "Tagger", "load"]
