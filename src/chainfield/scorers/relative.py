"""Transitions whose scores depend on what the nodes beside them say."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from chainfield.arrays import Float
from chainfield.features.batch import Batch
from chainfield.potentials import How

from .scorer import Params, Pullback, Scorer

# pullback(d_scores, d_node, into, scale): as that of a scorer, and adds d loss / d node scores to d_node (N, R).
RelativePullback = Callable[[Float, Float, Params, Any], None]


class Relative(Scorer):
    """A transition that is shown the node scores: a joint score of two labels, say, less what the nodes say already."""

    n_rows: int

    @abstractmethod
    def beside(self, params: Params, batch: Batch, how: How, node: Float, scores: Float) -> RelativePullback:
        """Add this scorer's scores beside the node scores (N, R), and return the way back."""

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Beside nodes that say nothing."""
        node = np.zeros((batch.n_positions, self.n_rows))
        way = self.beside(params, batch, how, node, scores)
        return lambda d, into, scale: way(d, np.zeros_like(node), into, scale)
