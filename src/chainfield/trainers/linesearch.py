"""A line search for the weak Wolfe conditions: enough decrease, and a slope that has become flatter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import DivergenceError

DECREASE = 1e-4
FLATTER = 0.9


def weak_wolfe(
    evaluate: Callable[[Float], tuple[float, Float]],
    theta: Float,
    value: float,
    direction: Float,
    slope: float,
    rate: float,
    trials: int = 25,
) -> tuple[Float, float, Float, int] | None:
    """(θ', value', gradient', evaluations), or None if no step brings a decrease.

    Brackets by doubling and cuts by the minimum of the parabola through both values and the first slope (Lewis and
    Overton 2013, with interpolation in place of bisection).
    """
    low, high = 0.0, np.inf
    best: tuple[Float, float, Float, int] | None = None
    # Close to the optimum the decrease drowns in rounding; a change of a few units in the last place passes.
    slack = 4 * np.finfo(float).eps * abs(value)
    for trial in range(1, trials + 1):
        moved = rate * direction
        moved += theta
        try:
            reached, gradient = evaluate(moved)
        except DivergenceError:  # much too far
            reached, gradient = np.inf, direction
        if not reached <= value + DECREASE * rate * slope + slack:
            high = rate
            curve = 2.0 * (reached - value - rate * slope)
            cut = -slope * rate**2 / curve if np.isfinite(curve) and curve > 0 else 0.5 * (low + high)
            rate = min(max(cut, low + 0.1 * (high - low)), low + 0.9 * (high - low))
        else:
            best = (moved, reached, gradient, trial)
            if float(gradient @ direction) >= FLATTER * slope:
                break
            low = rate
            rate = 2.0 * rate if high == np.inf else 0.5 * (low + high)
        if high - low <= 1e-12 * max(high if high < np.inf else 1.0, 1e-300):
            break
    return best
