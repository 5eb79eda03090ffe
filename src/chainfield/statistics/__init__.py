"""Statistics of labelled sequences: who attracts whom, who repels whom."""

from .association import Association, Pair
from .corpora import features_with_labels, label_pairs, word_pairs, words_with_labels

__all__ = [
    "Association",
    "Pair",
    "features_with_labels",
    "label_pairs",
    "word_pairs",
    "words_with_labels",
]
