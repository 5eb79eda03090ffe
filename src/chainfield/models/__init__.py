"""Models: estimators that compose the parts of the library."""

from chainfield.fitted import Tagger

from .estimator import ChainTagger, load
from .linear_crf import LinearCRF

#: Estimators by class name, as model files name them.
ESTIMATORS: dict[str, type[ChainTagger]] = {"LinearCRF": LinearCRF}

#: Estimators by the name that the command line gives them.
MODELS: dict[str, type[ChainTagger]] = {"linear": LinearCRF}

__all__ = ["ESTIMATORS", "MODELS", "ChainTagger", "LinearCRF", "Tagger", "load"]
