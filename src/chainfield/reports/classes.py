"""Reports on classifiers of whole sequences: wrong answers, the most surely wrong first, and paths through states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainfield.errors import DataError
from chainfield.models import ClassifyingModel
from chainfield.models.hmm.aligning import Aligning

from .scores import calibration, coverage_rows, intervals, label_mistakes, rounded, score_rows

MOST_POSITIONS = 400  # of a path that is shown


def classifying(
    model: ClassifyingModel, X: Sequence[Any], y: Sequence[Any], groups: Sequence[Any] | None, most: int
) -> tuple[dict[str, Any], dict[str, int]]:
    """The figures of a classifier, and how often each class occurs."""
    labels = list(model._classifier().task.labels)
    if len(X) != len(y):
        raise DataError(f"There are {len(X)} sequences but labels for {len(y)}.")
    kept = [i for i, label in enumerate(y) if label is not None]
    if not kept:
        raise DataError("A report compares answers with gold labels, but no label is known; give labelled data.")
    X, gold = [X[i] for i in kept], [str(y[i]) for i in kept]
    groups = None if groups is None else [groups[i] for i in kept]
    if not set(gold) & set(map(str, labels)):
        raise DataError(
            f"The model knows none of the gold labels ({', '.join(sorted(set(gold))[:3])}); it was trained with "
            f"{', '.join(map(str, labels[:3]))}."
        )
    probability = model.predict_proba(X)
    best = probability.argmax(1)
    found = [str(labels[k]) for k in best.tolist()]
    said = np.clip(probability[np.arange(len(best)), best], 0.0, 1.0)
    right = [a == b for a, b in zip(gold, found, strict=True)]
    wrong = sorted((i for i, good in enumerate(right) if not good), key=lambda i: (-said[i], i))
    shown = wrong[:most]
    paths = model.align([X[i] for i in shown]) if isinstance(model, Aligning) and shown else []
    data: dict[str, Any] = {
        "mistakes": label_mistakes(gold, found),
        "errors": {
            "n": len(wrong),
            "n_surest": len(shown),
            "n_sampled": 0,
            "sequences": [
                {
                    "i": kept[i],
                    "length": len(X[i]) if hasattr(X[i], "__len__") else int(X[i].shape[0]),
                    "gold": gold[i],
                    "found": found[i],
                    "p": rounded(said[i]),
                    "probabilities": [
                        [str(labels[k]), rounded(probability[i, k])] for k in np.argsort(-probability[i])[:5].tolist()
                    ],
                    "states": paths[place].states[:MOST_POSITIONS].tolist() if paths else None,
                }
                for place, i in enumerate(shown)
            ],
        },
        "calibration": calibration(said.tolist(), right),
        "coverage": coverage_rows(said.tolist(), right, len(gold)),
        "unknown_labels": sorted(set(gold) - set(map(str, labels))),
    }
    scores = intervals([[label] for label in gold], [[label] for label in found], groups)
    if scores is not None:
        data["scores"] = score_rows(scores)
    return data, {label: gold.count(label) for label in set(gold)}
