"""Names for parameters: which features and which labels a weight belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from chainfield.states import StateSpace

from .tagger import Tagger


def edge_labels(space: StateSpace, labels: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The labels along each edge: (from, to), or (before, from, to) in a second-order space (None: no label before)."""
    if space.n_states == space.n_rows:
        pairs = zip(space.label_of[space.src].tolist(), space.label_of[space.dst].tolist(), strict=True)
        return [(labels[a], labels[b]) for a, b in pairs]
    # In a second-order space a state (i, j) is entered only from states that emit i.
    before = np.full(space.n_states, -1, np.int64)
    before[space.dst] = space.label_of[space.src]
    names = []
    for a, b in zip(space.src.tolist(), space.dst.tolist(), strict=True):
        first = None if before[a] < 0 else labels[before[a]]
        names.append((first, labels[space.label_of[a]], labels[space.label_of[b]]))
    return names


def feature_weights(tagger: Tagger) -> Iterator[tuple[str, Any, float]]:
    """(feature, label, weight) of every linear weight on a position's features."""
    from chainfield.scorers import DenseLinear, SparseLinear

    names = tagger.features.feature_names()
    labels = [tagger.task.labels[i] for i in tagger.chain.space.label_of_row]
    for scorer in tagger.chain.emissions:
        if isinstance(scorer, SparseLinear):
            weight = tagger.params[f"{scorer.name}.weight"].tolist()
            features = scorer.pairs.feature().tolist()
            exists = scorer.pairs.exists().tolist()
            for f, row, w, real in zip(features, scorer.pairs.row.tolist(), weight, exists, strict=True):
                if real:
                    yield names[f], labels[row], w
        elif isinstance(scorer, DenseLinear):
            for f, row_weights in enumerate(tagger.params[f"{scorer.name}.weight"].tolist()):
                for label, w in zip(labels, row_weights, strict=True):
                    yield names[f], label, w


def transition_weights(tagger: Tagger) -> dict[tuple[Any, ...], float]:
    """Scores of transitions by their labels (all shared transition scorers added up)."""
    from chainfield.scorers import Transition

    score = np.zeros(tagger.chain.space.n_edges)
    for scorer in tagger.chain.transitions:
        if isinstance(scorer, Transition):
            weight = tagger.params[f"{scorer.name}.weight"]
            if len(weight):
                score += np.where(scorer.tie >= 0, weight[scorer.tie], 0.0)
    return dict(zip(edge_labels(tagger.chain.space, tagger.task.labels), score.tolist(), strict=True))


def boundary_weights(tagger: Tagger) -> dict[str, dict[Any, float]]:
    """Scores of labels at the first and at the last position."""
    from chainfield.scorers import Boundary

    labels = [tagger.task.labels[i] for i in tagger.chain.space.label_of_row]
    for scorer in tagger.chain.emissions:
        if isinstance(scorer, Boundary):
            return {
                end: dict(zip(labels, tagger.params[f"{scorer.name}.{end}"].tolist(), strict=True))
                for end in ("start", "end")
            }
    return {}
