"""Input-conditioned transitions: score(t, e) = sum over edge features f of position t of value · weight(f, e).

They are no part of the kernel that trains linear chains at once. There all positions share their edge scores; here each
has its own, and filling and clearing them costs far more than all the rest. On noun phrases (CoNLL-2000, 5 states a
label) a pass over 400 sentences with every feature crossed with state pairs takes as long as one over all 8,936 with
features crossed with states alone; and POS features on label pairs did not raise held-out F1 (95.0 against 95.4).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, final

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.features.batch import Batch
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Tensor, demand
from chainfield.states.naming import label_ties

from .feature_weights import FeatureWeights
from .model_files import register
from .origin import Origin
from .pair_weights import carry_pairs, check_pairs, pair_shares
from .pairs import Pairs, pairs_part
from .scorer import Params, Pullback
from .shares import Share

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace


@final
@register
@dataclass(frozen=True, eq=False)
class EdgeFeatures(FeatureWeights):
    """Weights for (edge feature, edge row) pairs; an edge reads its row, so that second-order edges may share.

    Where every edge is a row of its own, a second-order chain has weights for (feature, state triple); where rows are
    label pairs, hidden states share them.
    """

    pairs: Pairs
    edge_row: Int32  # (E,)
    name: str = field(default="edge_features", kw_only=True)
    per_position: bool = field(default=True, init=False)
    linear: bool = field(default=True, init=False)
    group = "transitions"
    needs = "edges"
    schema = Part(
        (NAME,),
        (Tensor("edge_row", ("I32",), ("E",), "the edge row of an edge", least=0, below="E"),),
        {"pairs": pairs_part("B")},
    )

    @property
    def n_columns(self) -> int:
        """The edge rows."""
        return int(self.edge_row.max(initial=-1)) + 1

    def with_pairs(self, pairs: Pairs) -> EdgeFeatures:
        """The same scorer with other pairs."""
        return replace(self, pairs=pairs)

    @property
    def _free(self) -> bool:
        """Whether every edge is a row of its own."""
        return bool((self.edge_row == np.arange(len(self.edge_row))).all())

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (P,): one weight per pair."""
        return {"weight": (self.pairs.n_pairs,)}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """As for nodes, then from edge rows to edges."""
        from chainfield.kernels.train.linear import gather_pairs, scatter_pairs

        sparse = batch.edges
        assert sparse is not None
        n_rows = self.n_columns
        pairs, edge_row, entries = self.pairs, self.edge_row, (sparse.indptr, sparse.indices, sparse.weights())
        layout = (pairs.first, pairs.row, pairs.n_full, pairs.n_single)
        plain = self._free
        rows = scores if plain else np.zeros((len(scores), n_rows))
        gather_pairs(*entries, *layout, params["weight"], rows)
        if not plain:
            scores += rows[:, edge_row]

        def pullback(d: Float, into: Params, scale: float) -> None:
            summed = d
            if not plain:
                cell = np.arange(len(d))[:, None] * n_rows + edge_row
                added = np.bincount(cell.ravel(), weights=d.ravel(), minlength=len(d) * n_rows)
                summed = added.astype(np.float64, copy=False).reshape(len(d), n_rows)
            scatter_pairs(*entries, *layout, pairs.bits, summed, scale, into["weight"])

        return pullback

    def carry(self, old: EdgeFeatures, origin: Origin, theirs: Params, ours: Params) -> None:
        """Pairs that were there before keep their weights; rows are those of edges that were there before."""
        there = origin.edges >= 0
        rows = np.full(int(self.edge_row.max(initial=-1)) + 1, -1, np.int64)
        rows[self.edge_row[there]] = old.edge_row[origin.edges[there]]
        carry_pairs(old.pairs, self.pairs, rows, None, theirs["weight"], ours["weight"])

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """The share of every feature of the step into a position."""
        assert batch.edges is not None
        rows = np.where(columns >= 0, self.edge_row[columns], -1).tolist()
        found = pair_shares(self.pairs, params["weight"], batch.edges, rows, features.edge_feature_names())
        first = set(batch.ragged.firsts.tolist())  # no step leads into these
        return [[] if t in first else shares for t, shares in enumerate(found)]

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Edge rows are those of the space, its edges, or its label pairs."""
        known = (space.edge_row, np.arange(space.n_edges), label_ties(space)[0])
        fits = self.edge_row.dtype == np.int32 and any(np.array_equal(self.edge_row, rows) for rows in known)
        demand(fits, "the edge rows of the edge features")
        check_pairs(self.pairs, features.n_edge_features, int(self.edge_row.max(initial=-1)) + 1)
