"""What a tagger of text answers: spans with their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from chainfield.arrays import Float, Int, Int32, Ragged
from chainfield.errors import NoPathError
from chainfield.features.batch import Batch
from chainfield.fitted import Tagger
from chainfield.fitted.confidence import sequence_probabilities
from chainfield.fitted.label_spans import NOTHING, SpanTable, reading_of
from chainfield.inference import decoder_named, stretch_probabilities
from chainfield.potentials import Clamp, Potentials
from chainfield.states import StateSpace
from chainfield.text.alignment import TokenSpan, labels_of
from chainfield.text.document import TextSpan
from chainfield.text.tokens import Tokens

OUTSIDE = "O"


class FoundSpan(NamedTuple):
    """A span that a model has found: ``text`` is that of the document from ``start`` to ``end``.

    ``probability``: that this very span is there, with this label, no longer and no shorter. ``alternatives``: other
    labels for the same stretch with their probabilities, the most probable first; "O" says that there is no span.
    """

    start: int
    end: int
    label: str
    text: str
    probability: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()

    @property
    def span(self) -> TextSpan:
        """The place and the label alone."""
        return TextSpan(self.start, self.end, self.label)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"start": self.start, "end": self.end, "label": self.label, "text": self.text}
        if self.probability is not None:
            found["probability"] = round(self.probability, 6)
        if self.alternatives:
            found["alternatives"] = [{"label": y, "probability": round(p, 6)} for y, p in self.alternatives]
        return found


@dataclass(frozen=True, eq=False)
class Answers:
    """All spans of a batch of texts, as arrays. M spans."""

    first: Int  # (M,) tokens
    last: Int  # (M,)
    label: Int32  # (M,) the number of the first token's label
    probability: Float | None  # (M,)
    others: Float | None  # (M, types + 1) of every type and of no span
    labels: Int32  # (N,) the number of every token's label
    whole: Float | None  # (S,) of all labels of a sequence together


def find_answers(
    tagger: Tagger,
    tokens: Tokens,
    scheme: str,
    *,
    probabilities: bool,
    alternatives: bool = False,
    whole: bool = False,
    given: Any = None,
) -> Answers:
    """Tag tokens, and read the spans off their labels; ``given`` fixes labels, sequence by sequence.

    ``whole``: probabilities of whole sequences as well, where there are ``probabilities``.
    """
    batch = tagger.features.encode(tokens.rows(), tagger.n_jobs)
    table = reading_of(tagger.task.labels)
    if not probabilities:
        numbers = tagger.labels(batch, given)
        first, last = table.find(numbers, batch.ragged)
        return Answers(first, last, numbers[first], None, None, numbers, None)
    asked = _Asked(tagger, batch, given)
    first, last, numbers, sure, together = (_together if _scores_once(tagger) else _apart)(asked, table, whole)
    others = None
    if alternatives and len(first):
        columns = [_typed(asked, table, kind, scheme, first, last) for kind in types_of(table)]
        others = np.stack([*columns, _outside(asked, table, first, last)], axis=1)
    return Answers(first, last, numbers[first], sure, others, numbers, together if whole else None)


@dataclass(eq=False)
class _Asked:
    """What spans are judged by: a tagger, its input, and the labels that are known. The last scores are kept."""

    tagger: Tagger
    batch: Batch
    given: Any
    _kept: tuple[tuple[int, int], tuple[StateSpace, Potentials]] | None = None

    @cached_property
    def _known(self) -> Clamp | None:
        task, space = self.tagger.task, self.tagger.chain.space
        return None if self.given is None else task.clamp(space, self.given, self.batch.offsets)

    def scored(self, lo: int, hi: int) -> tuple[StateSpace, Potentials]:
        """The scores of some sequences."""
        if self._kept is None or self._kept[0] != (lo, hi):
            known = None if self._known is None else self._known[self.batch.ragged.slice_of(lo, hi)]
            self._kept = (lo, hi), self.tagger.scored(self.batch.window(lo, hi), known)
        return self._kept[1]


# First and last tokens of spans, all labels, the probabilities of spans and of whole sequences.
_Found = tuple[Int, Int, Int32, Float, Float]


def _scores_once(tagger: Tagger) -> bool:
    """Whether labels are decoded from the same scores as probabilities are."""
    return tagger.chain.pruner is None and tagger.finder is None


def _together(asked: _Asked, table: SpanTable, whole: bool) -> _Found:
    """Spans, all labels, and the probabilities of both: each block is scored once."""
    tagger, batch = asked.tagger, asked.batch
    decode = decoder_named(tagger.decoder)
    parts: list[_Found] = []
    for lo, hi in tagger.blocks(batch):
        try:
            space, potentials = asked.scored(lo, hi)
            numbers = decode(space, potentials)
            first, last = table.find(numbers, potentials.ragged)
            stretches = table.exactly(numbers[_positions(first, last)], first, last, potentials.ragged, space)
            stretches = _with_sequences(*stretches, numbers, potentials.ragged) if whole else stretches
            found = stretch_probabilities(space, potentials, *stretches)
        except NoPathError as error:
            raise NoPathError(error.sequence + lo, error.known) from None
        at, m = int(batch.offsets[lo]), len(first)
        together = np.ones(potentials.n_sequences if whole else 0)
        if whole:
            together[potentials.ragged.not_empty] = found[m:]
        parts.append((first + at, last + at, numbers, found[:m], together))
    if len(parts) == 1:
        return parts[0]
    nothing = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0)
    first, last, numbers, sure, together = map(np.concatenate, zip(nothing, *parts, strict=True))
    return first, last, numbers, sure, together


def _with_sequences(starts: Int, ends: Int, clamp: Clamp, numbers: Int32, ragged: Ragged) -> tuple[Int, Int, Clamp]:
    """Stretches, and behind them every sequence that has tokens; a set of one label has the number of that label."""
    first, last = ragged.ends()
    index = np.concatenate([clamp.index, numbers])
    return np.concatenate([starts, first]), np.concatenate([ends, last + 1]), Clamp(index, clamp.table)


def _apart(asked: _Asked, table: SpanTable, whole: bool) -> _Found:
    """The same by two passes."""
    tagger, batch = asked.tagger, asked.batch
    numbers = tagger.labels(batch, asked.given)
    first, last = table.find(numbers, batch.ragged)
    sure = _probabilities(asked, table, numbers[_positions(first, last)], first, last)
    together = [np.empty(0)]
    for lo, hi in tagger.blocks(batch) if whole else []:
        space, potentials = asked.scored(lo, hi)
        together.append(sequence_probabilities(space, potentials, numbers[batch.ragged.slice_of(lo, hi)]))
    return first, last, numbers, sure, np.concatenate(together)


def types_of(table: SpanTable) -> list[str]:
    """The types of spans, in order."""
    return sorted({kind for kind in table.types if kind and kind not in NOTHING})


def _positions(first: Int, last: Int) -> Int:
    """The positions of all spans, one span after the other."""
    own = Ragged.of(last - first)
    which = own.sequence_of()
    return first[which] + np.arange(own.n_positions) - own.offsets[which]


def _probabilities(asked: _Asked, table: SpanTable, labels: Int32, first: Int, last: Int) -> Float:
    """The probability of each span, block by block of the batch."""
    tagger, batch = asked.tagger, asked.batch
    ragged = batch.ragged
    starts, ends, clamp = table.exactly(labels, first, last, ragged, tagger.chain.space)
    at = Ragged.of(ends - starts).offsets
    found = np.empty(len(first))
    for lo, hi in tagger.blocks(batch):
        window = ragged.slice_of(lo, hi)
        own = slice(*np.searchsorted(first, [window.start, window.stop]).tolist())
        if own.start == own.stop:
            continue
        try:
            space, potentials = asked.scored(lo, hi)
            within = clamp[slice(int(at[own.start]), int(at[own.stop]))]
            moved = starts[own] - window.start, ends[own] - window.start
            found[own] = stretch_probabilities(space, potentials, *moved, within)
        except NoPathError as error:
            raise NoPathError(error.sequence + lo, error.known) from None
    return found


def _typed(asked: _Asked, table: SpanTable, kind: str, scheme: str, first: Int, last: Int) -> Float:
    """The probability of spans of this type at the same places; 0 where the model has no labels for it."""
    number = asked.tagger.task.number
    found = np.zeros(len(first))
    lengths = last - first
    single = kind in number  # labels of no scheme: each token has its own
    sizes = set(lengths.tolist())
    names = {n: [kind] * n if single else labels_of([TokenSpan(0, n, kind)], n, scheme) for n in sizes}
    known = np.array([all(name in number for name in names[n]) for n in lengths.tolist()], np.bool_)
    labels = [number[name] for n in lengths[known].tolist() for name in names[n]]
    if known.any():
        found[known] = _probabilities(asked, table, np.array(labels, np.int32), first[known], last[known])
    return found


def _outside(asked: _Asked, table: SpanTable, first: Int, last: Int) -> Float:
    """The probability that no token of a span belongs to any."""
    number = asked.tagger.task.number.get(OUTSIDE)
    if number is None:
        return np.zeros(len(first))
    labels = np.full(int((last - first).sum()), number, np.int32)
    return _probabilities(asked, _open(table), labels, first, last)


def _open(table: SpanTable) -> SpanTable:
    """A table by which neighbours do not matter."""
    every = np.ones_like(table.closes)
    return SpanTable(table.types, every, every, every)


def text_spans(
    texts: Sequence[str], tokens: Tokens, answers: Answers, table: SpanTable, alternatives: int
) -> list[list[FoundSpan]]:
    """The answers as objects, text by text."""
    results: list[list[FoundSpan]] = [[] for _ in texts]
    if not len(answers.first):
        return results
    document = np.searchsorted(tokens.documents.offsets, answers.first, side="right") - 1
    starts, ends = tokens.starts[answers.first].tolist(), tokens.ends[answers.last - 1].tolist()
    labels = [table.types[y] for y in answers.label.tolist()]
    sure = [None] * len(labels) if answers.probability is None else answers.probability.tolist()
    others = _ranked(answers, table, labels, alternatives)
    for d, a, b, label, p, more in zip(document.tolist(), starts, ends, labels, sure, others, strict=True):
        results[d].append(FoundSpan(a, b, label, texts[d][a:b], p, more))
    return results


def _ranked(
    answers: Answers, table: SpanTable, labels: list[str], alternatives: int
) -> list[tuple[tuple[str, float], ...]]:
    """The most probable other labels of each span."""
    if answers.others is None:
        return [()] * len(labels)
    names = [*types_of(table), OUTSIDE]
    ranked = []
    for label, row in zip(labels, answers.others.tolist(), strict=True):
        pairs = sorted(((y, p) for y, p in zip(names, row, strict=True) if y != label), key=lambda pair: -pair[1])
        ranked.append(tuple(pairs[:alternatives]))
    return ranked
