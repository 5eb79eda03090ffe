"""What is asked of a model for a report, once: its answers, their probabilities, and where they are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chainfield.errors import DataError
from chainfield.fitted import Confidence
from chainfield.inspection.doubtful import Disagreement, disagreements
from chainfield.inspection.states import token_name
from chainfield.metrics import Mistake, Span, SpanAlignment, align_spans, has_spans, spans
from chainfield.metrics.scoring import filled
from chainfield.models import TaggingModel

LONGEST_WORD = 60  # characters of a token that are shown


@dataclass(frozen=True)
class Answers:
    """A tagger's answers beside the gold labels. Where labels are no span labels, every wrong token is a mistake."""

    gold: list[list[str]]
    found: list[list[str]]
    sure: list[Confidence]
    alignments: list[SpanAlignment]
    places: dict[tuple[int, int, int], Disagreement]  # by sequence, start and end
    of_spans: bool
    unknown: tuple[str, ...]  # gold labels that the model does not have

    def probability(self, sequence: int, mistake: Mistake) -> float:
        """How probable the model's labels over the words of a mistake are."""
        return self.places[sequence, mistake.start, mistake.end].p_found

    @property
    def judged(self) -> tuple[list[float], list[bool], int]:
        """The probability of each answer, whether it is right, and how many gold ones there are."""
        if not self.of_spans:
            pairs = [
                (p, a == b)
                for gold, own in zip(self.gold, self.sure, strict=True)
                for a, b, p in zip(gold, map(str, own.labels), own.tokens, strict=True)
            ]
            return [p for p, _ in pairs], [right for _, right in pairs], len(pairs)
        said, right = [], []
        for own, alignment in zip(self.sure, self.alignments, strict=True):
            correct = set(alignment.correct)
            for span in own.spans:
                said.append(min(span.probability, 1.0))
                right.append(Span(span.type, span.start, span.end) in correct)
        return said, right, sum(len(spans(labels)) for labels in self.gold)


def ask(model: TaggingModel, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> Answers:
    """A tagger's answers to labelled sequences; where a label is unknown (None), the answer counts as right."""
    tagger = model._tagger()
    if len(X) != len(y):
        raise DataError(f"There are {len(X)} sequences but labels for {len(y)}.")
    if not any(label is not None for labels in y for label in labels):
        raise DataError("A report compares answers with gold labels, but no label is known; give labelled data.")
    sure = model.predict_confidence(X)
    found = [own.labels for own in sure]
    gold = filled(y, found)
    known = set(tagger.task.labels)
    strange = {str(label) for labels in gold for label in labels if label not in known}
    if all(label not in known for labels in y for label in labels if label is not None):
        shown = ", ".join(sorted(strange)[:3])
        raise DataError(
            f"The model knows none of the gold labels ({shown}{' …' if len(strange) > 3 else ''}); it was trained with "
            f"{', '.join(map(str, tagger.task.labels[:3]))}{' …' if len(known) > 3 else ''}. Is the label column right?"
        )
    truth, guess = ([[str(label) for label in labels] for labels in side] for side in (gold, found))
    of_spans = all(isinstance(label, str) for label in known) and has_spans({*map(str, known), *strange})
    places = {(place.sequence, place.start, place.end): place for place in disagreements(tagger, X, gold)}
    align = _align_spans if of_spans else _align_tokens
    alignments = [align(a, b) for a, b in zip(truth, guess, strict=True)]
    return Answers(truth, guess, sure, alignments, places, of_spans, tuple(sorted(strange)))


def _align_spans(gold: list[str], found: list[str]) -> SpanAlignment:
    return align_spans(spans(gold), spans(found))


def _align_tokens(gold: list[str], found: list[str]) -> SpanAlignment:
    wrong = [
        Mistake("type", Span(a, t, t + 1), Span(b, t, t + 1))
        for t, (a, b) in enumerate(zip(gold, found, strict=True))
        if a != b
    ]
    return SpanAlignment((), tuple(wrong))


def words(sequence: Any) -> list[str]:
    """The tokens of a sequence as they are shown: words, or numbers of positions where there are none."""
    names = [token_name(item) for item in sequence] if hasattr(sequence, "__iter__") else [""] * sequence.shape[0]
    return [_short(name) if name else str(t + 1) for t, name in enumerate(names)]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_WORD else text[: LONGEST_WORD - 1] + "…"
