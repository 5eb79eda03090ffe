"""Objectives: from scores and known labels to a loss and its gradient."""

from .catalogue import OBJECTIVES, objective_named
from .contrast import Contrast
from .local import LocalLikelihood
from .objective import Objective, Targets
from .piecewise import Piecewise
from .pseudolikelihood import PseudoLikelihood

__all__ = [
    "OBJECTIVES",
    "Contrast",
    "LocalLikelihood",
    "Objective",
    "Piecewise",
    "PseudoLikelihood",
    "Targets",
    "objective_named",
]
