"""All that empirical training learns: forms with labels, and tagged observations that follow each other.

Everything a model says is worked out from these tables, so that data can be added, merged and taken back at any time,
with the same result as if the rest had been counted alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError, DataError

from .forms import Forms, no_forms
from .table import Table, empty_table

LABEL_BITS = 16
MOST_LABELS = 1 << LABEL_BITS
_LABEL = MOST_LABELS - 1
ENTRY_BITS = 32
_ENTRY = (1 << ENTRY_BITS) - 1


@dataclass(frozen=True, eq=False)
class Counts:
    """Labels are numbered in order of first appearance, and so are *entries*: observations with a label.

    samples: codes form · 2^16 + label. entries: codes observation · 2^16 + label. pairs: codes entry · 2^32 + entry
    of the position behind it.
    """

    labels: tuple[Any, ...] = ()
    forms: Forms = field(default_factory=no_forms)
    entries: Int = field(default_factory=lambda: np.empty(0, np.int64))
    samples: Table = field(default_factory=empty_table)
    pairs: Table = field(default_factory=empty_table)

    @property
    def n_labels(self) -> int:
        """L."""
        return len(self.labels)

    @cached_property
    def entry_counts(self) -> Float:
        """(entries,) how often each entry was met."""
        form, label = split_label(self.samples.codes)
        observation = self.forms.observation[form].astype(np.int64)
        there = observation >= 0
        table = Table(self.samples.codes[there], self.samples.counts[there]).recoded(
            join_label(observation[there], label[there])
        )
        return table.find(self.entries)

    def label_counts(self) -> Float:
        """(L,) how often each label was met."""
        _, label = split_label(self.samples.codes)
        return np.bincount(label, weights=self.samples.counts, minlength=self.n_labels).astype(np.float64)

    def label_pairs(self) -> Float:
        """(L, L) how often label followed label."""
        before, after = split_entries(self.pairs.codes)
        label = split_label(self.entries)[1]
        code = label[before] * self.n_labels + label[after]
        found = np.bincount(code, weights=self.pairs.counts, minlength=self.n_labels**2)
        return found.astype(np.float64).reshape(self.n_labels, self.n_labels)

    def with_labels(self, labels: Any) -> Counts:
        """The same with labels announced that may come later."""
        return replace(self, labels=tuple(dict.fromkeys([*self.labels, *labels])))

    def __add__(self, other: Counts) -> Counts:
        """Both together; features must have the same numbers in both."""
        labels = tuple(dict.fromkeys([*self.labels, *other.labels]))
        if len(labels) > MOST_LABELS:
            raise ConfigError(f"There are {len(labels)} labels; {MOST_LABELS} can be counted.")
        number = label_numbers(labels, other.labels)
        form = self.forms.find(other.forms)
        fresh = np.flatnonzero(form < 0)
        form[fresh] = len(self.forms) + np.arange(len(fresh))
        observation, label = split_label(other.entries)
        entries, entry = _united(self.entries, join_label(observation, number[label]))
        return Counts(
            labels,
            self.forms + other.forms.take(fresh) if len(fresh) else self.forms,
            entries,
            self.samples + _moved(other.samples, form, number),
            self.pairs + paired(other.pairs, entry),
        )

    def __sub__(self, other: Counts) -> Counts:
        """These without others, which must all be among them; a label that is gone for good is forgotten."""
        form = self.forms.find(other.forms)
        place = {code: i for i, code in enumerate(self.entries.tolist())}
        known = {label: i for i, label in enumerate(self.labels)}
        strange = [label for label in other.labels if label not in known]
        number = np.array([known.get(label, 0) for label in other.labels], np.int64)
        observation, label = split_label(other.entries)
        entry = np.array([place.get(c, -1) for c in join_label(observation, number[label]).tolist()], np.int64)
        if strange or form.min(initial=0) < 0 or entry.min(initial=0) < 0:
            what = f"the label {strange[0]!r}" if strange else "words or features"
            raise DataError(f"What is to be taken back has {what} that the model has never counted.")
        less = replace(
            self,
            samples=self.samples - _moved(other.samples, form, number),
            pairs=self.pairs - paired(other.pairs, entry),
        )
        before, after = self.label_counts(), less.label_counts()
        return less._without_labels({self.labels[i] for i in np.flatnonzero((before > 0) & (after == 0))})

    def _without_labels(self, gone: set[Any]) -> Counts:
        """The same without labels (and entries) that nothing has any more."""
        if not gone:
            return self
        labels = tuple(label for label in self.labels if label not in gone)
        number = np.array([labels.index(label) if label not in gone else -1 for label in self.labels], np.int64)
        observation, label = split_label(self.entries)
        keep = number[label] >= 0
        entry = np.where(keep, np.cumsum(keep) - 1, -1)
        same = np.arange(len(self.forms))
        return Counts(
            labels,
            self.forms,
            join_label(observation[keep], number[label[keep]]),
            _moved(self.samples, same, number),
            paired(self.pairs, entry),
        )

    def renumbered(self, features: Int) -> Counts:
        """The same where feature f has the number ``features[f]``."""
        observation, label = split_label(self.entries)
        entries = join_label(features[observation], label)
        return replace(self, forms=self.forms.renumbered(features), entries=entries)


def join_label(what: Int, label: Int) -> Int:
    """Codes of forms or observations with labels."""
    return (what << LABEL_BITS) | label


def split_label(codes: Int) -> tuple[Int, Int]:
    """The inverse of :func:`join_label`."""
    return codes >> LABEL_BITS, codes & _LABEL


def join_entries(before: Int, after: Int) -> Int:
    """Codes of entries that follow each other."""
    return (before << ENTRY_BITS) | after


def split_entries(codes: Int) -> tuple[Int, Int]:
    """The inverse of :func:`join_entries`."""
    return codes >> ENTRY_BITS, codes & _ENTRY


def label_numbers(labels: tuple[Any, ...], wanted: tuple[Any, ...]) -> Int:
    """The number among ``labels`` of each of the wanted ones."""
    number = {label: i for i, label in enumerate(labels)}
    return np.array([number[label] for label in wanted], np.int64)


def _moved(table: Table, form: Int, label: Int) -> Table:
    own_form, own_label = split_label(table.codes)
    return table.recoded(join_label(form[own_form], label[own_label]))


def paired(pairs: Table, entry: Int) -> Table:
    """Pairs under other numbers of their entries; those of an entry that is gone (-1) are left out."""
    before, after = split_entries(pairs.codes)
    before, after = entry[before], entry[after]
    real = (before >= 0) & (after >= 0)
    if not real.all():
        before, after, pairs = before[real], after[real], Table(pairs.codes[real], pairs.counts[real])
    return pairs.recoded(join_entries(before, after))


def _united(known: Int, others: Int) -> tuple[Int, Int]:
    """Known codes with new ones behind them, and where each of the others is now."""
    order = np.argsort(known, kind="stable")
    ranked = known[order]
    place = np.minimum(np.searchsorted(ranked, others), max(len(ranked) - 1, 0))
    there = ranked[place] == others if len(ranked) else np.zeros(len(others), np.bool_)
    number = np.empty(len(others), np.int64)
    number[there] = order[place[there]]
    number[~there] = len(known) + np.arange(np.count_nonzero(~there))
    return np.concatenate([known, others[~there]]), number
