"""Tagging: a label for every position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import DataError
from chainfield.potentials import UNKNOWN, Clamp, clamp_labels, clamp_sets
from chainfield.states import StateSpace

from .labels import ordered_labels, plain_label
from .task import Int, Task


@final
@dataclass(frozen=True)
class Tagging(Task):
    """Targets are sequences of labels; None is an unknown label, a set of labels is "one of these"."""

    labels: tuple[Any, ...]

    @cached_property
    def number(self) -> dict[Any, int]:
        """Label → number."""
        return {label: i for i, label in enumerate(self.labels)}

    def clamp(self, space: StateSpace, targets: Sequence[Any], offsets: Int) -> Clamp:
        """Known labels, as sets of rows."""
        check_lengths(targets, offsets)
        flat = list(chain.from_iterable(targets))
        try:
            return clamp_labels(space, np.fromiter(map(self._numbers.__getitem__, flat), np.int32, len(flat)))
        except (KeyError, TypeError):
            allowed = [self._allowed(label, i, offsets) for i, label in enumerate(flat)]
            return clamp_sets(space, allowed)

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {**self.number, None: UNKNOWN}

    def _allowed(self, label: Any, at: int, offsets: Int) -> set[int] | None:
        if label is None:
            return None
        chosen = label if isinstance(label, set | frozenset) else {label}
        try:
            return {self.number[plain_label(one)] for one in chosen}
        except KeyError as error:
            s = int(np.searchsorted(offsets, at, side="right")) - 1
            raise DataError(
                f"Sequence {s}, position {at - int(offsets[s])}: the label {error.args[0]!r} is not the model's; "
                f"it knows {', '.join(map(repr, self.labels[:8]))}{' …' if len(self.labels) > 8 else ''}."
            ) from None

    def decode(self, space: StateSpace, states: NDArray[np.int32], offsets: Int) -> list[list[Any]]:
        """The labels of the states."""
        names = np.empty(len(self.labels), object)
        names[:] = self.labels
        flat = names[space.label_of[states]].tolist()
        bounds = offsets.tolist()
        return [flat[a:b] for a, b in pairwise(bounds)]


def labels_in(targets: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
    """All labels that occur in targets, in order."""
    seen: dict[Any, None] = {}
    for s, sequence in enumerate(targets):
        if isinstance(sequence, str | bytes):
            raise DataError(f"The targets of sequence {s} are the string {sequence!r}; a list of labels is expected.")
        for label in sequence:
            if isinstance(label, set | frozenset):
                seen.update(dict.fromkeys(map(plain_label, label)))
            elif label is not None:
                seen.setdefault(plain_label(label))
    return ordered_labels(seen)


def check_lengths(targets: Sequence[Any], offsets: Int) -> None:
    """As many targets as sequences, and as many labels as positions."""
    lengths = np.diff(offsets)
    if len(targets) != len(lengths):
        raise DataError(f"X has {len(lengths)} sequences, but there are labels for {len(targets)}.")
    for s, (target, length) in enumerate(zip(targets, lengths.tolist(), strict=True)):
        if len(target) != length:
            raise DataError(f"Sequence {s} has {length} positions but {len(target)} labels.")
