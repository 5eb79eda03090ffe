"""Scores of predicted labels against gold labels.

Ratios without a denominator are 0.0, as in conlleval. Shapes: N tokens, L labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import chain
from typing import Any

import numpy as np

from chainfield.arrays import Int, in_order
from chainfield.spans import has_spans, rule_of, spans

from .report import Confusion, Report, Score, SpanScores, macro_average, ratio
from .span_counts import Sequences, check_aligned, check_single, check_spans, correct_token_counts, count, token_counts


def evaluate(
    y_true: Sequences,
    y_pred: Sequences,
    scheme: str = "conlleval",
    *,
    known_labels: Collection[str] | None = None,
) -> Report:
    """Compare predictions with gold labels: tokens, sequences, labels and, for span labels, spans.

    ``scheme`` is a reading of ``chainfield.spans``. ``known_labels`` are those that the model can
    predict; other gold labels are listed in ``Report.unknown_labels``, and their tokens stay in the counts,
    as the errors that they are for such a model.
    ``Report.spans`` is None unless ``has_spans`` holds for the labels of gold and prediction together.
    """
    rule_of(scheme)
    check_aligned(y_true, y_pred)
    check_single(y_true, y_pred)
    labels = in_order(chain.from_iterable((*y_true, *y_pred)))
    confusion = _confusion(y_true, y_pred, labels)
    gold, predicted = confusion.matrix.sum(axis=1), confusion.matrix.sum(axis=0)
    right = confusion.matrix.diagonal()
    inside = np.array([label != "O" for label in labels], dtype=bool)
    n_tokens, n_correct = int(gold.sum()), int(right.sum())
    known = None if known_labels is None else set(known_labels)
    of_strings = all(isinstance(label, str) for label in labels)
    return Report(
        scheme=scheme,
        n_sequences=len(y_true),
        n_tokens=n_tokens,
        n_correct_tokens=n_correct,
        token_accuracy=ratio(n_correct, n_tokens),
        inside_accuracy=ratio(int(right[inside].sum()), int(gold[inside].sum())),
        sequence_accuracy=sequence_accuracy(y_true, y_pred),
        labels={
            label: Score(correct=int(right[i]), predicted=int(predicted[i]), support=int(gold[i]))
            for i, label in enumerate(confusion.labels)
        },
        confusion=confusion,
        spans=_span_scores(y_true, y_pred, scheme) if of_strings and has_spans(labels) else None,
        unknown_labels=tuple(
            name
            for name, label, n in zip(confusion.labels, labels, gold, strict=True)
            if n and known is not None and label not in known
        ),
    )


def token_accuracy(y_true: Sequences, y_pred: Sequences) -> float:
    """Share of tokens with the right label; 0.0 if there are no tokens.

    >>> token_accuracy([["N", "V", "N"]], [["N", "V", "V"]])
    0.6666666666666666
    """
    check_aligned(y_true, y_pred)
    return ratio(int(correct_token_counts(y_true, y_pred).sum()), int(token_counts(y_true).sum()))


def sequence_accuracy(y_true: Sequences, y_pred: Sequences) -> float:
    """Share of sequences whose labels are all right; an empty sequence is right, no sequences give 0.0."""
    check_aligned(y_true, y_pred)
    right = correct_token_counts(y_true, y_pred) == token_counts(y_true)
    return ratio(int(right.sum()), len(y_true))


def span_f1(y_true: Sequences, y_pred: Sequences, scheme: str = "conlleval") -> float:
    """F1 over all spans (micro average); 0.0 if there are no spans in either, or none is correct.

    >>> span_f1([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]])
    0.6666666666666666

    Labels that mark no spans are refused, unless all of them are O.
    """
    score = f1_of_spans(y_true, y_pred, scheme)
    check_spans(y_true)
    return score


def f1_of_spans(y_true: Sequences, y_pred: Sequences, scheme: str = "conlleval") -> float:
    """The same for labels that are known to be those of spans, whichever of them the data hold."""
    counts = count(y_true, y_pred, scheme)
    n_spans = int(counts.gold_spans.sum() + counts.predicted_spans.sum())
    return ratio(2 * int(counts.correct_spans.sum()), n_spans)


def _confusion(y_true: Sequences, y_pred: Sequences, labels: list[Any]) -> Confusion:
    gold = list(chain.from_iterable(y_true))
    predicted = list(chain.from_iterable(y_pred))
    index_of = {label: i for i, label in enumerate(labels)}
    rows = np.fromiter(map(index_of.__getitem__, gold), dtype=np.int64, count=len(gold))  # shape: (N,)
    columns = np.fromiter(map(index_of.__getitem__, predicted), dtype=np.int64, count=len(gold))
    n_labels = len(labels)
    cells = np.bincount(rows * n_labels + columns, minlength=n_labels * n_labels)
    matrix: Int = cells.astype(np.int64).reshape(n_labels, n_labels)  # shape: (L, L)
    matrix.setflags(write=False)
    return Confusion(labels=_names(labels), matrix=matrix)


def _names(labels: list[Any]) -> tuple[str, ...]:
    """Labels as they are shown: 1 and "1" side by side are 1 and '1'."""
    shown = Counter(map(str, labels))
    return tuple(repr(label) if shown[str(label)] > 1 else str(label) for label in labels)


def _span_scores(y_true: Sequences, y_pred: Sequences, scheme: str) -> SpanScores:
    gold: Counter[str] = Counter()
    found: Counter[str] = Counter()
    correct: Counter[str] = Counter()
    for true_labels, predicted_labels in zip(y_true, y_pred, strict=True):
        true_spans, found_spans = spans(true_labels, scheme), spans(predicted_labels, scheme)
        gold.update(span.type for span in true_spans)
        found.update(span.type for span in found_spans)
        correct.update(span.type for span in set(true_spans).intersection(found_spans))
    types = {
        kind: Score(correct=correct[kind], predicted=found[kind], support=gold[kind])
        for kind in sorted({*gold, *found})
    }
    micro = Score(correct=correct.total(), predicted=found.total(), support=gold.total())
    return SpanScores(types=types, micro=micro, macro=macro_average(types))
