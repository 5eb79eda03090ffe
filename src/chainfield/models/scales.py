"""Numbers whose sizes no training can serve together: a warning that names the columns, before time is spent."""

from __future__ import annotations

import warnings

import numpy as np

from chainfield.errors import DataWarning
from chainfield.features.scale import WILD, Moments
from chainfield.models.material import Examples, Material

REMEDY = 'Standardise them (scaling="standardised")'


def check_scales(material: Material, *, units: bool = False) -> None:
    """Warn of columns and of attributes that training will not do justice to; ``units``: hidden units see them."""
    if material.extent.dense:
        _check_columns(material, units)
    elif material.extent.sparse:
        _check_values(material)


def _check_columns(material: Material, units: bool) -> None:
    features = material.features
    if features.scaling != "none":
        return
    found = material.fold(_moments_of, Moments.__add__)
    names, sizes = features.feature_names(), found.largest
    if found.wild:
        low, high = (int(found.present[at(sizes[found.present])]) for at in (np.argmin, np.argmax))
        _warn(
            f"The columns have very different scales: {names[high]} goes up to {sizes[high]:.3g}, {names[low]} up to "
            f"{sizes[low]:.3g}. {REMEDY}, or the larger ones will drown the others."
        )
    elif found.tiny and not units:
        _warn(
            f"All columns are tiny: none goes beyond {sizes.max():.3g}. {REMEDY}, or lower l2: it keeps weights too "
            "small for such columns."
        )
    elif found.far and units:
        far = int(np.abs(found.mean).argmax())
        _warn(
            f"Columns are far from 0 for how little they vary: {names[far]} is {found.mean[far]:.3g} on average, give "
            f"or take {found.deviation[far]:.3g}. {REMEDY}, or hidden units may not see how they vary."
        )


def _moments_of(examples: Examples) -> Moments:
    assert examples.batch.dense is not None
    return Moments.of(examples.batch.dense)


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
