"""Tasks: from the user's targets to clamps, and from states to answers."""

from .labels import labels_from_json, labels_to_json, ordered_labels
from .tagging import Tagging, check_lengths, labels_in
from .task import Task

__all__ = [
    "Tagging",
    "Task",
    "check_lengths",
    "labels_from_json",
    "labels_in",
    "labels_to_json",
    "ordered_labels",
]
