"""Pruners that count the training data: label dictionaries, and shares of labels.

A word that was seen often keeps the labels that it had (``dictionary``), or those of them that are frequent enough
(``counts``). To others every *open* label is possible, one that rare words have; or, by counts, the labels that are
frequent enough among those of the position's features, as :class:`EmpiricalCRF` judges words that it has not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.arrays import Bool, Float
from chainfield.errors import ConfigError
from chainfield.features.columns_map import TemplateFeatures
from chainfield.features.feature_map import FeatureMap
from chainfield.problem import Problem
from chainfield.scorers import Pruner
from chainfield.scorers.counting_pruner import words_of
from chainfield.scorers.pruner import sparse_scorer

SEEN = 5  # a word that was seen fewer times may have labels that nobody saw with it
BLOCK = 1 << 19  # scores at a time
KINDS = ("dictionary", "counts")


def count_pruner(problem: Problem, features: FeatureMap, kind: str, threshold: float) -> Pruner:
    """A pruner from the labels of each feature. What it loses is counted as if each position had not been counted."""
    scorer, batch = sparse_scorer(problem.chain.scorers), problem.batch
    sparse, pairs = batch.sparse, scorer.pairs
    assert sparse is not None
    rows = problem.targets.clamp.single_row[problem.targets.clamp.index]
    counts = _pair_counts(problem, rows)
    feature = pairs.feature()
    seen = np.bincount(feature, weights=counts, minlength=pairs.n_features)
    word = _words(features, kind, seen)
    shares = counts / np.maximum(seen[feature], 1.0)
    words = words_of(sparse, word)
    rare = np.bincount(rows[(words < 0) & (rows >= 0)], minlength=scorer.n_rows)
    open_rows = rare > 1 if (rare > 1).any() else np.ones(scorer.n_rows, np.bool_)
    if kind == "counts":
        open_rows = np.empty(0, np.bool_)
    least = threshold if kind == "counts" else 0.0
    known = np.flatnonzero((words >= 0) & (rows >= 0))
    own = _counts_of(pairs.first, pairs.row, counts, words[known], rows[known]) - 1.0
    lost = int(((own <= 0) | (own / np.maximum(seen[words[known]] - 1, 1.0) < least)).sum())
    lost += int(rare[rare <= 2].sum()) if kind == "dictionary" else 0
    return Pruner(
        shares.astype(np.float32).astype(np.float64), least, least, lost=lost / max(int((rows >= 0).sum()), 1),
        kind=kind, word=word, open_rows=open_rows,
    )  # fmt: skip


def _words(features: FeatureMap, kind: str, seen: Any) -> Bool:
    """(F,) which features are words that occurred often enough."""
    found = np.zeros(len(seen), np.bool_)
    name = _word_line(features)
    if name is None:
        raise ConfigError(
            f'prune_by="{kind}" needs words: sequences of strings or of tuples of columns, and a feature that is the '
            'first column itself (U:word=%x[0,0]); use prune_by="softmax".'
        )
    names = features.feature_names()
    for f in np.flatnonzero(seen >= SEEN).tolist():
        found[f] = names[f].startswith(name)
    return found


def _word_line(features: FeatureMap) -> str | None:
    """How names of features begin that are the first column of their own position."""
    for line in features.templates.unigrams if isinstance(features, TemplateFeatures) else ():
        slots = line.slots
        own = len(slots) == 1 and slots[0].offset == slots[0].column == 0 and not (slots[0].absolute or slots[0].lower)
        if own and slots[0].transform.name == "identity" and len(line.pieces) == 2 and isinstance(line.pieces[0], str):
            return str(line.pieces[0])
    return None


def _pair_counts(problem: Problem, rows: Any) -> Float:
    """(P,) how often a feature stands at a position with a row that is known."""
    scorer, batch = sparse_scorer(problem.chain.scorers), problem.batch
    found = {"weight": np.zeros(scorer.pairs.n_pairs)}
    nothing = {"weight": np.zeros(scorer.pairs.n_pairs)}
    for lo, hi in batch.ragged.blocks(max(1, BLOCK // scorer.n_rows)):
        at, window = batch.ragged.slice_of(lo, hi), batch.window(lo, hi)
        truth = np.zeros((at.stop - at.start, scorer.n_rows))
        known = np.flatnonzero(rows[at] >= 0)
        truth[known, rows[at][known]] = 1.0
        scorer.forward(nothing, window, "sum", np.zeros_like(truth))(truth, found, 1.0)
    return found["weight"]


def _counts_of(first: Any, row: Any, counts: Float, features: Any, rows: Any) -> Float:
    """The counts of some pairs of features and rows."""
    n_rows = int(row.max(initial=0)) + 1
    codes = np.repeat(np.arange(len(first) - 1), np.diff(first)) * n_rows + row  # ascending
    return counts[np.searchsorted(codes, features * n_rows + rows)]
