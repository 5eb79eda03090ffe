"""The figures of a report: scores with intervals, mistakes by kind, confusion, reliability and coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from chainfield.metrics import (
    Reliability,
    ScoreInterval,
    ScoreIntervals,
    count_mistakes,
    coverage,
    reliability,
    score_intervals,
    span_confusion,
)
from chainfield.metrics.resampling import Interval

from .asking import Answers

MOST_TYPES = 40  # rows of a table or of a matrix
N_RESAMPLES = 1000


def intervals(
    gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]], groups: Sequence[Any] | None
) -> ScoreIntervals | None:
    """Scores with intervals; None where there are too few sequences (or groups) to resample."""
    units = len(gold) if groups is None else len(set(groups))
    if units < 2:
        return None
    return score_intervals(gold, found, groups=groups, n_resamples=N_RESAMPLES)


def score_rows(scores: ScoreIntervals) -> dict[str, Any]:
    """The table of scores: a row for each type, the most frequent ones, and one for all."""
    rows = [_row(name, own) for name, own in scores.types.items()]
    rows.sort(key=lambda row: (-row["gold"], row["type"]))
    return {
        "of": "spans" if scores.of_spans else "labels",
        "unit": scores.unit,
        "n_units": scores.n_units,
        "n_resamples": scores.n_resamples,
        "level": scores.level,
        "n_types": len(rows),
        "rows": rows[:MOST_TYPES],
        "all": _row("all", scores.all),
    }


def _row(name: str, own: ScoreInterval) -> dict[str, Any]:
    counts = {"gold": own.score.support, "found": own.score.predicted, "correct": own.score.correct}
    measures = {"precision": own.precision, "recall": own.recall, "f1": own.f1}
    return {"type": name, **counts, **{key: interval_of(value) for key, value in measures.items()}}


def interval_of(interval: Interval) -> dict[str, float]:
    """An interval as JSON, in as many digits as say anything."""
    return {key: rounded(getattr(interval, key)) for key in ("estimate", "low", "high")}


def rounded(value: float, digits: int = 4) -> float:
    """A number for JSON."""
    return round(float(value), digits)


def span_mistakes(answers: Answers) -> dict[str, Any]:
    """How many mistakes there are of each kind, and what was taken for what."""
    kinds = count_mistakes(answers.alignments)
    confusion = span_confusion(answers.alignments)
    gold = confusion.matrix[:-1].sum(1) + confusion.matrix[:, :-1].sum(0)
    return {
        "kinds": kinds,
        "confusion": _matrix(confusion.types, confusion.matrix, gold)
        | {"boundary": confusion.boundary[_kept(gold)].tolist()},
    }


def label_mistakes(gold: Sequence[str], found: Sequence[str]) -> dict[str, Any]:
    """The same where single labels are compared: there is one kind of mistake."""
    pairs = Counter(zip(gold, found, strict=True))
    names = sorted({*gold, *found})
    number = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names) + 1, len(names) + 1), np.int64)
    for (a, b), n in pairs.items():
        matrix[number[a], number[b]] = n
    wrong = int(matrix.sum() - matrix.trace())
    total = matrix[:-1].sum(1) + matrix[:, :-1].sum(0)
    zero = [0] * min(len(names), MOST_TYPES)
    return {"kinds": {"type": wrong}, "confusion": _matrix(tuple(names), matrix, total) | {"boundary": zero}}


def _kept(total: Any) -> Any:
    """The most frequent types, in their order."""
    return np.sort(np.argsort(-total, kind="stable")[:MOST_TYPES])


def _matrix(types: tuple[str, ...], matrix: Any, total: Any) -> dict[str, Any]:
    """Rows are gold types and "spurious", columns found ones and "missed"."""
    kept = _kept(total)
    both = np.append(kept, len(types))
    return {
        "types": [types[i] for i in kept.tolist()],
        "n_types": len(types),
        "counts": matrix[np.ix_(both, both)].tolist(),
    }


def calibration(said: Sequence[float], right: Sequence[bool]) -> dict[str, Any]:
    """Whether probabilities can be believed: bins, and the calibration error."""
    found: Reliability = reliability(said, right)
    histogram = np.histogram(said, bins=20, range=(0.0, 1.0))[0] if len(said) else np.zeros(20, int)
    return {
        "bins": [
            {
                "low": rounded(own.low),
                "high": rounded(own.high),
                "n": own.count,
                "mean": rounded(own.mean),
                "share": interval_of(own.share),
            }
            for own in found.bins
        ],
        "histogram": histogram.tolist(),
        "n": found.count,
        "mean": rounded(found.mean),
        "share": rounded(found.share),
        "error": rounded(found.error),
    }


def coverage_rows(said: Sequence[float], right: Sequence[bool], n_gold: int) -> list[list[float]]:
    """[threshold, share kept, precision, recall] from keeping all answers to keeping the surest."""
    points = coverage(said, right, n_gold, n_points=60)
    return [[rounded(q.threshold), rounded(q.kept), rounded(q.precision), rounded(q.recall)] for q in points]
