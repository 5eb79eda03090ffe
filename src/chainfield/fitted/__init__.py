"""Fitted models: what prediction, inspection and model files need, without anything of training."""

from .classifier import Classifier
from .compacting import compacted
from .confidence import Confidence, SpanConfidence, confidences
from .excluding import Excluding
from .herd import Herd, herd_of
from .model import FittedModel
from .path_finder import PathFinder
from .tagger import Tagger

#: Fitted models by the kind of their task.
FITTED: dict[str, type[FittedModel]] = {"tagging": Tagger, "classifying": Classifier}

__all__ = [
    "FITTED",
    "Classifier",
    "Confidence",
    "Excluding",
    "FittedModel",
    "Herd",
    "PathFinder",
    "SpanConfidence",
    "Tagger",
    "compacted",
    "confidences",
    "herd_of",
]
