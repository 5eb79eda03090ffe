"""A space of class blocks, taken apart again: in a block, a whole sequence has one label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Int, distinct
from chainfield.errors import ConfigError

from .space import StateSpace


@dataclass(frozen=True, eq=False)
class Block:
    """One label's part of a space, as a space of its own, and where its parts are in the whole."""

    label: int
    space: StateSpace
    states: Int
    rows: Int
    edges: Int

    @property
    def shortest(self) -> int:
        """The least number of positions that a path has; 0 if there is no path at all."""
        reached, n = self.space.start.copy(), 1
        while not (reached & self.space.end).any():
            further = np.zeros_like(reached)
            further[self.space.dst[reached[self.space.src]]] = True
            n += 1
            if n > self.space.n_states or not further.any():
                return 0
            reached = further
        return n


def split_blocks(space: StateSpace) -> tuple[Block, ...]:
    """The blocks of a space, in the order of their labels; refuses a space with an edge between two labels."""
    if np.any(space.label_of[space.src] != space.label_of[space.dst]):
        raise ConfigError(
            "Whole sequences can have a label only if no edge leads from one label to another; build the state space "
            "with class_blocks."
        )
    blocks = []
    for label in distinct(space.label_of).tolist():
        states = np.flatnonzero(space.label_of == label)
        edges = np.flatnonzero(space.label_of[space.src] == label)
        rows, row_of = np.unique(space.row_of[states], return_inverse=True)
        part = StateSpace(
            n_labels=1,
            label_of=np.zeros(len(states), np.int32),
            row_of=row_of.astype(np.int32),
            src=np.searchsorted(states, space.src[edges]).astype(np.int32),
            dst=np.searchsorted(states, space.dst[edges]).astype(np.int32),
            start=space.start[states],
            end=space.end[states],
            edge_row=np.unique(space.edge_row[edges], return_inverse=True)[1].astype(np.int32),
        )
        blocks.append(Block(label, part, states, rows.astype(np.int64), edges))
    return tuple(blocks)
