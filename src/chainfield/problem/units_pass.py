"""Chains with hidden units in one kernel: passes of stochastic training.

Batch gradients work on whole blocks of sequences, where going part by part costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.objectives import Contrast
from chainfield.parallel import load_products
from chainfield.scorers import HiddenUnits

from .fast_pass import FastPass
from .kernel_view import failure, known_of, places_of
from .steps import Steps, Walked

if TYPE_CHECKING:
    from chainfield.kernels.train.contrast import Known
    from chainfield.kernels.train.linear_chain import Places
    from chainfield.kernels.train.units_pass import Inputs, Layout

    from .problem import Problem


@dataclass(frozen=True, eq=False)
class UnitsPass(FastPass):
    """A problem whose chain the kernel knows."""

    problem: Problem
    inputs: Inputs
    layout: Layout
    places: Places
    known: Known

    def walk(self, steps: Steps) -> Walked | None:
        """Plain steps, averaged or not."""
        from chainfield.kernels.train.units_pass import units_pass

        if steps.shrink is not None or steps.kept is not None or steps.margin is not None:
            return None
        problem, theta = self.problem, steps.theta
        loss, updates, failed, mass = units_pass(
            problem.chain.space.graph,
            problem.chain.space.n_rows,
            problem.batch.offsets,
            steps.order,
            steps.rates,
            problem.objective.how == "max",
            self.inputs,
            self.layout,
            self.places,
            self.known,
            theta,
            np.empty(0, theta.dtype) if steps.lag is None else steps.lag,
            float(steps.mass),
        )
        if failed >= 0:
            raise failure(loss, int(failed))
        return Walked(loss, updates, mass)


def units_pass_of(problem: Problem) -> UnitsPass | None:
    """The kernel's view of a problem, if it knows all parts of its chain."""
    chain, batch = problem.chain, problem.batch
    parts = [(s, s.fused() or ("", None)) for s in chain.scorers]
    units = [s for s, (part, _) in parts if part == "units" and isinstance(s, HiddenUnits)]
    others = [(s.name, own) for s, own in parts if own[0] in ("boundary", "ties")]
    fits = len(units) == 1 and len(others) + 1 == len(parts) and isinstance(problem.objective, Contrast)
    if chain.normalised or not fits or any(chain.paces[name] != 1.0 for name, _ in others):
        return None
    from chainfield.kernels.train.units_pass import Inputs, Layout

    at = chain.places
    places = places_of(others, at, chain.space)
    if places is None:
        return None
    own = units[0]
    blocks: dict[str, Any] = {name: at[f"{own.name}.{name}"] for name in own.shapes()}
    paces: dict[str, Any] = {f"{name}_pace": own.pace(name) for name in own.shapes()}
    sparse, none = batch.sparse, np.empty(0)
    dense = np.empty((0, 0), chain.dtype)
    entries: tuple[Any, ...] = (np.zeros(1, np.int64), np.empty(0, np.int32), none)
    if own.source == "dense":
        assert batch.dense is not None
        dense = np.ascontiguousarray(batch.dense, chain.dtype)
        load_products()
    else:
        assert sparse is not None
        entries = (sparse.indptr, sparse.indices, sparse.weights())
    layout = Layout(own.n_inputs, own.n_units, **blocks, **paces)
    return UnitsPass(problem, Inputs(dense, *entries), layout, places, known_of(problem))
