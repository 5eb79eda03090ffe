"""A fitted tagger: a label for every position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.checking import whole_number
from chainfield.features.batch import Batch
from chainfield.inference import best_label_paths, decoder_named, label_marginals
from chainfield.limits import N_BEST
from chainfield.parallel import ordered_map
from chainfield.potentials import Potentials
from chainfield.states import StateSpace
from chainfield.tasks import Tagging

from .model import FittedModel, cut
from .path_finder import PathFinder, finder_of, found_labels
from .pruning import best_labels
from .straight import Straight, straight_of

PART = 128  # sequences that a thread takes at the least
PARTS = 4  # how many times each thread comes back for more


@dataclass(frozen=True, eq=False)
class Tagger(FittedModel):
    """Predicts label sequences. ``decoder``: which labels it takes for the best (chainfield.inference.DECODERS)."""

    task: Tagging
    decoder: str = "viterbi"

    @cached_property
    def finder(self) -> PathFinder | None:
        """A transition that finds the best path by itself."""
        return finder_of(self.chain)

    def predict(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[list[Any]]:
        """The best labels; ``given`` fixes some of them (None elsewhere, a set for "one of these")."""
        if given is not None or self.n_jobs == 1 or len(sequences) < 2 * PART:
            return self.decode(self.features.encode(sequences, self.n_jobs), given)
        # Reading Python's objects takes one thread at a time; the others infer meanwhile.
        size = max(PART, -(-len(sequences) // (PARTS * self.n_jobs)))
        parts = [sequences[at : at + size] for at in range(0, len(sequences), size)]
        alone = replace(self, n_jobs=1)
        return list(chain.from_iterable(ordered_map(alone.predict, parts, self.n_jobs)))

    def decode(self, batch: Batch, given: Sequence[Any] | None = None) -> list[list[Any]]:
        """The same for sequences that are encoded already."""
        return self.task.decode(self.labels(batch, given), batch.offsets)

    @cached_property
    def straight(self) -> Straight | None:
        """The short way to the best labels."""
        return straight_of(self)

    def labels(self, batch: Batch, given: Sequence[Any] | None = None) -> Int32:
        """(N,) the best labels by number."""
        if given is None and self.straight is not None:
            found = self.straight.labels(batch, self.n_jobs)
            if found is not None:
                return found
        decoder = decoder_named(self.decoder)
        if self.decoder == "viterbi" and self.chain.pruner is not None:
            return best_labels(self, batch, given)
        found = found_labels(self, batch, given) if self.decoder == "viterbi" else None
        if found is not None:
            return found
        parts = self.map(decoder, batch, given)
        return parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty(0, np.int32)])

    def marginals(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Float]:
        """Posterior probabilities of labels, one (length, L) array per sequence."""
        batch = self.features.encode(sequences, self.n_jobs)
        parts = self.map(label_marginals, batch, given)
        return cut(np.concatenate(parts or [np.empty((0, len(self.task.labels)))]), batch)

    def n_best(
        self, sequences: Sequence[Any], n: int, given: Sequence[Any] | None = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The n best label sequences of each sequence with their probabilities, best first.

        Where labels have several states, sequences are ranked by their probabilities as found by latent-dynamic
        inference (:func:`chainfield.inference.best_label_paths`).
        """
        n = whole_number(n, "n", most=N_BEST)

        def several(space: StateSpace, potentials: Potentials) -> list[list[tuple[list[Any], float]]]:
            results = []
            for found in best_label_paths(space, potentials, n):
                bounds = np.arange(len(found.labels) + 1) * found.labels.shape[1]
                labels = self.task.decode(found.labels.ravel(), bounds)
                results.append(list(zip(labels, np.exp(found.log_probability).tolist(), strict=True)))
            return results

        parts = self.map(several, self.features.encode(sequences, self.n_jobs), given)
        return [result for part in parts for result in part]
