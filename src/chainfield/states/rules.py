"""Hard constraints: which labels may start, end, and follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Bool
from chainfield.errors import ConfigError

from .space import StateSpace


@dataclass(frozen=True, eq=False)
class Rules:
    """Over L labels: may start (L,), may end (L,), may follow (L, L), read [from, to]."""

    start: Bool
    end: Bool
    edge: Bool

    def __and__(self, other: Rules) -> Rules:
        """Both sets of rules together."""
        return Rules(self.start & other.start, self.end & other.end, self.edge & other.edge)


def forbid(labels: Sequence[str], pairs: Iterable[tuple[str | None, str | None]]) -> Rules:
    """Everything but the given transitions; (None, label) forbids a start, (label, None) an end."""
    index = {label: i for i, label in enumerate(labels)}
    n = len(labels)
    rules = Rules(np.ones(n, np.bool_), np.ones(n, np.bool_), np.ones((n, n), np.bool_))
    for before, after in pairs:
        for name in (before, after):
            if name is not None and name not in index:
                raise ConfigError(
                    f"The rule {(before, after)!r} names the label {name!r}, which the training data do not have."
                )
        if before is None and after is None:
            raise ConfigError("A rule needs at least one label; (None, None) names none.")
        if before is None:
            rules.start[index[after]] = False  # type: ignore[index]
        elif after is None:
            rules.end[index[before]] = False
        else:
            rules.edge[index[before], index[after]] = False
    return rules


def restrict(space: StateSpace, rules: Rules) -> StateSpace:
    """The space without the edges, starts and ends that the rules forbid."""
    labels = space.label_of
    keep = rules.edge[labels[space.src], labels[space.dst]]
    start = space.start & rules.start[labels]
    end = space.end & rules.end[labels]
    if not start.any() or not end.any():
        raise ConfigError("The rules leave no label that may start or no label that may end a sequence.")
    edge_row = np.unique(space.edge_row[keep], return_inverse=True)[1].astype(np.int32)
    return StateSpace(
        n_labels=space.n_labels,
        label_of=labels,
        row_of=space.row_of,
        src=space.src[keep],
        dst=space.dst[keep],
        start=start,
        end=end,
        edge_row=edge_row,
    )
