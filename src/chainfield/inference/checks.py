"""One check behind every inference function: is there a path, and are the scores numbers?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import DataError, NoPathError


def check_values(values: NDArray[np.float64]) -> None:
    """Raise for the first sequence whose log-partition or best score is not finite."""
    if np.isfinite(values).all():
        return
    s = int(np.argmin(np.isfinite(values)))
    if values[s] == -np.inf:
        raise NoPathError(s)
    raise DataError(f"Sequence {s} has scores that are NaN or +inf; check its features and the model's weights.")
