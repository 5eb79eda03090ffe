"""Scores of three rows in a row, over a first-order space: what makes a chain of second order.

Hundreds of labels have a hundred million triples. A space that lists them as edges would not fit into memory; their
weights, of those seen in training, are few. So the space stays that of pairs, and the triples are looked up where a
lattice (:mod:`chainfield.kernels.chain.lattice`) has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from chainfield.arrays import Float, Int, Int32, distinct
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Tensor, demand, whole

from .model_files import register
from .origin import Origin
from .scorer import Params, Pullback, Scorer
from .shares import Place, Weight

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace


@final
@register
@dataclass(frozen=True, eq=False)
class Triples(Scorer):
    """A weight for each of some triples (a, b, c), numbered by (edge a → b) · R + c; E + b: b starts the sequence."""

    code: Int  # (T,) ascending
    n_edges: int
    n_rows: int
    name: str = field(default="transition2", kw_only=True)
    linear: bool = field(default=True, init=False)
    reach: int = field(default=2, init=False)
    group = "transitions"
    schema = Part(
        (NAME, whole("n_edges", "edges", "E"), whole("n_rows", "rows", "R")),
        (
            Tensor(
                "code", ("I64",), ("triples",), "(edge a → b) · R + c for rows a, b, c that have a weight; E + b in "
                "place of the edge: b is the first row of a sequence", least=0, ascending=True,
            ),
        ),
    )  # fmt: skip

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (triples,); only with a pruner."""
        return {"weight": (len(self.code),)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Refused: an edge of the space does not know what comes before it."""
        raise ConfigError(
            "Second order with pruning has its own recursion, which this trainer or function does not use; use "
            'trainer="auto", "lbfgs", "sgd" or "averaged", or prune=None.'
        )

    @property
    def pair(self) -> Int:
        """(T,) the edge before, or E + row."""
        return self.code // self.n_rows

    @property
    def third(self) -> Int32:
        """(T,) the last row."""
        return (self.code % self.n_rows).astype(np.int32)

    @cached_property
    def after(self) -> Int32:
        """(E + R + 1,) triples of each pair: ``code[after[p]:after[p+1]]``."""
        pairs = np.arange(self.n_edges + self.n_rows + 1) * self.n_rows
        return np.searchsorted(self.code, pairs).astype(np.int32)

    def find(self, pair: Int, row: Int) -> Int32:
        """The number of triples, -1 where there is no weight."""
        wanted = pair * self.n_rows + row
        place = np.minimum(np.searchsorted(self.code, wanted), max(len(self.code) - 1, 0))
        there = self.code[place] == wanted if len(self.code) else np.zeros(len(wanted), np.bool_)
        return np.where(there, place, -1).astype(np.int32)

    def fused(self) -> tuple[str, Any]:
        """The kernel of lattices looks triples up."""
        return "triples", self

    def carry(self, old: Triples, origin: Origin, theirs: Params, ours: Params) -> None:
        """Triples that were there before keep their weights."""
        started = self.pair >= self.n_edges
        edges = np.concatenate([origin.edges, np.full(self.n_rows, -1)])
        rows = np.where(origin.rows >= 0, old.n_edges + origin.rows, -1)
        before = np.where(started, rows[np.where(started, self.pair - self.n_edges, 0)], edges[self.pair])
        third = origin.rows[self.third]
        place = np.where((before >= 0) & (third >= 0), old.find(np.maximum(before, 0), np.maximum(third, 0)), -1)
        ours["weight"][place >= 0] = theirs["weight"][place[place >= 0]]

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """The weight of every triple, by its number."""
        if place == "triple":
            yield from (Weight("", i, weight) for i, weight in enumerate(params["weight"].tolist()))

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Triples of a first-order space, in order."""
        demand(space.n_states == space.n_rows == self.n_rows and space.n_edges == self.n_edges, "the size of triples")
        demand(self.code.max(initial=-1) < (self.n_edges + self.n_rows) * self.n_rows, "the list of triples")


def known_codes(rows: Int32, offsets: Int, space: StateSpace) -> Int:
    """The triples of known rows (N,), -1 where a row is unknown; ascending, each once."""
    now = rows.astype(np.int64)
    position = np.arange(len(now))
    at = position - np.repeat(offsets[:-1], np.diff(offsets))  # within its sequence
    here = np.flatnonzero((at >= 1) & (now >= 0))
    here = here[now[here - 1] >= 0]
    middle = now[here - 1]
    begins = at[here] == 1
    first = np.where(begins, -1, now[here - 2])
    edge = np.where(first >= 0, space.edge_of[np.maximum(first, 0), middle], -1)
    pair = np.where(begins, space.n_edges + middle, edge)
    exists = (pair >= 0) & (space.edge_of[middle, now[here]] >= 0)
    return distinct(pair[exists] * space.n_rows + now[here][exists])
