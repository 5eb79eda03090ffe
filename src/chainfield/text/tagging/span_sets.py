"""Sets of labels for the spans that a tagger of text has found: they hold the right one with a promised probability.

The right answer for a stretch is the label of the gold span at this very place, or "none" if there is no such span. A
set holds the labels whose probability is above a threshold, which gives the smallest sets (Sadinle et al. 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

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
    threshold: float  # of 1 - probability
    alpha: float

    @classmethod
    def fit(cls, tagger: TextTagger, texts: Any, spans: Any = None, *, alpha: float = 0.1) -> SpanSets:
        """Learn the threshold from gold spans."""
        items, gold = with_spans(texts, spans)
        scores = []
        for found, true in zip(ranked_labels(tagger, items), gold, strict=True):
            right = {(start, end): label for start, end, label in true}
            for span, ranked in found:
                wanted = right.get((span.start, span.end), NONE)
                scores.append(1.0 - dict(ranked).get(wanted, 0.0))
        if not scores:
            raise DataError("The tagger finds no span in these texts; give more of them to learn a threshold from.")
        return cls(tagger, conformal_threshold(scores, alpha), alpha)

    def predict(self, texts: Any) -> list[list[tuple[FoundSpan, tuple[str, ...]]]]:
        """The spans of each text, each with the set of its possible labels; "none": there is no such span.

        A set holds the most probable answer at least.
        """
        return [
            [
                (span, tuple(label for i, (label, p) in enumerate(ranked) if i == 0 or 1.0 - p <= self.threshold))
                for span, ranked in found
            ]
            for found in ranked_labels(self.tagger, texts)
        ]


def ranked_labels(tagger: TextTagger, texts: Any) -> list[list[tuple[FoundSpan, list[tuple[str, float]]]]]:
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
