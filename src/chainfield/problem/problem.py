"""Training as a finite sum: loss and gradient of all sequences, or of a few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError, DataError, DivergenceError, NoPathError
from chainfield.features.batch import Batch
from chainfield.inference import Paths, clamped_path, marginals
from chainfield.objectives import Objective, Targets
from chainfield.parallel import ordered_map
from chainfield.potentials import Potentials
from chainfield.scorers import Chain

from .fused import RAN_AWAY, Fused, fuse
from .fused_units import FusedUnits, fuse_units

Pullback = Callable[..., None]  # (d scores, into flat vector, scale, paced=False)

# A shard is a piece of work for one thread. Their number depends on the data alone, never on the number of threads,
# and so does the order in which their gradients are added: results are the same on any machine.
MOST_SHARDS = 16
SHARD_POSITIONS = 8192
# Clearing and adding up a gradient costs about as much a parameter as some hundredth of a position costs to infer.
POSITIONS_PER_PARAMETER = 0.1


@dataclass(frozen=True, eq=False)
class Problem:
    """minimise over θ: sum over sequences of weight · loss + l1 ‖θ‖₁ + l2 ‖θ‖².

    Scorers may ask for two exceptions. ``penalised`` (P,) is 0 for parameters that the penalties leave out: they are
    l1 ‖m θ‖₁ + l2 ‖m θ‖² with that mask m, and a trainer that applies penalties by itself must apply the mask as well.
    ``pace`` (P,) is the relative step of each parameter: a trainer with one step size for all (SGD, Adam, SDCA)
    multiplies its step by it (Adam by its root: its steps know no scale of the gradient). Both are None where they
    would be 1 everywhere, which is the rule: no work is done then.
    """

    chain: Chain
    objective: Objective
    batch: Batch
    targets: Targets
    l1: float = 0.0
    l2: float = 0.0
    offset: Float | None = None  # (R,) added to the node scores in training only: a shift of the label prior
    n_jobs: int = field(default=1)
    # Takes θ back, in place, to where constraints hold: a trainer calls it after every step, or refuses the problem.
    project: Callable[[Float], None] | None = None

    def __post_init__(self) -> None:
        if self.batch.n_sequences == 0 or self.batch.n_positions == 0:
            raise ConfigError("There is nothing to train on: no sequence has a position.")
        for name in ("l1", "l2"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise ConfigError(f"{name} is {value}; a penalty must be a finite number, 0 or larger.")

    @property
    def n_parameters(self) -> int:
        """Length of θ."""
        return self.chain.n_parameters

    @property
    def n_sequences(self) -> int:
        """How many terms the sum has."""
        return self.batch.n_sequences

    @property
    def pace(self) -> Float | None:
        """(P,) relative steps, or None: all alike."""
        return self.chain.pace

    @property
    def penalised(self) -> Float | None:
        """(P,) 1 or 0, or None: the penalties count all parameters."""
        return self.chain.penalised

    @cached_property
    def convex(self) -> bool:
        """Whether there is one optimum: linear scores, a smooth contrast, and no hidden or unknown labels."""
        linear = all(scorer.linear for scorer in self.chain.scorers)
        return linear and self.objective.smooth and self.path is not None

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
    def fused(self) -> Fused | None:
        """The whole problem in one kernel, where there is one for its chain."""
        return fuse(self)

    @cached_property
    def fused_units(self) -> FusedUnits | None:
        """Passes of stochastic training in one kernel, for chains with hidden units."""
        return fuse_units(self)

    def evaluate(self, theta: Float) -> tuple[float, Float]:
        """The smooth part (everything but l1) and its gradient."""

        def shard(bounds: tuple[int, int]) -> tuple[float, Float]:
            gradient = np.zeros(self.n_parameters)
            value = 0.0
            for lo, hi in self.chain.blocks(self.batch.ragged, *bounds):
                loss, d, pullback = self.differentiate(theta, slice(lo, hi))
                value += loss
                pullback(d, gradient, 1.0)
            return value, gradient

        counted = theta if self.penalised is None else self.penalised * theta
        gradient = (2.0 * self.l2) * counted
        if self.fused is not None and self.fused.whole:
            total, add = self.fused.total(theta)
            add(gradient)
        else:
            total = self._add(shard, gradient)
        if self.l2:
            total += self.l2 * float(counted @ counted)
        if not np.isfinite(total):
            raise DivergenceError(RAN_AWAY)
        return total, gradient

    def curvature(self, theta: Float) -> Float:
        """An estimate of the Hessian's diagonal: variances of rows and edges, pulled back, and the penalty's share."""

        def shard(bounds: tuple[int, int]) -> tuple[float, Float]:
            diagonal = np.zeros(self.n_parameters)
            params, into = self.chain.views(theta), self.chain.views(diagonal)
            for lo, hi in self.chain.blocks(self.batch.ragged, *bounds):
                batch, targets = self._part(slice(lo, hi))
                potentials, pullback = self.chain.potentials(params, batch, "sum")
                p = marginals(self.chain.space, self._shifted(potentials)).expected
                weight = batch.ragged.spread(targets.weight)[:, None]
                # Expected counts of edges are sums over positions: half of them is about what their variances sum to.
                pullback(Potentials(weight * p.node * (1.0 - p.node), 0.5 * p.edge, potentials.offsets), into, 1.0)
            return 0.0, diagonal

        diagonal = np.zeros(self.n_parameters)
        if self.fused is not None and self.fused.whole:
            self.fused.total(theta, variances=True)[1](diagonal)
        else:
            self._add(shard, diagonal)
        return np.abs(diagonal) + 2.0 * self.l2 * (1.0 if self.penalised is None else self.penalised)

    def _add(self, shard: Callable[[tuple[int, int]], tuple[float, Float]], into: Float) -> float:
        """The sum of all shards' values; their vectors are added to ``into``, always in the same order."""
        total = 0.0
        for value, vector in ordered_map(shard, self.shards, self.n_jobs):
            total += value
            into += vector
        return total

    def _shifted(self, potentials: Potentials) -> Potentials:
        return potentials if self.offset is None else replace(potentials, node=potentials.node + self.offset)

    def differentiate(self, theta: Float, sequences: slice | Int) -> tuple[float, Potentials, Pullback]:
        """Loss of some sequences (penalties left out), its gradient in score space, and the way back to parameters.

        The way back adds scale × gradient to a vector, which may be θ itself: then it is a step of gradient descent
        that touches only what the sequences touch. With ``paced``, every parameter's step has its own size.
        """
        batch, targets = self._part(sequences)
        potentials, pullback = self.chain.potentials(self.chain.views(theta), batch, self.objective.how)
        try:
            value, d = self.objective(self.chain.space, self._shifted(potentials), targets)
        except NoPathError as error:
            numbers = np.arange(self.n_sequences)[sequences]
            raise NoPathError(int(numbers[error.sequence]), error.known) from None
        except DataError:
            raise DivergenceError(RAN_AWAY) from None
        return value, d, lambda d, into, scale, paced=False: pullback(d, self.chain.views(into), scale, paced)

    def penalty(self, theta: Float) -> float:
        """l1 ‖θ‖₁ + l2 ‖θ‖², over the parameters that are penalised."""
        if not (self.l1 or self.l2):
            return 0.0
        counted = theta if self.penalised is None else self.penalised * theta
        l1 = self.l1 * float(np.abs(counted).sum()) if self.l1 else 0.0
        return l1 + self.l2 * float(counted @ counted)

    def _part(self, sequences: slice | Int) -> tuple[Batch, Targets]:
        t, path = self.targets, self.path
        if isinstance(sequences, slice):
            lo, hi = sequences.start, sequences.stop
            positions: slice | Int = self.batch.ragged.slice_of(lo, hi)
            batch = self.batch.window(lo, hi)
        else:
            positions, batch = self.batch.positions(sequences), self.batch.take(sequences)
        if path is not None:
            path = Paths(path.states[positions], path.edges[positions], path.score)
        return batch, Targets(t.clamp[positions], t.weight[sequences], t.cost, path)
