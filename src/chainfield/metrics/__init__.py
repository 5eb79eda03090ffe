"""How good are predicted labels: spans, scores, and whether a difference of scores means anything."""

from __future__ import annotations

from chainfield.spans import Span, has_spans, spans, split_label

from .report import Average, Confusion, Report, Score, SpanScores, conlleval_text, macro_average
from .resampling import Interval
from .scores import evaluate, sequence_accuracy, span_f1, token_accuracy
from .scoring import Scoring, get_scorer
from .significance import Comparison, bootstrap_interval, mcnemar, paired_bootstrap

__all__ = [
    "Average",
    "Comparison",
    "Confusion",
    "Interval",
    "Report",
    "Score",
    "Scoring",
    "Span",
    "SpanScores",
    "bootstrap_interval",
    "conlleval_text",
    "evaluate",
    "get_scorer",
    "has_spans",
    "macro_average",
    "mcnemar",
    "paired_bootstrap",
    "sequence_accuracy",
    "span_f1",
    "spans",
    "split_label",
    "token_accuracy",
]
