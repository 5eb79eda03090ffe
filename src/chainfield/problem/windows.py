"""Long sequences for trainers that take one step per sequence: cut into windows, they train as short ones do.

A document of ten thousand positions would be one step, along a gradient of ten thousand terms. Its windows are a step
each. Features were read before, from the whole sequence. So that no transition is missing, a window also has the
positions next to it (one on each side, two in second order), whose labels are given: nothing is learned from them, but
paths lead from them and to them,

    loss of a window = -log p(labels of the window | labels beside it).

A cut falls where every label that is known to be possible may begin a sequence on its left, and end one on its right:
then every window has a path. Objectives that do not contrast whole paths have no given labels: there, windows lack the
transition that leads into them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Bool, Float, Int, Ragged, distinct
from chainfield.objectives import Contrast, Targets
from chainfield.potentials import Clamp, Lattice
from chainfield.states import StateSpace

if TYPE_CHECKING:
    from .problem import Problem

LONG = 256  # positions; shorter sequences stay whole
WINDOW = 20  # positions of a window, about: as many as sentences have


def windowed(problem: Problem, *, given: bool = True) -> Problem:
    """The problem with long sequences cut; the same one, if there are none. ``given``: with the labels beside them."""
    offsets, targets, reach = problem.batch.offsets, problem.targets, _reach(problem) if given else 0
    cut = window_offsets(problem.chain.space, targets.clamp, offsets, reach)
    if len(cut) == len(offsets):
        return problem
    # An empty sequence counts with its own weight; all windows of a sequence with that of the sequence.
    where = np.searchsorted(offsets, cut[:-1], side="right") - 1
    empty = np.diff(cut) == 0
    where[empty] = np.flatnonzero(np.diff(offsets) == 0)
    weight = targets.weight[where]
    if not reach:
        batch = replace(problem.batch, offsets=cut)
        return replace(problem, batch=batch, targets=replace(targets, weight=weight), cuttable=False)
    first, last = np.maximum(cut[:-1] - reach, offsets[where]), np.minimum(cut[1:] + reach, offsets[where + 1])
    windows = Ragged.of(last - first)
    positions = np.arange(windows.n_positions) + windows.spread(first - windows.offsets[:-1])
    beside = (positions < windows.spread(cut[:-1])) | (positions >= windows.spread(cut[1:]))
    own = _given(targets, positions, beside, weight)
    return replace(
        problem,
        batch=problem.batch.at(positions, windows.offsets),
        targets=own,
        lattice=None if problem.lattice is None else _bound(problem.lattice[positions], own.clamp, beside),
        cuttable=False,
    )


def window_offsets(space: StateSpace, clamp: Clamp, offsets: Int, reach: int = 0) -> Int:
    """Offsets with cuts inside of long sequences; ``reach``: how many positions beside a window belong to it."""
    lengths = np.diff(offsets)
    if not (lengths > LONG).any():
        return offsets
    possible, least = np.flatnonzero(_borders(space, clamp, reach)), max(reach, 1)
    found = [offsets]
    for s in np.flatnonzero(lengths > LONG).tolist():
        lo, hi = int(offsets[s]), int(offsets[s + 1])
        wanted = np.linspace(lo, hi, max(round((hi - lo) / WINDOW), 1) + 1)[1:-1]
        own = possible[np.searchsorted(possible, lo + least) : np.searchsorted(possible, hi - least + 1)]
        if len(own):
            found.append(own[np.minimum(np.searchsorted(own, wanted), len(own) - 1)])
    # Empty sequences have the same offset twice; those must stay.
    kept, cuts = found[0], distinct(np.concatenate([*found[1:], np.empty(0, np.int64)]))
    return np.sort(np.concatenate([kept, cuts.astype(kept.dtype)]))


def _borders(space: StateSpace, clamp: Clamp, reach: int) -> Bool:
    """(N,) whether a window may begin at a position, and one may end before it, whatever the labels around."""
    begins, ends = (np.zeros(space.n_rows, np.bool_) for _ in range(2))
    begins[space.row_of[space.start]] = True
    ends[space.row_of[space.end]] = True
    may_begin = np.all(begins | ~clamp.table, axis=1)[clamp.index]  # (N,)
    may_end = np.all(ends | ~clamp.table, axis=1)[clamp.index]
    found = np.zeros(len(clamp.index), np.bool_)
    inside = np.arange(max(reach, 1), len(found) - max(reach, 1) + 1)
    found[inside] = may_begin[inside - reach] & may_end[inside + reach - 1]
    return found


def _reach(problem: Problem) -> int:
    """How far transitions look back, where labels beside a window can be given: as many of them are."""
    if not isinstance(problem.objective, Contrast):
        return 0
    space = problem.chain.space
    return 2 if space.n_states > space.n_rows else problem.chain.reach


def _given(targets: Targets, positions: Int, beside: Bool, weight: Float) -> Targets:
    """What is known at these positions; that of those beside a window is given."""
    clamp, cost = targets.clamp, targets.cost
    n = len(clamp.table)
    index = clamp.index[positions] + np.where(beside, np.int32(n), np.int32(0))
    return Targets(
        Clamp(index, np.concatenate([clamp.table, clamp.table])),
        weight,
        None if cost is None else np.concatenate([cost, np.zeros_like(cost)]),
        given=np.arange(2 * n) >= n,
    )


def _bound(lattice: Lattice, clamp: Clamp, beside: Bool) -> Lattice:
    """The lattice without the rows that what is given rules out."""
    position = lattice.position_of()
    keep = ~beside[position] | lattice.agrees(clamp)
    counts = np.bincount(position[keep], minlength=len(beside))
    return Lattice(Ragged.of(counts).offsets, lattice.rows[keep])
