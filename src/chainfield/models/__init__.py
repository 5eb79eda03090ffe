"""Models: estimators that compose the parts of the library."""

from .estimator import ChainTagger, load
from .linear_crf import LinearCRF
from .tagger import Tagger

#: Estimators by class name, as model files name them.
ESTIMATORS: dict[str, type[ChainTagger]] = {"LinearCRF": LinearCRF}

__all__ = ["ESTIMATORS", "ChainTagger", "LinearCRF", "Tagger", "load"]
