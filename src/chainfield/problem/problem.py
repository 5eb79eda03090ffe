"""Training as a finite sum: loss and gradient of all sequences, or of a few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from chainfield.arrays import Array, Float, Int
from chainfield.errors import DataError, DivergenceError, NoPathError
from chainfield.features.batch import Batch
from chainfield.inference import Paths, clamped_path, marginals
from chainfield.objectives import Objective, Targets
from chainfield.parallel import ordered_map
from chainfield.potentials import Lattice, Potentials
from chainfield.scorers import Chain

from .fast_pass import FastPass
from .kernel_view import RAN_AWAY
from .lattice_pass import LatticePass, lattice_pass_of
from .linear_pass import linear_pass_of
from .one_by_one import one_by_one
from .pieces import Term
from .steps import Steps, Walked
from .summed import SummedProblem
from .trainable import Pullback
from .units_pass import units_pass_of
from .windows import windowed

# A shard is a piece of work for one thread. Their number depends on the data alone, never on the number of threads,
# and so does the order in which their gradients are added: results are the same on any machine.
MOST_SHARDS = 16
QUICK = 1 << 18  # edges of a sequence, beside which what Python does for it is little
SHARD_POSITIONS = 8192
# Clearing and adding up a gradient costs about as much a parameter as some hundredth of a position costs to infer.
POSITIONS_PER_PARAMETER = 0.1
#: Kernels that know some chains as a whole. The first that knows a problem's takes it.
FAST_PASSES: tuple[Callable[[Problem], FastPass | None], ...] = (linear_pass_of, units_pass_of)


@dataclass(frozen=True, eq=False)
class Problem(SummedProblem):
    """A chain, its objective and its data, in memory."""

    chain: Chain
    objective: Objective
    batch: Batch
    targets: Targets
    l1: float = 0.0
    l2: float = 0.0
    offset: Float | None = None  # (R,) added to the node scores in training only: a shift of the label prior
    n_jobs: int = field(default=1)
    project: Callable[[Float], None] | None = None
    lattice: Lattice | None = None  # the rows that paths may use; those that are right must be among them
    pass_start: int = 0  # for a piece of larger data: the sequences of a pass that come before it,
    pass_size: int | None = None  # and those of the whole pass
    cuttable: bool = False  # whether a part of a sequence is a sequence too: every position has a label of its own

    def __post_init__(self) -> None:
        self._check()

    def __getstate__(self) -> dict[str, Any]:
        """What was made for kernels is made again elsewhere."""
        return {own.name: getattr(self, own.name) for own in fields(self)}

    def restated(
        self, chain: Chain, project: Callable[[Float], None] | None = None, l2: float | None = None
    ) -> Problem:
        """With another chain."""
        return replace(self, chain=chain, project=project, l2=self.l2 if l2 is None else l2)

    @property
    def n_sequences(self) -> int:
        """How many terms the sum has."""
        return self.batch.n_sequences

    @property
    def n_positions(self) -> int:
        """How many positions the sequences have together."""
        return self.batch.n_positions

    def arrays(self) -> Iterator[Array]:
        """Offsets, targets and features."""
        yield from data_arrays(self.batch, self.targets, self.offset)
        if self.lattice is not None:
            yield from (self.lattice.first, self.lattice.rows)

    @cached_property
    def windows(self) -> Problem:
        """Long sequences cut into windows, where they may be."""
        return windowed(self) if self.cuttable and self.pass_size is None else self

    @property
    def notes(self) -> dict[str, float]:
        """What pruning leaves: rows per position, and the share of right ones that would have been lost."""
        if self.lattice is None or self.chain.pruner is None:
            return {}
        return {"width": self.lattice.width, "lost": self.chain.pruner.lost}

    @cached_property
    def convex(self) -> bool:
        """Whether there is one optimum: linear scores, a smooth contrast, and no hidden or unknown labels."""
        return self.linear and self.smooth and self.path is not None

    @cached_property
    def guess_loss(self) -> float:
        """That of a model for which all states are alike."""
        return float(self.targets.weight @ self.batch.ragged.lengths) * np.log(max(self.chain.space.n_states, 2))

    @property
    def quick_steps(self) -> bool:
        """Where a kernel takes them, or sequences are so large that Python does not count."""
        work = self.n_positions * self.chain.space.n_edges
        return self.fast is not None or work >= QUICK * self.n_sequences

    @property
    def keeps(self) -> bool:
        """Not over a lattice."""
        return self.lattice is None

    @property
    def step_bounds(self) -> tuple[int, int]:
        """As it is told."""
        return self.pass_start, self.n_sequences if self.pass_size is None else self.pass_size

    @cached_property
    def shards(self) -> list[tuple[int, int]]:
        """Runs of sequences of about the same number of positions."""
        n = self.batch.n_positions
        size = max(SHARD_POSITIONS, int(POSITIONS_PER_PARAMETER * self.n_parameters))
        n_shards = min(MOST_SHARDS, max(n // size, min(4, n // SHARD_POSITIONS), 1))
        cuts = np.searchsorted(self.batch.offsets, np.linspace(0, n, n_shards + 1))
        cuts[0], cuts[-1] = 0, self.n_sequences
        return [(int(a), int(b)) for a, b in pairwise(cuts) if b > a]

    @cached_property
    def path(self) -> Paths | None:
        """The path behind the labels, where they determine it: then the clamped side needs no inference."""
        return clamped_path(self.chain.space, self.targets.clamp, self.batch.offsets)

    @cached_property
    def fast(self) -> FastPass | None:
        """The whole problem in one kernel, where there is one for its chain."""
        if self.lattice is not None:
            return lattice_pass_of(self)
        return next((found for of in FAST_PASSES if (found := of(self)) is not None), None)

    def add(self, theta: Float, into: Float, *, variances: bool = False) -> float:
        """By one kernel where there is one for the chain, else part by part; shard after shard."""
        found = None if self.fast is None else self.fast.total(theta, variances=variances)
        if found is not None:
            total, add = found
            add(into)
            return total
        total, term = 0.0, self._variances if variances else self._gradient
        for value, vector in ordered_map(lambda bounds: term(theta, bounds), self.shards, self.n_jobs):
            total += value
            into += vector
        return total

    def _gradient(self, theta: Float, bounds: tuple[int, int]) -> Term:
        """Loss and gradient of a shard."""
        gradient, value = np.zeros(self.n_parameters), 0.0
        for lo, hi in self.chain.blocks(self.batch.ragged, *bounds):
            loss, d, pullback = self.differentiate(theta, slice(lo, hi))
            value += loss
            pullback(d, gradient, 1.0)
        return value, gradient

    def _variances(self, theta: Float, bounds: tuple[int, int]) -> Term:
        """Variances of a shard's rows and edges, pulled back."""
        diagonal = np.zeros(self.n_parameters)
        params, into = self.chain.views(theta), self.chain.views(diagonal)
        for lo, hi in self.chain.blocks(self.batch.ragged, *bounds):
            batch, targets, lattice = self._part(slice(lo, hi))
            potentials, pullback = self.chain.potentials(params, batch, "sum")
            p = marginals(self.chain.space, self._shifted(potentials, lattice)).expected
            weight = batch.ragged.spread(targets.weight)[:, None]
            # Expected counts of edges are sums over positions: half of them is about what their variances sum to.
            pullback(Potentials(weight * p.node * (1.0 - p.node), 0.5 * p.edge, potentials.offsets), into, 1.0)
        return 0.0, diagonal

    def _shifted(self, potentials: Potentials, lattice: Lattice | None) -> Potentials:
        """With the shift of training, over the rows that paths may use."""
        found = potentials if self.offset is None else replace(potentials, node=potentials.node + self.offset)
        return found if lattice is None else lattice.apply(found)

    def differentiate(self, theta: Float, sequences: slice | Int) -> tuple[float, Potentials, Pullback]:
        """Loss of some sequences, its gradient in score space, and the way back through the scorers."""
        if isinstance(self.fast, LatticePass):
            return self.fast.differentiate(theta, sequences)
        batch, targets, lattice = self._part(sequences)
        potentials, pullback = self.chain.potentials(self.chain.views(theta), batch, self.objective.how)
        try:
            value, d = self.objective(self.chain.space, self._shifted(potentials, lattice), targets)
        except NoPathError as error:
            numbers = np.arange(self.n_sequences)[sequences]
            raise NoPathError(int(numbers[error.sequence]), error.known) from None
        except DataError:
            raise DivergenceError(RAN_AWAY) from None
        return value, d, lambda d, into, scale, paced=False: pullback(d, self.chain.views(into), scale, paced)

    def walk(self, steps: Steps) -> Walked:
        """In one kernel where there is one for the chain, else sequence by sequence."""
        found = None if self.fast is None or self.project is not None else self.fast.walk(steps)
        return one_by_one(self, steps) if found is None else found

    def scores(self, theta: Float, sequences: slice | Int) -> Potentials:
        """Those of the chain, without the shift of training."""
        batch, _, _ = self._part(sequences)
        return self.chain.potentials(self.chain.views(theta), batch, self.objective.how)[0]

    def kept_shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """(N, R); (S, E), or (N, E) where positions have edges of their own. Over a lattice there are none to keep."""
        if self.lattice is not None:
            self._refuse("gradients of sequences to keep where rows are pruned")
        space, n = self.chain.space, self.n_positions
        return (n, space.n_rows), (n if self.chain.per_position else self.n_sequences, space.n_edges)

    def _part(self, sequences: slice | Int) -> tuple[Batch, Targets, Lattice | None]:
        t, path = self.targets, self.path
        if isinstance(sequences, slice):
            lo, hi = sequences.start, sequences.stop
            positions: slice | Int = self.batch.ragged.slice_of(lo, hi)
            batch = self.batch.window(lo, hi)
        else:
            positions, batch = self.batch.positions(sequences), self.batch.take(sequences)
        if path is not None:
            path = Paths(path.states[positions], path.edges[positions], path.score)
        lattice = None if self.lattice is None else self.lattice[positions]
        return batch, Targets(t.clamp[positions], t.weight[sequences], t.cost, path, t.given), lattice


def data_arrays(batch: Batch, targets: Targets, shift: Float | None = None) -> Iterator[Array]:
    """All numbers of a batch and of what is known of it."""
    yield from (batch.offsets, targets.clamp.index, targets.clamp.table, targets.weight)
    yield from (array for array in (targets.cost, shift) if array is not None)
    for sparse in (batch.sparse, batch.edges):
        if sparse is not None:
            yield from (sparse.indptr, sparse.indices, sparse.weights())
    if batch.dense is not None:
        yield batch.dense
    if batch.tokens is not None:
        yield from (batch.tokens.index, batch.tokens.word, batch.tokens.chars)
