"""A table of counts: numbers that stand for events, and how often each was met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import DataError

# Weighted counts are sums of floating-point numbers; what is left of one that was taken back is no event.
NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Table:
    """Events by their codes, ascending, each once; every count is above zero."""

    codes: Int  # (n,)
    counts: Float  # (n,)

    def __len__(self) -> int:
        return len(self.codes)

    def __add__(self, other: Table) -> Table:
        """Both together."""
        if len(other) == 0:
            return self
        if len(self) == 0:
            return other
        return _gather(np.concatenate([self.codes, other.codes]), np.concatenate([self.counts, other.counts]))

    def __sub__(self, other: Table) -> Table:
        """What is left when other events are taken back; refuses to take back what is not there."""
        place = np.searchsorted(self.codes, other.codes)
        inside = place < len(self.codes)
        inside[inside] = self.codes[place[inside]] == other.codes[inside]
        counts = self.counts.copy()
        counts[place[inside]] -= other.counts[inside]
        if not inside.all() or counts.min(initial=0.0) < -NOTHING:
            raise DataError(
                "These data were never counted, or have been taken back already: a count would become negative."
            )
        keep = counts > NOTHING
        return Table(self.codes[keep], counts[keep])

    def recoded(self, codes: Int) -> Table:
        """The same counts under other codes, which may come in any order and may meet."""
        return _gather(codes, self.counts)

    def find(self, codes: Int) -> Float:
        """The counts of some events; 0 where there is none."""
        place = np.minimum(np.searchsorted(self.codes, codes), max(len(self.codes) - 1, 0))
        if len(self.codes) == 0:
            return np.zeros(len(codes))
        return np.where(self.codes[place] == codes, self.counts[place], 0.0)

    @property
    def total(self) -> float:
        """All counts together."""
        return float(self.counts.sum())


def tabulate(codes: Int, weights: Float | None = None) -> Table:
    """Count events; an event may be met more or less than once (``weights``)."""
    if weights is None:
        distinct, counts = np.unique(codes, return_counts=True)
        return Table(distinct, counts.astype(np.float64))
    return _gather(codes, weights)


def empty_table() -> Table:
    """A table without events."""
    return Table(np.empty(0, np.int64), np.empty(0))


def _gather(codes: Int, counts: Float) -> Table:
    if not (codes[1:] > codes[:-1]).all():
        order = np.argsort(codes, kind="stable")  # sorted runs, laid end to end, are merged in linear time
        codes, counts = codes[order], counts[order]
        del order  # tables may fill much of the memory
        new = np.concatenate([[True], codes[1:] != codes[:-1]])
        if not new.all():
            first = np.flatnonzero(new)
            codes, counts = codes[first], np.add.reduceat(counts, first)
    keep = counts > NOTHING
    return Table(codes, counts) if keep.all() else Table(codes[keep], counts[keep])
