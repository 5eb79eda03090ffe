"""Several sets of parameters that vote on every label (conditional herding, Gelfand et al. 2010)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.features.batch import Batch

from .model import cut
from .tagger import Tagger


@final
@dataclass(frozen=True, eq=False)
class Herd(Tagger):
    """A tagger whose members predict by themselves and vote; ties go to the label with the lowest number.

    ``theta`` is the mean of the ``members`` (M, P): it answers whatever is asked besides labels and their shares. A
    vote is taken at each position, so that a sequence of winners may break the rules that every member keeps.
    """

    members: Float = field(default_factory=lambda: np.empty((0, 0)))

    def labels(self, batch: Batch, given: Sequence[Any] | None = None) -> Int32:
        """(N,) the labels with most votes."""
        return self._votes(batch, given).argmax(axis=1).astype(np.int32)

    def marginals(self, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Float]:
        """Shares of the votes, one (length, L) array a sequence."""
        batch = self.features.encode(sequences, self.n_jobs)
        return cut(self._votes(batch, given) / len(self.members), batch)

    def _votes(self, batch: Batch, given: Sequence[Any] | None) -> Float:
        votes = np.zeros((batch.n_positions, len(self.task.labels)))
        here = np.arange(batch.n_positions)
        for theta in self.members:
            votes[here, Tagger.labels(replace(self, theta=theta), batch, given)] += 1.0
        return votes


def herd_of(tagger: Tagger, thetas: Float) -> Tagger:
    """A tagger with parameters; several sets of them, one after the other, make a herd."""
    size = tagger.chain.n_parameters
    if len(thetas) == size:
        return replace(tagger, theta=thetas)
    members = thetas.reshape(-1, size)
    mean = members.mean(axis=0, dtype=np.float64).astype(thetas.dtype)
    settings: dict[str, Any] = {
        "how": tagger.how,
        "temperature": tagger.temperature,
        "n_jobs": tagger.n_jobs,
        "decoder": tagger.decoder,
    }
    return Herd(tagger.features, tagger.task, tagger.chain, mean, members=members, **settings)
