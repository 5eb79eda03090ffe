"""A stretch of stochastic training: what it is asked to do, and what it tells afterwards."""

from __future__ import annotations

import math
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
class MarginRule:
    """Steps that go as far as the margin of a sequence demands, for objectives of best paths.

    With Δ the features of the known path minus those of the best one, and w the positions at which they differ:

        τ = min(limit, (loss + w ** power) / (slack + Σ v_i Δ_i²))        θ_i += τ v_i Δ_i

    power: None if the objective has costs of its own.
    spent: the sum of the steps of every sequence, which ``limit`` then bounds; changed in place.
    variance: v, 1 where it is None; changed in place, 1 / v_i += Δ_i² / slack.
    """

    power: float | None = None
    limit: float = math.inf
    slack: float = 0.0
    spent: Float | None = None  # (S,)
    variance: Float | None = None  # (P,)


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps θ -= rate · pace · (gradient of a sequence), for as many sequences as are given; θ is changed in place.

    shrink: a factor for θ after each step, the share of an l2 penalty. It costs nothing: where the chain is linear, θ
    is kept as a factor times a vector during the pass.
    lag, mass: what an average needs. With Δ_k the change of step k, and θ_k what follows from it by shrinking, the sum
    of the iterates θ_1 … θ_K is mass · θ_K - lag; the lag is changed in place.
    kept: what every sequence keeps of its gradient, changed in place.
    margin: how far steps go, in place of rates.
    """

    theta: Float
    order: Int  # (K,) sequences
    rates: Float  # (K,)
    shrink: Float | None = None  # (K,)
    lag: Float | None = None
    mass: float = 0.0
    kept: KeptGradients | None = None
    margin: MarginRule | None = None


class Walked(NamedTuple):
    """What a stretch of steps met: its loss, the number of updates, and the mass of the average after it."""

    loss: float
    updates: int
    mass: float
