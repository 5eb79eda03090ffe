"""Data in pieces: a map over them, and sums that come out the same wherever the pieces lie.

Which piece holds which sequences is decided by the data alone, never by the number of threads or machines. Results
are added along one tree, whose shape the number of pieces decides: it is halved until :data:`RUN` pieces are left, and
those are added from left to right. So the same pieces give the same bits on one thread, from disk, and on a cluster;
and where each of two, four or eight machines holds its share of neighbours, it has one sum to send.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

from chainfield.arrays import Float
from chainfield.parallel import ordered_map

RUN = 4  # pieces that are added from left to right, at most
T = TypeVar("T")
R = TypeVar("R")
C = TypeVar("C")
Term = tuple[float, Float]  # a value and a vector


class Pieces(ABC, Generic[T]):
    """Pieces of data that stay where they are: functions travel to them.

    Another engine is one more subclass. A function gets a piece, and what all pieces share; it must
    stand at the top level of a module, so that it can be sent.
    """

    @abstractmethod
    def __len__(self) -> int:
        """How many pieces there are."""

    @abstractmethod
    def map(self, function: Callable[..., R], *shared: Any) -> Iterator[R]:
        """``function(piece, *shared)`` of all pieces, in their order."""

    @abstractmethod
    def derive(self, function: Callable[..., R], *shared: Any) -> Pieces[R]:
        """Pieces made of these, each where its origin is."""

    @abstractmethod
    def relay(
        self, runs: Sequence[Sequence[int]], function: Callable[..., C], carried: Sequence[C], *shared: Any
    ) -> list[C]:
        """For each run of pieces: ``carried = function(piece, carried, *shared)``, from one piece to the next.

        Runs go side by side; the function may use up what is carried, but for the first piece of a run.
        """

    def fold(self, function: Callable[..., R], join: Callable[[R, R], R], *shared: Any) -> R:
        """The results of :meth:`map`, joined along the tree; ``join`` may use up its left side."""
        return folded(self.map(function, *shared), len(self), join)

    def notes(self) -> dict[str, float]:
        """What an engine tells about itself: workers, bytes that were moved."""
        return {}

    def sum(self, function: Callable[..., Term], *shared: Any) -> Term:
        """The values and vectors that a function gives, added along the tree."""
        return self.fold(function, add_terms, *shared)


@final
@dataclass(frozen=True, eq=False)
class HeldPieces(Pieces[T]):
    """Pieces in memory, worked on by threads."""

    held: Sequence[T]
    n_jobs: int = 1

    def __len__(self) -> int:
        return len(self.held)

    def map(self, function: Callable[..., R], *shared: Any) -> Iterator[R]:
        """By threads."""
        return ordered_map(lambda piece: function(piece, *shared), self.held, self.n_jobs)

    def relay(
        self, runs: Sequence[Sequence[int]], function: Callable[..., C], carried: Sequence[C], *shared: Any
    ) -> list[C]:
        """One thread per run."""
        return relayed(self.held.__getitem__, runs, function, carried, shared, self.n_jobs)

    def derive(self, function: Callable[..., R], *shared: Any) -> HeldPieces[R]:
        """Made at once, and held."""
        return HeldPieces(list(self.map(function, *shared)), self.n_jobs)


def relayed(
    piece: Callable[[int], Any],
    runs: Sequence[Sequence[int]],
    function: Callable[..., C],
    carried: Sequence[C],
    shared: tuple[Any, ...],
    n_jobs: int,
) -> list[C]:
    """Runs of pieces by threads; ``piece``: one of them by its number."""

    def whole(job: tuple[Sequence[int], C]) -> C:
        run, found = job
        for number in run:
            found = function(piece(number), found, *shared)
        return found

    return list(ordered_map(whole, zip(runs, carried, strict=True), n_jobs))


def halves(n: int) -> tuple[int, int]:
    """How many of ``n`` pieces are summed on the left and on the right; none on the right if they are a run."""
    return (n // 2, n - n // 2) if n > RUN else (n, 0)


def folded(items: Iterable[R], n: int, join: Callable[[R, R], R]) -> R:
    """Join ``n`` items along the tree as they come: a few unfinished sums exist at a time, one for each level."""
    if n < 1:
        raise ValueError("there are no pieces")
    coming = iter(items)

    def total(n: int) -> R:
        left, right = halves(n)
        if right:
            return join(total(left), total(right))
        found = next(coming)
        for _ in range(left - 1):
            found = join(found, next(coming))
        return found

    return total(n)


def add_terms(ours: Term, theirs: Term) -> Term:
    """The sum of two; the vector of the first one takes it."""
    vector = ours[1]
    vector += theirs[1]
    return ours[0] + theirs[0], vector
