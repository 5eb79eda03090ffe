"""Rows for taggers: span F1 and token accuracy with their intervals, and tests between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from chainfield.metrics import bootstrap_interval, mcnemar, paired_bootstrap

from .experiment import Row

Labels = Sequence[Sequence[str]]
T = TypeVar("T")


@dataclass(frozen=True)
class Figure:
    """A figure to compare with, and where it stands."""

    value: float
    source: str


def hold_out(items: Sequence[T], share: float = 0.1) -> tuple[Sequence[T], Sequence[T]]:
    """All but the last ``share`` of the training data, and that: every choice is made on it, none on test data."""
    cut = len(items) - max(1, round(share * len(items)))
    return items[:cut], items[cut:]


def score_rows(
    setting: str, gold: Labels, predicted: Labels, seconds: float, seed: int, note: str = "", f1: Figure | None = None
) -> Iterator[Row]:
    """F1 of spans (as conlleval counts them) and token accuracy, in per cent, with bootstrap intervals."""
    for name, metric, figure in (("F1", "span_f1", f1), ("token accuracy", "token_accuracy", None)):
        found = bootstrap_interval(gold, predicted, metric, random_state=seed)
        yield Row(
            setting,
            name,
            None if figure is None else figure.value,
            100 * found.estimate,
            seconds,
            note if name == "F1" else "",
            "" if figure is None else figure.source,
            (100 * found.low, 100 * found.high),
        )


def comparison_rows(setting: str, gold: Labels, first: Labels, second: Labels, seed: int) -> Iterator[Row]:
    """The first tagger against the second: McNemar's test by tokens and by sequences, and the difference of F1."""
    for unit in ("token", "sequence"):
        test = mcnemar(gold, first, second, unit)
        note = f"{test.n10:,} {unit}s right in the first only, {test.n01:,} in the second only"
        yield Row(setting, f"McNemar's test, {unit}s: p", None, test.p_value, note=note)
    found = paired_bootstrap(gold, first, second, "span_f1", random_state=seed)
    interval = None if found.interval is None else (100 * found.interval.low, 100 * found.interval.high)
    note = f"paired bootstrap over sequences, p = {found.p_value:.3g}"
    yield Row(setting, "difference of F1", None, 100 * found.difference, note=note, interval=interval)
