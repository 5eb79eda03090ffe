"""Forms: the distinct sets of features that positions have, each with its observation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chainfield.arrays import Bool, Int, Int32, UInt64

_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT = np.uint64(31)


@dataclass(frozen=True, eq=False)
class Forms:
    """M forms: the number of the observation (-1: none), and the numbers of all other features.

    Where features are those of the word itself, a form is a word with its spelling, and there are as many forms as
    words. Features that look at neighbours make more of them.
    """

    observation: Int32  # (M,)
    indptr: Int  # (M+1,)
    indices: Int32

    def __len__(self) -> int:
        return len(self.observation)

    @cached_property
    def _keys(self) -> tuple[UInt64, Int]:
        """Hashes of the forms, ascending, and whose they are."""
        keys = _hash(self)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def row(self, form: int) -> list[int]:
        """The observation and the other features of one form."""
        own = self.indices[self.indptr[form] : self.indptr[form + 1]].tolist()
        return [int(self.observation[form]), *own]

    def find(self, other: Forms) -> Int:
        """The number of each of the other forms here; -1 where there is no such form."""
        found = np.full(len(other), -1, np.int64)
        if len(self) == 0 or len(other) == 0:
            return found
        keys, order = self._keys
        wanted = _hash(other)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        same = keys[place] == wanted
        found[same] = order[place[same]]
        for i in np.flatnonzero(same)[~_equal(self, found[same], other, np.flatnonzero(same))].tolist():
            # Two forms with one hash of 64 bits: look at every form with that hash.
            at, found[i] = int(np.searchsorted(keys, wanted[i])), -1
            while at < len(keys) and keys[at] == wanted[i] and found[i] < 0:
                found[i] = order[at] if self.row(int(order[at])) == other.row(i) else -1
                at += 1
        return found

    def __add__(self, other: Forms) -> Forms:
        """These forms, and others (which must not be among them) behind them."""
        return Forms(
            np.concatenate([self.observation, other.observation]),
            np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]]),
            np.concatenate([self.indices, other.indices]),
        )

    def take(self, which: Int) -> Forms:
        """Some of them, in the given order."""
        lengths = np.diff(self.indptr)[which]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[:-1][which] - indptr[:-1], lengths)
        return Forms(self.observation[which], indptr, self.indices[places])

    def distinct(self) -> tuple[Forms, Int]:
        """Every form once, in order of first appearance, and the number that each has now."""
        keys = _hash(self)
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        if not _equal(self, first[number], self, np.arange(len(self))).all():
            rows = [tuple(self.row(i)) for i in range(len(self))]
            seen: dict[tuple[int, ...], int] = {}
            number = np.array([seen.setdefault(row, len(seen)) for row in rows], np.int64)
            first = np.unique(number, return_index=True)[1]
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return self.take(first[order]), rank[number]

    def renumbered(self, numbers: Int) -> Forms:
        """The same forms where feature f has the number ``numbers[f]``."""
        known: Int32 = np.append(numbers, -1).astype(np.int32)
        return Forms(known[self.observation], self.indptr, known[self.indices])


def no_forms() -> Forms:
    """None yet."""
    return Forms(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32))


def _hash(forms: Forms) -> UInt64:
    """(M,) a hash of every form: a sum over its features of numbers that depend on feature and place."""
    lengths = np.diff(forms.indptr)
    place = np.arange(len(forms.indices)) - np.repeat(forms.indptr[:-1], lengths)
    own = _mix(forms.indices.astype(np.uint64) * _FIRST + (place + 1).astype(np.uint64) * _SECOND)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(own, dtype=np.uint64)])
    rest = sums[forms.indptr[1:]] - sums[forms.indptr[:-1]]
    return _mix(rest + _mix(forms.observation.astype(np.uint64) * _SECOND))


def _mix(values: UInt64) -> UInt64:
    values = (values ^ (values >> _SHIFT)) * _FIRST
    return (values ^ (values >> _SHIFT)) * _SECOND


def _equal(a: Forms, i: Int, b: Forms, j: Int) -> Bool:
    """Whether forms i of one are forms j of the other, one by one."""
    same = a.observation[i] == b.observation[j]
    lengths = np.diff(b.indptr)[j]
    same &= np.diff(a.indptr)[i] == lengths
    i, j, lengths = i[same], j[same], lengths[same]
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    differ = a.indices[np.repeat(a.indptr[i], lengths) + within] != b.indices[np.repeat(b.indptr[j], lengths) + within]
    wrong = np.bincount(np.repeat(np.arange(len(i)), lengths), weights=differ, minlength=len(i)) > 0
    same[np.flatnonzero(same)[wrong]] = False
    return same
