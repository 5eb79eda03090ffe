"""Numbers as features: dense arrays and SciPy sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Arrays, Float, Int, Int32, offsets_of
from chainfield.checking import ROWS, checked_csr, is_list, is_sparse
from chainfield.errors import DataError
from chainfield.schema import Part, Tensor, demand, whole

from .batch import Batch, Sparse, check_finite
from .feature_map import FeatureMap
from .scale import TINIEST, Moments, Scale


@final
class DenseFeatures(FeatureMap):
    """Every position is a row of D numbers; a sequence is a (length, D) array.

    ``asked``: the scaling that a user asks for (:mod:`.scale`). The scale is found in the first training data and
    stays: weights that are trained further, or by other data, go on meaning the same.
    """

    kind: ClassVar[str] = "dense"
    offers = frozenset({"dense"})
    schema = Part(
        (whole("n_columns", "columns of the arrays", "D", most="file"),),
        (
            Tensor("centre", ("F64",), ("D",), "what counts as 0; missing: all are as given", optional=True),
            Tensor("spread", ("F64",), ("D",), "how much counts as 1; goes with centre", least=TINIEST, optional=True),
        ),
    )

    def __init__(self, n_columns: int = 0, asked: str = "none", scale: Scale | None = None) -> None:
        self.n_columns = n_columns
        self.asked = asked
        self.scale = scale
        self._moments: Moments | None = None  # of the data that the scale comes from

    @property
    def scaling(self) -> str:  # type: ignore[override]
        """The scaling that the data got."""
        return "none" if self.scale is None else self.scale.scaling

    def learn(self, sequences: Sequence[Any], min_count: int = 1) -> Batch:
        """Remember the number of columns, and their scale."""
        rows, offsets = _stack(sequences, self.n_columns or None)
        if not self.n_columns:
            self.n_columns = rows.shape[1]
            if self.asked != "none":
                self._moments = Moments.of(rows)
                self.scale = self._moments.scale(self.asked)
        return self._scaled(rows, offsets)

    def encode(self, sequences: Sequence[Any], n_jobs: int = 1) -> Batch:
        """Lay the arrays end to end."""
        return self._scaled(*_stack(sequences, self.n_columns))

    def _scaled(self, rows: Float, offsets: Int) -> Batch:
        return Batch(offsets, dense=rows if self.scale is None else self.scale.apply(rows))

    def renumber(self, numbers: Int32) -> None:
        """There are no sparse features."""

    def merge(self, other: DenseFeatures) -> tuple[Int32, Int32]:
        """The columns must be the same ones; their scale is that of both together."""
        if self.n_columns != other.n_columns:
            raise DataError(f"Arrays of {self.n_columns} and of {other.n_columns} columns cannot be merged.")
        if self._moments is not None and other._moments is not None:
            self._moments += other._moments
            self.scale = self._moments.scale(self.asked)
        return np.empty(0, np.int32), np.empty(0, np.int32)

    def feature_names(self) -> Sequence[str]:
        """x0, x1, …"""
        return [f"x{i}" for i in range(self.n_columns)]

    def save(self) -> tuple[dict[str, Any], Arrays]:
        """The number of columns, and their scale."""
        scale = self.scale
        return {"n_columns": self.n_columns}, {} if scale is None else {"centre": scale.centre, "spread": scale.spread}

    @classmethod
    def load(cls, config: dict[str, Any], arrays: Arrays) -> DenseFeatures:
        """The inverse of save."""
        if not arrays:
            return cls(config["n_columns"])
        demand(len(arrays) == 2, "the scale of columns: centre and spread go together")
        return cls(config["n_columns"], scale=Scale(arrays["centre"], arrays["spread"]))


def _stack(sequences: Sequence[Any], n_columns: int | None) -> tuple[Float, Int]:
    """(N, D) the rows of all sequences in one array of their own, and where sequences begin."""
    arrays = []
    for s, sequence in enumerate(sequences):
        if is_list(sequence) and not is_sparse(sequence) and not len(sequence):
            arrays.append(np.empty((0, n_columns or 0)))
            continue
        rows = ROWS.read(sequence, f"Sequence {s}")
        if n_columns is not None and rows.shape[1] != n_columns:
            raise DataError(f"Sequence {s} has {rows.shape[1]} columns; expected {n_columns}.")
        n_columns = rows.shape[1]
        arrays.append(rows)
    width = n_columns or 0
    arrays = [rows if len(rows) else np.empty((0, width)) for rows in arrays]
    offsets = offsets_of([len(a) for a in arrays])
    dense = np.concatenate(arrays) if arrays else np.empty((0, width))
    check_finite(dense, offsets, "the array")
    return np.ascontiguousarray(dense), offsets


@final
class SparseFeatures(FeatureMap):
    """Every position is a row of a SciPy sparse matrix with F columns; a sequence is a (length, F) matrix."""

    kind: ClassVar[str] = "sparse"
    offers = frozenset({"sparse"})
    schema = Part(
        (whole("n_features", "columns of the matrices", "F", most="file"),),
        (
            Tensor(
                "numbers", ("I32",), ("F",), "the feature of each column; missing: column i is feature i", least=0,
                below="F", distinct=True, optional=True,
            ),
        ),
    )  # fmt: skip

    def __init__(self, n_features: int = 0, numbers: Int32 | None = None) -> None:
        self.n_features = n_features
        self._numbers = numbers  # (F,) the feature behind a column; None: the column's own number

    def learn(self, sequences: Sequence[Any], min_count: int = 1) -> Batch:
        """Remember the number of columns; ``min_count`` leaves rare ones without values."""
        batch = self._encode(sequences, self.n_features or None)
        assert batch.sparse is not None
        self.n_features = batch.sparse.n_features
        if min_count > 1:
            counts = np.bincount(batch.sparse.indices, minlength=self.n_features)
            kept = np.where(counts[batch.sparse.indices] >= min_count, batch.sparse.indices, -1)
            sparse = Sparse(batch.sparse.indptr, kept.astype(np.int32), batch.sparse.values, self.n_features)
            return Batch(batch.offsets, sparse)
        return batch

    def encode(self, sequences: Sequence[Any], n_jobs: int = 1) -> Batch:
        """Lay the matrices end to end."""
        return self._encode(sequences, self.n_features)

    def _encode(self, sequences: Sequence[Any], n_features: int | None) -> Batch:
        batch = _rows(sequences, n_features)
        if self._numbers is None or batch.sparse is None:
            return batch
        return replace(batch, sparse=replace(batch.sparse, indices=self._numbers[batch.sparse.indices]))

    def merge(self, other: SparseFeatures) -> tuple[Int32, Int32]:
        """The columns must be the same ones."""
        if self.n_features != other.n_features:
            raise DataError(f"Matrices of {self.n_features} and of {other.n_features} columns cannot be merged.")
        return np.arange(self.n_features, dtype=np.int32), np.empty(0, np.int32)

    def renumber(self, numbers: Int32) -> None:
        """Remember the features behind the columns."""
        self._numbers = numbers if self._numbers is None else numbers[self._numbers]

    def feature_names(self) -> Sequence[str]:
        """x0, x1, … after their columns."""
        columns = np.arange(self.n_features) if self._numbers is None else np.argsort(self._numbers)
        return [f"x{i}" for i in columns.tolist()]

    def save(self) -> tuple[dict[str, Any], Arrays]:
        """The number of columns and their features."""
        return {"n_features": self.n_features}, {} if self._numbers is None else {"numbers": self._numbers}

    @classmethod
    def load(cls, config: dict[str, Any], arrays: Arrays) -> SparseFeatures:
        """The inverse of save."""
        return cls(config["n_features"], arrays.get("numbers"))


def _rows(sequences: Sequence[Any], n_features: int | None) -> Batch:
    from scipy import sparse as sp

    matrices = []
    for s, matrix in enumerate(sequences):
        rows = checked_csr(matrix, f"Sequence {s}")
        if n_features is not None and rows.shape[1] != n_features:
            raise DataError(f"Sequence {s} has {rows.shape[1]} columns; expected {n_features}.")
        n_features = rows.shape[1]
        matrices.append(rows)
    offsets = offsets_of([m.shape[0] for m in matrices])
    whole = sp.vstack(matrices, format="csr") if matrices else sp.csr_array((0, n_features or 0))
    whole.sum_duplicates()
    values = np.ascontiguousarray(whole.data, dtype=np.float64)
    if not np.isfinite(values).all():
        entry = int(np.argmin(np.isfinite(values)))
        row_values = np.zeros(int(offsets[-1]))
        row_values[int(np.searchsorted(whole.indptr, entry, side="right")) - 1] = np.nan
        check_finite(row_values, offsets, "the matrix")
    indptr, indices = whole.indptr.astype(np.int64), whole.indices.astype(np.int32)
    plain = bool((values == 1.0).all())
    return Batch(offsets, Sparse(indptr, indices, None if plain else values, int(n_features or 0)))
