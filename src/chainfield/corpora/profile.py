"""What is told of a corpus without keeping it: sizes, labels, and which label follows which."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from chainfield.arrays import Int, Int32, Ragged, distinct


class Border(Enum):
    """What stands before the first label of a sequence and behind the last."""

    BORDER = 0


BORDER = Border.BORDER
Step = tuple[Any, Any]


@dataclass(frozen=True)
class Profile:
    """Labels in order of first appearance (None and sets among them), steps between neighbours, sizes of pieces.

    ``complete``: the steps of sequences whose labels are all known.
    """

    kinds: tuple[Any, ...]
    steps: frozenset[Step]
    complete: frozenset[Step]
    sizes: tuple[tuple[int, int], ...]  # sequences and positions of each piece

    @classmethod
    def of(cls, ragged: Ragged, kinds: tuple[Any, ...], codes: Int32) -> Profile:
        """Of one piece."""
        open_kind = np.array([kind is None or isinstance(kind, frozenset) for kind in kinds], np.bool_)
        unknown = np.zeros(ragged.n_sequences, np.bool_)
        unknown[ragged.sequence_of()[open_kind[codes]]] = True
        full = ~ragged.spread(unknown)
        n = len(kinds)
        before = np.concatenate([[n], codes[:-1]]).astype(np.int64)
        before[ragged.firsts] = n
        into = before * (n + 1) + codes
        out = codes[ragged.ends()[1]].astype(np.int64) * (n + 1) + n
        steps = _steps(np.concatenate([into, out]), kinds)
        complete = _steps(np.concatenate([into[full], out[~unknown[ragged.not_empty]]]), kinds)
        used = dict.fromkeys(kinds[i] for i in codes[np.sort(np.unique(codes, return_index=True)[1])].tolist())
        return cls(tuple(used), steps, complete, ((ragged.n_sequences, ragged.n_positions),))

    def __add__(self, other: Profile) -> Profile:
        return Profile(
            tuple(dict.fromkeys((*self.kinds, *other.kinds))),
            self.steps | other.steps,
            self.complete | other.complete,
            self.sizes + other.sizes,
        )

    @property
    def n_sequences(self) -> int:
        """Of all pieces."""
        return sum(s for s, _ in self.sizes)

    @property
    def n_positions(self) -> int:
        """Of all pieces."""
        return sum(n for _, n in self.sizes)

    @property
    def firsts(self) -> Int:
        """The number of the first sequence of each piece."""
        return np.cumsum([0, *(s for s, _ in self.sizes)])[:-1]

    @property
    def uniform(self) -> bool:
        """Whether all positions of a sequence have the same label: then it is that of the sequence."""
        return all(a == b or BORDER in (a, b) for a, b in self.steps)

    def witnesses(self) -> list[list[Any]]:
        """A few label sequences that have all steps of the corpus, and no others: rules hold for the corpus if they
        hold for these.
        """
        found: dict[tuple[Any, ...], None] = {}
        for steps in (self.complete, self.steps):
            into, out = _ways(steps), _ways(frozenset((b, a) for a, b in steps))
            for a, b in sorted(steps, key=repr):
                found.setdefault((*_way(a, into), *reversed(_way(b, out))))
        return [list(labels) for labels in found if labels]


def _steps(codes: Int, kinds: tuple[Any, ...]) -> frozenset[Step]:
    names = (*kinds, BORDER)
    return frozenset((names[a], names[b]) for a, b in (divmod(c, len(names)) for c in distinct(codes).tolist()))


def _ways(steps: frozenset[Step]) -> dict[Any, Any]:
    """What precedes each label on a shortest way from the border."""
    follow: dict[Any, list[Any]] = {}
    for a, b in sorted(steps, key=repr):
        follow.setdefault(a, []).append(b)
    before: dict[Any, Any] = {}
    waiting = deque([BORDER])
    while waiting:
        a = waiting.popleft()
        for b in follow.get(a, ()):
            if b is not BORDER and b not in before:
                before[b] = a
                waiting.append(b)
    return before


def _way(label: Any, before: dict[Any, Any]) -> list[Any]:
    way = []
    while label is not BORDER:
        way.append(label)
        if label not in before:
            raise ValueError(f"no sequence can have the label {label!r:.40}")
        label = before[label]
    return way[::-1]
