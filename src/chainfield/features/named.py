"""Named attributes: sequences of dicts or of lists of strings, as python-crfsuite takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np
from numpy import frombuffer

from chainfield.arrays import Arrays, Float, Int, Int32, distinct
from chainfield.data.string_table import StringTable, pieces_of
from chainfield.kernels.layout import PADDING
from chainfield.parallel import ordered_map
from chainfield.schema import Part, Tensor, texts_tensors

from .attributes import DEEPEST
from .batch import Batch, Sparse
from .feature_map import FeatureMap, pack_strings
from .flat import FEW, NUMBERS, PART, Flat, compiled, flat_part, flatten, joined

Entries = tuple[Int, Int32, Float | None, Int]  # where positions begin, features, values, where sequences begin


def as_batch(entries: Entries, n_features: int) -> Batch:
    """Entries as a batch."""
    indptr, indices, values, offsets = entries
    return Batch(offsets, Sparse(indptr, indices, values, n_features))


@final
class NamedFeatures(FeatureMap):
    """A number for each attribute name, in order of first appearance."""

    kind: ClassVar[str] = "attributes"
    offers = frozenset({"sparse"})
    schema = Part(
        (),
        (
            *texts_tensors("", "F", "names"),
            Tensor(
                "slots", ("U64",), ("slots",), "the hash table of the names: a power of two, two thirds of them taken "
                "at most. A slot is 0, or the upper half of a name's hash and, below it, its number + 1 "
                "(`chainfield.kernels.text.strings`)", optional=True,
            ),
        ),
    )  # fmt: skip

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._use(StringTable(names))

    @classmethod
    def of(cls, table: StringTable) -> NamedFeatures:
        """The texts of a table, which is not to be changed by others from here on."""
        features = cls()
        features._use(table)
        return features

    def _use(self, table: StringTable) -> None:
        self._table, self.n_features = table, len(table)
        # The feature of each text of the table, -1: left out; the last one is that of unknown texts.
        self._number = np.arange(len(table) + 1, dtype=np.int32)
        self._number[-1] = -1

    def count(self, batch: Batch) -> tuple[Int, Int]:
        """A feature that a position has twice counts once there."""
        assert batch.sparse is not None
        found, n = batch.sparse.indices, max(self.n_features, 1)
        position = np.repeat(np.arange(batch.n_positions), np.diff(batch.sparse.indptr))[found >= 0]
        once = distinct(position * n + found[found >= 0]) % n
        return np.bincount(once, minlength=self.n_features).astype(np.int64), np.empty(0, np.int64)

    def merge(self, other: NamedFeatures) -> tuple[Int32, Int32]:
        """The names."""
        texts = self._table.add(pieces_of(other.feature_names()))
        number = np.full(len(self._table) + 1, -1, np.int32)
        number[: len(self._number) - 1] = self._number[:-1]
        fresh = distinct(texts[number[texts] < 0])  # new texts have ascending numbers
        number[fresh] = self.n_features + np.arange(len(fresh), dtype=np.int32)
        self._number, self.n_features = number, self.n_features + len(fresh)
        return number[texts], np.empty(0, np.int32)

    def learn(self, sequences: Sequence[Any], min_count: int = 1) -> Batch:
        """Number the new names; rare ones among them are left out."""
        table = self._table.copy()  # whatever is refused leaves the map as it was
        batch = joined([part.numbered(table.add(part.names), 0) for part in flatten(sequences)], 0)
        assert batch.sparse is not None
        known, n, texts = self.n_features, len(table), batch.sparse.indices
        number = np.full(n + 1, -1, np.int32)
        number[: len(self._number) - 1] = self._number[:-1]
        fresh = number[:n] < 0
        if min_count > 1:
            position = np.repeat(np.arange(batch.n_positions), np.diff(batch.sparse.indptr))
            once = distinct(position * n + texts) % max(n, 1)
            fresh &= np.bincount(once, minlength=n) >= min_count
        else:
            fresh &= np.bincount(texts, minlength=n) > 0
        n_fresh = int(np.count_nonzero(fresh))
        number[:n][fresh] = known + np.arange(n_fresh, dtype=np.int32)
        self._table, self._number, self.n_features = table, number, known + n_fresh
        return replace(batch, sparse=replace(batch.sparse, indices=number[texts], n_features=self.n_features))

    def encode(self, sequences: Sequence[Any], n_jobs: int = 1) -> Batch:
        """Unknown names have the number -1."""
        if type(sequences) is list and len(sequences) == 1:
            return self.look_up(flat_part(sequences, 0))
        # Python's objects are read by this thread; the others look up what it has read.
        parts = ordered_map(self.look_up, flatten(sequences), n_jobs if len(sequences) > FEW else 1)
        return joined(list(parts), self.n_features)

    def entries(self, sequence: Any) -> Entries | None:
        """The entries of one sequence by the shortest way; None: it needs the definition, or a compiler."""
        found = None if compiled is None else compiled((sequence,), 0, PART, DEEPEST, PADDING, NUMBERS)
        if found is None or found[0] == 0:
            return None
        _, offsets, indptr, bounds, text, values = found
        ends = frombuffer(bounds, np.int64)
        numbers = self._number.take(self._table.find_in(frombuffer(text, np.uint8), ends[:-1], ends[1:]))
        given = None if values is None else frombuffer(values, np.float64)
        return frombuffer(indptr, np.int64), numbers, given, frombuffer(offsets, np.int64)

    def look_up(self, part: Flat) -> Batch:
        """The same for sequences whose names have been read already."""
        return part.numbered(self._number.take(self._table.find(part.names)), self.n_features)

    def renumber(self, numbers: Int32) -> None:
        """Reorder the names."""
        kept = self._number >= 0
        self._number[kept] = numbers[self._number[kept]]

    def selected(self, numbers: Int32, edges: Int32) -> NamedFeatures:
        """A map of some of the names."""
        old = np.argsort(numbers, kind="stable")[np.count_nonzero(numbers < 0) :]
        names = self.feature_names()
        return NamedFeatures([names[i] for i in old.tolist()])

    def feature_names(self) -> Sequence[str]:
        """The names, by number."""
        names = [""] * self.n_features
        for name, number in zip(self._table.strings(), self._number[:-1].tolist(), strict=True):
            if number >= 0:
                names[number] = name
        return names

    def save(self) -> tuple[dict[str, Any], Arrays]:
        """The names, and the slots by which they are found."""
        names = self.feature_names()
        return {}, pack_strings(names) | {"slots": StringTable(names).slots()}

    @classmethod
    def load(cls, config: dict[str, Any], arrays: Arrays) -> NamedFeatures:
        """From the names; the table is used as it is."""
        return cls.of(StringTable.restored(arrays["bytes"], arrays["lengths"], arrays.get("slots")))
