"""Pieces on disk: read when they are needed, a few at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, final

from chainfield.parallel import ordered_map
from chainfield.problem import Pieces
from chainfield.problem.pieces import relayed

T = TypeVar("T")
R = TypeVar("R")
C = TypeVar("C")
Made = tuple[Callable[..., Any], tuple[Any, ...]]


@final
@dataclass(frozen=True, eq=False)
class LoadedPieces(Pieces[T]):
    """Pieces by number: ``load(i)`` reads one, and functions make of it what is needed, again each time.

    As many made pieces as ``keep`` allows are kept: making them again costs a fraction of what is then asked of them.
    """

    load: Callable[[int], Any]
    numbers: Sequence[int]
    n_jobs: int = 1
    keep: int = 0
    made_by: tuple[Made, ...] = ()
    _kept: dict[int, T] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.numbers)

    def _made(self, number: int) -> T:
        found = self._kept.get(number)
        if found is None:
            piece: Any = self.load(number)
            for function, shared in self.made_by:
                piece = function(piece, *shared)
            found = piece
            if number in self.numbers[: self.keep]:
                self._kept[number] = found
        return found

    def map(self, function: Callable[..., R], *shared: Any) -> Iterator[R]:
        """By threads: one more piece than there are threads is in memory at a time."""
        return ordered_map(lambda number: self._asked(number, function, *shared), self.numbers, self.n_jobs)

    def _asked(self, number: int, function: Callable[..., R], *shared: Any) -> R:
        """What a function makes of a piece, which is let go of unless it is kept."""
        piece = self._made(number)
        try:
            return function(piece, *shared)
        finally:
            if number not in self._kept and hasattr(piece, "release"):
                piece.release()

    def relay(
        self, runs: Sequence[Sequence[int]], function: Callable[..., C], carried: Sequence[C], *shared: Any
    ) -> list[C]:
        """One thread per run, with one piece in memory each."""

        def one(number: int, found: C, *more: Any) -> C:
            return self._asked(number, function, found, *more)

        return relayed(self.numbers.__getitem__, runs, one, carried, shared, self.n_jobs)

    def derive(self, function: Callable[..., R], *shared: Any) -> LoadedPieces[R]:
        """Made again whenever they are asked."""
        return LoadedPieces(self.load, self.numbers, self.n_jobs, self.keep, (*self.made_by, (function, shared)))
