"""Parameters of eight bits: whole numbers from -127 to 127, and one step for each run of 64 of them.

    θ_i = step of its run · q_i

Steps have eleven significant bits, so that products are exact, in single precision too: what was rounded once is found
again as it is, and no file says which models were rounded.
"""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Array, Float, Int8, Single

RUN = 64  # parameters that share a step
LARGEST = 127
LARGEST_STEP = 1e30
BITS = 11  # of a step


def eight_bit(theta: Float) -> tuple[Int8, Single] | None:
    """(P,) whole numbers and (P / 64,) steps; None where parameters are not finite, or too large."""
    if not np.isfinite(theta).all():
        return None
    largest = np.maximum.reduceat(np.abs(theta), np.arange(0, len(theta), RUN)).astype(np.float64)
    part, power = np.frexp(largest / LARGEST)
    step = np.ldexp(np.ceil(part * 2**BITS) / 2**BITS, power)  # rounded up: nothing is beyond 127
    tiny = np.finfo(np.float32).tiny
    step[step < tiny] = 0.0
    if not (step < LARGEST_STEP).all():
        return None
    spread = np.repeat(step, RUN)[: len(theta)]
    whole = np.rint(np.divide(theta, spread, out=np.zeros(len(theta)), where=spread > 0))
    return whole.astype(np.int8), step.astype(np.float32)


def restored(whole: Int8, step: Single, dtype: str) -> Float:
    """(P,) the parameters."""
    found: Array = whole.astype(dtype)
    found *= np.repeat(step, RUN)[: len(whole)].astype(dtype)
    return found


def n_runs(n_parameters: int) -> int:
    """How many runs there are."""
    return -(-n_parameters // RUN)
