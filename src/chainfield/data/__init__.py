"""Corpora: column files, plain and compressed."""

from .corpus import Corpus, load_corpus, split_label, stream_corpus
from .sentences import Sentence, read_columns

__all__ = ["Corpus", "Sentence", "load_corpus", "read_columns", "split_label", "stream_corpus"]
