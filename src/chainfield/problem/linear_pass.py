"""Linear chains in one kernel: batch gradients, curvature, and passes of stochastic training.

A chain of linear features (sparse ones, or columns of numbers), boundary weights and plain transitions is by far the
most common one, and a position costs a fraction of a microsecond there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float
from chainfield.kernels.layout import padded
from chainfield.objectives import Contrast
from chainfield.parallel import ordered_map
from chainfield.scorers.groups import n_groups

from .fast_pass import FastPass
from .kernel_view import LAYOUTS, failure, known_of, places_of
from .packing import Packing
from .steps import MarginRule, Steps, Walked

if TYPE_CHECKING:
    from chainfield.kernels.train.contrast import Known
    from chainfield.kernels.train.linear_chain import Parameters, Places
    from chainfield.kernels.train.margin import Margin
    from chainfield.kernels.train.unrolled import Unrolled

    from .problem import Problem

_NONE = np.empty(0)
_MATRIX_STATES = 256
_MOST_ROWS = 2**16 - 1  # what the kernels' row numbers hold
_MOST_PLACES = 2**31 - 1


@dataclass(frozen=True, eq=False)
class LinearPass(FastPass):
    """A problem whose chain the kernel knows."""

    problem: Problem
    packing: Packing
    entries: Unrolled
    places: Places
    known: Known
    whole: bool  # batch gradients too: those of columns of numbers are faster by products of matrices

    def total(self, theta: Float, *, variances: bool = False) -> tuple[float, Callable[[Float], None]] | None:
        """Shard by shard; None where products of matrices are faster."""
        if not self.whole:
            return None
        packing, problem, loss = self.packing, self.problem, 0.0
        with packing.packed(theta) as packed:

            def shard(bounds: tuple[int, int]) -> tuple[float, Parameters]:
                order, into = np.arange(*bounds), packing.take()
                steps = Steps(theta, order, np.full(len(order), -1.0))
                return self._by_sums(steps, packed, into, None, variances=variances).loss, into

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

    def walk(self, steps: Steps) -> Walked:
        """Any steps; where gradients are differences of two paths, by a kernel that touches nothing else."""
        packing, lag = self.packing, steps.lag
        by_paths = steps.kept is None and self.problem.objective.how == "max"
        with packing.packed(steps.theta) as packed, nullcontext() if lag is None else packing.packed(lag) as late:
            found = self._by_paths(steps, packed, late) if by_paths else self._by_sums(steps, packed, packed, late)
            packing.unpack(packed, steps.theta)
            if lag is not None and late is not None:
                packing.unpack(late, lag)
        return found

    def _by_paths(self, steps: Steps, theta: Parameters, lag: Parameters | None) -> Walked:
        from chainfield.kernels.train.linear_chain import Parameters
        from chainfield.kernels.train.perceptron import perceptron_pass

        problem = self.problem
        with self._margin(steps.margin) as margin:
            loss, updates, failed, mass = perceptron_pass(
                problem.chain.space.graph,
                problem.chain.space.n_rows,
                problem.batch.offsets,
                steps.order,
                steps.rates,
                _NONE if steps.shrink is None else steps.shrink,
                self.entries,
                self.places,
                self.known,
                theta,
                Parameters(_NONE, _NONE) if lag is None else lag,
                float(steps.mass),
                margin,
            )
        if failed >= 0:
            raise failure(loss, int(failed))
        return Walked(loss, updates, mass)

    @contextmanager
    def _margin(self, rule: MarginRule | None) -> Iterator[Margin]:
        """The rule as the kernel reads it; variances are packed as θ is, and brought back."""
        from chainfield.kernels.train.linear_chain import Parameters
        from chainfield.kernels.train.margin import Margin

        none, packing = Parameters(_NONE, _NONE), self.packing
        if rule is None:
            yield Margin(False, -1.0, 0.0, 0.0, _NONE, none, none)
            return
        trial = packing.take()
        variance = none if rule.variance is None else packing.take(rule.variance)
        power, spent = -1.0 if rule.power is None else rule.power, _NONE if rule.spent is None else rule.spent
        try:
            yield Margin(True, power, rule.limit, rule.slack, spent, trial, variance)
            if rule.variance is not None:
                packing.unpack(variance, rule.variance)
        finally:
            packing.give_back(trial)
            if rule.variance is not None:
                packing.give_back(variance)

    def _by_sums(
        self, steps: Steps, theta: Parameters, into: Parameters, lag: Parameters | None, *, variances: bool = False
    ) -> Walked:
        from chainfield.kernels.train.linear_chain import Kept, Parameters, linear_pass

        problem, kept = self.problem, steps.kept
        none = np.empty((0, 0), np.float32)
        loss, updates, failed, mass = linear_pass(
            problem.chain.space.graph,
            problem.chain.space.n_rows,
            problem.batch.offsets,
            steps.order,
            steps.rates,
            _NONE if steps.shrink is None else steps.shrink,
            problem.objective.how == "max",
            variances,
            self.entries,
            self.places,
            self.known,
            theta,
            into,
            into is theta,
            Parameters(_NONE, _NONE) if lag is None else lag,
            float(steps.mass),
            Kept(none.reshape(-1), none, 0.0) if kept is None else Kept(kept.node.reshape(-1), kept.edge, kept.share),
        )
        if failed >= 0:
            raise failure(loss, int(failed))
        return Walked(loss, updates, mass)


def linear_pass_of(problem: Problem) -> LinearPass | None:
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
    if entries is None:
        return None
    return LinearPass(problem, packing, entries, places, known_of(problem), kind == "pairs")
