"""One check behind every inference function: is there a path, and are the scores numbers?"""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import DataError, NoPathError
from chainfield.potentials import Potentials


def check_scores(potentials: Potentials) -> None:
    """Refuse scores that are NaN or +inf: comparisons would pass over a NaN without a word."""
    for scores in (potentials.node, potentials.edge):
        # The maximum of anything with a NaN is NaN.
        if not np.maximum.reduce(scores, axis=None, initial=-np.inf) < np.inf:
            row = int(np.argmax(~(scores.max(axis=1) < np.inf)))
            where = "Every sequence" if len(scores) == 1 else f"Sequence {potentials.ragged.place(row)[0]}"
            raise DataError(f"{where} has scores that are NaN or +inf; check its features and the model's weights.")


def check_values(values: Float, *, strict: bool = True) -> None:
    """Raise for the first sequence whose log-partition or best score is not finite; -inf passes if not ``strict``."""
    if not strict:
        values = np.where(values == -np.inf, 0.0, values)
    if np.logical_and.reduce(np.isfinite(values)):
        return
    s = int(np.argmin(np.isfinite(values)))
    if values[s] == -np.inf:
        raise NoPathError(s)
    raise DataError(f"Sequence {s} has scores that are NaN or +inf; check its features and the model's weights.")
