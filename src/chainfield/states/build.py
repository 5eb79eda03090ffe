"""Plain functions that make state spaces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from chainfield.errors import ConfigError

from .space import StateSpace

MOST_KEPT = 64  # labels: small spaces are made once, which is a tenth of a training on one sentence


def one_per_label(n_labels: int) -> StateSpace:
    """One state per label; every label may follow every label: the ordinary linear chain."""
    return _kept(n_labels) if n_labels <= MOST_KEPT else partitioned([1] * n_labels)


@lru_cache(maxsize=16)
def _kept(n_labels: int) -> StateSpace:
    """Spaces never change, so that models may share them."""
    return partitioned([1] * n_labels)


def partitioned(states_per_label: Sequence[int]) -> StateSpace:
    """Several states a label, each its own emission row; every state may follow every state (LDCRF, DPLVM)."""
    counts = np.asarray(states_per_label, dtype=np.int64)
    if len(counts) == 0:
        raise ConfigError("A state space needs at least one label.")
    if counts.min() < 1:
        label = int(np.argmin(counts))
        raise ConfigError(f"Label {label} has {counts[label]} states; every label needs at least one.")
    k = int(counts.sum())
    states = np.arange(k)
    return StateSpace(
        n_labels=len(counts),
        label_of=np.repeat(np.arange(len(counts)), counts).astype(np.int32),
        row_of=states.astype(np.int32),
        src=np.repeat(states, k).astype(np.int32),
        dst=np.tile(states, k).astype(np.int32),
        start=np.ones(k, np.bool_),
        end=np.ones(k, np.bool_),
    )


def left_to_right(n_states: int, *, skip: int = 1) -> StateSpace:
    """A chain of states of one label: stay, or go ahead by up to ``skip``; starts at the first, ends at the last."""
    if n_states < 1:
        raise ConfigError("A left-to-right chain needs at least one state.")
    pairs = [(i, j) for i in range(n_states) for j in range(i, min(i + skip, n_states - 1) + 1)]
    states = np.arange(n_states)
    return StateSpace(
        n_labels=1,
        label_of=np.zeros(n_states, np.int32),
        row_of=states.astype(np.int32),
        src=np.array([i for i, _ in pairs], np.int32),
        dst=np.array([j for _, j in pairs], np.int32),
        start=states == 0,
        end=states == n_states - 1,
    )


def topology(allowed: ArrayLike, start: ArrayLike | None = None, end: ArrayLike | None = None) -> StateSpace:
    """States of one label with the transitions of a matrix [from, to]; all may start and end unless it is said."""
    matrix = np.asarray(allowed, dtype=np.bool_)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ConfigError(f"A topology is a square matrix of allowed transitions; this one has shape {matrix.shape}.")
    n = len(matrix)
    may = {}
    for name, given in (("start", start), ("end", end)):
        marked = np.ones(n, np.bool_) if given is None else np.asarray(given, dtype=np.bool_)
        if marked.shape != (n,) or not marked.any():
            raise ConfigError(f"A topology of {n} states needs {n} marks of where a path may {name}, one of them true.")
        may[name] = marked
    src, dst = np.nonzero(matrix)
    states = np.arange(n)
    return StateSpace(
        n_labels=1,
        label_of=np.zeros(n, np.int32),
        row_of=states.astype(np.int32),
        src=src.astype(np.int32),
        dst=dst.astype(np.int32),
        start=may["start"],
        end=may["end"],
    )


def class_blocks(blocks: Sequence[StateSpace]) -> StateSpace:
    """Spaces side by side, one per class, with no edge between them: a whole sequence has one label."""
    if not blocks:
        raise ConfigError("Class blocks need at least one class.")
    states = np.cumsum([0] + [b.n_states for b in blocks])
    rows = np.cumsum([0] + [b.n_rows for b in blocks])
    edge_rows = np.cumsum([0] + [b.n_edge_rows for b in blocks])
    return StateSpace(
        n_labels=len(blocks),
        label_of=np.repeat(np.arange(len(blocks)), [b.n_states for b in blocks]).astype(np.int32),
        row_of=np.concatenate([b.row_of + r for b, r in zip(blocks, rows, strict=False)]),
        src=np.concatenate([b.src + s for b, s in zip(blocks, states, strict=False)]),
        dst=np.concatenate([b.dst + s for b, s in zip(blocks, states, strict=False)]),
        start=np.concatenate([b.start for b in blocks]),
        end=np.concatenate([b.end for b in blocks]),
        edge_row=np.concatenate([b.edge_row + e for b, e in zip(blocks, edge_rows, strict=False)]),
    )


def second_order(space: StateSpace) -> StateSpace:
    """Pairs (previous, current) of the states of a first-order space.

    The states are (none, i) for each i that may start, and (i, j) for each edge i → j; edges lead from (i, j) to
    (j, k): the triple structure, not a dense matrix over pairs. A pair emits as its current state, and each edge
    remembers the first-order edge j → k below it.
    """
    starts = np.flatnonzero(space.start)
    n_starts = len(starts)
    current = np.concatenate([starts, space.dst])
    # Edges of the first-order space, as states, are sorted by their source: those leaving j lie side by side.
    first = np.searchsorted(space.src, np.arange(space.n_states), side="left")
    last = np.searchsorted(space.src, np.arange(space.n_states), side="right")
    fan = (last - first)[current]
    src = np.repeat(np.arange(len(current)), fan)
    within = np.arange(len(src)) - np.repeat(np.cumsum(fan) - fan, fan)
    base_edge = np.repeat(first[current], fan) + within
    start = np.zeros(len(current), np.bool_)
    start[:n_starts] = True
    return StateSpace(
        n_labels=space.n_labels,
        label_of=space.label_of[current],
        row_of=space.row_of[current],
        src=src.astype(np.int32),
        dst=(n_starts + base_edge).astype(np.int32),
        start=start,
        end=space.end[current],
        edge_row=space.edge_row[base_edge],
    )
