"""Two models on the same data: is one better, and where do they differ?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from chainfield.metrics import mcnemar, paired_bootstrap, spans
from chainfield.spans import may_mark_spans

from .asking import words
from .errors import LONGEST
from .scores import interval_of, rounded

MOST_DIFFERENCES = 60  # sentences


def compare(
    names: Sequence[str],
    X: Sequence[Any],
    gold: list[list[str]],
    answers: Sequence[list[list[str]]],
    of_spans: bool,
    groups: Sequence[Any] | None,
    *,
    whole: bool,
) -> list[dict[str, Any]]:
    """Each later model against the first: tests, and the sentences in which their answers differ."""
    rows = []
    metric = "span_f1" if of_spans and may_mark_spans(chain.from_iterable(gold)) else "token_accuracy"
    units = len(gold) if groups is None else len(set(groups))
    for name, other in zip(names[1:], answers[1:], strict=True):
        test = mcnemar(gold, answers[0], other, unit="sequence")
        row: dict[str, Any] = {
            "a": names[0],
            "b": name,
            "mcnemar": {
                "n_only_a": test.n10,
                "n_only_b": test.n01,
                "p": float(f"{test.p_value:.3g}"),
                "exact": test.method == "mcnemar-exact",
            },
        }
        if units >= 2:
            drawn = paired_bootstrap(gold, answers[0], other, metric, groups=groups)  # type: ignore[arg-type]
            assert drawn.interval is not None
            row["difference"] = {"metric": metric, **interval_of(drawn.interval), "p": rounded(drawn.p_value)}
        differ = [s for s, (a, b) in enumerate(zip(answers[0], other, strict=True)) if a != b]
        row["n_different"] = len(differ)
        row["sentences"] = (
            []
            if whole
            else [
                _difference(s, words(X[s]), gold[s], answers[0][s], other[s], of_spans)
                for s in differ[:MOST_DIFFERENCES]
            ]
        )
        rows.append(row)
    return rows


def _difference(
    s: int, tokens: list[str], gold: list[str], a: list[str], b: list[str], of_spans: bool
) -> dict[str, Any]:
    first = next(t for t, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)
    lo = max(0, min(first - 20, len(tokens) - LONGEST))
    hi = min(len(tokens), lo + LONGEST)

    def marks(labels: list[str]) -> list[list[Any]]:
        if of_spans:
            return [[q.type, q.start - lo, q.end - lo] for q in spans(labels) if lo <= q.start and q.end <= hi]
        return [[labels[t], t - lo, t - lo + 1] for t in range(lo, hi) if a[t] != b[t]]

    right = [sum(x == y for x, y in zip(gold, own, strict=True)) for own in (a, b)]
    return {
        "i": s,
        "cut": [lo, len(tokens) - hi],
        "tokens": tokens[lo:hi],
        "gold": marks(gold),
        "a": marks(a),
        "b": marks(b),
        "better": "a" if right[0] > right[1] else "b" if right[1] > right[0] else "",
    }
