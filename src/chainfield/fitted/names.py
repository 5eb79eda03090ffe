"""Names for parameters: which features, labels and states a weight belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainfield.arrays import Float
from chainfield.scorers import SparseLinear
from chainfield.scorers.shares import Place
from chainfield.scorers.triples import Triples
from chainfield.states import StateSpace
from chainfield.states.naming import row_ranks, state_keys

if TYPE_CHECKING:
    from chainfield.features import FeatureMap

    from .model import FittedModel


ENDS: tuple[Place, Place] = ("start", "end")


class StateName(NamedTuple):
    """One of several states of a label, counted from 0."""

    label: Any
    number: int

    def __str__(self) -> str:
        return f"{self.label}#{self.number}"


def row_names(space: StateSpace, labels: tuple[Any, ...]) -> list[Any]:
    """The label of each emission row; a :class:`StateName` where the label has several rows."""
    several = np.bincount(space.label_of_row, minlength=space.n_labels) > 1
    rows = zip(space.label_of_row.tolist(), row_ranks(space).tolist(), strict=True)
    return [StateName(labels[label], rank) if several[label] else labels[label] for label, rank in rows]


def edge_names(space: StateSpace, labels: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The names along each edge: (from, to), or (before, from, to) in a second-order space (None: nothing before)."""
    rows, keys = row_names(space, labels), state_keys(space)
    ends = list(zip(space.src.tolist(), space.dst.tolist(), strict=True))
    if space.n_states == space.n_rows:
        return [(rows[a], rows[b]) for a, b in ends]
    if not keys[:, 2].any():  # the row before tells the states of a row apart
        before = [rows[row] if row >= 0 else None for row in keys[:, 1].tolist()]
        return [(before[a], rows[space.row_of[a]], rows[space.row_of[b]]) for a, b in ends]
    names = [StateName(rows[row], state) for state, row in enumerate(space.row_of.tolist())]
    return [(names[a], names[b]) for a, b in ends]


def label_of_name(name: Any) -> Any:
    """The label behind a name of a row or a state."""
    while isinstance(name, StateName):
        name = name.label
    return name


class Numbered:
    """Features that are called by their numbers: to name all of them can take longer than all the rest."""

    def __init__(self, features: FeatureMap) -> None:
        self._features = features

    def feature_names(self) -> Sequence[Any]:
        """Numbers instead of names."""
        return range(len(self._features.feature_names()))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._features, name)


def feature_weights(model: FittedModel, *, numbered: bool = False) -> Iterator[tuple[Any, Any, float]]:
    """(feature, label or state, weight) of every weight on a position's features that has a name.

    ``numbered``: where weights are linear, the number of a feature stands for its name.
    """
    rows = row_names(model.chain.space, model.task.labels)
    for scorer in model.chain.emissions:
        features: Any = model.features
        if numbered and isinstance(scorer, SparseLinear):
            features = Numbered(features)
        for feature, row, weight in scorer.weights("position", model.own(scorer), features):
            yield feature, rows[row] if row >= 0 else model.task.labels[-1 - row], weight


def edge_scores(model: FittedModel) -> Float:
    """(E,) scores of transitions, all shared transition scorers added up."""
    score = np.zeros(model.chain.space.n_edges)
    for scorer in model.chain.transitions:
        for feature, edge, weight in scorer.weights("transition", model.own(scorer), model.features):
            if not feature:
                score[edge] += weight
    return score


def transition_weights(model: FittedModel) -> dict[tuple[Any, ...], float]:
    """Scores of transitions by their labels or states; where triples are looked up, those that have a weight too."""
    names = edge_names(model.chain.space, model.task.labels)
    score = edge_scores(model).tolist()
    found = dict(zip(names, score, strict=True))
    for scorer in model.chain.transitions:
        if isinstance(scorer, Triples):
            found |= _triple_weights(model, scorer)
    return found


def _triple_weights(model: FittedModel, scorer: Triples) -> dict[tuple[Any, ...], float]:
    """(before, from, to) of every triple, None: nothing before; the weight of the pair is a part of the score."""
    space, rows, score = model.chain.space, row_names(model.chain.space, model.task.labels), edge_scores(model)
    found: dict[tuple[Any, ...], float] = {}
    triples = zip(scorer.pair.tolist(), scorer.third.tolist(), model.own(scorer)["weight"].tolist(), strict=True)
    for pair, third, weight in triples:
        starts = pair >= space.n_edges
        middle = pair - space.n_edges if starts else int(space.dst[pair])
        before = None if starts else rows[space.src[pair]]
        found[before, rows[middle], rows[third]] = float(score[space.edge_of[middle, third]]) + weight
    return found


def boundary_weights(model: FittedModel) -> dict[str, dict[Any, float]]:
    """Scores of labels or states at the first and at the last position; empty if there are none."""
    rows = row_names(model.chain.space, model.task.labels)
    found: dict[str, dict[Any, float]] = {}
    for scorer in model.chain.emissions:
        for place in ENDS:
            for _, row, weight in scorer.weights(place, model.own(scorer), model.features):
                own = found.setdefault(place, {})
                own[rows[row]] = own.get(rows[row], 0.0) + weight
    return found
