"""Transition scores of low rank: score(i → j) = u_i · v_j (Thai et al. 2018, embedded-state latent CRFs).

A few dozen numbers a state stand for a full matrix over states, so that hundreds of states can be told apart by what
may stand before and after them. Low rank is a way to write weights down, not a cheaper recursion: the exponential of a
matrix of low rank has full rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.features.batch import Batch
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Tensor, demand, whole
from chainfield.states.naming import shared_sides

from .model_files import register
from .origin import Origin
from .scorer import Params, Pullback, Scorer
from .shares import Place, Weight

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace

# Deviation of the scores at the start. U = V = 0 would be a saddle point, at which nothing is ever learned.
START = 0.1


@final
@register
@dataclass(frozen=True, eq=False)
class LowRankTransition(Scorer):
    """score(e) = U[left[e]] · V[right[e]]. A left sides, B right sides, E edges.

    The left side of an edge is the state it leaves (in second order the pair of states), the right side the row it
    enters, which is the state in first order and the current one of a pair in second order.
    """

    left: Int32  # (E,)
    right: Int32  # (E,)
    rank: int
    name: str = field(default="low_rank", kw_only=True)
    group = "transitions"
    schema = Part(
        (NAME, whole("rank", "numbers for each side", least=1)),
        (
            Tensor("left", ("I32",), ("E",), "the state that an edge leaves", least=0, below="K"),
            Tensor("right", ("I32",), ("E",), "the row that an edge enters", least=0, below="R"),
        ),
    )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """U (A, rank), V (B, rank)."""
        n_left, n_right = (int(side.max(initial=-1)) + 1 for side in (self.left, self.right))
        return {"U": (n_left, self.rank), "V": (n_right, self.rank)}

    def start(self, rng: np.random.Generator) -> dict[str, Float]:
        """Random numbers, such that scores have a deviation of ``START``."""
        scale = np.sqrt(START / np.sqrt(self.rank))
        return {name: rng.normal(scale=scale, size=shape) for name, shape in self.shapes().items()}

    def jitter(self, rng: np.random.Generator, scale: float) -> dict[str, Float]:
        """None: the start is random already."""
        return {name: np.zeros(shape) for name, shape in self.shapes().items()}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """One matrix product there, two back."""
        u, v = params["U"], params["V"]
        left, right, whole = self.left.astype(np.int64), self.right, (len(u), len(v))
        scores += (u @ v.T)[left, right]

        def pullback(d: Float, into: Params, scale: float) -> None:
            summed = d[0] if len(d) == 1 else d.sum(0)
            # Where states share a row, edges into two of them have the same sides.
            table = np.bincount(left * whole[1] + right, summed, whole[0] * whole[1]).reshape(whole)
            d_u, d_v = table @ v, table.T @ u  # both, before either is added: it may be the parameters that move
            into["U"][...] += scale * d_u
            into["V"][...] += scale * d_v

        return pullback

    def carry(self, old: LowRankTransition, origin: Origin, theirs: Params, ours: Params) -> None:
        """Sides of edges that were there before keep their numbers, if there are as many."""
        if old.rank == self.rank:
            there = origin.edges >= 0
            before = origin.edges[there]
            ours["U"][self.left[there]] = theirs["U"][old.left[before]]
            ours["V"][self.right[there]] = theirs["V"][old.right[before]]

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """The score of every edge."""
        if place == "transition":
            scores = (params["U"] @ params["V"].T)[self.left, self.right].tolist()
            yield from (Weight("", e, score) for e, score in enumerate(scores))

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """The sides of the space's edges."""
        own = (self.left, self.right)
        good = all(side.dtype == np.int32 for side in own) and any(
            all(np.array_equal(side, real) for side, real in zip(own, sides_of(space, shared), strict=True))
            for shared in (False, True)
        )
        demand(good and isinstance(self.rank, int) and self.rank > 0, "the table of transitions of low rank")


def low_rank(space: StateSpace, rank: int, *, shared: bool = False) -> LowRankTransition:
    """Transitions of low rank over the edges of a space; ``shared``: the n-th states of all labels are one state."""
    return LowRankTransition(*sides_of(space, shared), rank)


def sides_of(space: StateSpace, shared: bool) -> tuple[Int32, Int32]:
    """(E,) left and right sides of the edges."""
    left, right = shared_sides(space) if shared else (space.src, space.row_of[space.dst])
    return left.astype(np.int32), right.astype(np.int32)
