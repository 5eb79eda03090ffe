"""Gold spans that are worth a second look: models that have not seen a text disagree with its spans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.models.folds import doubtful_labels
from chainfield.text.document import TextSpan

from .text_tagger import TextTagger


@dataclass(frozen=True)
class DoubtfulSpan:
    """A place in a text where a model says something else than the gold spans do.

    ``gold`` and ``found`` are the two spans; None: there is no span. ``text`` is what either of them covers.
    ``p_gold`` and ``p_found`` are the probabilities of both readings of this place. ``kind``: "missed" (a gold span
    that the model does not see), "spurious" (a span that only the model sees), "boundary", "type" or "both".
    """

    document: int
    text: str
    kind: str
    gold: TextSpan | None
    found: TextSpan | None
    p_gold: float
    p_found: float
    fold: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "document": self.document,
            "text": self.text,
            "kind": self.kind,
            "gold": None if self.gold is None else self.gold._asdict(),
            "found": None if self.found is None else self.found._asdict(),
            "p_gold": round(self.p_gold, 6),
            "p_found": round(self.p_found, 6),
            "fold": self.fold,
        }


def doubtful_spans(
    tagger: TextTagger,
    texts: Any,
    spans: Any = None,
    *,
    n_folds: int = 5,
    random_state: int = 0,
    watch: Callable[[int, int], None] | None = None,
) -> list[DoubtfulSpan]:
    """Where models that have not seen a text disagree with its spans; where they are surest comes first.

    Trains ``n_folds`` taggers with the settings of ``tagger``, each without one part of the texts, and asks it about
    that part. ``tagger`` itself need not be fitted and stays as it is. ``texts`` and ``spans`` are those of ``fit``.
    """
    tagger.check_settings()
    documents, tokens, labels = tagger.aligned(texts, spans)
    ragged = tokens.sequences
    of = np.searchsorted(tokens.documents.offsets, ragged.offsets[:-1], side="right") - 1  # (S,) the document of each
    of = np.minimum(of, max(len(documents) - 1, 0))
    found = doubtful_labels(
        tagger.fresh_model(),
        tokens.rows(),
        ragged.cut(labels),
        n_folds=n_folds,
        groups=of.tolist(),
        random_state=random_state,
        watch=watch,
    )
    results = []
    for place in found:
        d, at = int(of[place.sequence]), int(ragged.offsets[place.sequence])
        text = documents[d]

        def chars(first: int, last: int, label: str, at: int = at) -> TextSpan:
            return TextSpan(int(tokens.starts[at + first]), int(tokens.ends[at + last - 1]), label)

        if place.mistake is not None:
            kind = str(place.mistake.kind)
            gold, guess = (
                None if span is None else chars(span.start, span.end, span.type)
                for span in (place.mistake.gold, place.mistake.found)
            )
        else:  # labels of no scheme: one token each
            kind = "type"
            gold, guess = (chars(place.start, place.end, str(label)) for label in (place.gold[0], place.found[0]))
        whole = chars(place.start, place.end, "")
        shown = text[whole.start : whole.end]
        results.append(DoubtfulSpan(d, shown, kind, gold, guess, place.p_gold, place.p_found, place.fold))
    return results
