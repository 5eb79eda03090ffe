"""Named attributes: sequences of dicts or of lists of strings, as python-crfsuite takes them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Arrays, Float, Int32
from chainfield.data.string_table import Pieces, StringTable, pieces_of

from .attributes import sequence_attributes
from .batch import Batch, Sparse
from .dict_columns import Records, as_records
from .map import FeatureMap, offsets_of, pack_strings, unpack_strings


@final
class NamedFeatures(FeatureMap):
    """A number for each attribute name, in order of first appearance."""

    kind: ClassVar[str] = "attributes"

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._table = StringTable(names)
        self._number = np.arange(len(names), dtype=np.int32)  # the feature of a text of the table, -1: left out
        self.n_features = len(names)

    def learn(self, sequences: Sequence[Any], min_count: int = 1) -> Batch:
        """Number the new names; rare ones among them are left out."""
        given = _Given(sequences)
        texts = self._table.add(given.pieces(in_order=True))
        known, n = self.n_features, len(self._table)
        number = np.full(n, -1, np.int32)
        number[: len(self._number)] = self._number
        fresh = number < 0
        if min_count > 1:
            position = np.repeat(np.arange(len(given.indptr) - 1), np.diff(given.indptr))
            once = np.unique(position * n + texts) % max(n, 1)
            fresh &= np.bincount(once, minlength=n) >= min_count
        else:
            fresh &= np.bincount(texts, minlength=n) > 0
        number[fresh] = known + np.arange(np.count_nonzero(fresh), dtype=np.int32)
        self._number = number
        self.n_features = known + int(np.count_nonzero(fresh))
        return self._batch(given, number[texts] if n else texts)

    def encode(self, sequences: Sequence[Any], n_jobs: int = 1) -> Batch:
        """Unknown names have the number -1."""
        given = _Given(sequences)
        texts = self._table.find(given.pieces(), n_jobs)
        numbers = np.where(texts >= 0, self._number[texts], np.int32(-1)) if len(self._number) else texts
        return self._batch(given, given.in_order(numbers))

    def _batch(self, given: _Given, numbers: Int32) -> Batch:
        sparse = Sparse(given.indptr, numbers.astype(np.int32, copy=False), given.values(), self.n_features)
        return Batch(given.offsets, sparse)

    def renumber(self, numbers: Int32) -> None:
        """Reorder the names."""
        kept = self._number >= 0
        self._number[kept] = numbers[self._number[kept]]

    def feature_names(self) -> Sequence[str]:
        """The names, by number."""
        names = [""] * self.n_features
        for name, number in zip(self._table.strings(), self._number.tolist(), strict=True):
            if number >= 0:
                names[number] = name
        return names

    def save(self) -> tuple[dict[str, Any], Arrays]:
        """The names."""
        return {}, pack_strings(self.feature_names())

    @classmethod
    def load(cls, config: dict[str, Any], arrays: Arrays) -> NamedFeatures:
        """From the names."""
        return cls(unpack_strings(arrays))


class _Given:
    """What was given at every position, in one of three ways: lists of strings, dicts, or a mixture."""

    def __init__(self, sequences: Sequence[Any]) -> None:
        lists = [s.to_dict("records") if hasattr(s, "to_dict") else s for s in sequences]
        self.records: Records | None = None
        self._values: Float | None = None
        if set(map(type, lists)) <= {list, tuple}:
            items = list(chain.from_iterable(lists))
            kinds = set(map(type, items))
            if kinds <= {list}:
                given: Records | list[str] | None = list(chain.from_iterable(items))
            else:
                given = as_records(items) if kinds == {dict} else None
            if given is not None and self._join(given):
                self.offsets = offsets_of(list(map(len, lists)))
                self.indptr = offsets_of(list(map(len, items)))
                return
        found = [sequence_attributes(items, f"Sequence {s}") for s, items in enumerate(lists)]
        self.offsets = offsets_of(list(map(len, found)))
        every = list(chain.from_iterable(found))
        self.indptr = offsets_of(list(map(len, every)))
        self._pieces = pieces_of([name for position in every for name, _ in position])
        self._values = np.array([value for position in every for _, value in position], np.float64)

    def _join(self, given: Records | list[str]) -> bool:
        """Join all strings; False if there is anything else among them, which takes a closer look at every item."""
        try:
            self._pieces = pieces_of(given) if isinstance(given, list) else given.pieces()
        except TypeError:
            return False
        self.records = None if isinstance(given, list) else given
        return True

    def pieces(self, in_order: bool = False) -> Pieces:
        """The names of all attributes; unless they come in order, their numbers have to be brought into it."""
        pieces = self._pieces
        if self.records is None or not in_order:
            return pieces
        order = np.argsort(self.records.places(self.indptr))
        return Pieces(pieces.buffer, pieces.starts[order], pieces.ends[order])

    def in_order(self, numbers: Int32) -> Int32:
        """What belongs to the pieces, position by position."""
        if self.records is None:
            return numbers
        ordered = np.empty_like(numbers)
        ordered[self.records.places(self.indptr)] = numbers
        return ordered

    def values(self) -> Float | None:
        """Their values; None: all are 1."""
        values = self._values if self.records is None else self.records.values(self.indptr)
        return None if values is None or bool((values == 1.0).all()) else values
