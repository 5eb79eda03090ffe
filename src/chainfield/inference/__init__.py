"""Exact inference: plain functions from potentials to numbers, paths and posteriors."""

from .classes import class_log_probabilities, class_scores
from .decoding import DECODERS, decoder_named, posterior_decode
from .label_paths import LabelPaths, best_label_paths
from .lattice import alive, lattice_paths, make_net
from .nbest import NBest, n_best
from .partition import Posterior, add_posteriors, add_rows, label_marginals, log_partition, marginals
from .sampling import sample
from .stretches import stretch_probabilities
from .viterbi import Paths, add_path, best_paths, clamped_path, score_paths, viterbi

__all__ = [
    "DECODERS",
    "LabelPaths",
    "NBest",
    "Paths",
    "Posterior",
    "add_path",
    "add_posteriors",
    "add_rows",
    "alive",
    "best_label_paths",
    "best_paths",
    "clamped_path",
    "class_log_probabilities",
    "class_scores",
    "decoder_named",
    "label_marginals",
    "lattice_paths",
    "log_partition",
    "make_net",
    "marginals",
    "n_best",
    "posterior_decode",
    "sample",
    "score_paths",
    "stretch_probabilities",
    "viterbi",
]
