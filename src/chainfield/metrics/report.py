"""The report of an evaluation: counts, the ratios that follow from them, and the text of conlleval.

A ratio whose denominator is zero is 0.0, as in conlleval: precision of what was never predicted, recall of
what never occurs in the gold labels, F1 when both are zero, and every accuracy of no data at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chainfield.arrays import Int


def ratio(numerator: float, denominator: float) -> float:
    """The quotient, or 0.0 if there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


@dataclass(frozen=True)
class Score:
    """How often something was right: ``correct`` of ``predicted`` ones, with ``support`` gold ones in all."""

    correct: int
    predicted: int
    support: int

    @property
    def precision(self) -> float:
        """Share of the predicted ones that are correct."""
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """Share of the gold ones that were found."""
        return ratio(self.correct, self.support)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return ratio(2 * self.correct, self.predicted + self.support)

    def to_dict(self) -> dict[str, Any]:
        """Ratios and counts as JSON-ready data."""
        ratios = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {**ratios, "support": self.support, "predicted": self.predicted, "correct": self.correct}


@dataclass(frozen=True)
class Average:
    """Unweighted means over types or labels (macro average)."""

    precision: float
    recall: float
    f1: float

    def to_dict(self) -> dict[str, float]:
        """The three means as JSON-ready data."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def macro_average(scores: Mapping[str, Score]) -> Average:
    """Mean precision, recall and F1 over names, each name counting the same; zeros if there is none."""
    n, rows = len(scores), scores.values()
    return Average(
        precision=ratio(sum(row.precision for row in rows), n),
        recall=ratio(sum(row.recall for row in rows), n),
        f1=ratio(sum(row.f1 for row in rows), n),
    )


@dataclass(frozen=True)
class SpanScores:
    """Scores of spans: by type in sorted order, over all spans (``micro``), and the mean of types
    (``macro``).

    A type has a row if it occurs in the gold labels or in the prediction.
    """

    types: Mapping[str, Score]
    micro: Score
    macro: Average

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        types = {name: score.to_dict() for name, score in self.types.items()}
        return {"types": types, "micro": self.micro.to_dict(), "macro": self.macro.to_dict()}


@dataclass(frozen=True, eq=False)
class Confusion:
    """``matrix[i, j]`` tokens have the gold label ``labels[i]`` and the prediction ``labels[j]``."""

    labels: tuple[str, ...]
    matrix: Int

    def to_dict(self) -> dict[str, Any]:
        """Label names and rows of counts as JSON-ready data."""
        return {"labels": list(self.labels), "matrix": self.matrix.tolist()}


@dataclass(frozen=True, eq=False)
class Report:
    """What ``evaluate`` found.

    ``inside_accuracy`` is the token accuracy over tokens whose gold label is not O. ``labels`` has a score
    for every label of gold or prediction, O too. ``spans`` is None if the labels are no span labels (plain
    tags). ``unknown_labels`` are the gold labels that are not among the known ones, in sorted order.
    """

    scheme: str
    n_sequences: int
    n_tokens: int
    n_correct_tokens: int
    token_accuracy: float
    inside_accuracy: float
    sequence_accuracy: float
    labels: Mapping[str, Score]
    confusion: Confusion
    spans: SpanScores | None
    unknown_labels: tuple[str, ...]

    def __str__(self) -> str:
        return _table(self)

    def __repr__(self) -> str:
        return _table(self)

    def _repr_html_(self) -> str:
        from chainfield.pages.fragments import framed, note, table

        scores: dict[str, Score] = dict(sorted((self.labels if self.spans is None else self.spans.types).items()))
        if self.spans is not None:
            scores["all"] = self.spans.micro
        rows = [
            (name, *(round(100 * share, 2) for share in (s.precision, s.recall, s.f1)), s.support, s.predicted)
            for name, s in scores.items()
        ]
        tokens, sequences = 100 * self.token_accuracy, 100 * self.sequence_accuracy
        told = f"token accuracy {tokens:.2f} %, sequence accuracy {sequences:.2f} %"
        head = ("type" if self.spans is not None else "label", "precision", "recall", "F1", "gold", "found")
        return framed(table(head, rows), note(f"{told}; {self.n_tokens:,} tokens, {self.n_sequences:,} sequences"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "scheme": self.scheme,
            "n_sequences": self.n_sequences,
            "n_tokens": self.n_tokens,
            "n_correct_tokens": self.n_correct_tokens,
            "token_accuracy": self.token_accuracy,
            "inside_accuracy": self.inside_accuracy,
            "sequence_accuracy": self.sequence_accuracy,
            "labels": {name: score.to_dict() for name, score in self.labels.items()},
            "confusion": self.confusion.to_dict(),
            "spans": None if self.spans is None else self.spans.to_dict(),
            "unknown_labels": list(self.unknown_labels),
        }


def _table(report: Report) -> str:
    """Scores in per cent, a line a type (or a label), and the accuracies."""
    scores: dict[str, Score] = dict(sorted((report.labels if report.spans is None else report.spans.types).items()))
    if report.spans is not None:
        scores["all"] = report.spans.micro
    width = max([len("label"), *map(len, scores)])
    lines = [f"{'label' if report.spans is None else 'type':<{width}}  precision  recall      F1    gold   found"]
    for name, s in scores.items():
        percent = f"{100 * s.precision:9.2f}  {100 * s.recall:6.2f}  {100 * s.f1:6.2f}"
        lines.append(f"{name:<{width}}  {percent}  {s.support:6}  {s.predicted:6}")
    tokens, sequences = 100 * report.token_accuracy, 100 * report.sequence_accuracy
    lines.append(
        f"token accuracy {tokens:.2f} %, sequence accuracy {sequences:.2f} %, "
        f"{report.n_tokens} tokens, {report.n_sequences} sequences"
    )
    return "\n".join(lines)


def conlleval_text(report: Report) -> str:
    """The report as the conlleval script of CoNLL-2000 prints it, for programs that read its output.

    Plain tags give zero phrases. A type line ends with the number of spans found. The script prints the line
    of the empty type twice; here it comes once.
    """
    types: Mapping[str, Score] = {} if report.spans is None else report.spans.types
    total = Score(0, 0, 0) if report.spans is None else report.spans.micro
    text = (
        f"processed {report.n_tokens} tokens with {total.support} phrases; "
        f"found: {total.predicted} phrases; correct: {total.correct}.\n"
    )
    if report.n_tokens:
        accuracy = 100 * report.n_correct_tokens / report.n_tokens
        text += f"accuracy: {accuracy:6.2f}%; {_conlleval_ratios(total)}\n"
    for name, score in types.items():
        text += f"{name:>17}: {_conlleval_ratios(score)}  {score.predicted}\n"
    return text


def _conlleval_ratios(score: Score) -> str:
    # The script's own order of operations, so that ties in the second decimal round the same way.
    precision = ratio(100 * score.correct, score.predicted)
    recall = ratio(100 * score.correct, score.support)
    f1 = ratio(2 * precision * recall, precision + recall)
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
