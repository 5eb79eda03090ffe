"""Observations: the first feature of a position, where training met it often enough."""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Bool, Float, Int, Int32
from chainfield.features.batch import Batch
from chainfield.schema import Tensor, demand

#: What model files hold of entries: an observation with a row, sorted by both.
ENTRIES = (
    Tensor("observation", ("I32",), ("entries",), "the observation of an entry", least=0, below="F"),
    Tensor("row", ("I32",), ("entries",), "the row of an entry", least=0, below="R"),
    Tensor("count", ("F64",), ("entries",), "how often it was seen; above 0", least=0),
)


def observed(batch: Batch, seen: Bool) -> Int32:
    """(N,) the number of each position's observation; -1 where it is not one that was ``seen`` (F,)."""
    sparse = batch.sparse
    assert sparse is not None
    first, filled = sparse.indptr[:-1], np.diff(sparse.indptr) > 0
    words = np.full(len(first), -1, np.int32)
    words[filled] = sparse.indices[first[filled]]
    words[words >= 0] = np.where(seen[words[words >= 0]], words[words >= 0], -1)
    return words


def known_or_rare(batch: Batch, met: Bool, seen: Bool) -> Int32:
    """(N,) the same, where a rare observation (met, but not ``seen`` often enough) is -2 - its number."""
    words = observed(batch, met)
    return np.where((words >= 0) & ~seen[words], -2 - words, words).astype(np.int32)


def entry_starts(observation: Int32, n_features: int) -> Int:
    """(F+1,) where the entries of each observation begin; entries are sorted by observation."""
    return np.searchsorted(observation, np.arange(n_features + 1)).astype(np.int64)


def entry_shares(first: Int, count: Float) -> Float:
    """(n,) the share of each entry in its observation's count: the empirical P(y | x)."""
    totals = np.add.reduceat(np.append(count, 0.0), first[:-1]) if len(first) > 1 else np.empty(0)
    lengths = np.diff(first)
    return count / np.repeat(totals, lengths)


def observation_totals(first: Int, count: Float) -> Float:
    """(F,) how often each observation was met."""
    sums = np.concatenate([[0.0], np.cumsum(count)])
    return sums[first[1:]] - sums[first[:-1]]


def check_entries(observation: Int32, row: Int32, count: Float, n_features: int, n_rows: int) -> None:
    """Refuse entries from a file that the kernels could not trust."""
    n = len(observation)
    demand(observation.dtype == np.int32 and row.dtype == np.int32 and count.dtype == np.float64, "the type of entries")
    demand(len(row) == len(count) == n, "the number of entries")
    demand(n == 0 or (observation.min() >= 0 and observation.max() < n_features), "an observation")
    demand(n == 0 or (row.min() >= 0 and row.max() < n_rows), "a row of an entry")
    code = observation.astype(np.int64) * n_rows + row
    demand(bool((np.diff(code) > 0).all()), "the order of entries")
    demand(bool(np.isfinite(count).all() and (count > 0).all()), "a count")
