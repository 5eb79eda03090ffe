"""Hidden Markov models in normalised form: probabilities, means and variances, and what estimates them."""

from .counts import expected_counts
from .hmm import HMM, Parts, find_parts
from .renormalising import renormaliser

__all__ = ["HMM", "Parts", "expected_counts", "find_parts", "renormaliser"]
