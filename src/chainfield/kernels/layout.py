"""How numbers lie in memory: what callers pad and kernels read without looking.

Kernels check no bounds, so that a buffer padded by other numbers than theirs would be read and written behind its end.
These numbers stand here alone, for both sides; the compiler is not needed to know them.
"""

from __future__ import annotations

from chainfield.arrays import ALIGNMENT as ALIGNMENT

LANES = 8  # doubles in a vector: rows of states, labels and units are padded to multiples of it
SIDE = 4  # positions that hidden units work on side by side: their buffers are padded to multiples of it
PADDING = 8  # bytes behind a buffer of text that may be read: words are read as a whole


def padded(n: int) -> int:
    """The next multiple of :data:`LANES`."""
    return (n + LANES - 1) // LANES * LANES


def side_by_side(n: int) -> int:
    """The next multiple of :data:`SIDE`."""
    return (n + SIDE - 1) // SIDE * SIDE
