"""Looking into whole-sequence models: which states, and which components, a sequence goes through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Int
from chainfield.features.batch import Batch
from chainfield.models.classifying import ClassifyingModel
from chainfield.states.naming import row_ranks

from .mixture import GaussianMixture


@dataclass(frozen=True, eq=False)
class Alignment:
    """The best path of a sequence: its label, and the state and the component of each position, counted from 0.

    ``components`` is None where a state has none. ``score`` is that of the path, with components gathered.
    """

    label: Any
    states: Int  # (n,) within the label
    components: Int | None  # (n,) within the state


class Aligning(ClassifyingModel):
    """Alignments and occupancies, for models over class blocks."""

    def align(self, X: Any, y: Any = None, *, lengths: Sequence[int] | None = None) -> list[Alignment]:
        """The best path of each sequence: within its label if ``y`` gives it, else within the predicted one."""
        model = self._classifier()
        sequences = self._input(X, lengths)
        labels = model.predict(sequences) if y is None else list(self._targets(y, lengths))
        paths, space = model.states(sequences, labels), model.chain.space
        batch = model.features.encode(sequences)
        rank = row_ranks(space).astype(np.int64)
        found = []
        for s, path in enumerate(paths):
            rows = space.row_of[path]
            label = model.task.labels[int(space.label_of[path[0]])]
            found.append(Alignment(label, rank[rows], self._components(batch.window(s, s + 1), rows)))
        return found

    def _components(self, batch: Batch, rows: Any) -> Int | None:
        model = self._classifier()
        for scorer in model.chain.emissions:
            if isinstance(scorer, GaussianMixture):
                return scorer.best_components(model.own(scorer), batch, rows)
        return None
