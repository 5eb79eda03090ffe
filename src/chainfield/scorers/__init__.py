"""Scorers: everything that turns features into node and edge scores."""

from .chain import Chain
from .edge_features import EdgeFeatures
from .linear import Boundary, DenseLinear, SparseLinear
from .pairs import Pairs, all_pairs, arrange, seen_pairs
from .scorer import Params, Pullback, Scorer
from .transition import Transition, compact_ties

__all__ = [
    "Boundary",
    "Chain",
    "DenseLinear",
    "EdgeFeatures",
    "Pairs",
    "Params",
    "Pullback",
    "Scorer",
    "SparseLinear",
    "Transition",
    "all_pairs",
    "arrange",
    "compact_ties",
    "seen_pairs",
]
