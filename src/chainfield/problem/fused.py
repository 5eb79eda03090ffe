"""Linear chains in one kernel: batch gradients, curvature, and passes of stochastic training.

A chain of linear features (sparse ones, or columns of numbers), boundary weights and plain transitions is by far the
most common one, and a position costs a fraction of a microsecond there: going through arrays of scores, part by part,
would cost as much again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.errors import DivergenceError, NoPathError
from chainfield.kernels.layout import padded
from chainfield.objectives import Contrast
from chainfield.parallel import ordered_map
from chainfield.scorers.groups import NO_GROUPS, n_groups

from .memory import Memory
from .packing import Packing

if TYPE_CHECKING:
    from chainfield.features.batch import Batch
    from chainfield.kernels.train.contrast import Known
    from chainfield.kernels.train.linear_chain import Kept, Parameters, Places
    from chainfield.kernels.train.unrolled import Unrolled
    from chainfield.states import StateSpace

    from .problem import Problem

_NONE = np.empty(0)
_MATRIX_STATES = 256
_MOST_ROWS = 2**16 - 1  # what the kernels' row numbers hold
_MOST_PLACES = 2**31 - 1
_MOST_ENTRIES = 2**27  # of columns of numbers, whose features are written out: half a gigabyte

RAN_AWAY = (
    "Training ran away: the scores are not finite any more. Use a smaller step, a larger l2, or features of a smaller "
    "scale."
)


@dataclass(frozen=True, eq=False)
class Fused:
    """A problem whose chain the kernel knows."""

    problem: Problem
    packing: Packing
    entries: Unrolled
    places: Places
    known: Known
    whole: bool  # batch gradients too: those of columns of numbers are faster by products of matrices

    def total(self, theta: Float, *, variances: bool = False) -> tuple[float, Callable[[Float], None]]:
        """The loss of all sequences, and a function that adds its gradient (or curvature) to a vector."""
        packing, problem, loss = self.packing, self.problem, 0.0
        with packing.packed(theta) as packed:

            def shard(bounds: tuple[int, int]) -> tuple[float, Parameters]:
                order, into = np.arange(*bounds), packing.take()
                value, _, _ = self._run(packed, into, order, np.full(len(order), -1.0), variances=variances)
                return value, into

            summed: Parameters | None = None
            for value, into in ordered_map(shard, problem.shards, problem.n_jobs):
                loss += value
                if summed is None:
                    summed = into
                else:
                    summed.weights[...] += into.weights
                    summed.rest[...] += into.rest
                    packing.give_back(into)
        assert summed is not None
        found = summed

        def add(vector: Float) -> None:
            packing.add(found, vector)
            packing.give_back(found)

        return loss, add

    def walk(
        self,
        theta: Float,
        order: Int,
        rates: Float,
        shrink: Float | None,
        lag: Float | None,
        mass: float,
        memory: Memory | None,
        share: float,
    ) -> tuple[float, int, float]:
        """A pass of stochastic training: see :class:`chainfield.problem.OnlinePass`."""
        from chainfield.kernels.train.linear_chain import Kept

        if memory is None and self.problem.objective.how == "max":
            return self._walk_by_paths(theta, order, rates, shrink, lag, mass)
        packing = self.packing
        kept = None if memory is None else Kept(memory.node.reshape(-1), memory.edge, share)
        with packing.packed(theta) as packed:
            if lag is None:
                result = self._run(packed, packed, order, rates, shrink=shrink, kept=kept)
            else:
                with packing.packed(lag) as late:
                    result = self._run(packed, packed, order, rates, shrink=shrink, lag=late, mass=mass, kept=kept)
                    packing.unpack(late, lag)
            packing.unpack(packed, theta)
        return result

    def _walk_by_paths(
        self, theta: Float, order: Int, rates: Float, shrink: Float | None, lag: Float | None, mass: float
    ) -> tuple[float, int, float]:
        """The same where gradients are differences of two paths."""
        from chainfield.kernels.train.linear_chain import Parameters
        from chainfield.kernels.train.perceptron import perceptron_pass

        packing, problem = self.packing, self.problem
        with packing.packed(theta) as packed, nullcontext() if lag is None else packing.packed(lag) as late:
            loss, updates, failed, mass = perceptron_pass(
                problem.chain.space.graph,
                problem.chain.space.n_rows,
                problem.batch.offsets,
                order,
                rates,
                _NONE if shrink is None else shrink,
                self.entries,
                self.places,
                self.known,
                packed,
                Parameters(_NONE, _NONE) if late is None else late,
                float(mass),
            )
            if failed >= 0:
                raise failure(loss, int(failed))
            packing.unpack(packed, theta)
            if lag is not None and late is not None:
                packing.unpack(late, lag)
        return loss, updates, mass

    def _run(
        self,
        theta: Parameters,
        into: Parameters,
        order: Int,
        rates: Float,
        *,
        variances: bool = False,
        shrink: Float | None = None,
        lag: Parameters | None = None,
        mass: float = 0.0,
        kept: Kept | None = None,
    ) -> tuple[float, int, float]:
        from chainfield.kernels.train.linear_chain import Kept, Parameters, linear_pass

        problem = self.problem
        single = np.empty((0, 0), np.float32)
        loss, updates, failed, mass = linear_pass(
            problem.chain.space.graph,
            problem.chain.space.n_rows,
            problem.batch.offsets,
            order,
            rates,
            _NONE if shrink is None else shrink,
            problem.objective.how == "max",
            variances,
            self.entries,
            self.places,
            self.known,
            theta,
            into,
            into is theta,
            Parameters(_NONE, _NONE) if lag is None else lag,
            float(mass),
            Kept(single.reshape(-1), single, 0.0) if kept is None else kept,
        )
        if failed >= 0:
            raise failure(loss, int(failed))
        return loss, updates, mass


def fuse(problem: Problem) -> Fused | None:
    """The kernel's view of a problem, if it knows all parts of its chain."""
    chain = problem.chain
    # Every scorer answers which part of the kernel it is: its name, and the table that the kernel reads.
    parts: list[tuple[str, tuple[str, Any]]] = [(s.name, s.fused() or ("", None)) for s in chain.scorers]
    linear = [(name, part, table) for name, (part, table) in parts if part in LAYOUTS]
    fits = len(linear) == 1 and isinstance(problem.objective, Contrast) and chain.even
    if chain.normalised or not fits or any(part == "" for _, (part, _) in parts):
        return None
    at = chain.places
    rows = chain.space.n_rows
    features, kind, (pairs, group_of) = linear[0]
    columns = rows + n_groups(group_of)
    packing = Packing(pairs, columns, padded(columns), at[f"{features}.weight"], chain.n_parameters)
    # Hundreds of states are summed over by products of matrices, many sequences side by side.
    if problem.objective.how == "sum" and chain.space.dense and chain.space.n_states >= _MATRIX_STATES:
        return None
    if columns > _MOST_ROWS or packing.pairs.n_pairs + packing.shift > _MOST_PLACES:
        return None
    moved = {name: packing.place(place) for name, place in at.items()}
    places = places_of([(name, own) for name, own in parts if own[0] != kind], moved, chain.space, group_of)
    if places is None:
        return None
    entries = LAYOUTS[kind](problem.batch, packing)
    return None if entries is None else Fused(problem, packing, entries, places, known_of(problem), kind == "pairs")


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

    targets, path, cost = problem.targets, problem.path, problem.targets.cost
    return Known(
        targets.clamp.index,
        targets.clamp.table,
        cost if problem.objective.uses_cost and cost is not None else np.empty((0, problem.chain.space.n_rows)),
        _NONE if problem.offset is None else problem.offset,
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
    none = np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16), _NONE
    every, value = np.tile(np.arange(d, dtype=np.int32), n), np.ascontiguousarray(data, np.float64).reshape(-1)
    return Unrolled(np.arange(n + 1, dtype=np.int64) * d, every, value, *none, pairs.bits, packing.width, False)


#: How the entries of linear scorers are laid out, by what they say of themselves (``Scorer.fused``).
LAYOUTS: dict[str, Callable[[Batch, Packing], Unrolled | None]] = {"pairs": unrolled, "columns": laid_out}
