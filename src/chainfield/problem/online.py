"""A pass of online training, in one kernel where the chain is linear, sequence by sequence where it is not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import DivergenceError, NoPathError
from chainfield.objectives import Contrast

from .problem import RAN_AWAY, Problem

if TYPE_CHECKING:
    from chainfield.kernels.online import Entries, Known, Places

Float = NDArray[np.float64]
Int = NDArray[np.int64]
_NONE = np.empty(0)
_NONE2 = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Memory:
    """The gradient in score space that every sequence keeps (variance-reduced training)."""

    node: Float  # (N, R)
    edge: Float  # (S, E), or (N, E) if positions have their own edges


@dataclass(frozen=True, eq=False)
class OnlinePass:
    """Steps θ -= rate · (gradient of a sequence), for as many sequences as are given."""

    problem: Problem

    def __call__(
        self,
        theta: Float,
        order: Int,
        rates: Float,
        *,
        lag: Float | None = None,
        clock: int = 0,
        memory: Memory | None = None,
        share: float = 0.0,
    ) -> tuple[float, int]:
        """Move θ (and lag, and the memory) along; returns the loss met on the way and the number of updates."""
        if self._fused is None:
            return self._one_by_one(theta, order, rates, lag, clock, memory, share)
        from chainfield.kernels.online import online_pass

        entries, places, known = self._fused
        problem = self.problem
        loss, updates, failed = online_pass(
            problem.chain.space.graph,
            problem.chain.space.n_rows,
            problem.batch.offsets,
            order,
            rates,
            problem.objective.how == "max",
            entries,
            places,
            known,
            theta,
            _NONE if lag is None else lag,
            clock,
            _NONE2 if memory is None else memory.node,
            _NONE2 if memory is None else memory.edge,
            share,
        )
        if failed >= 0:
            if loss == -np.inf:
                raise NoPathError(int(failed), "its training labels")
            raise DivergenceError(RAN_AWAY)
        return loss, updates

    def _one_by_one(
        self, theta: Float, order: Int, rates: Float, lag: Float | None, clock: int, memory: Memory | None, share: float
    ) -> tuple[float, int]:
        problem, loss, updates = self.problem, 0.0, 0
        offsets = problem.batch.offsets
        for step, (s, rate) in enumerate(zip(order.tolist(), rates.tolist(), strict=True)):
            value, d, pullback = problem.differentiate(theta, slice(s, s + 1))
            loss += value
            if memory is not None:
                positions = slice(int(offsets[s]), int(offsets[s + 1]))
                own = positions if problem.chain.per_position else slice(s, s + 1)
                d = replace(d, node=d.node - memory.node[positions], edge=d.edge - memory.edge[own])
                memory.node[positions] += share * d.node
                memory.edge[own] += share * d.edge
            # A perceptron whose best path is the right one has no gradient; a tie of scores is a mistake all the same.
            if problem.objective.smooth or d.node.any() or d.edge.any():
                updates += 1
                if lag is not None:  # first: a step changes the parameters that the way back may read
                    pullback(d, lag, -rate * (clock + step))
                pullback(d, theta, -rate)
        return loss, updates

    @cached_property
    def _fused(self) -> tuple[Entries, Places, Known] | None:
        """The kernel's arguments, if it knows all parts of the chain."""
        from chainfield.kernels.online import Entries, Known, Places

        problem, chain = self.problem, self.problem.chain
        # Every scorer answers which part of the kernel it is: its name, and the table that the kernel reads.
        parts: list[tuple[str, tuple[str, Any]]] = [(s.name, s.fused() or ("", None)) for s in chain.scorers]
        sparse, boundary, moves = (
            [(name, table) for name, (part, table) in parts if part == wanted]
            for wanted in ("pairs", "boundary", "ties")
        )
        fits = len(sparse) == 1 and len(boundary) <= 1 and len(moves) <= 2 and isinstance(problem.objective, Contrast)
        if not fits or len(sparse) + len(boundary) + len(moves) < len(chain.scorers) or problem.batch.sparse is None:
            return None
        at, n = {}, 0
        for name, shape in chain.shapes.items():
            at[name] = n
            n += int(np.prod(shape))
        (features, pairs), data = sparse[0], problem.batch.sparse
        entries = Entries(
            data.indptr,
            data.indices,
            data.weights(),
            pairs.first,
            pairs.row,
            pairs.n_full,
            pairs.n_single,
            pairs.mask,
        )
        no_tie = np.empty(0, np.int32)
        ties: list[Any] = [(tie, at[f"{name}.weight"]) for name, tie in moves] + [(no_tie, -1)] * (2 - len(moves))
        places = Places(
            at[f"{features}.weight"],
            pairs.n_pairs,
            at[f"{boundary[0][0]}.start"] if boundary else -1,
            at[f"{boundary[0][0]}.end"] if boundary else -1,
            *ties[0],
            *ties[1],
        )
        targets, path = problem.targets, problem.path
        rows = chain.space.n_rows
        known = Known(
            targets.clamp.index,
            targets.clamp.table,
            targets.cost if problem.objective.uses_cost and targets.cost is not None else np.empty((0, rows)),
            _NONE if problem.offset is None else problem.offset,
            targets.weight,
            path is not None,
            np.empty(0, np.int32) if path is None else path.states,
            np.empty(0, np.int32) if path is None else path.edges,
        )
        return entries, places, known
