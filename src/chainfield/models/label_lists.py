"""What taggers predict: a list of labels for each sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.arrays import Array


class LabelLists(list[list[Any]]):
    """A list with one list of labels per sequence, equal to a plain list of the same lists.

    NumPy takes it for a one-dimensional array of lists, whatever their lengths. Tools that put arrays together, such as
    scikit-learn's ``cross_val_predict``, would fail on lists of different lengths, and make a table of equal ones.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = np.empty(len(self), object)
        for s, labels in enumerate(self):
            found[s] = labels
        return found if dtype is None else found.astype(dtype, copy=False)
