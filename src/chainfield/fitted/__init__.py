"""Fitted models: what prediction, inspection and model files need, without anything of training."""

from .classifier import Classifier
from .confidence import Confidence, SpanConfidence, confidences
from .explanation import Explanation, explain
from .herd import Herd, herd_of
from .hidden import HiddenState, HiddenStates, StatePath, hidden_states, state_path
from .model import FittedModel
from .tagger import Tagger

#: Fitted models by the kind of their task.
FITTED: dict[str, type[FittedModel]] = {"tagging": Tagger, "classifying": Classifier}

__all__ = [
    "FITTED",
    "Classifier",
    "Confidence",
    "Explanation",
    "FittedModel",
    "Herd",
    "HiddenState",
    "HiddenStates",
    "SpanConfidence",
    "StatePath",
    "Tagger",
    "confidences",
    "explain",
    "herd_of",
    "hidden_states",
    "state_path",
]
