"""Tasks: from the user's targets to clamps, and from states to answers."""

from .labels import ordered_labels
from .tagging import Tagging, check_lengths, labels_in
from .task import Task

__all__ = ["Tagging", "Task", "check_lengths", "labels_in", "ordered_labels"]
