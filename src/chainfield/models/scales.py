"""Numbers whose sizes no training can serve together: a warning that names the columns, before time is spent."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import DataWarning
from chainfield.models.material import Examples, Material

# Columns whose sizes differ by more than this share no step size; neither do such a value and the 1 of an attribute.
WILD = 1e3
# What is smaller than this in all columns needs weights so large that the usual penalty forbids them.
TINY = 0.02
# Columns that are together further from 0 than this, in deviations, look constant to hidden units at their start.
FAR = 3.0
REMEDY = "Standardise columns (mean 0, deviation 1)"


@dataclass(frozen=True, eq=False)
class _Columns:
    """(D,) of each column: the largest absolute value, the sum, and the sum of squares."""

    largest: Float
    sums: Float
    squares: Float

    def __add__(self, other: _Columns) -> _Columns:
        return _Columns(np.maximum(self.largest, other.largest), self.sums + other.sums, self.squares + other.squares)


def check_scales(material: Material, *, units: bool = False) -> None:
    """Warn of columns and of attributes that training will not do justice to; ``units``: hidden units see them."""
    if material.extent.dense:
        _check_columns(material, units)
    elif material.extent.sparse:
        _check_values(material)


def _check_columns(material: Material, units: bool) -> None:
    found = material.fold(_columns_in, _Columns.__add__)
    present = np.flatnonzero(found.largest)
    if not len(present):
        return
    names = material.features.feature_names()
    low, high = present[found.largest[present].argmin()], present[found.largest[present].argmax()]
    if found.largest[high] > WILD * found.largest[low]:
        _warn(
            f"The columns have very different scales: {names[high]} goes up to {found.largest[high]:.3g}, "
            f"{names[low]} up to {found.largest[low]:.3g}. {REMEDY}, or the larger ones will drown the others."
        )
        return
    if found.largest[high] < TINY and not units:
        _warn(
            f"All columns are tiny: none goes beyond {found.largest[high]:.3g}. {REMEDY}, or lower l2: it "
            "keeps weights too small for such columns."
        )
    n = max(material.extent.n_positions, 1)
    mean = found.sums / n
    variance = np.maximum(found.squares / n - mean**2, 0.0)
    if units and (mean**2).sum() > FAR**2 * variance.sum() > 0:
        far = present[np.abs(mean[present]).argmax()]
        _warn(
            f"Columns are far from 0 for how little they vary: {names[far]} is {mean[far]:.3g} on average, give or "
            f"take {np.sqrt(variance[far]):.3g}. {REMEDY}, or hidden units may not see how they vary."
        )


def _columns_in(examples: Examples) -> _Columns:
    dense = examples.batch.dense
    assert dense is not None
    if not len(dense):
        return _Columns(*(np.zeros(dense.shape[1]) for _ in range(3)))
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("td,td->d", dense, dense, dtype=np.float64)
        return _Columns(np.abs(dense).max(axis=0).astype(np.float64), dense.sum(axis=0, dtype=np.float64), squares)


def _check_values(material: Material) -> None:
    largest, number = material.fold(_largest_value, max)
    if largest > WILD:
        name = material.features.feature_names()[number]
        _warn(
            f"Values of attributes are very large: {name} goes up to {largest:.3g}, where an attribute without a "
            "number counts as 1. Divide it, so that it is about 1, or it will drown the others."
        )


def _largest_value(examples: Examples) -> tuple[float, int]:
    """The largest absolute value, and the feature that has it."""
    sparse = examples.batch.sparse
    if sparse is None or sparse.values is None or not len(sparse.values):
        return 0.0, 0
    sizes = np.where(sparse.indices >= 0, np.abs(sparse.values), 0.0)
    at = int(sizes.argmax())
    return float(sizes[at]), int(sparse.indices[at])


def _warn(text: str) -> None:
    warnings.warn(text, DataWarning, stacklevel=6)
