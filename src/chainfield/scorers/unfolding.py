"""Chains of second order, unfolded: over the pairs of a sequence's lattice, so that any inference can run on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from chainfield.arrays import Float, Int, Int32, distinct
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch
from chainfield.potentials import How, Lattice
from chainfield.states import StateSpace
from chainfield.states.unfolding import unfold

from .chain import Chain
from .scorer import Params, Pullback, Scorer
from .shares import Place, Weight
from .transition import Transition
from .triples import Triples

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap


@final
@dataclass(frozen=True, eq=False)
class Unfolded(Scorer):
    """The weights of a scorer of transitions, on the edges of an unfolded space."""

    of: Scorer
    tie: Int32  # (E,) the weight of an edge, -1: none

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of the scorer."""
        return self.of.name

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the scorer."""
        return self.of.shapes()

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """As transitions do."""
        weight, tie = params["weight"], self.tie
        if len(weight):
            scores += np.where(tie >= 0, weight[tie], 0.0)

        def pullback(d: Float, into: Params, scale: float) -> None:
            into["weight"][...] += scale * np.bincount(tie + 1, weights=d.sum(0), minlength=len(weight) + 1)[1:]

        return pullback

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """The score of every edge."""
        if place == "transition":
            weight = params["weight"].tolist()
            yield from (Weight("", e, weight[i] if i >= 0 else 0.0) for e, i in enumerate(self.tie.tolist()))


def unfold_chain(chain: Chain, lattice: Lattice) -> Chain:
    """The same scores and parameters over the pairs that one sequence's lattice has next to each other."""
    space = chain.space
    edges = neighbours(space, lattice)
    wide = unfold(space, edges)
    n = space.n_states
    below = edges[wide.edge_row]  # (E,) the first-order edge that an edge stands for
    before = np.concatenate([space.n_edges + np.arange(n), edges])[wide.src]  # the pair it comes from
    moves: list[Scorer] = []
    for scorer in chain.transitions:
        if isinstance(scorer, Triples):
            moves.append(Unfolded(scorer, scorer.find(before, wide.row_of[wide.dst].astype(np.int64))))
        elif isinstance(scorer, Transition):
            moves.append(Unfolded(scorer, scorer.tie[below]))
        else:
            raise ConfigError(f"Second order with pruning does not know the scorer {type(scorer).__name__}.")
    return replace(chain, space=wide, transitions=tuple(moves))


def neighbours(space: StateSpace, lattice: Lattice) -> Int:
    """The edges between the rows of one position and those of the next, ascending."""
    rows = np.split(lattice.rows, lattice.first[1:-1])
    found = [space.edge_of[np.ix_(a, b)].ravel() for a, b in pairwise(rows)]
    edges = distinct(np.concatenate([np.empty(0, np.int32), *found])).astype(np.int64)
    return edges[edges >= 0]
