"""The waist of the library: log-scores of chains, and what is known of their labels."""

from .clamp import UNKNOWN, Clamp, clamp_labels, clamp_sets
from .lattice import Lattice, lattice_of
from .potentials import How, Potentials, make_potentials

__all__ = [
    "UNKNOWN",
    "Clamp",
    "How",
    "Lattice",
    "Potentials",
    "clamp_labels",
    "clamp_sets",
    "lattice_of",
    "make_potentials",
]
