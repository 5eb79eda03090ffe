"""The error browser: sentences with a mistake, gold and found spans, and what spoke for and against each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainfield.inspection.doubtful import Disagreement
from chainfield.metrics import Mistake, Span, spans
from chainfield.models import TaggingModel

from .asking import Answers, words
from .scores import rounded

LONGEST = 120  # words of a sentence that are shown
CONTEXT = 25  # words before the first mistake of a longer one
MOST_PARTS = 7  # features that are told of a word
MOST_WORDS = 24  # words of a sentence that are explained


class Interned:
    """Texts by number: features repeat themselves."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The number of a text."""
        return self._number.setdefault(text if len(text) <= 100 else text[:99] + "…", len(self._number))

    @property
    def texts(self) -> list[str]:
        """All of them, by number."""
        return list(self._number)


def error_list(
    model: TaggingModel, X: Sequence[Any], answers: Answers, most: int, features: Interned, random_state: int = 0
) -> dict[str, Any]:
    """Sentences with mistakes: the surest ones and, where there are more than ``most``, a random sample of the rest."""
    wrong = [s for s, alignment in enumerate(answers.alignments) if alignment.mistakes]
    top = {s: max(answers.probability(s, m) for m in answers.alignments[s].mistakes) for s in wrong}
    ranked = sorted(wrong, key=lambda s: (-top[s], s))
    surest = ranked if len(ranked) <= most else ranked[: most // 2]
    rest = ranked[len(surest) :]
    drawn = np.random.default_rng(random_state).choice(len(rest), min(most - len(surest), len(rest)), replace=False)
    shown = [*surest, *(rest[i] for i in np.sort(drawn).tolist())]
    return {
        "n": len(wrong),
        "n_surest": len(surest),
        "n_sampled": len(shown) - len(surest),
        "sentences": [_sentence(model, X[s], s, answers, features) for s in shown],
    }


def _sentence(model: TaggingModel, x: Any, s: int, answers: Answers, features: Interned) -> dict[str, Any]:
    alignment, tokens = answers.alignments[s], words(x)
    lo, hi = window(len(tokens), alignment.mistakes[0].start)
    seen = [m for m in alignment.mistakes if lo <= m.start and m.end <= hi]
    p_of = {Span(span.type, span.start, span.end): span.probability for span in answers.sure[s].spans}
    gold, found = (
        (spans(answers.gold[s]), spans(answers.found[s]))
        if answers.of_spans
        else ([m.gold for m in seen if m.gold], [m.found for m in seen if m.found])
    )
    return {
        "i": s,
        "cut": [lo, len(tokens) - hi],
        "tokens": tokens[lo:hi],
        "gold": [[span.type, span.start - lo, span.end - lo] for span in _within(gold, lo, hi)],
        "found": [
            [
                span.type,
                span.start - lo,
                span.end - lo,
                rounded(p_of.get(span, answers.sure[s].tokens[span.start])),
            ]
            for span in _within(found, lo, hi)
        ],
        "mistakes": [_mistake(m, rounded(answers.probability(s, m)), lo) for m in seen],
        "hidden": len(alignment.mistakes) - len(seen),
        "why": _why(model, x, s, answers, seen, lo, features),
    }


def window(n: int, first: int) -> tuple[int, int]:
    """Which words of a sentence are shown: all, or a stretch around its first mistake."""
    if n <= LONGEST:
        return 0, n
    lo = max(0, min(first - CONTEXT, n - LONGEST))
    return lo, lo + LONGEST


def _within(found: Sequence[Span], lo: int, hi: int) -> list[Span]:
    return [span for span in found if lo <= span.start and span.end <= hi]


def _mistake(mistake: Mistake, p: float, lo: int) -> dict[str, Any]:
    def place(span: Span | None) -> list[Any] | None:
        return None if span is None else [span.type, span.start - lo, span.end - lo]

    return {"kind": mistake.kind, "gold": place(mistake.gold), "found": place(mistake.found), "p": p}


def _why(
    model: TaggingModel, x: Any, s: int, answers: Answers, seen: Sequence[Mistake], lo: int, features: Interned
) -> dict[str, Any]:
    """For the words of mistakes: what spoke for the model's label, against the gold one where they differ."""
    wanted = sorted({t for m in seen for t in range(m.start, m.end)})[:MOST_WORDS]
    if not wanted:
        return {}
    tagger, number = model._tagger(), model._tagger().task.number
    names = {str(label): label for label in number}
    against = [names.get(label) for label in answers.gold[s]]
    explained = model.explain(x, against=against)
    marginals = tagger.marginals([x])[0]
    found = {}
    for t in wanted:
        position, own = explained[t], marginals[t]
        best = np.argsort(-own, kind="stable")[:5]
        parts = [part for part in position.contributions if abs(part.difference) >= 0.005]
        found[str(t - lo)] = {
            "label": str(position.label),
            "against": str(position.runner_up),
            "gold": answers.gold[s][t],
            "marginals": [[str(tagger.task.labels[k]), rounded(own[k])] for k in best.tolist()],
            "parts": [[features(part.feature), _finite(part.difference)] for part in parts[:MOST_PARTS]],
            "n_parts": len(parts),
            "total": _finite(position.difference),
        }
    return found


def _finite(value: float) -> float | None:
    """None stands for what the rules decide."""
    return rounded(value, 3) if np.isfinite(value) else None


def doubtful_rows(places: Sequence[Disagreement], X: Sequence[Any], most: int) -> list[dict[str, Any]]:
    """Gold labels that a sure model doubts, with a few words around them."""
    rows = []
    for place in places[:most]:
        tokens = words(X[place.sequence])
        lo, hi = max(0, place.start - 12), min(len(tokens), place.end + 12)
        mistake = place.mistake
        sides = (
            (mistake.gold, mistake.found)
            if mistake is not None
            else (Span(str(place.gold[0]), place.start, place.end), Span(str(place.found[0]), place.start, place.end))
        )
        gold, found = (None if side is None else [side.type, side.start - lo, side.end - lo] for side in sides)
        rows.append(
            {
                "i": place.sequence,
                "start": place.start,
                "end": place.end,
                "fold": place.fold,
                "cut": [lo, len(tokens) - hi],
                "tokens": tokens[lo:hi],
                "gold": gold,
                "found": found,
                "gold_labels": [str(label) for label in place.gold],
                "found_labels": [str(label) for label in place.found],
                "p_gold": float(f"{place.p_gold:.3g}"),
                "p_found": rounded(place.p_found),
            }
        )
    return rows
