"""Chains with hidden units in one kernel: passes of stochastic training.

A sequence of a few positions takes microseconds of arithmetic; going through arrays of scores, part by part, would cost
more than that. Batch gradients work on whole blocks, where it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.objectives import Contrast
from chainfield.scorers import HiddenUnits

from .fused import failure, known_of, places_of

if TYPE_CHECKING:
    from chainfield.kernels.train.contrast import Known
    from chainfield.kernels.train.linear_chain import Places
    from chainfield.kernels.train.units_pass import Inputs, Layout

    from .problem import Problem


@dataclass(frozen=True, eq=False)
class FusedUnits:
    """A problem whose chain the kernel knows."""

    problem: Problem
    inputs: Inputs
    layout: Layout
    places: Places
    known: Known

    def walk(
        self, theta: Float, order: Int, rates: Float, lag: Float | None = None, mass: float = 0.0
    ) -> tuple[float, int, float]:
        """A pass of stochastic training: see :class:`chainfield.problem.OnlinePass`."""
        from chainfield.kernels.train.units_pass import units_pass

        problem = self.problem
        loss, updates, failed, mass = units_pass(
            problem.chain.space.graph,
            problem.chain.space.n_rows,
            problem.batch.offsets,
            order,
            rates,
            problem.objective.how == "max",
            self.inputs,
            self.layout,
            self.places,
            self.known,
            theta,
            np.empty(0, theta.dtype) if lag is None else lag,
            float(mass),
        )
        if failed >= 0:
            raise failure(loss, int(failed))
        return loss, updates, mass


def fuse_units(problem: Problem) -> FusedUnits | None:
    """The kernel's view of a problem, if it knows all parts of its chain."""
    from chainfield.kernels.train.units_pass import Inputs, Layout

    chain, batch = problem.chain, problem.batch
    parts = [(s, s.fused() or ("", None)) for s in chain.scorers]
    units = [s for s, (part, _) in parts if part == "units" and isinstance(s, HiddenUnits)]
    others = [(s.name, own) for s, own in parts if own[0] in ("boundary", "ties")]
    at = chain.places
    places = places_of(others, at, chain.space)
    even = all(chain.paces[name] == 1.0 for name, _ in others)
    fits = len(units) == 1 and len(others) + 1 == len(chain.scorers) and places is not None and even
    if chain.normalised or not fits or not isinstance(problem.objective, Contrast):
        return None
    assert places is not None
    own = units[0]
    blocks: dict[str, Any] = {name: at[f"{own.name}.{name}"] for name in own.shapes()}
    paces: dict[str, Any] = {f"{name}_pace": own.pace(name) for name in own.shapes()}
    sparse, none = batch.sparse, np.empty(0)
    dense = np.empty((0, 0), chain.dtype)
    entries: tuple[Any, ...] = (np.zeros(1, np.int64), np.empty(0, np.int32), none)
    if own.source == "dense":
        assert batch.dense is not None
        dense = np.ascontiguousarray(batch.dense, chain.dtype)
    else:
        assert sparse is not None
        entries = (sparse.indptr, sparse.indices, sparse.weights())
    layout = Layout(own.n_inputs, own.n_units, **blocks, **paces)
    return FusedUnits(problem, Inputs(dense, *entries), layout, places, known_of(problem))
