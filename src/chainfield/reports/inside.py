"""What a model has learned: transitions, features, hidden states, hidden units, means and variances."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from chainfield.arrays import distinct
from chainfield.fitted import FittedModel, names
from chainfield.inspection.states import hidden_states, row_scores
from chainfield.inspection.units import has_units, portraits
from chainfield.models import SequenceModel
from chainfield.models.hmm.hmm import HMM
from chainfield.models.hmm.mixture import GaussianMixture

from .scores import rounded

MOST_LABELS = 40  # of the matrix of transitions and of the lists of features
N_FOR, N_AGAINST = 10, 5  # features of a label that are shown
MOST_STATES = 60
MOST_UNITS = 16
MOST_COLUMNS = 16  # numbers of a state that are shown


def inside(model: SequenceModel, X: Sequence[Any], frequency: dict[str, int]) -> dict[str, Any]:
    """Everything that this kind of model can tell; ``frequency``: how often labels occur, to show the frequent ones."""
    fitted = model._fitted()
    several = fitted.chain.space.n_rows > len(distinct(fitted.chain.space.label_of_row))
    found: dict[str, Any] = {}
    if fitted.task.every_position and not several:
        found["transitions"] = _transitions(fitted, frequency)
    hmm = hmm_portrait(fitted)
    if hmm is not None:  # means and variances say more than the weights that they are written as
        found["hmm"] = hmm
    elif (features := _features(model, frequency))["labels"]:
        found["features"] = features
    if several and fitted.task.every_position:
        found["states"] = _states(fitted, X)
    if has_units(fitted):
        found["units"] = _units(fitted)
    return found


def _frequent(labels: Sequence[Any], frequency: dict[str, int]) -> list[int]:
    """The labels to show, by number, in their order."""
    ranked = sorted(range(len(labels)), key=lambda i: (-frequency.get(str(labels[i]), 0), i))
    return sorted(ranked[:MOST_LABELS])


def _transitions(fitted: FittedModel, frequency: dict[str, int]) -> dict[str, Any]:
    """Weights from the label in a row to the label in a column, and of the ends; null: it does not exist."""
    labels = fitted.task.labels
    kept = _frequent(labels, frequency)
    scores = row_scores(fitted)[np.ix_(kept, kept)]
    ends = names.boundary_weights(fitted)
    space = fitted.chain.space
    allowed = {"start": space.label_of[space.start].tolist(), "end": space.label_of[space.end].tolist()}
    return {
        "labels": [str(labels[i]) for i in kept],
        "n_labels": len(labels),
        "weights": [[rounded(w, 2) if np.isfinite(w) else None for w in row] for row in scores],
        **{
            end: [rounded(own.get(labels[i], 0.0), 2) if i in allowed[end] else None for i in kept]
            for end, own in ((end, ends.get(end, {})) for end in ("start", "end"))
        },
    }


def _features(model: SequenceModel, frequency: dict[str, int]) -> dict[str, Any]:
    """The strongest features of each label (or state), with how often they occurred in training."""
    fitted, labels = model._fitted(), model._fitted().task.labels
    shown = {str(labels[i]) for i in _frequent(labels, frequency)}
    counts = getattr(model, "feature_counts_", None)
    weights: dict[Any, list[tuple[float, Any]]] = defaultdict(list)
    for feature, name, weight in names.feature_weights(fitted, numbered=True):
        if weight:
            weights[name].append((weight, feature))
    weights = {str(name): own for name, own in weights.items() if str(names.label_of_name(name)) in shown}
    texts = fitted.features.feature_names()

    def row(weight: float, feature: int | str) -> list[Any]:
        at = feature if isinstance(feature, int) else None
        text = feature if isinstance(feature, str) else texts[feature]
        return [text[:100], rounded(weight, 3), None if counts is None or at is None else int(counts[at])]

    found = {}
    for name, own in weights.items():
        best = heapq.nlargest(N_FOR, own, key=itemgetter(0))
        worst = heapq.nsmallest(N_AGAINST, own, key=itemgetter(0))
        found[name] = {
            "for": [row(w, f) for w, f in best if w > 0],
            "against": [row(w, f) for w, f in worst if w < 0],
        }
    return {"labels": dict(sorted(found.items())[: 3 * MOST_LABELS]), "n_labels": len(labels)}


def _states(fitted: FittedModel, X: Sequence[Any]) -> dict[str, Any]:
    """Hidden states: the words that fire them, and their transitions in an order that shows blocks."""
    found = hidden_states(fitted, X, n=8)
    order = found.order()[:MOST_STATES].tolist()
    scores = found.scores[np.ix_(order, order)]
    return {
        "n": len(found.states),
        "n_used": len(found.used()),
        "perplexity": rounded(found.perplexity, 1),
        "rows": [
            {
                "name": str(state.name),
                "label": str(state.label),
                "n": state.count,
                "tokens": [[token[:40], n] for token, n in state.tokens],
            }
            for state in (found.states[i] for i in order)
        ],
        "weights": [[rounded(w, 2) if np.isfinite(w) else None for w in row] for row in scores],
    }


def _units(fitted: FittedModel) -> dict[str, Any]:
    """Hidden units: what switches them on, and which labels they speak for."""
    found = portraits(fitted)
    return {
        "n": len(found),
        "rows": [
            {
                "unit": own.unit,
                "strength": rounded(own.strength, 3),
                "features": [[name[:100], rounded(weight, 3)] for name, weight in own.features],
                "labels": [[str(name), rounded(weight, 3)] for name, weight in own.labels],
            }
            for own in found[:MOST_UNITS]
        ],
    }


def hmm_portrait(fitted: FittedModel) -> dict[str, Any] | None:
    """Means, variances and moves of each class's states, of models that have Gaussians."""
    if fitted.task.every_position or not any(isinstance(own, GaussianMixture) for own in fitted.chain.emissions):
        return None
    found = HMM.read(fitted.chain, fitted.theta)
    space, state_names = fitted.chain.space, names.row_names(fitted.chain.space, fitted.task.labels)
    n_columns = found.mean.shape[2]
    share = found.weight / np.maximum(found.weight.sum(1), 1e-300)[:, None]  # (K, M)
    mean = np.einsum("km,kmd->kd", share, found.mean)
    variance = np.maximum(np.einsum("km,kmd->kd", share, found.variance + found.mean**2) - mean**2, 0.0)
    # Free gradient training leaves weights that are no probabilities; their shares are.
    onward = found.end + np.bincount(space.src, found.move, minlength=space.n_states)
    onward[onward == 0] = 1.0
    start, end, move = found.start / (found.start.sum() or 1.0), found.end / onward, found.move / onward[space.src]
    classes = []
    for number, label in enumerate(fitted.task.labels[:MOST_LABELS]):
        own = np.flatnonzero(space.label_of == number).tolist()
        inner = [e for e in range(space.n_edges) if space.label_of[space.src[e]] == number]
        moves: list[list[Any]] = [
            [own.index(int(space.src[e])), own.index(int(space.dst[e])), rounded(move[e])] for e in inner
        ]
        classes.append(
            {
                "label": str(label),
                "states": [
                    {
                        "name": str(state_names[k]),
                        "start": rounded(start[k]),
                        "end": rounded(end[k]),
                        "mean": [_significant(v) for v in mean[k, :MOST_COLUMNS]],
                        "deviation": [_significant(v) for v in np.sqrt(variance[k, :MOST_COLUMNS])],
                    }
                    for k in own
                ],
                "moves": moves,
            }
        )
    return {
        "classes": classes,
        "n_classes": len(fitted.task.labels),
        "n_columns": n_columns,
        "n_components": found.mean.shape[1],
    }


def _significant(value: float) -> float:
    return float(f"{value:.4g}")
