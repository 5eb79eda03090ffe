"""Objectives: from scores and known labels to a loss and its gradient."""

from .catalogue import OBJECTIVES, objective_named
from .contrast import Contrast
from .flattened import Flattened, Flattening
from .joint import JointLikelihood
from .local import LocalLikelihood
from .objective import Objective, Targets
from .piecewise import Piecewise
from .pseudolikelihood import PseudoLikelihood

__all__ = [
    "OBJECTIVES",
    "Contrast",
    "Flattened",
    "Flattening",
    "JointLikelihood",
    "LocalLikelihood",
    "Objective",
    "Piecewise",
    "PseudoLikelihood",
    "Targets",
    "objective_named",
]
