"""Places where a model that has not seen the data disagrees with their labels.

The model may be wrong, or the label: the surest disagreements are worth a second look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chainfield.arrays import Int32
from chainfield.fitted.confidence import joint_probability
from chainfield.fitted.tagger import Tagger
from chainfield.inference import decoder_named, log_partition
from chainfield.metrics import Mistake, align_spans
from chainfield.spans import has_spans, spans
from chainfield.tasks.tagging import check_lengths


@dataclass(frozen=True)
class Disagreement:
    """Positions [start, end) of a sequence where the model says other labels than the gold ones.

    ``p_gold`` and ``p_found`` are the probabilities that all labels there are the gold ones, or the model's.
    ``mistake`` tells what kind of difference it is, where labels stand for spans. ``fold``: which of several models
    said so.
    """

    sequence: int
    start: int
    end: int
    gold: tuple[Any, ...]
    found: tuple[Any, ...]
    p_gold: float
    p_found: float
    mistake: Mistake | None = None
    fold: int = 0


def surest_first(place: Disagreement) -> tuple[float, float, int, int]:
    """The order of disagreements. The probability of the gold labels would put long spans first, whatever they are."""
    return -place.p_found, place.p_gold, place.sequence, place.start


def disagreements(tagger: Tagger, sequences: Sequence[Any], gold: Sequence[Sequence[Any]]) -> list[Disagreement]:
    """All disagreements of a tagger with labels, those first where it is surest of its own.

    Where labels stand for spans there is one for each mistake, with the positions of both spans; otherwise one for
    each token. Labels that are not known (None) agree with everything; those that the model does not have get the
    probability 0.
    """
    batch = tagger.features.encode(sequences, tagger.n_jobs)
    check_lengths(gold, batch.offsets)
    found = []
    for s, truth in enumerate(gold):
        if len(truth):
            found += _of_one(tagger, batch.window(s, s + 1), s, list(truth))
    return sorted(found, key=surest_first)


def _of_one(tagger: Tagger, batch: Any, s: int, truth: list[Any]) -> list[Disagreement]:
    labels = tagger.task.labels
    space, potentials = tagger.scored(batch)
    numbers = decoder_named(tagger.decoder)(space, potentials)
    guess = [labels[i] for i in numbers.tolist()]
    truth = [b if a is None else a for a, b in zip(truth, guess, strict=True)]
    places = list(_places(truth, guess, labels))
    if not places:
        return []
    log_z = float(log_partition(space, potentials)[0])

    def probability(names: list[Any], start: int) -> float:
        if any(name not in tagger.task.number for name in names):
            return 0.0
        own: Int32 = numbers[start : start + len(names)].copy()
        own[:] = [tagger.task.number[name] for name in names]
        return joint_probability(space, potentials, log_z, own, start)

    return [
        Disagreement(
            s,
            start,
            end,
            tuple(truth[start:end]),
            tuple(guess[start:end]),
            probability(truth[start:end], start),
            probability(guess[start:end], start),
            mistake,
        )
        for start, end, mistake in places
    ]


def _places(truth: list[Any], guess: list[Any], labels: Sequence[Any]) -> Iterator[tuple[int, int, Mistake | None]]:
    if all(isinstance(label, str) for label in (*labels, *truth)) and has_spans((*labels, *truth)):
        for mistake in align_spans(spans(truth), spans(guess)).mistakes:
            yield mistake.start, mistake.end, mistake
        return
    yield from ((t, t + 1, None) for t, (a, b) in enumerate(zip(truth, guess, strict=True)) if a != b)
