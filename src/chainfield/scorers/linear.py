"""Linear emissions: score(t, r) = sum over features f of position t of value · weight(f, r)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from chainfield.features.batch import Batch
from chainfield.potentials import How

from .pairs import Pairs
from .scorer import Float, Params, Pullback, Scorer


@final
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
            scatter_pairs(*entries, *layout, pairs.mask, d, scale, into["weight"])

        return pullback


@final
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


@final
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
