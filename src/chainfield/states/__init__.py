"""State spaces: states, labels, edges, and the rules that remove edges."""

from .blocks import Block
from .build import class_blocks, left_to_right, one_per_label, partitioned, second_order, topology
from .rules import Rules, forbid, restrict
from .space import StateSpace

__all__ = [
    "Block",
    "Rules",
    "StateSpace",
    "class_blocks",
    "forbid",
    "left_to_right",
    "one_per_label",
    "partitioned",
    "restrict",
    "second_order",
    "topology",
]
