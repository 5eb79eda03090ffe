"""Linear emissions: score(t, r) = sum over features f of position t of value · weight(f, r)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from chainfield.arrays import Float, Int, Int32, Ragged
from chainfield.features.batch import Batch
from chainfield.potentials import How, Lattice
from chainfield.schema import NAME, Part, demand, whole

from .feature_weights import FeatureWeights
from .groups import GROUP_OF, NO_GROUPS, add_grouped, check_groups, n_groups, old_columns, with_groups
from .model_files import register
from .origin import Origin
from .pair_weights import carry_pairs, check_pairs, named_pairs, pair_shares
from .pairs import Pairs, all_pairs, pairs_part
from .scorer import Params, Pullback, Scorer
from .shares import Place, Share, Weight

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace


@final
@register
@dataclass(frozen=True, eq=False)
class SparseLinear(FeatureWeights):
    """Over sparse features, with one weight for each (feature, column) pair of ``pairs``.

    Columns are the rows; with ``group_of`` (see :mod:`chainfield.scorers.groups`), groups of rows come behind them.
    """

    pairs: Pairs
    n_rows: int
    group_of: Int32 = field(default_factory=lambda: NO_GROUPS)  # (R,) or empty
    name: str = field(default="features", kw_only=True)
    linear: bool = field(default=True, init=False)
    group = "emissions"
    needs = "sparse"
    schema = Part((NAME, whole("n_rows", "rows", "R")), (GROUP_OF,), {"pairs": pairs_part("F")})

    @property
    def n_columns(self) -> int:
        """C: rows and groups."""
        return self.n_rows + n_groups(self.group_of)

    def with_pairs(self, pairs: Pairs) -> SparseLinear:
        """The same scorer with other pairs."""
        return replace(self, pairs=pairs)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (P,): one weight per pair."""
        return {"weight": (self.pairs.n_pairs,)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Gather the weights of each position's features; the way back scatters."""
        from chainfield.kernels.train.linear import gather_pairs, scatter_pairs

        sparse = batch.sparse
        assert sparse is not None
        pairs, entries = self.pairs, (sparse.indptr, sparse.indices, sparse.weights())
        layout = (pairs.first, pairs.row, pairs.n_full, pairs.n_single)
        grouped = len(self.group_of) > 0
        wide = np.zeros((len(scores), self.n_columns)) if grouped else scores
        gather_pairs(*entries, *layout, params["weight"], wide)
        if grouped:
            add_grouped(wide, self.group_of, scores)

        def pullback(d: Float, into: Params, scale: float) -> None:
            summed = with_groups(d, self.group_of) if grouped else d
            scatter_pairs(*entries, *layout, pairs.bits, summed, scale, into["weight"])

        return pullback

    def cells(
        self, params: Params, batch: Batch, how: How, lattice: Lattice, n_rows: int, scores: Float, *, alone: bool
    ) -> None:
        """Only the weights of the rows that are left."""
        from chainfield.kernels.train.linear import gather_cells

        sparse, pairs = batch.sparse, self.pairs
        if len(self.group_of):
            super().cells(params, batch, how, lattice, n_rows, scores, alone=alone)
            return
        assert sparse is not None
        entries = (sparse.indptr, sparse.indices, sparse.weights(), pairs.first, pairs.row, pairs.n_full, n_rows)
        gather_cells(*entries, params["weight"], lattice.first, lattice.rows, alone, scores)

    def jitter(self, rng: np.random.Generator, scale: float) -> dict[str, Float]:
        """Pairs that only fill up a full feature stay 0, and so do those of groups: they tell no states apart."""
        real = self.pairs.exists() & (self.pairs.row < self.n_rows)
        return {"weight": np.where(real, rng.normal(scale=scale, size=self.pairs.n_pairs), 0.0)}

    def fused(self) -> tuple[str, Any]:
        """The kernel gathers and scatters pairs."""
        return "pairs", (self.pairs, self.group_of)

    def carry(self, old: SparseLinear, origin: Origin, theirs: Params, ours: Params) -> None:
        """Pairs that were there before keep their weights; rows that had a group, but have none now, keep both."""
        columns = old_columns(old.group_of, self.group_of, origin.rows)
        carry_pairs(old.pairs, self.pairs, columns, origin.features, theirs["weight"], ours["weight"])
        if len(old.group_of) and not len(self.group_of):
            group = np.where(origin.rows >= 0, old.group_of[origin.rows], -1)
            shared = np.zeros_like(ours["weight"])
            columns = np.where(group >= 0, old.n_rows + group, -1)
            carry_pairs(old.pairs, self.pairs, columns, origin.features, theirs["weight"], shared)
            ours["weight"] += shared

    def n_weights(self) -> int:
        """Pairs that do not only fill up a full feature."""
        return int(np.count_nonzero(self.pairs.exists()))

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """One weight per pair; those of groups count for a whole label."""
        if place == "position":
            for feature, column, weight in named_pairs(self.pairs, params["weight"], features.feature_names()):
                yield Weight(feature, column if column < self.n_rows else self.n_rows - column - 1, weight)

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """The share of every feature of a position."""
        assert batch.sparse is not None
        found = [columns]
        if len(self.group_of):
            group = np.where(columns >= 0, self.group_of[columns], -1)
            found.append(np.where(group >= 0, self.n_rows + group, -1))
        names = features.feature_names()
        parts = [pair_shares(self.pairs, params["weight"], batch.sparse, c.tolist(), names) for c in found]
        return parts[0] if len(parts) == 1 else [_sum_shares(*pair) for pair in zip(*parts, strict=True)]

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Pairs within the features and columns."""
        demand(self.n_rows == space.n_rows, "the number of rows of the features")
        check_groups(self.group_of, space)
        check_pairs(self.pairs, features.n_features, self.n_columns)


def _sum_shares(own: list[Share], group: list[Share]) -> list[Share]:
    """Shares of rows and of their groups, feature by feature."""
    return [
        Share(a.feature, a.value, tuple(x + y for x, y in zip(a.scores, b.scores, strict=True)))
        for a, b in zip(own, group, strict=True)
    ]


@final
@register
@dataclass(frozen=True, eq=False)
class DenseLinear(Scorer):
    """Over D numbers a position: scores += X W; with ``group_of``, groups of rows have weights too."""

    n_columns: int
    n_rows: int
    group_of: Int32 = field(default_factory=lambda: NO_GROUPS)  # (R,) or empty
    name: str = field(default="columns", kw_only=True)
    linear: bool = field(default=True, init=False)
    group = "emissions"
    needs = "dense"
    schema = Part((NAME, whole("n_columns", "columns", "D"), whole("n_rows", "rows", "R")), (GROUP_OF,))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (D, R + G)."""
        return {"weight": (self.n_columns, self.n_rows + n_groups(self.group_of))}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """A matrix product each way."""
        x = batch.dense
        assert x is not None
        grouped = len(self.group_of) > 0
        if grouped:
            add_grouped(x @ params["weight"], self.group_of, scores)
        else:
            scores += x @ params["weight"]

        def pullback(d: Float, into: Params, scale: float) -> None:
            into["weight"][...] += scale * (x.T @ (with_groups(d, self.group_of) if grouped else d))

        return pullback

    def jitter(self, rng: np.random.Generator, scale: float) -> dict[str, Float]:
        """Weights of groups stay 0: they tell no states apart."""
        weight = rng.normal(scale=scale, size=self.shapes()["weight"])
        weight[:, self.n_rows :] = 0.0
        return {"weight": weight}

    def fused(self) -> tuple[str, Any]:
        """The kernel sees columns as features that every position has."""
        return "columns", (all_pairs(self.n_columns, self.n_rows + n_groups(self.group_of)), self.group_of)

    def carry(self, old: DenseLinear, origin: Origin, theirs: Params, ours: Params) -> None:
        """Rows that were there before keep their weights; rows that had a group, but have none now, keep both."""
        columns = old_columns(old.group_of, self.group_of, origin.rows)
        there = columns >= 0
        ours["weight"][:, there] = theirs["weight"][:, columns[there]]
        if len(old.group_of) and not len(self.group_of):
            for row, before in enumerate(origin.rows.tolist()):
                if before >= 0 and old.group_of[before] >= 0:
                    ours["weight"][:, row] += theirs["weight"][:, old.n_rows + old.group_of[before]]

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """One weight per column and row; those of groups count for a whole label."""
        names, real = features.feature_names(), [True] * self.n_rows
        real += np.isin(np.arange(n_groups(self.group_of)), self.group_of).tolist()
        for f, weights in enumerate(params["weight"].tolist() if place == "position" else []):
            for row, weight in enumerate(weights):
                if real[row]:
                    yield Weight(names[f], row if row < self.n_rows else self.n_rows - row - 1, weight)

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """The share of every column."""
        assert batch.dense is not None
        names = features.feature_names()
        weights = params["weight"][:, : self.n_rows].copy()
        if len(self.group_of):
            weights[:, self.group_of >= 0] += params["weight"][:, self.n_rows + self.group_of[self.group_of >= 0]]
        found: list[list[Share]] = []
        for x, rows in zip(batch.dense.tolist(), columns.tolist(), strict=True):
            weight = weights[:, rows].tolist()
            found.append([Share(names[f], v, tuple(v * w for w in weight[f])) for f, v in enumerate(x)])
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As many columns as the features have."""
        shape = (self.n_columns, self.n_rows)
        demand(shape == (features.n_columns, space.n_rows), "the shape of the columns' weights")
        check_groups(self.group_of, space)


@final
@register
@dataclass(frozen=True, eq=False)
class Boundary(Scorer):
    """Scores of the first and of the last row of a sequence (π and τ of the hidden-unit paper)."""

    n_rows: int
    name: str = field(default="boundary", kw_only=True)
    linear: bool = field(default=True, init=False)
    group = "emissions"
    schema = Part((NAME, whole("n_rows", "rows", "R")))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """start (R,), end (R,)."""
        return {"start": (self.n_rows,), "end": (self.n_rows,)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Only the first and last positions are touched."""
        first, last = batch.ragged.ends()
        scores[first] += params["start"]
        scores[last] += params["end"]

        def pullback(d: Float, into: Params, scale: float) -> None:
            into["start"][...] += scale * d[first].sum(0)
            into["end"][...] += scale * d[last].sum(0)

        return pullback

    def cells(
        self, params: Params, batch: Batch, how: How, lattice: Lattice, n_rows: int, scores: Float, *, alone: bool
    ) -> None:
        """Only the cells of the first and last positions."""
        for positions, name in zip(batch.ragged.ends(), ("start", "end"), strict=True):
            at = Ragged(lattice.first).positions(positions)
            scores[at] += params[name][lattice.rows[at]]

    def fused(self) -> tuple[str, Any]:
        """The kernel adds two rows."""
        return "boundary", None

    def carry(self, old: Boundary, origin: Origin, theirs: Params, ours: Params) -> None:
        """Rows that were there before keep their weights."""
        there = origin.rows >= 0
        for name, weight in theirs.items():
            ours[name][there] = weight[origin.rows[there]]

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """One weight per row, at the start and at the end."""
        if place in ("start", "end"):
            yield from (Weight("", row, weight) for row, weight in enumerate(params[place].tolist()))

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """One share at the first position, one at the last."""
        found: list[list[Share]] = [[] for _ in range(batch.n_positions)]
        for end, at in zip(("start", "end"), batch.ragged.ends(), strict=True):
            for t in at.tolist():
                found[t].append(Share(f"{end} of the sequence", 1.0, tuple(params[end][columns[t]].tolist())))
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As many rows as the space has."""
        demand(self.n_rows == space.n_rows, "the number of rows of the boundary")
