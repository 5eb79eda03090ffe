"""Linear chains over lattices in one kernel: batch gradients, curvature, and passes of stochastic training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Array, Float, Int
from chainfield.errors import ConfigError
from chainfield.inference import make_net
from chainfield.memory import demand_memory
from chainfield.objectives import Contrast
from chainfield.parallel import ordered_map
from chainfield.potentials import Potentials
from chainfield.scorers import Boundary, SparseLinear, Transition, Triples

from .fast_pass import FastPass
from .kernel_view import failure
from .steps import Steps, Walked
from .trainable import Pullback

if TYPE_CHECKING:
    from chainfield.kernels.chain.lattice import Net
    from chainfield.kernels.train.lattice_pass import Cells, Pairing

    from .problem import Problem

_NONE = np.empty(0)
_MOST_PLACES = 2**31 - 1


@dataclass(frozen=True, eq=False)
class LatticePass(FastPass):
    """A problem with a lattice, as the kernel sees it."""

    problem: Problem
    net: Net
    cells: Cells

    def total(self, theta: Float, *, variances: bool = False) -> tuple[float, Callable[[Float], None]]:
        """Shard by shard."""
        problem, loss = self.problem, 0.0

        def shard(bounds: tuple[int, int]) -> tuple[float, Float]:
            return self._gradient(theta, np.arange(*bounds), variances=variances)

        summed = np.zeros(problem.n_parameters)
        for value, vector in ordered_map(shard, problem.shards, problem.n_jobs):
            loss += value
            summed += vector

        def add(vector: Float) -> None:
            vector += summed

        return loss, add

    def walk(self, steps: Steps) -> Walked | None:
        """Any steps but those of variance reduction, which keep a gradient for every row."""
        if steps.kept is not None:
            return None
        shrink = _NONE if steps.shrink is None else steps.shrink
        lag = _NONE if steps.lag is None else steps.lag
        return self._run(steps.order, steps.rates, shrink, steps.theta, steps.theta, lag, steps.mass)

    def differentiate(self, theta: Float, sequences: slice | Int) -> tuple[float, Potentials, Pullback]:
        """Loss and gradient of some sequences. The gradient is one of parameters already; it stands for nodes."""
        order = np.arange(self.problem.n_sequences)[sequences]
        loss, gradient = self._gradient(theta, order)

        def pullback(d: Potentials, into: Float, scale: float, paced: bool = False) -> None:
            into += scale * d.node[0]

        return loss, Potentials(gradient[None, :], np.zeros((1, 0)), np.array([0, 1])), pullback

    def _gradient(self, theta: Float, order: Int, *, variances: bool = False) -> tuple[float, Float]:
        into = np.zeros(self.problem.n_parameters)
        rates = np.full(len(order), -1.0)
        return self._run(order, rates, _NONE, theta, into, _NONE, 0.0, variances=variances).loss, into

    def _run(
        self, order: Int, rates: Float, shrink: Float, theta: Float, into: Float, lag: Float, mass: float,
        *, variances: bool = False,
    ) -> Walked:  # fmt: skip
        from chainfield.kernels.train.lattice_pass import lattice_pass

        use_max = self.problem.objective.how == "max"
        theta = theta if theta.flags.writeable else theta.copy()
        loss, updates, failed, mass = lattice_pass(
            self.net, self.problem.batch.offsets, order, rates, shrink, use_max, variances, self.cells, theta, into,
            into is theta, lag, float(mass),
        )  # fmt: skip
        if failed >= 0:
            raise failure(loss, int(failed))
        return Walked(loss, updates, mass)


def lattice_pass_of(problem: Problem) -> LatticePass | None:
    """The kernel's view of a problem that has a lattice; None: the chain has parts that the kernel does not know."""
    from chainfield.kernels.train.lattice_pass import Cells, Pairing

    chain, lattice, batch = problem.chain, problem.lattice, problem.batch
    if lattice is None or not suits(problem):
        return None
    space, at = chain.space, chain.places
    features = next(s for s in chain.emissions if isinstance(s, SparseLinear))
    ends = next((s for s in chain.emissions if isinstance(s, Boundary)), None)
    moves = next((s for s in chain.transitions if isinstance(s, Transition)), None)
    triples = next((s for s in chain.transitions if isinstance(s, Triples)), None)
    start, end = (-1, -1) if ends is None else (at[f"{ends.name}.start"], at[f"{ends.name}.end"])
    pairs = features.pairs
    pairing = Pairing(
        pairs.first, pairs.row, pairs.bits, pairs.n_full, space.n_rows, at[f"{features.name}.weight"], start, end
    )
    slot_first, slot, value = _slots(pairing, problem)
    position = lattice.position_of()
    cost = problem.targets.extra(problem.objective.uses_cost)
    edge = np.full(space.n_edges, -1, np.int64)
    if moves is not None:
        edge = np.where(moves.tie >= 0, at[f"{moves.name}.weight"] + moves.tie.astype(np.int64), -1)
    cells = Cells(
        lattice.first, lattice.rows, lattice.agrees(problem.targets.clamp),
        _NONE if problem.offset is None else problem.offset[lattice.rows],
        _NONE if cost is None else cost[problem.targets.clamp.index[position], lattice.rows],
        slot_first, slot, value, edge, 0 if triples is None else at[f"{triples.name}.weight"], problem.targets.weight,
    )  # fmt: skip
    net = make_net(space) if triples is None else make_net(space, triples.after, triples.third)
    assert int(batch.offsets[-1]) == len(lattice.first) - 1
    return LatticePass(problem, net, cells)


def suits(problem: Problem) -> bool:
    """Whether the kernel knows all parts of a problem: sparse features, ends, transitions and triples, one of each."""
    chain = problem.chain
    kinds = [type(scorer) for scorer in chain.scorers]
    known = {SparseLinear, Boundary, Transition, Triples}
    plain = all(not len(s.group_of) for s in chain.emissions if isinstance(s, SparseLinear))
    one_each = SparseLinear in kinds and len(set(kinds)) == len(kinds) and set(kinds) <= known
    one_state = chain.space.n_states == chain.space.n_rows
    contrast = isinstance(problem.objective, Contrast) and problem.n_parameters <= _MOST_PLACES
    return one_each and plain and one_state and contrast and not chain.normalised and chain.dtype == "float64"


def _slots(pairing: Pairing, problem: Problem) -> tuple[Int, Array, Float]:
    """Where the weights of each cell lie in θ, and the values of their features."""
    from chainfield.kernels.train.lattice_pass import count_slots, fill_slots

    lattice, batch, sparse = problem.lattice, problem.batch, problem.batch.sparse
    assert lattice is not None
    if sparse is None:
        raise ConfigError("A lattice needs sparse features.")
    first = np.zeros(len(lattice.rows) + 1, np.int64)
    data = (batch.offsets, sparse.indptr, sparse.indices)
    count_slots(pairing, *data, lattice.first, lattice.rows, first)
    n = int(first[-1])
    valued = sparse.values is not None
    advice = "prune more (a larger threshold), take fewer features (min_count), or train on fewer sequences at a time"
    demand_memory((4 + 8 * valued) * n, f"A lattice of {len(lattice.rows):,} states with {n:,} weights", advice)
    slot, value = np.empty(n, np.int32), np.empty(n * valued)
    fill_slots(pairing, *data, sparse.weights(), lattice.first, lattice.rows, first, slot, value)
    return first, slot, value
