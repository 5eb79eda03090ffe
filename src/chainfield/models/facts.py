"""What a model knows of its training: kept in its file, so that a report can be made of a model that was loaded."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from chainfield.features.batch import Batch, Sparse
from chainfield.tasks.task import plain_label

MOST_RECORDS = 500  # records of iterations that a file keeps
AT_ONCE = 4096  # positions


@dataclass(frozen=True)
class TrainingFacts:
    """How a model was trained. What a training did not have is None.

    ``settings``: as they were in effect, those that were left to the library filled in. ``history``: one record for
    each iteration, of long trainings every ``every``-th; the best and the last are always there. ``seconds`` are left
    out where ``SOURCE_DATE_EPOCH`` asks for files without times.
    """

    version: str
    settings: dict[str, Any]
    trainer: str
    n_iter: int
    best_iteration: int
    stop_reason: str
    history: list[dict[str, float]]
    every: int
    seconds: float | None
    n_sequences: int
    n_positions: int
    n_dev_sequences: int | None
    fingerprint: str

    def to_json(self) -> dict[str, Any]:
        """Ready for a model file; numbers that JSON has no sign for are left out of the history."""
        finite = [{k: v for k, v in record.items() if math.isfinite(v)} for record in self.history]
        found = asdict(self) | {"history": finite}
        if "SOURCE_DATE_EPOCH" in os.environ:
            found["seconds"] = None
            found["history"] = [{k: v for k, v in record.items() if k != "seconds"} for record in finite]
        return found

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> TrainingFacts:
        """The inverse of :meth:`to_json`; the file has been checked, but for what its history holds."""
        for record in stored["history"]:
            if not all(map(_is_number, record.values())) or type(record.get("iteration")) is not int:
                raise ValueError("the history of its training is no list of iterations with numbers")
        return cls(**{field.name: stored[field.name] for field in fields(cls)})


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 1 << 63
    return isinstance(value, float) and math.isfinite(value)


def thinned(history: Sequence[dict[str, Any]], best: int) -> tuple[list[dict[str, float]], int]:
    """At most so many records as a file keeps, evenly spaced, and every how many-th was taken."""
    every = max(1, -(-len(history) // MOST_RECORDS))
    kept = [
        {k: v for k, v in record.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        for i, record in enumerate(history)
        if i % every == 0 or record.get("iteration") == best or i == len(history) - 1
    ]
    return kept, every


def fingerprint(batch: Batch, targets: Sequence[Any]) -> str:
    """A digest of sequences, as a model reads them, and their labels: equal data have equal ones."""
    digest = hashlib.blake2b(digest_size=16)
    parts: list[Any] = [batch.offsets, batch.dense]
    parts += [None if sparse is None else _position_sums(sparse) for sparse in (batch.sparse, batch.edges)]
    if batch.tokens is not None:
        parts += [batch.tokens.word[batch.tokens.index]]
    for part in parts:
        digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
    for target in targets:
        digest.update(_told(target).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _told(target: Any) -> str:
    """A label, a set of labels, or a sequence of them as text, the same for equal ones."""
    if isinstance(target, set | frozenset):
        return f"{{{' '.join(sorted(map(_told, target)))}}}"
    if isinstance(target, list | tuple | np.ndarray):
        texts = set(map(type, target)) == {str}  # nearly always: one pass in C
        return f"[{' '.join(map(repr if texts else _told, target))}]"
    return repr(plain_label(target))


def _position_sums(sparse: Sparse) -> Any:
    """(N,) a number for the set of features of each position, whatever their order: kernels like them sorted."""
    keys = np.append(np.arange(1, sparse.n_features + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15), np.uint64(0))
    mixed = _mixed(keys)
    found = np.empty(len(sparse.indptr) - 1, np.uint64)
    for first in range(0, len(found), AT_ONCE):  # what is made for a few positions stays in the cache
        ends = sparse.indptr[first : first + AT_ONCE + 1]
        span = slice(int(ends[0]), int(ends[-1]))
        indices = sparse.indices[span]  # -1 is no feature, and takes the last number
        if sparse.values is None:
            numbers = mixed[indices]
        else:
            numbers = _mixed(keys[indices] ^ sparse.values[span].astype(np.float64).view(np.uint64))
            numbers[indices < 0] = 0
        sums = np.zeros(len(numbers) + 1, np.uint64)
        np.cumsum(numbers, out=sums[1:])
        found[first : first + AT_ONCE] = np.diff(sums[ends - ends[0]])
    return found


def _mixed(keys: Any) -> Any:
    """Each bit of a key changes half of the bits of its number."""
    found = (keys ^ (keys >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return found ^ (found >> np.uint64(32))


def feature_counts(batch: Batch) -> np.ndarray[Any, np.dtype[np.uint32]] | None:
    """(F,) at how many positions each sparse feature occurs; None where there are none."""
    if batch.sparse is None:
        return None
    own = batch.sparse.indices[batch.sparse.indptr[0] : batch.sparse.indptr[-1]]
    counts = np.bincount(own[own >= 0], minlength=batch.sparse.n_features)
    return np.minimum(counts, np.iinfo(np.uint32).max).astype(np.uint32)
