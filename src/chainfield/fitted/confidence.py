"""How sure a tagger is: of tokens, of spans, of whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int32, Integers, Ragged
from chainfield.errors import NoPathError
from chainfield.inference import add_rows, log_partition, marginals, stretch_probabilities
from chainfield.parallel import ordered_map
from chainfield.potentials import Potentials, clamp_labels
from chainfield.spans import has_spans
from chainfield.states import StateSpace

from .label_spans import span_table
from .model import clamped_sums
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

    def _repr_html_(self) -> str:
        from chainfield.pages.fragments import framed, note, table

        tokens = [(t, y, round(p, 3)) for t, (y, p) in enumerate(zip(self.labels, self.tokens, strict=True))]
        spans = [(own.type, f"{own.start}–{own.end}", round(own.probability, 3)) for own in self.spans]
        parts = [table(("span", "positions", "probability"), spans)] if spans else []
        parts.append(table(("position", "label", "probability"), tokens))
        return framed(*parts, note(f"all of it: {self.sequence:.3f}"))


def confidences(tagger: Tagger, sequences: Sequence[Any], given: Sequence[Any] | None = None) -> list[Confidence]:
    """The best labels of each sequence with their probabilities, all exact.

    A span's probability is that of its labels jointly, whatever the labels around it are. ``given`` fixes labels that
    are known; all probabilities are then conditional on them. A pruned model knows no labels but those that its pruner
    leaves.
    """
    batch = tagger.features.encode(sequences, tagger.n_jobs)
    clamp = None if given is None else tagger.task.known(tagger.chain.space, given, batch.offsets)
    numbers = tagger.labels(batch, given)
    blocks = tagger.blocks(batch)

    def block(bounds: tuple[int, int]) -> list[Confidence]:
        window, at = batch.window(*bounds), batch.ragged.slice_of(*bounds)
        space, potentials = tagger.scored(window, None if clamp is None else clamp[at])
        try:
            return _of_block(tagger, window.ragged, numbers[at], space, potentials)
        except NoPathError as error:
            raise NoPathError(error.sequence + bounds[0], error.known) from None

    found = ordered_map(block, blocks, min(tagger.n_jobs, max(len(blocks), 1)))
    return [confidence for part in found for confidence in part]


def sequence_probabilities(
    space: StateSpace, potentials: Potentials, numbers: Int32, log_z: Float | None = None
) -> Float:
    """(S,) the probabilities that sequences have these labels, by number; 0 where they break the rules.

    ``log_z``: their log-partitions, where they are known.
    """
    free = log_partition(space, potentials) if log_z is None else log_z
    return np.exp(clamped_sums(space, potentials, clamp_labels(space, numbers)) - free)


def joint_probability(space: StateSpace, potentials: Potentials, log_z: float, labels: Integers, start: int) -> float:
    """The probability that one sequence has these labels, by number, from ``start`` on; -1 leaves a position open.

    0 where they break the rules. ``log_z`` is the sequence's log-partition.
    """
    known = np.full(len(potentials.node), -1, np.int32)
    known[start : start + len(labels)] = labels
    clamped = clamp_labels(space, known).apply(potentials)
    return float(np.exp(log_partition(space, clamped, strict=False)[0] - log_z))


def _of_block(
    tagger: Tagger, ragged: Ragged, numbers: Int32, space: StateSpace, potentials: Potentials
) -> list[Confidence]:
    labels = tagger.task.labels
    posterior = marginals(space, potentials)
    tokens = add_rows(space, posterior.expected.node)[np.arange(len(numbers)), numbers]
    whole = sequence_probabilities(space, potentials, numbers, posterior.log_z)
    known = clamp_labels(space, numbers)
    found: list[list[SpanConfidence]] = [[] for _ in range(ragged.n_sequences)]
    if all(isinstance(label, str) for label in labels) and has_spans(labels):
        table = span_table(labels)
        starts, ends = table.find(numbers, ragged)
        at = Ragged.of(ends - starts)
        inside = starts[at.sequence_of()] + np.arange(at.n_positions) - at.offsets[:-1][at.sequence_of()]
        sure = stretch_probabilities(space, potentials, starts, ends, known[inside])
        sequence_of = np.searchsorted(ragged.offsets, starts, side="right") - 1
        first = ragged.offsets[sequence_of]
        for s, a, b, p, y in zip(
            sequence_of.tolist(),
            (starts - first).tolist(),
            (ends - first).tolist(),
            sure.tolist(),
            numbers[starts].tolist(),
            strict=True,
        ):
            found[s].append(SpanConfidence(table.types[y], a, b, p))
    names = tagger.task.decode(numbers, ragged.offsets)
    return [Confidence(*one) for one in zip(names, ragged.cut(tokens.tolist()), found, whole.tolist(), strict=True)]
