"""Corpora: column files, plain and compressed."""

from .columns import Sentence, read_columns
from .corpus import Corpus, load_corpus, split_label
from .stream import stream_corpus

__all__ = ["Corpus", "Sentence", "load_corpus", "read_columns", "split_label", "stream_corpus"]
