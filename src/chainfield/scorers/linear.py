"""Linear emissions: score(t, r) = sum over features f of position t of value · weight(f, r)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from chainfield.features.batch import Batch
from chainfield.potentials import How

from .inspection import Place, Share, Weight, demand
from .origin import Origin
from .pair_weights import carry_pairs, check_pairs, named_pairs, pair_shares
from .pairs import Pairs
from .scorer import Float, Int, Params, Pullback, Scorer
from .storing import register

if TYPE_CHECKING:
    from chainfield.features.map import FeatureMap
    from chainfield.states import StateSpace


@final
@register
@dataclass(frozen=True, eq=False)
class SparseLinear(Scorer):
    """Over sparse features, with one weight for each (feature, row) pair of ``pairs``."""

    pairs: Pairs
    n_rows: int
    name: str = field(default="features", kw_only=True)
    linear: bool = field(default=True, init=False)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (P,): a weight a pair."""
        return {"weight": (self.pairs.n_pairs,)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Gather the weights of each position's features; the way back scatters."""
        from chainfield.kernels.linear import gather_pairs, scatter_pairs

        sparse = batch.sparse
        assert sparse is not None
        pairs, entries = self.pairs, (sparse.indptr, sparse.indices, sparse.weights())
        layout = (pairs.first, pairs.row, pairs.n_full, pairs.n_single)
        gather_pairs(*entries, *layout, params["weight"], scores)

        def pullback(d: Float, into: Params, scale: float) -> None:
            scatter_pairs(*entries, *layout, pairs.bits, d, scale, into["weight"])

        return pullback

    def jitter(self, rng: np.random.Generator, scale: float) -> dict[str, Float]:
        """Pairs that only fill up a full feature stay 0."""
        return {"weight": np.where(self.pairs.exists(), rng.normal(scale=scale, size=self.pairs.n_pairs), 0.0)}

    def fused(self) -> tuple[str, Any]:
        """The kernel gathers and scatters pairs."""
        return "pairs", self.pairs

    def carry(self, old: SparseLinear, origin: Origin, theirs: Params, ours: Params) -> None:
        """Pairs that were there before keep their weights."""
        carry_pairs(old.pairs, self.pairs, origin.rows, origin.features, theirs["weight"], ours["weight"])

    def n_weights(self) -> int:
        """Pairs that do not only fill up a full feature."""
        return int(np.count_nonzero(self.pairs.exists()))

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """A weight a pair."""
        if place == "position":
            yield from named_pairs(self.pairs, params["weight"], features.feature_names())

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """The share of every feature of a position."""
        assert batch.sparse is not None
        return pair_shares(self.pairs, params["weight"], batch.sparse, columns.tolist(), features.feature_names())

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Pairs within the features and rows."""
        demand(self.n_rows == space.n_rows, "the number of rows of the features")
        check_pairs(self.pairs, features.n_features, space.n_rows)


@final
@register
@dataclass(frozen=True, eq=False)
class DenseLinear(Scorer):
    """Over D numbers a position: scores += X W."""

    n_columns: int
    n_rows: int
    name: str = field(default="columns", kw_only=True)
    linear: bool = field(default=True, init=False)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (D, R)."""
        return {"weight": (self.n_columns, self.n_rows)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """A matrix product each way."""
        x = batch.dense
        assert x is not None
        scores += x @ params["weight"]

        def pullback(d: Float, into: Params, scale: float) -> None:
            into["weight"][...] += scale * (x.T @ d)

        return pullback

    def carry(self, old: DenseLinear, origin: Origin, theirs: Params, ours: Params) -> None:
        """Rows that were there before keep their weights."""
        there = origin.rows >= 0
        ours["weight"][:, there] = theirs["weight"][:, origin.rows[there]]

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """A weight a column and row."""
        names = features.feature_names()
        for f, weights in enumerate(params["weight"].tolist() if place == "position" else []):
            yield from (Weight(names[f], row, weight) for row, weight in enumerate(weights))

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """The share of every column."""
        assert batch.dense is not None
        names = features.feature_names()
        found: list[list[Share]] = []
        for x, rows in zip(batch.dense.tolist(), columns.tolist(), strict=True):
            weight = params["weight"][:, rows].tolist()
            found.append([Share(names[f], v, tuple(v * w for w in weight[f])) for f, v in enumerate(x)])
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As many columns as the features have."""
        shape = (self.n_columns, self.n_rows)
        demand(shape == (features.n_columns, space.n_rows), "the shape of the columns' weights")


@final
@register
@dataclass(frozen=True, eq=False)
class Boundary(Scorer):
    """Scores of the first and of the last row of a sequence (π and τ of the hidden-unit paper)."""

    n_rows: int
    name: str = field(default="boundary", kw_only=True)
    linear: bool = field(default=True, init=False)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """start (R,), end (R,)."""
        return {"start": (self.n_rows,), "end": (self.n_rows,)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Only the first and last positions are touched."""
        full = np.flatnonzero(np.diff(batch.offsets) > 0)
        first, last = batch.offsets[full], batch.offsets[full + 1] - 1
        scores[first] += params["start"]
        scores[last] += params["end"]

        def pullback(d: Float, into: Params, scale: float) -> None:
            into["start"][...] += scale * d[first].sum(0)
            into["end"][...] += scale * d[last].sum(0)

        return pullback

    def fused(self) -> tuple[str, Any]:
        """The kernel adds two rows."""
        return "boundary", None

    def carry(self, old: Boundary, origin: Origin, theirs: Params, ours: Params) -> None:
        """Rows that were there before keep their weights."""
        there = origin.rows >= 0
        for name, weight in theirs.items():
            ours[name][there] = weight[origin.rows[there]]

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """A weight a row, at the start and at the end."""
        if place in ("start", "end"):
            yield from (Weight("", row, weight) for row, weight in enumerate(params[place].tolist()))

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """One share at the first position, one at the last."""
        found: list[list[Share]] = [[] for _ in range(batch.n_positions)]
        full = np.flatnonzero(np.diff(batch.offsets) > 0)
        for end, at in (("start", batch.offsets[full]), ("end", batch.offsets[full + 1] - 1)):
            for t in at.tolist():
                found[t].append(Share(f"{end} of the sequence", 1.0, tuple(params[end][columns[t]].tolist())))
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As many rows as the space has."""
        demand(self.n_rows == space.n_rows, "the number of rows of the boundary")
