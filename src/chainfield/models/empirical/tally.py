"""Counting sequences as they come: a chunk at a time, each event a number, each number counted by sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from chainfield.arrays import Bool, Float, Int
from chainfield.data.coded_rows import CodedRows
from chainfield.errors import ConfigError
from chainfield.features.batch import Sparse
from chainfield.tasks.task import plain_label

from .counts import MOST_LABELS, Counts, join_entries, join_label, paired, split_label
from .distinct import distinct_labels, distinct_rows, sequence_offsets
from .forms import Forms, no_forms
from .table import Table, empty_table, tabulate

# Tables of chunks are kept apart until they are worth adding up: a table is merged with one that is not much larger.
GROWTH = 2


class Tally:
    """Counts chunks of sequences. ``learn`` gives the features of some rows; it is asked once for every distinct row,
    when the counts are asked for, if rows can be told apart by themselves (``alone``), and else for every chunk.

    Memory grows with the number of distinct rows, tagged words and pairs of tagged words, not with that of tokens.
    """

    def __init__(self, learn: Callable[[Sequence[Any]], Sparse], *, alone: bool) -> None:
        self._learn = learn
        self._alone = alone
        self._labels: dict[Any, int] = {}
        self._rows: dict[Any, int] = {}  # distinct rows, or nothing if forms are numbered chunk by chunk
        self._shapes: set[Any] = set()
        self._forms = no_forms()
        self._n_described = 0  # rows whose features are known already
        self._piles: dict[str, list[Table]] = {"samples": [], "pairs": []}
        self._entries: Int = np.empty(0, np.int64)  # codes row (or observation) and label, ascending
        self._entry_numbers: Int = np.empty(0, np.int64)

    def add(self, sequences: Sequence[Any], targets: Sequence[Any], weights: Float | None = None) -> None:
        """Count some sequences; positions whose label is None (or a set of several) are left out."""
        offsets = sequence_offsets(targets)
        if not offsets[-1]:
            return
        label = self._label_numbers(targets)
        form, observation = self._form_numbers(sequences)
        weight = None if weights is None else np.repeat(weights, np.diff(offsets))
        known = label >= 0
        there = known & (observation >= 0)
        entry, met = self._number_entries(join_label(observation, label), there, weight)
        self._count("samples", met if self._alone else _tabulate(join_label(form, label), known, weight))
        both = there[1:] & there[:-1]
        both[offsets[(offsets > 0) & (offsets < len(label))] - 1] = False
        weight = None if weight is None else weight[1:]
        self._count("pairs", _tabulate(join_entries(entry[:-1], entry[1:]), both, weight))

    def _label_numbers(self, targets: Sequence[Any]) -> Int:
        """(N,) the numbers of the labels; -1 where one is not known."""
        labels, which = distinct_labels(targets)
        numbers = np.empty(len(labels), np.int64)
        for i, label in enumerate(labels):
            own = plain_label(label)
            if isinstance(own, frozenset):
                own = plain_label(next(iter(own))) if len(own) == 1 else None
            numbers[i] = -1 if own is None else self._labels.setdefault(own, len(self._labels))
        if len(self._labels) > MOST_LABELS:
            raise ConfigError(f"There are more than {MOST_LABELS} labels; is the label in another column?")
        return numbers[which]

    def _form_numbers(self, sequences: Sequence[Any]) -> tuple[Int, Int]:
        """(N,) the form of each position, and its observation (or, as long as rows stand for them, the row)."""
        if self._alone:
            form = self._row_numbers(sequences)
            return form, form
        forms, number = forms_of(self._learn(sequences)).distinct()
        place = self._forms.find(forms)
        fresh = np.flatnonzero(place < 0)
        place[fresh] = len(self._forms) + np.arange(len(fresh))
        self._forms = self._forms + forms.take(fresh) if len(fresh) else self._forms
        return place[number], forms.observation[number].astype(np.int64)

    def _row_numbers(self, sequences: Sequence[Any]) -> Int:
        """(N,) the numbers of rows. One that is not like the others is for the feature map to refuse: it tells where it
        stands.
        """
        try:
            rows, which = distinct_rows(sequences)
        except TypeError:  # a row that cannot be hashed
            self._learn(sequences)
            raise
        self._shapes |= {sequences.n_columns} if isinstance(sequences, CodedRows) else set(map(_shape, rows))
        if len(self._shapes) > 1 or None in self._shapes:
            self._learn(sequences)
        known = self._rows
        return np.fromiter((known.setdefault(row, len(known)) for row in rows), np.int64, len(rows))[which]

    def _number_entries(self, codes: Int, there: Bool, weight: Float | None) -> tuple[Int, Table]:
        """(N,) the number of every entry, -1 where there is none, and how often each was met; new ones are numbered as
        they come.
        """
        entry = np.full(len(codes), -1, np.int64)
        distinct, inverse = np.unique(codes[there], return_inverse=True)
        place = np.searchsorted(self._entries, distinct)
        old = place < len(self._entries)
        old[old] = self._entries[place[old]] == distinct[old]
        number = np.empty(len(distinct), np.int64)
        number[old] = self._entry_numbers[place[old]]
        fresh = np.flatnonzero(~old)
        number[fresh] = len(self._entries) + np.arange(len(fresh))
        if len(fresh):
            self._entries = np.insert(self._entries, place[fresh], distinct[fresh])
            self._entry_numbers = np.insert(self._entry_numbers, place[fresh], number[fresh])
        entry[there] = number[inverse]
        counts = np.bincount(inverse, None if weight is None else weight[there], len(distinct))
        return entry, tabulate(distinct, counts.astype(np.float64))

    def _count(self, name: str, table: Table) -> None:
        pile = self._piles[name]
        pile.append(table)
        while len(pile) > 1 and len(pile[-2]) < GROWTH * len(pile[-1]):
            last = pile.pop()
            pile[-1] = pile[-1] + last

    @property
    def labels(self) -> tuple[Any, ...]:
        """Those that have occurred."""
        return tuple(self._labels)

    def counts(self) -> Counts:
        """What was counted so far; features are looked up for whatever rows are new."""
        for pile in self._piles.values():
            while len(pile) > 1:
                last = pile.pop()
                pile[-1] = pile[-1] + last
        tables = {name: pile[0] if pile else empty_table() for name, pile in self._piles.items()}
        entries = np.empty_like(self._entries)
        entries[self._entry_numbers] = self._entries
        found = Counts(tuple(self._labels), self._forms, entries, **tables)
        return self._described(found) if self._alone else found

    def _described(self, found: Counts) -> Counts:
        """The same in terms of features in place of rows."""
        rows = list(self._rows)
        if len(rows) > self._n_described:
            fresh = forms_of(self._learn([rows[self._n_described :]]))  # no feature looks at a neighbour
            self._forms = self._forms + fresh if len(self._forms) else fresh
            self._n_described = len(rows)
        forms, number = self._forms.distinct()
        observation = self._forms.observation.astype(np.int64)
        form, label = split_label(found.samples.codes)
        samples = found.samples.recoded(join_label(number[form], label))
        row, label = split_label(found.entries)
        entries, pairs = join_label(observation[row], label), found.pairs
        there = observation[row] >= 0
        codes, entry = np.unique(entries[there], return_inverse=True)
        if len(codes) < len(entries):  # rows that share an observation, or have none
            numbers = np.full(len(entries), -1, np.int64)
            numbers[there] = entry
            entries, pairs = codes, paired(pairs, numbers)
        return replace(found, forms=forms, entries=entries, samples=samples, pairs=pairs)


def _tabulate(codes: Int, keep: Bool, weights: Float | None) -> Table:
    return tabulate(codes[keep], None if weights is None else weights[keep])


def _shape(row: Any) -> Any:
    """What rows must have in common: being strings, or tuples of so many strings; None for anything else."""
    if isinstance(row, str):
        return str
    return len(row) if isinstance(row, tuple) and all(isinstance(cell, str) for cell in row) else None


def forms_of(sparse: Sparse) -> Forms:
    """The form of every position: its first feature is the observation, the others describe it."""
    indptr, indices = sparse.indptr, sparse.indices
    starts, filled = indptr[:-1], np.diff(indptr) > 0
    observation = np.full(len(starts), -1, np.int32)
    observation[filled] = indices[starts[filled]]
    rest = np.ones(len(indices), np.bool_)
    rest[: indptr[0]] = False
    rest[indptr[-1] :] = False
    rest[starts[filled]] = False
    rest &= indices >= 0
    before = np.concatenate([[0], np.cumsum(rest)])
    return Forms(observation, before[indptr].astype(np.int64), indices[rest])
