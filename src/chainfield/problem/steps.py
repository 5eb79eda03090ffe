"""A stretch of stochastic training: what it is asked to do, and what it tells afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from chainfield.arrays import Float, Int, Single


@dataclass(frozen=True, eq=False)
class KeptGradients:
    """What variance-reduced training keeps of every sequence: its gradient in score space, in single precision.

    A step goes along the difference between the new gradient and the kept one; ``share`` of it is added to what is
    kept.
    """

    node: Single  # (N, R)
    edge: Single  # (S, E), or (N, E) if positions have their own edges
    share: float


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps θ -= rate · pace · (gradient of a sequence), for as many sequences as are given; θ is changed in place.

    shrink: a factor for θ after each step, the share of an l2 penalty. It costs nothing: where the chain is linear, θ
    is kept as a factor times a vector during the pass.
    lag, mass: what an average needs. With Δ_k the change of step k, and θ_k what follows from it by shrinking, the sum
    of the iterates θ_1 … θ_K is mass · θ_K - lag; the lag is changed in place.
    kept: what every sequence keeps of its gradient, changed in place.
    """

    theta: Float
    order: Int  # (K,) sequences
    rates: Float  # (K,)
    shrink: Float | None = None  # (K,)
    lag: Float | None = None
    mass: float = 0.0
    kept: KeptGradients | None = None


class Walked(NamedTuple):
    """What a stretch of steps met: its loss, the number of updates, and the mass of the average after it."""

    loss: float
    updates: int
    mass: float
