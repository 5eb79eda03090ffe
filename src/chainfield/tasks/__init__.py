"""Tasks: from the user's targets to clamps, and from labels' numbers to answers."""

from .classifying import Classifying, check_long_enough
from .tagging import Tagging, check_lengths
from .task import Task, label_array, label_cost, ordered_labels

#: Tasks by the names that model files give them.
TASKS: dict[str, type[Task]] = {task.kind: task for task in (Tagging, Classifying)}

__all__ = [
    "TASKS",
    "Classifying",
    "Tagging",
    "Task",
    "check_lengths",
    "check_long_enough",
    "label_array",
    "label_cost",
    "ordered_labels",
]
