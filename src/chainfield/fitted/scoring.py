"""The scores of a chain whose parameters stay: what does not depend on the input is worked out once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from chainfield.arrays import Float
from chainfield.features.batch import Batch
from chainfield.potentials import How, Lattice, Potentials
from chainfield.potentials.normalising import normalise
from chainfield.scorers import Chain, Params, Scorer


@final
@dataclass(frozen=True, eq=False)
class Scoring:
    """The same numbers as :meth:`Chain.potentials`, without a way back.

    Edge scores that all positions share do not depend on the input: they are made at the first use and kept.
    """

    chain: Chain
    params: Params  # "scorer.parameter" -> array
    how: How
    _emissions: list[tuple[Scorer, Params]] = field(init=False)
    _kept: list[Float] = field(init=False, default_factory=list)  # the shared edge scores, once they are made

    def __post_init__(self) -> None:
        emissions = [(scorer, self.chain.own(self.params, scorer)) for scorer in self.chain.emissions]
        object.__setattr__(self, "_emissions", emissions)

    def nodes(self, batch: Batch) -> Float:
        """(N, R) node scores."""
        node = np.zeros((batch.n_positions, self.chain.space.n_rows))
        for scorer, own in self._emissions:
            scorer.forward(own, batch, self.how, node)
        return node

    @cached_property
    def _finite(self) -> bool:
        return all(bool(np.isfinite(values).all()) for values in self.params.values())

    def cells(self, batch: Batch, lattice: Lattice) -> Float:
        """(C,) scores of a lattice's cells, as best paths need them: those that are alone may have none."""
        scores = np.zeros(len(lattice.rows))
        for scorer, own in self._emissions:
            scorer.cells(own, batch, self.how, lattice, self.chain.space.n_rows, scores, alone=not self._finite)
        return scores

    def edges(self, batch: Batch, node: Float) -> Float:
        """(1, E) edge scores that all positions share, read-only; or (N, E), beside node scores."""
        if self._kept:
            return self._kept[0]
        edge = np.zeros((batch.n_positions if self.chain.own_edges else 1, self.chain.space.n_edges))
        for scorer in self.chain.transitions:
            self.chain.score_edges(scorer, self.params, batch, self.how, node, edge)
        if not (self.chain.own_edges or self.chain.relative):
            edge.setflags(write=False)
            self._kept.append(edge)
        return edge

    def potentials(self, batch: Batch) -> Potentials:
        """The scores of a batch."""
        node = self.nodes(batch)
        raw = Potentials(node, self.edges(batch, node), batch.offsets)
        return normalise(self.chain.space, raw)[0] if self.chain.normalised else raw
