"""Objectives: from scores and known labels to a loss and its gradient."""

from .contrast import OBJECTIVES, Contrast, objective_named
from .objective import Objective, Targets

__all__ = ["OBJECTIVES", "Contrast", "Objective", "Targets", "objective_named"]
