"""What variance-reduced training remembers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Memory:
    """The gradient in score space that every sequence keeps (variance-reduced training), in single precision."""

    node: NDArray[np.float32]  # (N, R)
    edge: NDArray[np.float32]  # (S, E), or (N, E) if positions have their own edges
