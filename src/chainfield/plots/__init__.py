"""Pictures of models and trainings. They need matplotlib: ``pip install 'chainfield[plot]'``."""

from .alignment import plot_alignment
from .history import plot_history

__all__ = ["plot_alignment", "plot_history"]
