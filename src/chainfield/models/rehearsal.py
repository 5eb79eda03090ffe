"""Earlier data that ``partial_fit`` goes through again: a random sample of all that came, in memory only.

What a bowl remembers of old data is one number per weight; how weights depend on each other it does not know. Old
sequences tell. A sample is uniform: every sequence draws a number when it comes, and those with the smallest stay.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int

from .inputs import len_of

TIMES = 10  # positions that are gone through again, for each new one


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """S sequences with their targets, weights and lots, by ascending lots; ``seen``: how many ever came."""

    sequences: list[Any] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    weight: Float = field(default_factory=lambda: np.empty(0))
    lot: Float = field(default_factory=lambda: np.empty(0))
    seen: int = 0

    def grown(
        self, sequences: Sequence[Any], targets: Sequence[Any], weight: Float, forgetting: float, most: int, seed: int
    ) -> Rehearsal:
        """With new sequences, of ``most`` positions at most; old ones count less by what is forgotten."""
        lot = np.concatenate([self.lot, np.random.default_rng([seed, self.seen]).random(len(sequences))])
        every = replace(
            self,
            sequences=[*self.sequences, *map(copy.copy, sequences)],
            targets=[*self.targets, *map(copy.copy, targets)],
            weight=np.concatenate([self.weight * (1.0 - forgetting), weight]),
            lot=lot,
            seen=self.seen + len(sequences),
        )
        return every._only(np.argsort(lot, kind="stable"), most)

    def drawn(self, n_positions: int) -> Rehearsal:
        """What is gone through beside so many new positions."""
        return self._only(np.arange(len(self.sequences)), TIMES * n_positions)

    def _only(self, order: Int, most: int) -> Rehearsal:
        """The first sequences of an order, of at most so many positions; those without a weight are left out."""
        order = order[self.weight[order] > 0]
        lengths = np.array([len_of(self.sequences[s]) for s in order.tolist()], np.int64)
        kept = order[np.cumsum(lengths) <= most].tolist()
        return replace(
            self,
            sequences=[self.sequences[s] for s in kept],
            targets=[self.targets[s] for s in kept],
            weight=self.weight[kept],
            lot=self.lot[kept],
        )
