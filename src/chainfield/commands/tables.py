"""Results as tables and coloured text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from chainfield.metrics.report import Report

_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "red", "bright_cyan", "bright_green", "bright_magenta")


def console() -> Console:
    """Standard output; in a pipe, lines are as long as they are."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=200, soft_wrap=True)


def show_report(report: Report, *, confusion: bool = False, printer: Console | None = None) -> None:
    """Precision, recall and F1 a type (or a label), and the accuracies."""
    out = printer or console()
    scores = report.labels if report.spans is None else report.spans.types
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("label" if report.spans is None else "type")
    for name in ("precision", "recall", "F1", "gold", "found"):
        table.add_column(name, justify="right")
    for name, score in sorted(scores.items()):
        table.add_row(name, *_percent(score), f"{score.support:,}", f"{score.predicted:,}")
    if report.spans is not None:
        micro = report.spans.micro
        table.add_row("all", *_percent(micro), f"{micro.support:,}", f"{micro.predicted:,}", style="bold")
    out.print(table)
    out.print(
        f"token accuracy {100 * report.token_accuracy:.2f} %   sequence accuracy {100 * report.sequence_accuracy:.2f} %"
        f"   {report.n_tokens:,} tokens, {report.n_sequences:,} sequences"
    )
    if confusion:
        out.print(_confusions(report))


def _percent(score: Any) -> tuple[str, str, str]:
    return f"{100 * score.precision:.2f}", f"{100 * score.recall:.2f}", f"{100 * score.f1:.2f}"


def _confusions(report: Report, most: int = 20) -> Table:
    table = Table(title="most frequent confusions", box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name, justify in (("gold", "left"), ("predicted", "left"), ("times", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    labels, matrix = report.confusion.labels, report.confusion.matrix
    wrong = [
        (int(matrix[i][j]), a, b) for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j and matrix[i][j]
    ]
    for times, gold, predicted in sorted(wrong, key=lambda entry: (-entry[0], entry[1], entry[2]))[:most]:
        table.add_row(gold, predicted, f"{times:,}")
    return table


def coloured(words: Sequence[str], labels: Sequence[str], colours: dict[str, str], *, marked: bool = False) -> Text:
    """A sentence with its spans, one colour per type; ``marked`` writes [span](type) where there are no colours."""
    from chainfield.spans import spans

    text = Text()
    found = {span.start: span for span in spans(labels)}
    at = 0
    while at < len(words):
        if text:
            text.append(" ")
        if at in found:
            span = found[at]
            colour = colours.setdefault(span.type, _COLOURS[len(colours) % len(_COLOURS)])
            inside = " ".join(words[span.start : span.end])
            text.append(f"[{inside}]" if marked else inside, style=f"bold {colour}")
            text.append(f"({span.type})" if marked else f" {span.type}", style=f"dim {colour}")
            at = span.end
        else:
            text.append(words[at])
            at += 1
    return text
