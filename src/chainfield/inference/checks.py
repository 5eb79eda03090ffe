"""One check behind every inference function: is there a path, and are the scores numbers?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, NoPathError


def check_values(values: NDArray[np.float64]) -> None:
    """Raise for the first sequence whose log-partition or best score is not finite."""
    if np.isfinite(values).all():
        return
    s = int(np.argmin(np.isfinite(values)))
    if values[s] == -np.inf:
        raise NoPathError(
            f"Sequence {s} has no allowed path: the rules, the given labels and the -inf scores exclude "
            "every one. Loosen the rules or correct the given labels.",
        )
    raise DataError(f"Sequence {s} has scores that are NaN or +inf; check its features and the model's weights.")
