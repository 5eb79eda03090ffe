"""Class blocks as users describe them: left to right, ergodic, or a matrix of their own; and settings about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from chainfield.errors import ConfigError
from chainfield.models.groups import Grouped
from chainfield.settings import Kind, choice, flag, given, number, whole
from chainfield.states import StateSpace, class_blocks, left_to_right, partitioned, topology

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap

TOPOLOGIES = ("left-to-right", "ergodic")
AUTO = "auto"
FLATTENINGS = ("states", "classes")
INITS = ("kmeans", "split")


@final
@dataclass(frozen=True)
class Topology(Kind):
    """The form of a block: a name, or a matrix."""

    metavar: ClassVar[str] = "NAME"
    noun: ClassVar[str] = '"auto", "left-to-right", "ergodic", or a matrix'
    expected: ClassVar[str] = f"choose one of {', '.join((AUTO, *TOPOLOGIES))}, or give a matrix"

    def fits(self, value: Any) -> bool:
        """A known name; what a matrix says is read when blocks are made."""
        return value in (AUTO, *TOPOLOGIES) if isinstance(value, str) else value is not None

    def parse(self, text: Any) -> str:
        """A name."""
        if text not in (AUTO, *TOPOLOGIES):
            raise ValueError(self.expected)
        return str(text)

    def stored(self, value: Any) -> Any:
        """Arrays as lists."""
        if isinstance(value, str):
            return value
        parts = value if isinstance(value, tuple) else (value,)
        return tuple(None if part is None else np.asarray(part, np.bool_).tolist() for part in parts)


class BlockSettings(Grouped):
    """Of models with a block of hidden states per class, and Gaussian mixtures in them."""

    n_states: Any = whole(
        "auto",
        "Hidden states of each class. auto: the root of the median length of its sequences, 8 at most, and no more "
        "than the shortest can go through.",
        words=("auto",),
        option="states",
        search=(1, 2, 3, 5, 8),
    )
    topology: Any = given(
        AUTO,
        "Which states may follow which: left-to-right, ergodic (any), or your own: a boolean matrix [from, to], or a "
        "tuple (matrix, starts, ends). auto: left-to-right over arrays; ergodic over text and other features, so that "
        "a text may have any length.",
        Topology(),
    )
    skip: int = whole(1, "Left to right: how far a step may go ahead.")
    n_components: Any = whole(
        "auto",
        "Mixture components (Gaussians with diagonal covariances) of each state, for arrays. auto: 1, 2, 4 or 8, so "
        "that each has 30 positions or more, and three for every column.",
        words=("auto",),
        search=(1, 2, 4, 8),
    )
    init: str = choice(
        "kmeans",
        INITS,
        "Where mixtures come from: clusters of a state's observations (kmeans), or one Gaussian that "
        "is split again and again (split).",
    )
    variance_floor: float = number(0.01, "Least variance, as a share of the variance of the data.", above=True)
    smoothing: float = number(0.01, "Added to every count behind a probability.")
    ends: bool = flag(True, "The last state has a probability to end, so that lengths count.")
    flatten: str | None = choice(
        "states",
        FLATTENINGS,
        "What kappa flattens, so that training starts less sure of its answers: states scales "
        "the weights of the start, which brings paths and labels closer together; classes raises the posteriors of the "
        "labels to kappa during training; None: nothing.",
        optional=True,
    )
    kappa: float = number(
        1.0,
        "How much is flattened: 1 changes nothing.",
        above=True,
        search=(0.03, 1.0),
    )


def form_of(topology: Any, features: FeatureMap | None) -> Any:
    """What "auto" stands for, by what is known of the features; other topologies as they are."""
    if not isinstance(topology, str) or topology != AUTO:
        return topology
    return TOPOLOGIES[0] if features is None or features.kind == "dense" else TOPOLOGIES[1]


def block_space(n_states: Sequence[int], kind: Any, skip: Any) -> StateSpace:
    """A block for each class, of so many states, all of the same form.

    ``kind``: "left-to-right" (stay, or go ahead by up to ``skip``; starts at the first state, ends at the last),
    "ergodic" (every state follows every state), or a square boolean matrix [from, to], alone or as a tuple
    (matrix, starts, ends).
    """
    if isinstance(kind, str):
        in_row = kind == TOPOLOGIES[0]
        blocks = {n: left_to_right(n, skip=int(skip)) if in_row else partitioned([n]) for n in set(n_states)}
    else:
        parts = kind if isinstance(kind, tuple) else (kind,)
        try:
            blocks = dict.fromkeys(n_states, topology(*parts))
        except (TypeError, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                "topology is no name and no matrix; give a square matrix of allowed transitions, or a tuple (matrix, "
                "starts, ends)."
            ) from None
    return class_blocks([blocks[n] for n in n_states])
