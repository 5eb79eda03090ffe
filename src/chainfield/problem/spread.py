"""A problem whose data lie in pieces: mapped from disk, or on other machines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from chainfield.arrays import Array, Float
from chainfield.errors import NoPathError
from chainfield.objectives import Objective
from chainfield.scorers import Chain

from .pieces import Pieces, Term
from .problem import Problem
from .summed import SummedProblem


class Facts(NamedTuple):
    """What a problem tells about its data; those of pieces add up."""

    n_sequences: int
    n_positions: int
    guess_loss: float
    determined: bool  # whether all labels are known, and have one path
    quick: bool  # whether compiled code takes steps on single sequences

    def __add__(self, other: Facts) -> Facts:  # type: ignore[override]
        return Facts(
            self.n_sequences + other.n_sequences,
            self.n_positions + other.n_positions,
            self.guess_loss + other.guess_loss,
            self.determined and other.determined,
            self.quick and other.quick,
        )


@dataclass(frozen=True, eq=False)
class Piece:
    """Some of the data as a problem of its own, without penalties; ``first``: the number of its first sequence."""

    problem: Problem
    first: int = 0

    def release(self) -> None:
        """Forget what was made for kernels: it points back at the problem, and would wait for the garbage collector."""
        self.problem.__dict__.pop("fast", None)


@dataclass(frozen=True, eq=False)
class SpreadProblem(SummedProblem):
    """A chain, its objective, and pieces of its data.

    A piece is asked for its whole gradient; a trainer that takes steps on single sequences needs one that takes it from
    piece to piece.
    """

    chain: Chain
    objective: Objective
    pieces: Pieces[Piece]
    l1: float = 0.0
    l2: float = 0.0
    n_jobs: int = 1
    project: Callable[[Float], None] | None = field(default=None)
    #: Pruning needs all data in memory.
    lattice: ClassVar[None] = None

    def __post_init__(self) -> None:
        self._check()

    def restated(
        self, chain: Chain, project: Callable[[Float], None] | None = None, l2: float | None = None
    ) -> SpreadProblem:
        """Every piece with another chain."""
        pieces = self.pieces.derive(restated_piece, chain)
        return replace(self, chain=chain, pieces=pieces, project=project, l2=self.l2 if l2 is None else l2)

    @cached_property
    def facts(self) -> Facts:
        """Asked of all pieces once."""
        return self.pieces.fold(piece_facts, Facts.__add__)

    @cached_property
    def sizes(self) -> list[int]:
        """How many sequences each piece has."""
        return list(self.pieces.map(piece_size))

    @property
    def n_sequences(self) -> int:
        """Those of all pieces."""
        return self.facts.n_sequences

    @property
    def n_positions(self) -> int:
        """Those of all pieces."""
        return self.facts.n_positions

    @property
    def guess_loss(self) -> float:
        """That of a model for which all states are alike."""
        return self.facts.guess_loss

    @property
    def convex(self) -> bool:
        """Whether there is one optimum: linear scores, a smooth contrast, and no hidden or unknown labels."""
        return self.linear and self.smooth and self.facts.determined

    @property
    def stepwise(self) -> bool:
        """Pieces are asked for their whole gradients."""
        return False

    @property
    def quick_steps(self) -> bool:
        """Whether compiled code goes through the sequences of every piece."""
        return self.facts.quick

    def engine_notes(self) -> dict[str, float]:
        """Those of the engine that holds the pieces."""
        return self.pieces.notes()

    def arrays(self) -> Iterator[Array]:
        """A digest of each piece's arrays."""
        return self.pieces.map(piece_digest)

    def add(self, theta: Float, into: Float, *, variances: bool = False) -> float:
        """One vector from each piece, along the tree."""
        value, vector = self.pieces.sum(piece_gradient, theta, variances)
        into += vector
        return value


def restated_piece(piece: Piece, chain: Chain) -> Piece:
    """With another chain."""
    return Piece(piece.problem.restated(chain), piece.first)


def piece_size(piece: Piece) -> int:
    """How many sequences it has."""
    return piece.problem.n_sequences


def piece_facts(piece: Piece) -> Facts:
    """What one piece tells."""
    problem = piece.problem
    determined, quick = problem.path is not None, problem.stepwise and problem.quick_steps
    return Facts(problem.n_sequences, problem.n_positions, problem.guess_loss, determined, quick)


def piece_gradient(piece: Piece, theta: Float, variances: bool = False) -> Term:
    """The loss of a piece and its gradient, or its curvature."""
    vector = np.zeros(len(theta))
    try:
        return piece.problem.add(theta, vector, variances=variances), vector
    except NoPathError as error:
        raise NoPathError(piece.first + error.sequence, error.known) from None


def piece_digest(piece: Piece) -> Array:
    """(32,) bytes that tell a piece from others."""
    digest = hashlib.sha256()
    for array in piece.problem.arrays():
        digest.update(np.ascontiguousarray(array).tobytes())
    return np.frombuffer(digest.digest(), np.uint8)
