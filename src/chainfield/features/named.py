"""Named attributes: sequences of dicts or of lists of strings, as python-crfsuite takes them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from chainfield.features.attributes import sequence_attributes
from chainfield.features.batch import Batch, Sparse
from chainfield.features.map import Arrays, FeatureMap, offsets_of, pack_strings, unpack_strings

_STRINGS = {str}
_UNKNOWN = repeat(-1)


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
    indices: list[int] = []
    values: list[float] = []
    lengths: list[int] = []
    ends: list[int] = []
    get = ids.get
    for s, sequence in enumerate(sequences):
        items = sequence.to_dict("records") if hasattr(sequence, "to_dict") else sequence
        if isinstance(items, list) and all(type(item) is list and set(map(type, item)) <= _STRINGS for item in items):
            # Lists of strings, the most frequent case, need no more than a look-up.
            for item in items:
                if grow:
                    known = [ids.setdefault(name, len(ids)) for name in item]
                else:
                    known = [number for number in map(get, item, _UNKNOWN) if number >= 0]
                indices += known
                values += [1.0] * len(known)
                ends.append(len(indices))
            lengths.append(len(items))
            continue
        found = sequence_attributes(items, f"Sequence {s}")
        for attributes in found:
            for name, value in attributes:
                number = ids.setdefault(name, len(ids)) if grow else get(name, -1)
                if number >= 0:
                    indices.append(number)
                    values.append(value)
            ends.append(len(indices))
        lengths.append(len(found))
    numbers_given = np.array(values, np.float64)
    sparse = Sparse(
        np.array([0, *ends], np.int64),
        np.array(indices, np.int32),
        None if bool((numbers_given == 1.0).all()) else numbers_given,
        len(ids),
    )
    return Batch(offsets_of(lengths), sparse)
