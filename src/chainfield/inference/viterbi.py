"""The best path, and the score of a given path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.kernels.chain.max import follow_rows, max_product, path_scores
from chainfield.potentials import Clamp, Potentials
from chainfield.states import StateSpace

from .checks import check_gathering, check_offsets, check_paths, check_scores, check_values


@dataclass(frozen=True, eq=False)
class Paths:
    """One state path a sequence: states (N,), the edge into each position (N,) (-1 at a start), score (S,)."""

    states: Int32
    edges: Int32
    score: Float


def viterbi(space: StateSpace, potentials: Potentials) -> Paths:
    """The best path of every sequence; ties go to the state with the lowest number."""
    paths = _maximised(space, potentials)
    check_values(paths.score)
    return paths


def best_paths(space: StateSpace, potentials: Potentials) -> Paths:
    """The same; a sequence without a path has a score of -inf and states that mean nothing."""
    paths = _maximised(space, potentials)
    check_values(paths.score, strict=False)
    return paths


def _maximised(space: StateSpace, potentials: Potentials) -> Paths:
    check_scores(space, potentials)
    n = len(potentials.node)
    paths = Paths(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(potentials.n_sequences))
    max_product(
        space.graph,
        potentials.node,
        potentials.edge,
        potentials.offsets,
        paths.states,
        paths.edges,
        paths.score,
    )
    return paths


def add_path(space: StateSpace, potentials: Potentials, paths: Paths, weight: Float, into: Potentials) -> Float:
    """Add weight[s] × the indicators of a path to ``into``; return the path scores (S,)."""
    return _walk(space, potentials, paths, weight, into)


def score_paths(space: StateSpace, potentials: Potentials, paths: Paths) -> Float:
    """(S,) the scores of given paths."""
    none = Potentials(np.empty((0, 0)), np.empty((0, 0)), potentials.offsets)
    return _walk(space, potentials, paths, np.empty(0), none)


def _walk(space: StateSpace, potentials: Potentials, paths: Paths, weight: Float, into: Potentials) -> Float:
    """Path scores; indicators are added where there are weights."""
    check_paths(space, potentials, paths.states, paths.edges)
    if len(weight):
        check_gathering(potentials, weight, into)
    score = np.empty(potentials.n_sequences)
    path_scores(
        space.graph,
        potentials.node,
        potentials.edge,
        potentials.offsets,
        paths.states,
        paths.edges,
        weight if len(weight) else score,
        len(weight) > 0,
        into.node,
        into.edge,
        not into.shared,
        score,
    )
    return score


def clamped_path(space: StateSpace, clamp: Clamp, offsets: Int) -> Paths | None:
    """The only path that a clamp allows; None if it allows several, or if it allows none.

    Fully labelled data, one state per label (first or second order): no inference is needed for the clamped side.
    """
    rows = clamp.rows()
    if rows is None or space.steps is None:
        return None
    check_offsets(offsets, len(rows))
    step_edge, start_state = space.steps
    states, edges = np.empty(len(rows), np.int32), np.empty(len(rows), np.int32)
    failed = follow_rows(space.graph, step_edge, start_state, rows, offsets, states, edges)
    return Paths(states, edges, np.empty(0)) if failed < 0 else None
