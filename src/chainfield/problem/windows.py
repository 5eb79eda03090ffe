"""Long sequences for trainers that take one step per sequence: cut into windows, they train as short ones do.

A document of ten thousand positions would be one step, along a gradient of ten thousand terms. Its windows are a step
each. A cut falls where every label that is known to be possible may end a sequence on its left, and begin one on its
right: no entity is cut through, and every window has a path. Features were read before, from the whole sequence; what a
window lacks is the one transition that leads into it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Bool, Int
from chainfield.objectives import Targets
from chainfield.potentials import Clamp
from chainfield.states import StateSpace

if TYPE_CHECKING:
    from .problem import Problem

LONG = 256  # positions; shorter sequences stay whole
WINDOW = 32  # positions of a window, about


def window_offsets(space: StateSpace, clamp: Clamp, offsets: Int) -> Int:
    """Offsets with cuts inside of long sequences."""
    lengths = np.diff(offsets)
    if not (lengths > LONG).any():
        return offsets
    possible = np.flatnonzero(_borders(space, clamp))
    found = [offsets]
    for s in np.flatnonzero(lengths > LONG).tolist():
        lo, hi = int(offsets[s]), int(offsets[s + 1])
        wanted = np.linspace(lo, hi, max(round((hi - lo) / WINDOW), 1) + 1)[1:-1]
        own = possible[np.searchsorted(possible, lo + 1) : np.searchsorted(possible, hi)]
        if len(own):
            found.append(own[np.minimum(np.searchsorted(own, wanted), len(own) - 1)])
    # Empty sequences have the same offset twice; those must stay.
    kept, cuts = found[0], np.setdiff1d(np.concatenate([*found[1:], np.empty(0, np.int64)]), found[0])
    return np.sort(np.concatenate([kept, cuts.astype(kept.dtype)]))


def _borders(space: StateSpace, clamp: Clamp) -> Bool:
    """(N,) whether a sequence may begin at a position, and end at the one before, whatever their labels."""
    begins, ends = (np.zeros(space.n_rows, np.bool_) for _ in range(2))
    begins[space.row_of[space.start]] = True
    ends[space.row_of[space.end]] = True
    may_begin: Bool = np.all(begins | ~clamp.table, axis=1)  # (M,)
    may_end: Bool = np.all(ends | ~clamp.table, axis=1)
    found = may_begin[clamp.index]
    found[1:] &= may_end[clamp.index[:-1]]
    return found


def windowed(problem: Problem) -> Problem:
    """The problem with long sequences cut; the same one, if there are none."""
    offsets, targets = problem.batch.offsets, problem.targets
    cut = window_offsets(problem.chain.space, targets.clamp, offsets)
    if len(cut) == len(offsets):
        return problem
    # An empty sequence counts with its own weight; all windows of a sequence with that of the sequence.
    where = np.searchsorted(offsets, cut[:-1], side="right") - 1
    empty = np.diff(cut) == 0
    where[empty] = np.flatnonzero(np.diff(offsets) == 0)
    weight = targets.weight[where]
    return replace(
        problem,
        batch=replace(problem.batch, offsets=cut),
        targets=Targets(targets.clamp, weight, targets.cost),
        cuttable=False,
    )
