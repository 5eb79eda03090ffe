"""How sure a tagger is: of tokens, of spans, of whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.inference import decoder_named, label_marginals, log_partition
from chainfield.potentials import Potentials, clamp_labels
from chainfield.spans import has_spans, spans

from .tagger import Tagger


@dataclass(frozen=True)
class SpanConfidence:
    """A predicted span [start, end) and the probability that all its labels are right together."""

    type: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True)
class Confidence:
    """A predicted sequence with the probabilities of its tokens, its spans, and of itself."""

    labels: list[Any]
    tokens: list[float]
    spans: list[SpanConfidence]
    sequence: float


def confidences(tagger: Tagger, sequences: Sequence[Any]) -> list[Confidence]:
    """The best labels of each sequence with their probabilities, all exact.

    A span's probability is that of its labels jointly: the partition sum with the span clamped, over the whole one.
    """
    batch = tagger.features.encode(sequences, tagger.n_jobs)
    results = []
    for s in range(batch.n_sequences):
        potentials = tagger.potentials(batch.window(s, s + 1))
        results.append(_one(tagger, potentials))
    return results


def _one(tagger: Tagger, potentials: Potentials) -> Confidence:
    space, n = tagger.chain.space, len(potentials.node)
    if n == 0:
        return Confidence([], [], [], 1.0)
    numbers = decoder_named(tagger.decoder)(space, potentials)
    names = [tagger.task.labels[i] for i in numbers]
    log_z = log_partition(space, potentials)[0]

    def joint(lo: int, hi: int) -> float:
        known = np.full(n, -1, np.int32)
        known[lo:hi] = numbers[lo:hi]
        clamped = clamp_labels(space, known).apply(potentials)  # posterior decoding may break the rules: probability 0
        return float(np.exp(log_partition(space, clamped, strict=False)[0] - log_z))

    tokens = label_marginals(space, potentials)[np.arange(n), numbers].tolist()
    found = []
    if all(isinstance(label, str) for label in tagger.task.labels) and has_spans(tagger.task.labels):
        found = [SpanConfidence(span.type, span.start, span.end, joint(span.start, span.end)) for span in spans(names)]
    return Confidence(names, tokens, found, joint(0, n))
