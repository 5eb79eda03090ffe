"""Which worker a piece should lie on. It changes the time that a sum takes, never the sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from chainfield.problem.pieces import halves

from .work import WorkerError

PATIENCE = 60.0  # seconds to wait for a worker when there is none
# A worker is a straggler if it takes so many times longer for a piece than the fastest one, and rounds take so many
# seconds: moving pieces costs something too.
SLOW, WORTHWHILE = 1.5, 0.5
NEAR = 0.07  # of a worker's pieces: as many may be too many, or too few


@dataclass(eq=False)
class Places:
    """Which worker a piece should lie on: neighbours together, because their sums are added first.

    A worker that has gone loses its pieces to the others, evenly; those that stay keep theirs. A straggler gives some
    of its pieces to the fastest worker, round by round, until both take about as long.
    """

    client: Any
    n: int
    _of: list[str] = field(default_factory=list)
    _suspect: str = ""  # the straggler of the last round

    def now(self) -> list[str]:
        """The address of each piece's worker."""
        living = living_workers(self.client)
        if not self._of:
            cuts = shared_out(self.n, len(living))
            self._of = [worker for worker, (a, b) in zip(living, pairwise(cuts), strict=True) for _ in range(a, b)]
        load = {worker: self._of.count(worker) for worker in living}
        for i, worker in enumerate(self._of):
            if worker not in load:
                self._of[i] = min(living, key=lambda other: (load[other], other))
                load[self._of[i]] += 1
        return self._of

    def balance(self, spent: Mapping[str, float]) -> int:
        """Take pieces from the slowest worker, by the seconds that workers spent in a round, if it was the
        straggler of the round before as well; returns how many.
        """
        times = {worker: spent[worker] for worker in set(self._of) & set(spent)}
        if len(times) < 2 or max(times.values()) < WORTHWHILE:
            return 0
        slow, fast = max(times, key=lambda w: (times[w], w)), min(times, key=lambda w: (times[w], w))
        own = [i for i, worker in enumerate(self._of) if worker == slow]
        each = {worker: times[worker] / self._of.count(worker) for worker in (slow, fast)}
        before, self._suspect = self._suspect, slow if each[slow] >= SLOW * each[fast] else ""
        if not self._suspect or self._suspect != before:  # a single round may have been special
            return 0
        self._suspect = ""
        # So many that both would take as long as each other.
        moved = min(int((times[slow] - times[fast]) / (each[slow] + each[fast])), len(own) - 1)
        for i in own[len(own) - moved :]:
            self._of[i] = fast
        return moved


def shared_out(n: int, n_workers: int) -> list[int]:
    """Where the pieces of each worker begin, and ``n``. Workers hold whole branches of the tree of sums, where that
    makes little difference to what each has to do.
    """
    found = [0]

    def among(workers: int, last: int) -> None:
        if workers > 1:
            first, left = found[-1], workers // 2
            at = _branch(n, first + left * (last - first) / workers, max(NEAR * n / n_workers, 0.5))
            among(left, min(max(at, first), last))
            among(workers - left, last)
        else:
            found.append(last)

    among(n_workers, n)
    return found


def _branch(n: int, wanted: float, near: float) -> int:
    """Where a branch begins, as large a one as can be, near to what is wanted; else what is wanted."""
    first, (left, right) = 0, halves(n)
    while right:
        middle = first + left
        if abs(middle - wanted) <= near:
            return middle
        first, (left, right) = (first, halves(left)) if wanted < middle else (middle, halves(right))
    return round(wanted)


def living_workers(client: Any) -> list[str]:
    """The addresses of all workers; if there is none, one may be starting again."""
    found = sorted(client.nthreads())
    if not found:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except (TimeoutError, OSError):
            raise WorkerError(f"All workers are gone, and none came back within {PATIENCE:g} s.") from None
        found = sorted(client.nthreads())
    return found
