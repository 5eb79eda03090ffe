"""Sets of labels for the spans that a tagger of text has found: they hold the right one with a promised probability.

The right answer for a stretch is the label of the gold span at this very place, or "none" if there is no such span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from chainfield.confidence.conformal import conformal_threshold
from chainfield.errors import DataError

from .answers import OUTSIDE, FoundSpan
from .inputs import with_spans
from .text_tagger import TextTagger

NONE = "none"


@final
@dataclass(frozen=True, eq=False)
class SpanSets:
    """A tagger of text with a threshold: ``SpanSets.fit(tagger, texts, spans)`` on texts that it was not trained on."""

    tagger: TextTagger
    threshold: float
    alpha: float
    seed: int

    @classmethod
    def fit(cls, tagger: TextTagger, texts: Any, spans: Any = None, *, alpha: float = 0.1, seed: int = 0) -> SpanSets:
        """Learn the threshold from gold spans: mass in front of the right label, and a random share of its own."""
        items, gold = with_spans(texts, spans)
        rng, scores = np.random.default_rng(seed), []
        for found, true in zip(_all(tagger, items), gold, strict=True):
            right = {(start, end): label for start, end, label in true}
            for span, ranked in found:
                wanted = right.get((span.start, span.end), NONE)
                names, masses = _masses(ranked, rng.random())
                scores.append(masses[names.index(wanted)] if wanted in names else 1.0)
        if not scores:
            raise DataError("The tagger finds no span in these texts; give more of them to learn a threshold from.")
        return cls(tagger, conformal_threshold(scores, alpha), alpha, seed)

    def predict(self, texts: Any, *, seed: int | None = None) -> list[list[tuple[FoundSpan, tuple[str, ...]]]]:
        """The spans of each text, each with the set of its possible labels; "none": there is no such span."""
        rng = np.random.default_rng(self.seed + 1 if seed is None else seed)
        results = []
        for found in _all(self.tagger, texts):
            own = []
            for span, ranked in found:
                names, masses = _masses(ranked, rng.random())
                size = max(1, int(np.searchsorted(masses, self.threshold, side="right")))
                own.append((span, tuple(names[:size])))
            results.append(own)
        return results


def _all(tagger: TextTagger, texts: Any) -> list[list[tuple[FoundSpan, list[tuple[str, float]]]]]:
    """Spans with the probabilities of all labels, those of no span among them, best first."""
    results = []
    for found in tagger.predict(texts, alternatives=len(tagger.classes_) + 1):
        own = []
        for span in found:
            p = {label: q for label, q in span.alternatives if label != OUTSIDE}
            p[span.label] = span.probability or 0.0
            p[NONE] = max(0.0, 1.0 - sum(p.values()))
            own.append((span, sorted(p.items(), key=lambda pair: (-pair[1], pair[0]))))
        results.append(own)
    return results


def _masses(ranked: list[tuple[str, float]], share: float) -> tuple[list[str], Any]:
    p = np.array([q for _, q in ranked])
    p = p / p.sum()
    return [name for name, _ in ranked], np.cumsum(p) - p + share * p
