"""Scorers: everything that turns features into node and edge scores."""

from .anchored import Anchored
from .chain import Chain
from .edge_features import EdgeFeatures
from .gaussians import Gaussians
from .hidden_units import HiddenUnits
from .inspection import Share, Weight
from .linear import Boundary, DenseLinear, SparseLinear
from .low_rank import LowRankTransition, low_rank
from .mixture import GaussianMixture
from .neural import Neural
from .origin import Origin
from .pairs import Pairs, all_pairs, arrange, seen_pairs
from .scorer import Params, Pullback, Scorer
from .storing import SCORERS, register
from .transition import Transition, compact_ties
from .unseen import UnseenAverage, UnseenExponential
from .word_rates import WordRates
from .words import Words

__all__ = [
    "SCORERS",
    "Anchored",
    "Boundary",
    "Chain",
    "DenseLinear",
    "EdgeFeatures",
    "GaussianMixture",
    "Gaussians",
    "HiddenUnits",
    "LowRankTransition",
    "Neural",
    "Origin",
    "Pairs",
    "Params",
    "Pullback",
    "Scorer",
    "Share",
    "SparseLinear",
    "Transition",
    "UnseenAverage",
    "UnseenExponential",
    "Weight",
    "WordRates",
    "Words",
    "all_pairs",
    "arrange",
    "compact_ties",
    "low_rank",
    "register",
    "seen_pairs",
]
