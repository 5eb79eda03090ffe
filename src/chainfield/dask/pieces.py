"""Pieces on the workers of a cluster: functions travel to them, and sums are added on the way back."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

from chainfield.problem import Pieces
from chainfield.problem.pieces import halves

from .connecting import ask_workers, engine, what_runs
from .places import Places
from .stalling import Stalled, watched
from .work import Parcel, WorkerError, bytes_sent, carry_on, hold, join_all, opened, sum_branch, work

T = TypeVar("T")
R = TypeVar("R")
C = TypeVar("C")
TRIES = 5  # of a round in which workers died
FEW = 64  # workers that are asked in every iteration how much they have sent
LOST = 2  # tries of a piece that kills the workers that take it


@final
@dataclass(frozen=True, eq=False)
class DaskPieces(Pieces[T]):
    """Pieces as tasks whose results stay on workers; what a lost worker held is made again by another."""

    client: Any
    tasks: Sequence[Any]  # futures
    places: Places

    def __len__(self) -> int:
        return len(self.tasks)

    def map(self, function: Callable[..., R], *shared: Any) -> Iterator[R]:
        """All at once; results come back in order."""
        return map(opened, self._gathered(lambda: self._submitted(function, shared)))

    def derive(self, function: Callable[..., R], *shared: Any) -> DaskPieces[R]:
        """Made where their origins are, and kept there."""
        return DaskPieces(self.client, self._submitted(function, shared), self.places)

    def fold(self, function: Callable[..., R], join: Callable[[R, R], R], *shared: Any) -> R:
        """Joined by the workers along the tree; one result travels to the client."""
        (total,) = self._gathered(lambda: [self._tree(function, join, shared)])
        self.places.balance(total.spent)
        found: R = total.value
        return found

    def _tree(self, function: Callable[..., Any], join: Callable[..., Any], shared: tuple[Any, ...]) -> Any:
        """The task of the whole sum. A branch whose pieces lie on one worker is one task, if that leaves none of its
        threads without work: fewer tasks, and one sum to keep in place of several.
        """
        version, places, name, joins = what_runs(), self.places.now(), _key(_readable(function)), _key("join")
        sent = [self._sent(value) for value in shared]
        most = {worker: -(-places.count(worker) // threads) for worker, threads in self.client.nthreads().items()}

        def branch(first: int, n: int) -> Any:
            own = places[first : first + n]
            if len(set(own)) == 1 and n <= most.get(own[0], 1):
                pieces = self.tasks[first : first + n]
                return self._submit((name, first), own[0], sum_branch, version, function, join, n, *pieces, *sent)
            left, right = halves(n)
            parts = [branch(first, left), branch(first + left, right)] if right else [
                branch(i, 1) for i in range(first, first + n)
            ]  # fmt: skip
            if len(parts) == 1:
                return parts[0]
            return self._submit((joins, f"{first}-{first + n}"), own[0], join_all, version, join, *parts)

        return branch(0, len(self.tasks))

    def relay(
        self, runs: Sequence[Sequence[int]], function: Callable[..., C], carried: Sequence[C], *shared: Any
    ) -> list[C]:
        """One task per piece, which waits for the one before it in its run."""

        def ends() -> list[Any]:
            version, places, sent = what_runs(), self.places.now(), [self._sent(value) for value in shared]
            name, found = _key(_readable(function)), [self._sent(value) for value in carried]
            for strand, run in enumerate(runs):
                for i in run:
                    found[strand] = self._submit(
                        (name, i), places[i], carry_on, version, function, self.tasks[i], found[strand], *sent
                    )
            return found

        return list(map(opened, self._gathered(ends)))

    def as_completed(self, function: Callable[..., R], *shared: Any) -> Iterator[R]:
        """Results as they come, in any order; each is forgotten by the cluster once it is here."""
        distributed = engine()
        futures = self._submitted(function, shared)
        with watched(self.client, futures) as stalled:
            for future in distributed.as_completed(futures):
                try:
                    yield opened(future.result())
                except distributed.KilledWorker as error:
                    raise WorkerError(_killed(error)) from None
                except distributed.client.FutureCancelledError:
                    if stalled.reason:
                        raise WorkerError(stalled.reason) from None
                    raise
                future.release()

    def notes(self) -> dict[str, float]:
        """Pieces, workers, and how many bytes these have sent to each other and to the client so far."""
        living = self.client.nthreads()
        sent = ask_workers(self.client, bytes_sent).values() if len(living) <= FEW else ()
        moved = sum(number for number in sent if isinstance(number, int))
        return {"pieces": float(len(self)), "workers": float(len(living)), "bytes_moved": float(moved)}

    def _submitted(self, function: Callable[..., Any], shared: tuple[Any, ...]) -> list[Any]:
        version, name = what_runs(), _key(_readable(function))
        sent = [self._sent(value) for value in shared]
        return [
            self._submit((name, i), place, work, version, function, task, *sent)
            for i, (task, place) in enumerate(zip(self.tasks, self.places.now(), strict=True))
        ]

    def _sent(self, value: Any) -> Any:
        """What all pieces share: a task of its own where it is large, so that each worker gets it once."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        return self._submit((_key("shared"), 0), None, hold, Parcel(value))

    def _submit(self, key: Any, place: str | None, function: Callable[..., Any], *arguments: Any) -> Any:
        where = {} if place is None else {"workers": [place], "allow_other_workers": True}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(function, *arguments, key=key, pure=False, **where)

    def _gathered(self, submitted: Callable[[], list[Any]]) -> list[Any]:
        """The results of futures; they are submitted again, if workers died in a way that the scheduler does not mend
        by itself.
        """
        distributed = engine()
        lost = (distributed.KilledWorker, distributed.client.FutureCancelledError, OSError)
        address = getattr(self.client.scheduler, "address", "that address")
        for attempt in range(TRIES):
            stalled = Stalled()
            try:
                futures = submitted()
                with watched(self.client, futures) as stalled:
                    return list(self.client.gather(futures))
            except lost as error:
                if isinstance(error, FileNotFoundError):
                    raise
                if stalled.reason:
                    raise WorkerError(stalled.reason) from None
                if self.client.status != "running" or not _answers(self.client):
                    raise WorkerError(
                        f"The scheduler at {address} is gone; start it again, and continue "
                        "from a checkpoint with resume=True."
                    ) from None
                if attempt + 1 == (LOST if isinstance(error, distributed.KilledWorker) else TRIES):
                    raise WorkerError(_killed(error)) from None
        raise AssertionError


def _answers(client: Any) -> bool:
    """Whether the scheduler is there."""
    try:
        client.sync(client.scheduler.identity)
    except (OSError, TimeoutError):
        return False
    return True


def _killed(error: Exception) -> str:
    last = getattr(error, "last_worker", None)
    where = f"The worker {last.address}" if last is not None else "A worker"
    return (
        f"{where} died again and again ({type(error).__name__}); if it ran out of memory, use smaller pieces, or "
        "larger workers."
    )


def _readable(function: Callable[..., Any]) -> str:
    return function.__name__.strip("_").replace("_", "-")


def _key(name: str) -> str:
    """A name that the dashboard shows, and that is never used again."""
    return f"{name}-{uuid.uuid4().hex}"
