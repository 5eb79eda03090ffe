"""What a model is composed from: features, encoded data in one piece or in many, and what is known of the labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from chainfield.arrays import Int32
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import FittedModel
from chainfield.potentials import Clamp
from chainfield.problem import HeldPieces, Pieces
from chainfield.scorers import Origin, Pairs
from chainfield.scorers.groups import NO_GROUPS
from chainfield.states import StateSpace

from .transfer import find_origin

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Examples:
    """Encoded sequences, and what is known of their labels; ``first``: the number of the first sequence."""

    batch: Batch
    clamp: Clamp
    first: int = 0


@dataclass(frozen=True)
class Extent:
    """How much data there are, and which kinds of features they have."""

    n_sequences: int
    n_positions: int
    sparse: bool = False
    dense: bool = False
    edges: bool = False

    @classmethod
    def of(cls, batch: Batch) -> Extent:
        """Of data in one piece."""
        kinds = (batch.sparse is not None, batch.dense is not None, batch.edges is not None)
        return cls(batch.n_sequences, batch.n_positions, *kinds)


@dataclass(frozen=True, eq=False)
class Material:
    """The features, the data, the labels, and an older model where training goes on from one."""

    features: FeatureMap
    examples: Pieces[Examples]
    extent: Extent
    labels: tuple[Any, ...]
    previous: FittedModel | None = None  # when training goes on from a fitted model: all its weights stay
    pairs: Pairs | None = None  # which (feature, row) pairs of sparse features get a weight
    numbers: Int32 | None = None  # the number of each feature, after those of ``previous`` have changed
    share: float = 1.0  # of the penalties, which all data seen so far bear together
    group_of: Int32 = field(default_factory=lambda: NO_GROUPS)  # (R,) groups of rows with weights, or empty

    @classmethod
    def of(cls, features: FeatureMap, batch: Batch, clamp: Clamp, labels: tuple[Any, ...], **more: Any) -> Material:
        """Of data in memory."""
        return cls(features, HeldPieces([Examples(batch, clamp)]), Extent.of(batch), labels, **more)

    @property
    def whole(self) -> Examples | None:
        """The data, if they are in memory and in one piece."""
        pieces = self.examples
        return pieces.held[0] if isinstance(pieces, HeldPieces) and len(pieces) == 1 else None

    @property
    def batch(self) -> Batch:
        """The encoded data, for models that need all of them at once."""
        return self.in_memory().batch

    @property
    def clamp(self) -> Clamp:
        """What is known of the labels, for models that need all of it at once."""
        return self.in_memory().clamp

    def in_memory(self) -> Examples:
        """The data, for models that need all of them at once; a refusal where they are in pieces."""
        found = self.whole
        if found is None:
            raise ConfigError(
                "These settings need all data in memory, and the data are in pieces; fit on sequences, or use "
                "LinearCRF, LatentCRF, MEMM or HiddenUnitCRF without pretraining."
            )
        return found

    def fold(self, function: Callable[..., R], join: Callable[[R, R], R], *shared: Any) -> R:
        """What a function says of the data: its answers for all pieces, joined."""
        return self.examples.fold(function, join, *shared)

    def origin(self, space: StateSpace) -> Origin:
        """Where the parts of a chain over a space were in ``previous``."""
        assert self.previous is not None
        return find_origin(self.previous, space, self.labels, self.features.n_features, self.numbers)
