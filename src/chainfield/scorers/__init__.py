"""Scorers: everything that turns features into node and edge scores."""

from .chain import Chain
from .edge_features import EdgeFeatures
from .hidden_units import HiddenUnits
from .linear import Boundary, DenseLinear, SparseLinear
from .low_rank import LowRankTransition, low_rank
from .model_files import SCORERS, register
from .origin import Origin
from .pairs import Pairs, all_pairs, arrange, seen_pairs
from .pruner import Pruner
from .scorer import Params, Pullback, Scorer
from .shares import Share, Weight
from .transition import Transition, compact_ties
from .triples import Triples

__all__ = [
    "SCORERS",
    "Boundary",
    "Chain",
    "DenseLinear",
    "EdgeFeatures",
    "HiddenUnits",
    "LowRankTransition",
    "Origin",
    "Pairs",
    "Params",
    "Pruner",
    "Pullback",
    "Scorer",
    "Share",
    "SparseLinear",
    "Transition",
    "Triples",
    "Weight",
    "all_pairs",
    "arrange",
    "compact_ties",
    "low_rank",
    "register",
    "seen_pairs",
]
