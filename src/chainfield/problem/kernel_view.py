"""What the kernels are told of any problem: where weights lie, what is known of the labels, and linear features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Int32
from chainfield.errors import DivergenceError, NoPathError
from chainfield.scorers.groups import NO_GROUPS

from .packing import Packing

if TYPE_CHECKING:
    from chainfield.features.batch import Batch
    from chainfield.kernels.train.contrast import Known
    from chainfield.kernels.train.linear_chain import Places
    from chainfield.kernels.train.unrolled import Unrolled
    from chainfield.states import StateSpace

    from .problem import Problem

_MOST_ENTRIES = 2**27  # of columns of numbers, whose features are written out: half a gigabyte
RAN_AWAY = (
    "Training ran away: the scores are not finite any more. Use a smaller step, a larger l2, or features of a smaller "
    "scale."
)


def places_of(
    parts: list[tuple[str, tuple[str, Any]]],
    at: Mapping[str, int],
    space: StateSpace,
    group_of: Int32 = NO_GROUPS,
) -> Places | None:
    """Where the kernels find the weights of the boundary and of transitions; None if there are others.

    parts: scorers by name with what they say of themselves (``Scorer.fused``); at: the places of their parameters;
    group_of: groups of rows (see :mod:`chainfield.scorers.groups`).
    """
    from chainfield.kernels.train.linear_chain import Places

    boundary = [name for name, (part, _) in parts if part == "boundary"]
    moves = [(name, tie) for name, (part, tie) in parts if part == "ties"]
    if len(boundary) > 1 or len(boundary) + len(moves) < len(parts):
        return None
    return Places(
        at[f"{boundary[0]}.start"] if boundary else -1,
        at[f"{boundary[0]}.end"] if boundary else -1,
        len(moves) == 1 and np.array_equal(moves[0][1], np.arange(space.n_edges)),
        np.array([tie for _, tie in moves], np.int32).reshape(len(moves), space.n_edges),
        np.array([at[f"{name}.weight"] for name, _ in moves], np.int64),
        group_of,
    )


def known_of(problem: Problem) -> Known:
    """What is known of the labels, for the kernels."""
    from chainfield.kernels.train.contrast import Known

    targets, path = problem.targets, problem.path
    extra = targets.extra(problem.objective.uses_cost)
    return Known(
        targets.clamp.index,
        targets.clamp.table,
        np.empty((0, problem.chain.space.n_rows)) if extra is None else extra,
        np.empty(0) if problem.offset is None else problem.offset,
        targets.weight,
        path is not None,
        np.empty(0, np.int32) if path is None else path.states,
        np.empty(0, np.int32) if path is None else path.edges,
    )


def failure(loss: float, sequence: int) -> Exception:
    """What went wrong, by the loss that a kernel returned: there is no path, or scores are not finite."""
    return NoPathError(sequence, "its training labels") if loss == -np.inf else DivergenceError(RAN_AWAY)


def unrolled(batch: Batch, packing: Packing) -> Unrolled | None:
    """The entries of sparse features, written out."""
    from chainfield.kernels.train.unrolled import Unrolled, count_unrolled, unroll

    data, pairs = batch.sparse, packing.pairs
    if data is None:
        return None
    full_first, pair_first = np.zeros(len(data.indptr), np.int64), np.zeros(len(data.indptr), np.int64)
    count_unrolled(data.indptr, data.indices, pairs.first, pairs.n_full, full_first, pair_first)
    n_full, n_pairs = int(full_first[-1]), int(pair_first[-1])
    full, pair, row = np.empty(n_full, np.int32), np.empty(n_pairs, np.int32), np.empty(n_pairs, np.uint16)
    weighted = data.values is not None
    full_value, pair_value = np.empty(n_full * weighted), np.empty(n_pairs * weighted)
    unroll(
        data.indptr, data.indices, data.weights(), pairs.first, pairs.row, pairs.n_full, packing.shift, full,
        full_value, pair, row, pair_value,
    )  # fmt: skip
    return Unrolled(
        full_first, full, full_value, pair_first, pair, row, pair_value, pairs.bits, packing.width, not weighted
    )


def laid_out(batch: Batch, packing: Packing) -> Unrolled | None:
    """Columns of numbers: every position has every feature. The numbers are read where they are."""
    from chainfield.kernels.train.unrolled import Unrolled

    data, pairs = batch.dense, packing.pairs
    if data is None or data.size > _MOST_ENTRIES:
        return None
    n, d = data.shape
    none = np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16), np.empty(0)
    every, value = np.tile(np.arange(d, dtype=np.int32), n), np.ascontiguousarray(data, np.float64).reshape(-1)
    return Unrolled(np.arange(n + 1, dtype=np.int64) * d, every, value, *none, pairs.bits, packing.width, False)


#: How the entries of linear scorers are laid out, by what they say of themselves (``Scorer.fused``).
LAYOUTS: dict[str, Callable[[Batch, Packing], Unrolled | None]] = {"pairs": unrolled, "columns": laid_out}
