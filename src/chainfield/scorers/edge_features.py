"""Input-conditioned transitions: score(t, e) = sum over edge features f of position t of value · weight(f, e)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from chainfield.features.batch import Batch
from chainfield.potentials import How

from .pairs import Pairs
from .scorer import Float, Params, Pullback, Scorer


@final
@dataclass(frozen=True, eq=False)
class EdgeFeatures(Scorer):
    """Weights for (edge feature, edge row) pairs; an edge reads its row, so that second-order edges may share."""

    pairs: Pairs
    edge_row: NDArray[np.int32]  # (E,)
    name: str = field(default="edge_features", kw_only=True)
    per_position: bool = field(default=True, init=False)
    linear: bool = field(default=True, init=False)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (P,): a weight a pair."""
        return {"weight": (self.pairs.n_pairs,)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """As for nodes, then from edge rows to edges."""
        from chainfield.kernels.linear import gather_pairs, scatter_pairs

        sparse = batch.edges
        assert sparse is not None
        n_rows = int(self.edge_row.max(initial=-1)) + 1
        pairs, edge_row, entries = self.pairs, self.edge_row, (sparse.indptr, sparse.indices, sparse.weights())
        layout = (pairs.first, pairs.row, pairs.n_full, pairs.n_single)
        plain = n_rows == len(edge_row) and bool((np.diff(edge_row) == 1).all())
        rows = scores if plain else np.zeros((len(scores), n_rows))
        gather_pairs(*entries, *layout, params["weight"], rows)
        if not plain:
            scores += rows[:, edge_row]

        def pullback(d: Float, into: Params, scale: float) -> None:
            summed = d
            if not plain:
                summed = np.zeros((len(d), n_rows))
                np.add.at(summed.T, edge_row, d.T)
            scatter_pairs(*entries, *layout, pairs.mask, summed, scale, into["weight"])

        return pullback
