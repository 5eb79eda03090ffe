"""Corpora in pieces: larger than memory on one machine, or spread over several."""

from .corpus import Corpus, Encoding, SourceCorpus
from .folder import EncodedCorpus, encode_corpus, open_corpus
from .plan import plan_columns, plan_sources

__all__ = [
    "Corpus",
    "EncodedCorpus",
    "Encoding",
    "SourceCorpus",
    "encode_corpus",
    "open_corpus",
    "plan_columns",
    "plan_sources",
]
