"""Precision, recall and F1 of every type, each with its bootstrap interval.

Resamples draw whole sequences, or whole groups of them: the sentences of a document are alike, so that drawing them
one by one makes intervals too narrow. Shapes: G groups, T types, B resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.spans import has_spans, rule_of, spans

from .report import Score
from .resampling import Interval, check_resampling, group_numbers
from .span_counts import Sequences, check_aligned

_BATCH = 1 << 22  # numbers of draws at a time, which bounds the memory
_Pair = tuple[Sequence[tuple[Any, ...]], Sequence[tuple[Any, ...]]]  # gold and found items of a sequence


@dataclass(frozen=True)
class ScoreInterval:
    """Counts and scores of a type (or a label, or all of them), with intervals.

    A resample in which a score has no denominator says nothing about it and is left out. If all are like that, the
    interval reaches from 0 to 1.
    """

    score: Score
    precision: Interval
    recall: Interval
    f1: Interval


@dataclass(frozen=True)
class ScoreIntervals:
    """Scores of spans by type, or of labels where labels are no span labels; ``all`` has those of all types together.

    ``unit`` tells what was resampled: "sequence" or "group", of which there were ``n_units``.
    """

    types: Mapping[str, ScoreInterval]
    all: ScoreInterval
    of_spans: bool
    unit: str
    n_units: int
    n_resamples: int
    level: float


def score_intervals(
    y_true: Sequences,
    y_pred: Sequences,
    scheme: str = "conlleval",
    *,
    groups: Sequence[Any] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: int | np.random.Generator = 0,
) -> ScoreIntervals:
    """Scores of every type with percentile bootstrap intervals.

    ``groups`` names the group of each sequence (its document, its author); whole groups are then drawn. Where labels
    stand for spans, spans are scored, otherwise single labels: O counts like any other, and "all" is the accuracy.
    """
    rule_of(scheme)
    check_aligned(y_true, y_pred)
    labels = {*chain.from_iterable(y_true), *chain.from_iterable(y_pred)}
    of_spans = all(isinstance(label, str) for label in labels) and has_spans(labels)
    unit, n_units = group_numbers(groups, len(y_true))
    check_resampling(n_units, n_resamples, level, "sequences" if groups is None else "groups")
    pairs = _span_pairs(y_true, y_pred, scheme) if of_spans else _label_pairs(y_true, y_pred)
    types = sorted({name for pair in pairs for side in pair for name, *_ in side}, key=str)
    found = _counts(pairs, types, unit, n_units)
    draws = _resample(found, n_resamples, np.random.default_rng(random_state))
    scored = {name: _interval(found[:, i].sum(0), draws[:, i], level) for i, name in enumerate(types)}
    return ScoreIntervals(
        types=scored,
        all=_interval(found.sum((0, 1)), draws.sum(1), level),
        of_spans=of_spans,
        unit="sequence" if groups is None else "group",
        n_units=n_units,
        n_resamples=n_resamples,
        level=level,
    )


def _span_pairs(y_true: Sequences, y_pred: Sequences, scheme: str) -> list[_Pair]:
    return [(spans(gold, scheme), spans(guess, scheme)) for gold, guess in zip(y_true, y_pred, strict=True)]


def _label_pairs(y_true: Sequences, y_pred: Sequences) -> list[_Pair]:
    """Every token is an item of its own: its label and its place."""

    def items(labels: Sequence[str]) -> list[tuple[Any, ...]]:
        return [(label, t) for t, label in enumerate(labels)]

    return [(items(gold), items(guess)) for gold, guess in zip(y_true, y_pred, strict=True)]


def _counts(pairs: list[_Pair], types: list[str], unit: Int, n_units: int) -> Int:
    """(G, T, 3) gold, found and right items of each group and type."""
    number = {name: i for i, name in enumerate(types)}
    counts = np.zeros((n_units, len(types), 3), np.int64)
    for g, (gold, found) in zip(unit.tolist(), pairs, strict=True):
        for column, side in enumerate((gold, found, set(gold).intersection(found))):
            for name, *_ in side:
                counts[g, number[name], column] += 1
    return counts


def _resample(counts: Int, n_resamples: int, rng: np.random.Generator) -> Int:
    """(B, T, 3) the counts of as many groups as there are, drawn with replacement."""
    n, flat = len(counts), counts.reshape(len(counts), -1).astype(np.float64)
    drawn = np.empty((n_resamples, flat.shape[1]))
    step = max(1, _BATCH // n)
    for lo in range(0, n_resamples, step):
        hi = min(lo + step, n_resamples)
        index = rng.integers(n, size=(hi - lo, n))
        weight = np.zeros((hi - lo, n))
        np.add.at(weight, (np.arange(hi - lo)[:, None], index), 1.0)
        drawn[lo:hi] = weight @ flat
    return drawn.round().astype(np.int64).reshape(n_resamples, *counts.shape[1:])


def _interval(counts: Int, draws: Int, level: float) -> ScoreInterval:
    gold, found, right = counts.tolist()
    score = Score(correct=right, predicted=found, support=gold)
    golds, founds, rights = draws[:, 0], draws[:, 1], draws[:, 2]
    return ScoreInterval(
        score,
        _percentiles(score.precision, rights, founds, level),
        _percentiles(score.recall, rights, golds, level),
        _percentiles(score.f1, 2 * rights, golds + founds, level),
    )


def _percentiles(estimate: float, above: Int, below: Int, level: float) -> Interval:
    drawn: Float = above[below > 0] / below[below > 0]
    if not len(drawn):
        return Interval(estimate, 0.0, 1.0)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high))
