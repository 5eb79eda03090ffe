"""The entries of linear features, written out for the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .packing import Packing

if TYPE_CHECKING:
    from chainfield.features.batch import Batch
    from chainfield.kernels.train.unrolled import Unrolled

_MOST_ENTRIES = 2**27  # of columns of numbers, whose features are written out: half a gigabyte


def unrolled(batch: Batch, packing: Packing) -> Unrolled | None:
    """The entries of sparse features, written out."""
    from chainfield.kernels.train.unrolled import Unrolled, count_unrolled, unroll

    data, pairs = batch.sparse, packing.pairs
    if data is None:
        return None
    full_first, pair_first = np.zeros(len(data.indptr), np.int64), np.zeros(len(data.indptr), np.int64)
    count_unrolled(data.indptr, data.indices, pairs.first, pairs.n_full, full_first, pair_first)
    n_full, n_pairs = int(full_first[-1]), int(pair_first[-1])
    full, pair, row = np.empty(n_full, np.int32), np.empty(n_pairs, np.int32), np.empty(n_pairs, np.uint16)
    weighted = data.values is not None
    full_value, pair_value = np.empty(n_full * weighted), np.empty(n_pairs * weighted)
    unroll(
        data.indptr, data.indices, data.weights(), pairs.first, pairs.row, pairs.n_full, packing.shift, full,
        full_value, pair, row, pair_value,
    )  # fmt: skip
    return Unrolled(
        full_first, full, full_value, pair_first, pair, row, pair_value, pairs.bits, packing.width, not weighted
    )


def laid_out(batch: Batch, packing: Packing) -> Unrolled | None:
    """Columns of numbers: every position has every feature. The numbers are read where they are."""
    from chainfield.kernels.train.unrolled import Unrolled

    data, pairs = batch.dense, packing.pairs
    if data is None or data.size > _MOST_ENTRIES:
        return None
    n, d = data.shape
    none = np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16), np.empty(0)
    every, value = np.tile(np.arange(d, dtype=np.int32), n), np.ascontiguousarray(data, np.float64).reshape(-1)
    return Unrolled(np.arange(n + 1, dtype=np.int64) * d, every, value, *none, pairs.bits, packing.width, False)


#: How the entries of linear scorers are laid out, by what they say of themselves (``Scorer.fused``).
LAYOUTS: dict[str, Callable[[Batch, Packing], Unrolled | None]] = {"pairs": unrolled, "columns": laid_out}
