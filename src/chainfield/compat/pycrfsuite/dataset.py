"""The sequences that a trainer was given, as numbers: names are kept once, whatever the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int, Int32, offsets_of
from chainfield.data.string_table import StringTable
from chainfield.errors import DataError
from chainfield.features.batch import Batch, Sparse

from .items import label_text, read_items


@dataclass(eq=False)
class Dataset:
    """Sequences end to end; attributes and labels are numbered in order of first appearance."""

    attributes: StringTable = field(default_factory=StringTable)
    labels: dict[str, int] = field(default_factory=dict)
    groups: list[int] = field(default_factory=list)
    _lengths: list[Int] = field(default_factory=list)  # attributes of each position
    _numbers: list[Int32] = field(default_factory=list)
    _values: list[Float | None] = field(default_factory=list)
    _targets: list[Int32] = field(default_factory=list)

    def append(self, xseq: Any, yseq: Sequence[Any], group: int) -> None:
        """Add a sequence; one that is refused leaves everything as it was."""
        flat, labels = read_items(xseq), [label_text(label) for label in yseq]
        n = len(flat.indptr) - 1
        if n != len(labels):
            raise DataError(f"The numbers of items and labels differ: |x| = {n}, |y| = {len(labels)}")
        number = self.labels
        self._targets.append(np.array([number.setdefault(label, len(number)) for label in labels], np.int32))
        self._lengths.append(np.diff(flat.indptr))
        self._numbers.append(self.attributes.add(flat.names))
        self._values.append(flat.values)
        self.groups.append(group)

    def part(self, chosen: Sequence[bool]) -> tuple[Batch, Int32]:
        """Some sequences, and the numbers of their labels."""
        at = [i for i, wanted in enumerate(chosen) if wanted]
        none = np.empty(0, np.int32)
        lengths = np.concatenate([none, *(self._lengths[i] for i in at)])
        numbers = np.concatenate([none, *(self._numbers[i] for i in at)])
        values = None
        if any(self._values[i] is not None for i in at):
            own = [self._values[i] for i in at]
            sizes = [len(self._numbers[i]) for i in at]
            values = np.concatenate([np.ones(n) if v is None else v for v, n in zip(own, sizes, strict=True)])
        offsets = offsets_of([len(self._targets[i]) for i in at])
        sparse = Sparse(offsets_of(lengths), numbers, values, len(self.attributes))
        return Batch(offsets, sparse), np.concatenate([none, *(self._targets[i] for i in at)])
