"""The contract of everything that makes scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from chainfield.arrays import Arrays, Float, Int
from chainfield.features.batch import Batch
from chainfield.potentials import How, Lattice
from chainfield.schema import Part

from .model_files import fields_from_parts, fields_to_parts
from .shares import Place, Share, Weight

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace

    from .origin import Origin

Params = Mapping[str, Float]
# pullback(d_scores, into, scale): into[name] += scale * (d loss / d parameter), for every parameter. A scorer whose
# ``pace`` is not the same for all its parameters may be given a scale for each of them, by name.
Pullback = Callable[[Float, Params, Any], None]


class Scorer(ABC):
    """Adds log-scores of a batch to an array, and pulls gradients back to its parameters.

    Emissions write node scores (N, R), transitions edge scores (1 | N, E); both obey this one contract. A chain adds
    up any number of them. Whatever hides inside a position (hidden units, mixture components) is eliminated here,
    with the same ``how`` as the chain: summed over, or maximised.

    Only ``shapes`` and ``forward`` must be written. All else has an answer that is right for any scorer, or says
    little: override what your scorer knows better. A *column* is a row r of node scores, or an edge e of edge scores.
    """

    #: Distinguishes the parameters of the scorers of one chain; short, unique in a chain.
    name: str
    #: For transitions: whether every position needs its own edge scores. If not, they depend on the parameters alone.
    per_position: bool = False
    #: For transitions: how many rows back a score looks. Where it is 2, the space is that of pairs all the same.
    reach: int = 1
    #: Whether scores are linear in the parameters: some trainers need that.
    linear: bool = False
    #: Which scores it adds to: those of nodes or those of edges. Model files hold scorers that say so.
    group: ClassVar[Literal["emissions", "transitions"] | None] = None
    #: What model files hold of it; None: whatever :meth:`check` lets through.
    schema: ClassVar[Part | None] = None
    #: What of a batch it reads: "sparse", "dense", "edges" or "tokens"; "": nothing but lengths.
    needs: str = ""

    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters."""

    @abstractmethod
    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Add this scorer's scores to ``scores`` and return the way back.

        The pullback *adds* to the arrays it is given and touches only what the batch touches, so that a trainer
        may hand it the parameters themselves: a step of stochastic gradient descent is one pullback.
        """

    def cells(
        self, params: Params, batch: Batch, how: How, lattice: Lattice, n_rows: int, scores: Float, *, alone: bool
    ) -> None:
        """Add the scores of a lattice's cells (C,), for best paths; emissions only.

        alone: whether a cell that is the only one of its position must be scored too; no best path depends on it.
        """
        node = np.zeros((batch.n_positions, n_rows))
        self.forward(params, batch, how, node)
        scores += node[lattice.position_of(), lattice.rows]

    def width(self) -> int:
        """How many numbers a position needs while it is scored, besides scores: blocks are cut to fit the cache."""
        return 0

    # ---- training ------------------------------------------------------------------------------------------------

    def start(self, rng: np.random.Generator) -> dict[str, Float]:
        """Where training starts: zeros, unless the scorer has a symmetry of its own to break."""
        return {name: np.zeros(shape) for name, shape in self.shapes().items()}

    def jitter(self, rng: np.random.Generator, scale: float) -> dict[str, Float]:
        """Random numbers of deviation ``scale`` that a chain adds to the start, to tell its hidden states apart.

        A parameter that must stay 0 must get 0 here.
        """
        return {name: rng.normal(scale=scale, size=shape) for name, shape in self.shapes().items()}

    def pace(self, parameter: str) -> float:
        """Relative step size of a block of parameters, for trainers whose steps have one size for all."""
        return 1.0

    def penalised(self, parameter: str) -> bool:
        """Whether the penalties l1 and l2 count a block of parameters."""
        return True

    def fused(self) -> tuple[str, Any] | None:
        """The scorer's part in the kernels that train chains at once, with its table; None if it has none.

        ("pairs" or "columns", (Pairs, group of each row)) for sparse features or numbers, ("boundary", None) or
        ("ties", an edge's weight (E,)): see :mod:`chainfield.problem.linear_pass`; ("units", HiddenUnits): see
        :mod:`chainfield.problem.units_pass`.
        """
        return None

    def carry(self, old: Self, origin: Origin, theirs: Params, ours: Params) -> None:
        """Write parameters of an older scorer of the same class and name into ``ours``, wherever they mean the same.

        ``origin`` tells where rows, edges and features were before. What is not written keeps its start value.
        By default all is carried if nothing has moved, else nothing.
        """
        if origin.same and self.shapes() == old.shapes():
            for name in self.shapes():
                ours[name][...] = theirs[name]

    # ---- inspection ----------------------------------------------------------------------------------------------

    def n_weights(self) -> int:
        """How many weights there are, without places that only fill up a layout."""
        return sum(prod(shape) for shape in self.shapes().values())

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """The weights of a place that have a name each; none, unless a scorer knows better."""
        return iter(())

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """For every position, what each feature adds to some of its scores.

        ``scores``: this scorer's own, (N, R) or (1 | N, E); ``columns`` (N, C): those asked for, -1 where there is
        none. By default the score as a whole is one share, without a feature's name.
        """
        found: list[list[Share]] = []
        for t, wanted in enumerate(columns.tolist()):
            row = scores[t if len(scores) > 1 else 0]
            parts = tuple(-np.inf if c < 0 else float(row[c]) for c in wanted)
            found.append([] if max(wanted) < 0 else [Share("", 1.0, parts)])
        return found

    # ---- files ---------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """Settings (ready for JSON) and arrays from which :meth:`from_parts` makes an equal scorer.

        By default the fields of the dataclass: numbers, strings, arrays and pairs.
        """
        return fields_to_parts(self)

    @classmethod
    def from_parts(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """The inverse of :meth:`to_parts`."""
        return cls(**fields_from_parts(cls, config, arrays))

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Refuse (by a ValueError) a scorer from a file that does not fit the space and the features.

        Kernels trust every index, and files may hold anything, so a scorer that files may hold must write this. What
        its ``schema`` declares has been checked before.
        """
        raise ValueError(f"the scorer {self.name!r} does not say what fits it")
