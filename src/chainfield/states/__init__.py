"""State spaces: states, labels, edges, and the rules that remove edges."""

from .build import class_blocks, left_to_right, one_per_label, partitioned, second_order
from .rules import Rules, forbid, restrict
from .space import StateSpace

__all__ = [
    "Rules",
    "StateSpace",
    "class_blocks",
    "forbid",
    "left_to_right",
    "one_per_label",
    "partitioned",
    "restrict",
    "second_order",
]
