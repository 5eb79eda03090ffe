"""A fitted model: features, task, chain and parameters. Everything that prediction needs, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from chainfield.arrays import Array, Float, Int32
from chainfield.errors import NoPathError
from chainfield.features.batch import Batch
from chainfield.features.feature_map import FeatureMap
from chainfield.inference import best_paths, clamped_path, log_partition, marginals, score_paths, viterbi
from chainfield.parallel import ordered_map
from chainfield.potentials import Clamp, How, Lattice, Potentials
from chainfield.scorers import Chain, Scorer
from chainfield.scorers.unfolding import unfold_chain
from chainfield.states import StateSpace
from chainfield.tasks import Task

from .excluding import relaxed_chain
from .pruning import plausible
from .scoring import Scoring

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What all tasks share. Safe to share between threads: nothing in it changes, and ``theta`` is read-only.

    ``how``: whether scorers sum over what hides inside a position, or maximise. ``temperature``: what scores are
    divided by before they become probabilities.
    """

    features: FeatureMap
    task: Task
    chain: Chain
    theta: Float
    how: How = "sum"
    n_jobs: int = field(default=1, compare=False)
    temperature: float = 1.0

    def __post_init__(self) -> None:
        theta = self.theta.view()
        theta.flags.writeable = False  # much is worked out from it once
        object.__setattr__(self, "theta", theta)

    def __getstate__(self) -> dict[str, Any]:
        """Nothing that follows from the fields."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def params(self) -> dict[str, Float]:
        """The parameters by name."""
        return self.chain.views(self.theta)

    def own(self, scorer: Scorer) -> dict[str, Float]:
        """The parameters of one scorer, by their own names."""
        return self.chain.own(self.params, scorer)

    @cached_property
    def scoring(self) -> Scoring:
        """The chain with its parameters, ready to score."""
        return Scoring(self.chain, self.params, self.how)

    @cached_property
    def feature_names(self) -> Sequence[str]:
        """Names of features by number."""
        return self.features.feature_names()

    @cached_property
    def n_weights(self) -> int:
        """How many weights there are, without the places that only fill up full features."""
        return sum(scorer.n_weights() for scorer in self.chain.scorers)

    def encode(self, sequences: Sequence[Any]) -> Batch:
        """Sequences as numbers, checked: each can be labelled."""
        return self.features.encode(sequences, self.n_jobs)

    def scored(self, batch: Batch, clamp: Clamp | None = None) -> tuple[StateSpace, Potentials]:
        """The space of a batch, and its scores, divided by the temperature.

        It is the chain's, unless that has triples: then a sequence has a space of its own, over the pairs that its
        lattice has (see :func:`chainfield.scorers.unfolding.unfold_chain`), and must be asked for by itself.
        """
        chain, lattice = self.explicit(batch, clamp)
        found = self.potentials(batch, clamp) if lattice is None else self._within(chain, batch, lattice, clamp)
        return chain.space, found if self.temperature == 1.0 else found.divided(self.temperature)

    def explicit(self, batch: Batch, clamp: Clamp | None = None) -> tuple[Chain, Lattice | None]:
        """A chain whose space lists all states of a batch, and the rows that its pruner leaves; None: all."""
        if self.chain.pruner is None:
            return self.chain, None
        lattice = plausible(self.chain, batch, clamp)
        return (unfold_chain(self.chain, lattice) if self.chain.reach > 1 else self.chain), lattice

    def _within(self, chain: Chain, batch: Batch, lattice: Lattice, clamp: Clamp | None) -> Potentials:
        found = lattice.apply(chain.potentials(self.params, batch, self.how)[0])
        if clamp is None or clamp.added is None:
            return found
        return Potentials(found.node + clamp.added, found.edge, found.offsets)

    def potentials(self, batch: Batch, clamp: Clamp | None = None) -> Potentials:
        """The scores of a batch over the chain's space; ``clamp`` excludes what disagrees with what is known.

        A chain may exclude labels by itself. Where it leaves a sequence without a path, it is relaxed there.
        """
        if self.chain.pruner is not None:
            return self._within(self.chain, batch, plausible(self.chain, batch, clamp), clamp)
        found = self.scoring.potentials(batch)
        found = found if clamp is None else clamp.apply(found)
        relaxed = self._relaxed
        if relaxed is None:
            return found
        lost = np.flatnonzero(best_paths(self.chain.space, found).score == -np.inf)
        for s in lost.tolist():
            at = batch.ragged.slice_of(s, s + 1)
            softer = relaxed.potentials(batch.window(s, s + 1))
            softer = softer if clamp is None else clamp[at].apply(softer)
            found.node[at] = softer.node
            if not found.shared:
                found.edge[at] = softer.edge
        return found

    @cached_property
    def _relaxed(self) -> Scoring | None:
        chain = relaxed_chain(self.chain)
        return None if chain is None else Scoring(chain, self.params, self.how)

    def log_likelihood(self, sequences: Sequence[Any], targets: Sequence[Any]) -> Float:
        """(S,) log-probabilities of what (possibly partial) targets say; -inf where they break the rules."""
        batch = self.features.encode(sequences, self.n_jobs)
        clamp = self.task.clamp(self.chain.space, targets, batch.offsets)
        parts = []
        for lo, hi in self.blocks(batch):
            space, potentials = self.scored(batch.window(lo, hi))
            try:
                free = log_partition(space, potentials)
            except NoPathError as error:
                raise NoPathError(error.sequence + lo, error.known) from None
            parts.append(clamped_sums(space, potentials, clamp[batch.ragged.slice_of(lo, hi)]) - free)
        return np.concatenate(parts or [np.empty(0)])

    def blocks(self, batch: Batch) -> list[tuple[int, int]]:
        """Runs of sequences that go together: those that share a space, and fit into the cache."""
        if self.chain.reach > 1:
            return [(s, s + 1) for s in range(batch.n_sequences)]
        return list(self.chain.blocks(batch.ragged))

    def map(
        self, function: Callable[[StateSpace, Potentials], R], batch: Batch, given: Sequence[Any] | None = None
    ) -> list[R]:
        """Results of a function over the space and potentials of a batch, block by block.

        ``given`` fixes what is known.
        """
        clamp = None if given is None else self.task.known(self.chain.space, given, batch.offsets)

        def block(bounds: tuple[int, int]) -> R:
            lo, hi = bounds
            part = None if clamp is None else clamp[batch.ragged.slice_of(lo, hi)]
            space, potentials = self.scored(batch.window(lo, hi), part)
            try:
                return function(space, potentials)
            except NoPathError as error:
                raise NoPathError(error.sequence + lo, error.known) from None

        blocks = self.blocks(batch)
        return list(ordered_map(block, blocks, min(self.n_jobs, max(len(blocks), 1))))

    def states(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Int32]:
        """The best state path of each sequence; ``given`` fixes what is known.

        A state is one of the chain's space. Where sequences have spaces of their own, it is its row.
        """
        batch = self.features.encode(sequences, self.n_jobs)
        rows = self.chain.reach > 1

        def best(space: StateSpace, potentials: Potentials) -> Int32:
            states = viterbi(space, potentials).states
            return space.row_of[states] if rows else states

        parts = self.map(best, batch, given)
        return cut(np.concatenate(parts or [np.empty(0, np.int32)]), batch)

    def occupancies(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Float]:
        """Posterior probabilities of emission rows, one (length, R) array a sequence."""
        batch = self.features.encode(sequences, self.n_jobs)
        parts = self.map(lambda space, p: marginals(space, p).expected.node, batch, given)
        return cut(np.concatenate(parts or [np.empty((0, self.chain.space.n_rows))]), batch)


def clamped_sums(space: StateSpace, potentials: Potentials, clamp: Clamp) -> Float:
    """(S,) the log of the sum over the paths that a clamp allows; -inf: there are none."""
    path = clamped_path(space, clamp, potentials.offsets)
    if path is not None:
        return score_paths(space, potentials, path)
    return log_partition(space, clamp.apply(potentials), strict=False)


def cut(whole: Array, batch: Batch) -> list[Array]:
    """Positions laid end to end, as one array per sequence."""
    return batch.ragged.cut(whole)
