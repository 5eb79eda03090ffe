"""Named attributes: sequences of dicts or of lists of strings, as python-crfsuite takes them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from chainfield.features.attributes import sequence_attributes
from chainfield.features.batch import Batch, Sparse
from chainfield.features.map import Arrays, FeatureMap, offsets_of, pack_strings, unpack_strings


@final
class NamedFeatures(FeatureMap):
    """A number for each attribute name, in order of first appearance."""

    kind: ClassVar[str] = "attributes"

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._ids = {name: i for i, name in enumerate(names)}

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """How many names are known."""
        return len(self._ids)

    def learn(self, sequences: Sequence[Any], min_count: int = 1) -> Batch:
        """Number the new names; rare ones among them are left out."""
        known = len(self._ids)
        ids = dict(self._ids)
        batch = _encode(sequences, ids, grow=True)
        sparse = batch.sparse
        assert sparse is not None
        if min_count > 1:
            position = np.repeat(np.arange(len(sparse.indptr) - 1), np.diff(sparse.indptr))
            once = np.unique(position * len(ids) + sparse.indices) % max(len(ids), 1)
            counts = np.bincount(once, minlength=len(ids))
            keep = (counts >= min_count) | (np.arange(len(ids)) < known)
            number = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
            ids = {name: int(number[i]) for name, i in ids.items() if keep[i]}
            sparse = Sparse(sparse.indptr, number[sparse.indices], sparse.values, len(ids))
        self._ids = ids
        return Batch(batch.offsets, Sparse(sparse.indptr, sparse.indices, sparse.values, len(ids)))

    def encode(self, sequences: Sequence[Any]) -> Batch:
        """Unknown names are left out."""
        return _encode(sequences, self._ids, grow=False)

    def renumber(self, numbers: NDArray[np.int32]) -> None:
        """Reorder the names."""
        names = list(self._ids)
        self._ids = {names[old]: new for new, old in enumerate(np.argsort(numbers).tolist())}

    def feature_names(self) -> Sequence[str]:
        """The names, by number."""
        return list(self._ids)

    def save(self) -> tuple[dict[str, Any], Arrays]:
        """The names."""
        return {}, pack_strings(list(self._ids))

    @classmethod
    def load(cls, config: dict[str, Any], arrays: Arrays) -> NamedFeatures:
        """From the names."""
        return cls(unpack_strings(arrays))


def _encode(sequences: Sequence[Any], ids: dict[str, int], *, grow: bool) -> Batch:
    indptr, indices, values = array("q", [0]), array("i"), array("d")
    lengths, plain = [], True
    get = ids.get
    for s, sequence in enumerate(sequences):
        items = sequence.to_dict("records") if hasattr(sequence, "to_dict") else sequence
        found = sequence_attributes(items, f"Sequence {s}")
        lengths.append(len(found))
        for item in found:
            for name, value in item:
                number = ids.setdefault(name, len(ids)) if grow else get(name, -1)
                if number >= 0:
                    indices.append(number)
                    values.append(value)
                    plain = plain and value == 1.0
            indptr.append(len(indices))
    numbers = None if plain else np.frombuffer(values, np.float64).copy()
    sparse = Sparse(
        np.frombuffer(indptr, np.int64).copy(),
        np.frombuffer(indices, np.int32).copy() if len(indices) else np.empty(0, np.int32),
        numbers,
        len(ids),
    )
    return Batch(offsets_of(lengths), sparse)
