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
from chainfield.potentials import Clamp, How, Potentials
from chainfield.scorers import Chain, Scorer
from chainfield.tasks import Task

from .excluding import relaxed_chain
from .scoring import Scoring

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What all tasks share. Safe to share between threads: nothing in it changes, and ``theta`` is read-only.

    ``how``: whether scorers sum over what hides inside a position, or maximise.
    """

    features: FeatureMap
    task: Task
    chain: Chain
    theta: Float
    how: How = "sum"
    n_jobs: int = field(default=1, compare=False)

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

    def potentials(self, batch: Batch, clamp: Clamp | None = None) -> Potentials:
        """The scores of a batch; ``clamp`` excludes what disagrees with what is known.

        A chain may exclude labels by itself. Where it leaves a sequence without a path, it is relaxed there.
        """
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
        free = np.concatenate(self.map(lambda p: log_partition(self.chain.space, p), batch) or [np.empty(0)])
        parts = []
        for lo, hi in self.chain.blocks(batch.ragged):
            potentials = self.potentials(batch.window(lo, hi))
            parts.append(self._clamped(potentials, clamp[batch.ragged.slice_of(lo, hi)]))
        return np.concatenate(parts or [np.empty(0)]) - free

    def _clamped(self, potentials: Potentials, clamp: Clamp) -> Float:
        path = clamped_path(self.chain.space, clamp, potentials.offsets)
        if path is not None:
            return score_paths(self.chain.space, potentials, path)
        return log_partition(self.chain.space, clamp.apply(potentials), strict=False)

    def map(self, function: Callable[[Potentials], R], batch: Batch, given: Sequence[Any] | None = None) -> list[R]:
        """Results of a function over the potentials of a batch, block by block; ``given`` fixes what is known."""
        clamp = None if given is None else self.task.clamp(self.chain.space, given, batch.offsets)

        def block(bounds: tuple[int, int]) -> R:
            lo, hi = bounds
            part = None if clamp is None else clamp[batch.ragged.slice_of(lo, hi)]
            potentials = self.potentials(batch.window(lo, hi), part)
            try:
                return function(potentials)
            except NoPathError as error:
                raise NoPathError(error.sequence + lo, error.known) from None

        blocks = list(self.chain.blocks(batch.ragged))
        return list(ordered_map(block, blocks, min(self.n_jobs, max(len(blocks), 1))))

    def states(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Int32]:
        """The best state path of each sequence; ``given`` fixes what is known."""
        batch = self.features.encode(sequences, self.n_jobs)
        parts = self.map(lambda p: viterbi(self.chain.space, p).states, batch, given)
        return cut(np.concatenate(parts or [np.empty(0, np.int32)]), batch)

    def occupancies(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Float]:
        """Posterior probabilities of emission rows, one (length, R) array a sequence."""
        batch = self.features.encode(sequences, self.n_jobs)
        parts = self.map(lambda p: marginals(self.chain.space, p).expected.node, batch, given)
        return cut(np.concatenate(parts or [np.empty((0, self.chain.space.n_rows))]), batch)


def cut(whole: Array, batch: Batch) -> list[Array]:
    """Positions laid end to end, as one array per sequence."""
    return batch.ragged.cut(whole)
