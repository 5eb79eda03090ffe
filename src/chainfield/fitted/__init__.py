"""Fitted models: what prediction, inspection and model files need, without anything of training."""

from .confidence import Confidence, SpanConfidence, confidences
from .explanation import Explanation, explain
from .tagger import Tagger

__all__ = ["Confidence", "Explanation", "SpanConfidence", "Tagger", "confidences", "explain"]
