"""A piece of a corpus, encoded: what every model can be trained on, whatever its states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Array, Int, Int32
from chainfield.errors import DataError
from chainfield.features.batch import Batch
from chainfield.features.feature_map import FeatureMap
from chainfield.potentials import Clamp
from chainfield.states import StateSpace
from chainfield.tasks import Task

from .source import Source

#: What a piece takes in memory while it trains, for each byte of its numbers: entries are written out for the kernels.
#: Measured with 5 and with 25 features per position: 6.7 and 7.0.
PREPARED = 7


@dataclass(frozen=True, eq=False)
class Part:
    """Encoded sequences, and what is known of each position: ``kinds[codes[t]]`` is a label, None or a set of labels.

    ``first``: the number of the first sequence in the corpus.
    """

    batch: Batch
    kinds: tuple[Any, ...]
    codes: Int32  # (N,)
    first: int = 0

    def __sizeof__(self) -> int:
        """Schedulers move pieces by their size."""
        batch = self.batch
        arrays: list[Array] = [batch.offsets, self.codes, *([] if batch.dense is None else [batch.dense])]
        for sparse in (batch.sparse, batch.edges):
            if sparse is not None:
                arrays += [sparse.indptr, sparse.indices, sparse.weights()]
        return 1000 + sum(array.nbytes for array in arrays)

    def clamp(self, task: Task, space: StateSpace) -> Clamp:
        """What the labels tell about states; each distinct one is looked up once.

        A task that labels whole sequences takes the label of their first positions.
        """
        if not task.every_position:
            first = np.minimum(self.batch.offsets[:-1], max(len(self.codes) - 1, 0))
            labels = [self.kinds[c] for c in self.codes[first].tolist()]
            try:
                return task.clamp(space, labels, self.batch.offsets)
            except DataError as error:
                raise DataError(f"In the piece that begins with sequence {self.first} of the corpus: {error}") from None
        known = task.clamp(space, [list(self.kinds)], np.array([0, len(self.kinds)]))
        return Clamp(known.index[self.codes], known.table)


def encode_source(source: Source, features: FeatureMap, firsts: Int) -> Part:
    """Read a piece and encode it with features that are settled; firsts: the numbers of all pieces' first sequences."""
    found = source.read()
    return Part(features.encode(found.sequences), found.kinds, found.codes, int(firsts[source.number]))
