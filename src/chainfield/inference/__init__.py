"""Exact inference: plain functions from potentials to numbers, paths and posteriors."""

from .nbest import NBest, n_best
from .partition import Posterior, add_posteriors, label_marginals, log_partition, marginals
from .sampling import sample
from .viterbi import Paths, add_path, clamped_path, posterior_decode, score_paths, viterbi

__all__ = [
    "NBest",
    "Paths",
    "Posterior",
    "add_path",
    "add_posteriors",
    "clamped_path",
    "label_marginals",
    "log_partition",
    "marginals",
    "n_best",
    "posterior_decode",
    "sample",
    "score_paths",
    "viterbi",
]
