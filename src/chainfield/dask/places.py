"""Which worker a piece should lie on. It changes the time that a sum takes, never the sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chainfield.problem.pieces import ARITY

from .work import WorkerError

PATIENCE = 60.0  # seconds to wait for a worker when there is none
# A worker is a straggler if it takes so many times longer for a piece than the fastest one, and rounds take so many
# seconds: moving pieces costs something too.
SLOW, WORTHWHILE = 1.5, 0.5


@dataclass(eq=False)
class Places:
    """Which worker a piece should lie on: neighbours together, because their sums are added first.

    A worker that has gone loses its pieces to the others, evenly; those that stay keep theirs. A straggler gives some
    of its pieces to the fastest worker, round by round, until both take about as long.
    """

    client: Any
    n: int
    _of: list[str] = field(default_factory=list)

    def now(self) -> list[str]:
        """The address of each piece's worker."""
        living = living_workers(self.client)
        if not self._of:
            groups = -(-self.n // ARITY)
            step = ARITY if groups >= len(living) else 1
            runs = -(-self.n // step)
            self._of = [living[(i // step) * len(living) // runs] for i in range(self.n)]
        load = {worker: self._of.count(worker) for worker in living}
        for i, worker in enumerate(self._of):
            if worker not in load:
                self._of[i] = min(living, key=lambda other: (load[other], other))
                load[self._of[i]] += 1
        return self._of

    def balance(self, spent: Mapping[str, float]) -> int:
        """Take pieces from the slowest worker, by the seconds that workers spent in a round; returns how many."""
        times = {worker: spent[worker] for worker in set(self._of) & set(spent)}
        if len(times) < 2 or max(times.values()) < WORTHWHILE:
            return 0
        slow, fast = max(times, key=lambda w: (times[w], w)), min(times, key=lambda w: (times[w], w))
        own = [i for i, worker in enumerate(self._of) if worker == slow]
        each = {worker: times[worker] / self._of.count(worker) for worker in (slow, fast)}
        if each[slow] < SLOW * each[fast]:
            return 0
        # So many that both would take as long as each other.
        moved = min(int((times[slow] - times[fast]) / (each[slow] + each[fast])), len(own) - 1)
        for i in own[len(own) - moved :]:
            self._of[i] = fast
        return moved


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
