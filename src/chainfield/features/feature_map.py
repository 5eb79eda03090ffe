"""The contract of feature maps: the user's sequences in, a batch of numbers out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from chainfield.arrays import Arrays, Int, Int32
from chainfield.errors import ConfigError
from chainfield.schema import Part

from .batch import Batch


class FeatureMap(ABC):
    """Learns which features there are, then is locked: encoding never adds any, and unknown ones are ignored."""

    kind: ClassVar[str]
    #: How many columns of text it reads; None: it reads no columns.
    width: int | None = None
    #: Sparse features of positions, columns of numbers, and features of transitions.
    n_features: int = 0
    n_columns: int = 0
    n_edge_features: int = 0
    #: On which scale columns of numbers are seen.
    scaling: str = "none"
    #: Whether label pairs are scored by themselves (templates may leave that out).
    plain_transitions: bool = True
    #: What its batches have: "sparse", "dense", "edges", "tokens".
    offers: frozenset[str] = frozenset()
    #: What model files hold of it.
    schema: ClassVar[Part]

    @abstractmethod
    def learn(self, sequences: Any, min_count: int = 1) -> Batch:
        """Add the features of these sequences (those that occur at ``min_count`` positions or more), and encode."""

    @abstractmethod
    def encode(self, sequences: Any, n_jobs: int = 1) -> Batch:
        """Encode with what was learned, on several threads where that pays; safe to call from several threads."""

    @abstractmethod
    def renumber(self, numbers: Int32) -> None:
        """Give every sparse feature a new number: ``numbers[old]``."""

    def selected(self, numbers: Int32, edges: Int32) -> FeatureMap | None:
        """A map of some of the features: their new numbers, -1 for those to be left out; None: it keeps all.

        ``edges`` says the same of features of transitions.
        """
        return None

    def count(self, batch: Batch) -> tuple[Int, Int]:
        """How often each feature of positions, and of transitions, occurs in a batch of this map."""
        counts = []
        for sparse, n in ((batch.sparse, self.n_features), (batch.edges, self.n_edge_features)):
            found = np.empty(0, np.int32) if sparse is None else sparse.indices
            counts.append(np.bincount(found[found >= 0], minlength=n).astype(np.int64))
        return counts[0], counts[1]

    def merge(self, other: Any) -> tuple[Int32, Int32]:
        """Add what another map of this kind learned; the numbers that its features of positions and of transitions
        have here. New ones come behind the known ones, in their order: learning from parts and merging is learning
        from the whole.
        """
        raise ConfigError(f"Features of the kind {self.kind} are learned from data in memory only, not from pieces.")

    @abstractmethod
    def feature_names(self) -> Sequence[str]:
        """Names of the sparse features, or of the columns, by number."""

    def edge_feature_names(self) -> Sequence[str]:
        """Names of the transition features, by number."""
        return []

    @abstractmethod
    def save(self) -> tuple[dict[str, Any], Arrays]:
        """Settings (ready for JSON) and arrays from which :meth:`load` makes an equal map."""

    @classmethod
    @abstractmethod
    def load(cls, config: dict[str, Any], arrays: Arrays) -> FeatureMap:
        """The inverse of :meth:`save`; what the schema declares has been checked before."""


def pack_strings(strings: Sequence[str]) -> Arrays:
    """Strings as one array of bytes with the lengths beside it."""
    encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
    lengths = np.array([len(b) for b in encoded], np.uint32)
    return {"bytes": np.frombuffer(b"".join(encoded), np.uint8), "lengths": lengths}


def unpack_strings(arrays: Arrays) -> list[str]:
    """The inverse of :func:`pack_strings`."""
    whole = arrays["bytes"].tobytes()
    ends = np.cumsum(arrays["lengths"], dtype=np.int64).tolist()
    if ends and ends[-1] == len(whole) and whole.isascii():  # slicing text is cheaper than decoding pieces
        text = whole.decode("ascii")
        return [text[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *ends[:-1]], ends, strict=True)]
