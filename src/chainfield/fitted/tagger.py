"""A fitted tagger: features, task, chain and parameters. Everything that prediction needs, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import ConfigError, NoPathError
from chainfield.features.batch import Batch
from chainfield.features.map import FeatureMap
from chainfield.inference import label_marginals, log_partition, n_best, score_paths, viterbi
from chainfield.inference.viterbi import clamped_path
from chainfield.parallel import ordered_map
from chainfield.potentials import Clamp, How, Potentials
from chainfield.scorers import Chain, SparseLinear
from chainfield.tasks import Tagging

Float = NDArray[np.float64]
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Tagger:
    """Safe to share between threads: nothing in it changes."""

    features: FeatureMap
    task: Tagging
    chain: Chain
    theta: Float
    how: How = "sum"
    n_jobs: int = field(default=1, compare=False)

    @cached_property
    def params(self) -> dict[str, Float]:
        """The parameters by name."""
        return self.chain.views(self.theta)

    @cached_property
    def feature_names(self) -> Sequence[str]:
        """Names of features by number."""
        return self.features.feature_names()

    @cached_property
    def n_weights(self) -> int:
        """How many weights there are, without the places that only fill up full features."""
        fillers = [
            int(np.count_nonzero(~s.pairs.exists())) for s in self.chain.emissions if isinstance(s, SparseLinear)
        ]
        return self.chain.n_parameters - sum(fillers)

    def potentials(self, batch: Batch) -> Potentials:
        """The scores of a batch."""
        return self.chain.potentials(self.params, batch, self.how)[0]

    def predict(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[list[Any]]:
        """The labels of the best paths; ``given`` fixes some of them (None elsewhere, a set for "one of these")."""
        return self.decode(self.features.encode(sequences), given)

    def decode(self, batch: Batch, given: Sequence[Any] | None = None) -> list[list[Any]]:
        """The same for sequences that are encoded already."""

        def best(potentials: Potentials) -> NDArray[np.int32]:
            return viterbi(self.chain.space, potentials).states

        parts = self._map(best, batch, given)
        states = np.concatenate(parts) if parts else np.empty(0, np.int32)
        return self.task.decode(self.chain.space, states, batch.offsets)

    def marginals(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Float]:
        """Posterior probabilities of labels, one (length, L) array a sequence."""
        batch = self.features.encode(sequences)
        parts = self._map(lambda p: label_marginals(self.chain.space, p), batch, given)
        whole = np.concatenate(parts) if parts else np.empty((0, len(self.task.labels)))
        return np.split(whole, batch.offsets[1:-1]) if batch.n_sequences else []

    def n_best(
        self, sequences: Sequence[Any], n: int, given: Sequence[Any] | None = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The n best label sequences of each sequence with their probabilities, best first."""
        if n < 1:
            raise ConfigError(f"n is {n}; at least one path must be asked for.")
        batch = self.features.encode(sequences)
        space = self.chain.space

        def several(potentials: Potentials) -> list[list[tuple[list[Any], float]]]:
            log_z = log_partition(space, potentials)
            results = []
            for found, z in zip(n_best(space, potentials, n), log_z, strict=True):
                bounds = np.arange(len(found.score) + 1) * found.states.shape[1]
                labels = self.task.decode(space, found.states.ravel(), bounds)
                results.append(list(zip(labels, np.exp(found.score - z).tolist(), strict=True)))
            return results

        return [result for part in self._map(several, batch, given) for result in part]

    def log_likelihood(self, sequences: Sequence[Any], targets: Sequence[Any]) -> Float:
        """(S,) log-probabilities of (possibly partial) label sequences."""
        batch = self.features.encode(sequences)
        clamp = self.task.clamp(self.chain.space, targets, batch.offsets)
        free = np.concatenate(self._map(lambda p: log_partition(self.chain.space, p), batch) or [np.empty(0)])
        parts = []
        for lo, hi in self.chain.blocks(batch.offsets, 0, batch.n_sequences):
            potentials = self.potentials(batch.window(lo, hi))
            parts.append(self._clamped(potentials, clamp[slice(batch.offsets[lo], batch.offsets[hi])]))
        return np.concatenate(parts or [np.empty(0)]) - free

    def _clamped(self, potentials: Potentials, clamp: Clamp) -> Float:
        space = self.chain.space
        path = clamped_path(space, clamp, potentials.offsets)
        if path is not None:
            return score_paths(space, potentials, path)
        try:
            return log_partition(space, clamp.apply(potentials))
        except NoPathError:
            values = np.full(potentials.n_sequences, -np.inf)
            for s in range(potentials.n_sequences):
                a, b = potentials.offsets[s], potentials.offsets[s + 1]
                edge = potentials.edge if potentials.shared else potentials.edge[a:b]
                one = Potentials(potentials.node[a:b], edge, np.array([0, b - a]))
                try:
                    values[s] = log_partition(space, clamp[slice(a, b)].apply(one))[0]
                except NoPathError:
                    continue  # these labels break the rules: probability 0
            return values

    def _map(self, function: Callable[[Potentials], R], batch: Batch, given: Sequence[Any] | None = None) -> list[R]:
        clamp = None if given is None else self.task.clamp(self.chain.space, given, batch.offsets)

        def block(bounds: tuple[int, int]) -> R:
            lo, hi = bounds
            potentials = self.potentials(batch.window(lo, hi))
            if clamp is not None:
                potentials = clamp[slice(batch.offsets[lo], batch.offsets[hi])].apply(potentials)
            try:
                return function(potentials)
            except NoPathError as error:
                raise NoPathError(error.sequence + lo, error.known) from None

        blocks = list(self.chain.blocks(batch.offsets, 0, batch.n_sequences))
        return list(ordered_map(block, blocks, min(self.n_jobs, max(len(blocks), 1))))
