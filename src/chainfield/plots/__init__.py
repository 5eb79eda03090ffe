"""Pictures of models and trainings, in one style. They need matplotlib: ``pip install 'chainfield[plot]'``."""

from .alignment import plot_alignment
from .heat_map import heat_map
from .history import plot_history
from .reliability import plot_reliability
from .transitions import plot_transitions
from .units import receptive_fields

__all__ = ["heat_map", "plot_alignment", "plot_history", "plot_reliability", "plot_transitions", "receptive_fields"]
