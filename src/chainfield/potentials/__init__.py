"""The waist of the library: log-scores of chains, and what is known of their labels."""

from .clamp import UNKNOWN, Clamp, clamp_labels, clamp_sets
from .potentials import How, Potentials, make_potentials

__all__ = ["UNKNOWN", "Clamp", "How", "Potentials", "clamp_labels", "clamp_sets", "make_potentials"]
