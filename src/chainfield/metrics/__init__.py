"""How good are predicted labels: spans, scores, and whether a difference of scores means anything."""

from __future__ import annotations

from chainfield.spans import Span, has_spans, spans, split_label

from .intervals import ScoreInterval, ScoreIntervals, score_intervals
from .mistakes import (
    Mistake,
    SpanAlignment,
    SpanConfusion,
    align_spans,
    count_mistakes,
    find_mistakes,
    span_confusion,
)
from .reliability_bins import Bin, CoveragePoint, Reliability, coverage, reliability
from .report import Average, Confusion, Report, Score, SpanScores, conlleval_text, macro_average
from .resampling import Interval
from .scores import evaluate, sequence_accuracy, span_f1, token_accuracy
from .scoring import Scoring, get_scorer
from .significance import Comparison, bootstrap_interval, mcnemar, paired_bootstrap

__all__ = [
    "Average",
    "Bin",
    "Comparison",
    "Confusion",
    "CoveragePoint",
    "Interval",
    "Mistake",
    "Reliability",
    "Report",
    "Score",
    "ScoreInterval",
    "ScoreIntervals",
    "Scoring",
    "Span",
    "SpanAlignment",
    "SpanConfusion",
    "SpanScores",
    "align_spans",
    "bootstrap_interval",
    "conlleval_text",
    "count_mistakes",
    "coverage",
    "evaluate",
    "find_mistakes",
    "get_scorer",
    "has_spans",
    "macro_average",
    "mcnemar",
    "paired_bootstrap",
    "reliability",
    "score_intervals",
    "sequence_accuracy",
    "span_confusion",
    "span_f1",
    "spans",
    "split_label",
    "token_accuracy",
]
