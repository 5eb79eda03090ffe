"""Which (feature, row) pairs have a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from chainfield.arrays import Arrays, Bool, Bytes, Float, Int, Int32, Ragged, distinct, offsets_of, union
from chainfield.features.batch import Sparse
from chainfield.memory import demand_memory
from chainfield.schema import MOST, NARROW, Part, Tensor, whole

from .model_files import narrow, nested


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of feature f: first[f]:first[f+1], their rows ascending. F features, P pairs.

    The first ``n_full`` features have all rows, the next ``n_single`` one each (see ``kernels.train.linear``).
    A full feature may include pairs that were never seen: ``mask`` is 0 there, and the weight stays 0.
    """

    first: Int  # (F+1,)
    row: Int32  # (P,)
    n_full: int = 0
    n_single: int = 0
    mask: Float = field(default_factory=lambda: np.empty(0))  # (pairs of full features,), or empty

    @property
    def n_features(self) -> int:
        """F."""
        return len(self.first) - 1

    @property
    def n_pairs(self) -> int:
        """P."""
        return len(self.row)

    @property
    def ragged(self) -> Ragged:
        """The pairs as sequences, one per feature."""
        return Ragged(self.first)

    @cached_property
    def bits(self) -> Bytes:
        """The mask as the kernels read it: a bit a weight, a byte for each vector of a full feature."""
        if len(self.mask) == 0:
            return np.empty(0, np.uint8)
        return np.packbits(self.mask.reshape(self.n_full, -1) > 0, axis=1, bitorder="little").ravel()

    def feature(self) -> Int:
        """(P,) the feature of each pair."""
        return self.ragged.sequence_of()

    def exists(self) -> Bool:
        """(P,) whether a pair has a weight of its own, or only fills up a full feature."""
        exists = np.ones(self.n_pairs, np.bool_)
        exists[: len(self.mask)] = self.mask > 0
        return exists

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """Settings and arrays for a model file."""
        arrays = {"counts": narrow(self.ragged.lengths), "row": narrow(self.row), "mask": self.mask.astype(np.bool_)}
        return {"n_full": self.n_full, "n_single": self.n_single}, arrays


def pairs_part(features: str) -> Part:
    """What model files hold of pairs; ``features``: the size that counts their features."""
    return Part(
        (
            whole("n_full", "the first features have all rows: so many"),
            whole("n_single", "the next features have one row each: so many"),
        ),
        (
            Tensor("counts", NARROW, (features,), "how many rows a feature has weights for", least=0, adds_up="pairs"),
            Tensor("row", NARROW, ("pairs",), "those rows, feature by feature, ascending", least=0, below=MOST),
            Tensor(
                "mask", ("BOOL",), ("pairs of full features",),
                "false where a pair only fills up a full feature and has no weight of its own; no rows: all are true",
                empty=True,
            ),
        ),
    )  # fmt: skip


def pairs_from_parts(config: dict[str, Any], arrays: Arrays) -> Pairs:
    """The inverse of :meth:`Pairs.to_parts`."""
    row, mask = arrays["row"].astype(np.int32), arrays["mask"].astype(np.float64)
    return Pairs(offsets_of(arrays["counts"]), row, mask=mask, **config)


nested(Pairs, pairs_from_parts)


def all_pairs(n_features: int, n_rows: int) -> Pairs:
    """A weight for every feature with every row."""
    first = np.arange(n_features + 1, dtype=np.int64) * n_rows
    return Pairs(first, np.tile(np.arange(n_rows, dtype=np.int32), n_features), n_features)


def seen_pairs(sparse: Sparse, allowed: Bool, index: Int32) -> Pairs:
    """Only the pairs that occur together: feature f at a position whose set ``allowed[index[t]]`` has row r.

    allowed (M, R), index (N,); an index of -1 leaves a position out (nothing is known of it).
    """
    return pairs_with_sets(sparse, [np.flatnonzero(a) for a in allowed], index, allowed.shape[1])


def pairs_with_sets(sparse: Sparse, rows_of: Sequence[Int], index: Int32, n_rows: int) -> Pairs:
    """The same for sets that are lists of rows: a table of many small sets would be large."""
    from chainfield.kernels.train.pairs import feature_sets

    n_sets = len(rows_of)
    if n_sets == 0:
        return pairs_from_codes(np.empty(0, np.int64), sparse.n_features, n_rows)
    codes = np.empty(len(sparse.indices), np.int64)
    codes = codes[: feature_sets(sparse.indptr, sparse.indices, index, sparse.n_features, n_sets, codes)]
    feature, which = codes // n_sets, codes % n_sets
    sets = Ragged.of([len(rows) for rows in rows_of])
    found = sets.take(which)
    # θ, its gradient, an average and what is packed for the kernels: four numbers a pair; half as much for the layout.
    advice = "take fewer states a label, a larger min_count, fewer templates, or order=1"
    demand_memory(48.0 * found.n_positions, f"A model of {found.n_positions:,} weights", advice)
    pairs = found.spread(feature) * n_rows + np.concatenate(rows_of)[sets.positions(which)]
    if np.any(np.diff(pairs) <= 0):  # sets that overlap
        pairs = distinct(pairs)
    return pairs_from_codes(pairs, sparse.n_features, n_rows)


def pairs_from_codes(codes: Int, n_features: int, n_rows: int) -> Pairs:
    """Pairs from ascending codes feature · n_rows + row."""
    first = np.searchsorted(codes, np.arange(n_features + 1, dtype=np.int64) * n_rows)
    return Pairs(first.astype(np.int64), (codes % n_rows).astype(np.int32))


def join_pairs(ours: Pairs, theirs: Pairs) -> Pairs:
    """The pairs that either has, of the same features; before they are arranged."""
    n_rows = int(max(ours.row.max(initial=-1), theirs.row.max(initial=-1))) + 1
    codes = union(*(pairs.feature() * n_rows + pairs.row for pairs in (ours, theirs)))
    return pairs_from_codes(codes, ours.n_features, max(n_rows, 1))


def arrange(pairs: Pairs, n_rows: int, share: float = 0.25) -> tuple[Pairs, Int32]:
    """Renumber features so that the kernels' zones lie side by side; returns the pairs and the features' new numbers.

    A feature seen with a quarter of the rows (or ``share``) or more becomes full: reading all rows as vectors beats a
    list.
    """
    from chainfield.kernels.train.pairs import fill_zones

    exists = pairs.exists()
    counts = pairs.ragged.lengths
    if len(pairs.mask):
        counts = Ragged(offsets_of(exists.view(np.uint8))[pairs.first]).lengths
    full = pairs.ragged.lengths >= min(n_rows, max(4, int(np.ceil(n_rows * share))))
    zone = np.where(full, 0, np.where(counts == 1, 1, 2)).astype(np.int8)
    order = np.argsort(zone, kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    n_full, n_single = int(np.count_nonzero(zone == 0)), int(np.count_nonzero(zone == 1))
    first = offsets_of(np.where(full, n_rows, counts)[order])
    row, mask = np.empty(int(first[-1]), np.int32), np.zeros(n_full * n_rows)
    fill_zones(pairs.first, pairs.row, exists, number, n_full, n_rows, first, row, mask)
    mask = np.empty(0) if mask.all() else mask
    return Pairs(first, row, n_full, n_single, mask), number
