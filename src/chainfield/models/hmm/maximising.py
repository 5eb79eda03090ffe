"""From counts to the HMM that makes them most likely: the M step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.states import StateSpace

from .expectations import Counts
from .gaussians import Gaussians
from .hmm import HMM
from .mixture import GaussianMixture

LEAST = 1e-8  # a component that is met less often keeps its mean and variance


@dataclass(frozen=True)
class Restraint:
    """What keeps an HMM from collapsing.

    ``floor``: variances are at least this, in units of the data's variance. ``smoothing``: every probability's count
    has this added, a Dirichlet prior. ``ends``: whether states have a probability to be the last.
    """

    floor: float = 0.01
    smoothing: float = 0.01
    ends: bool = True

    def log_prior(self, hmm: HMM, space: StateSpace) -> float:
        """What the smoothing adds to the log-likelihood, up to a constant."""
        if not self.smoothing:
            return 0.0
        parts = [hmm.weight.ravel(), hmm.start[space.start], hmm.move]
        if self.ends:
            parts.append(hmm.end[space.end])
        return self.smoothing * float(np.log(np.concatenate(parts)).sum())


def normalised(counts: Float, group: Int, n_groups: int, old: Float) -> Float:
    """Counts as shares of their group's sum; a group without counts keeps its old shares."""
    sums = np.bincount(group, weights=counts, minlength=n_groups)[group]
    return np.where(sums > 0.0, counts / np.where(sums > 0.0, sums, 1.0), old)


def outgoing(space: StateSpace, ends: bool) -> tuple[Int, Int]:
    """Groups of probabilities that add up to 1 a state: of edges (E,), and of ends (K,), -1 where they do not count."""
    states = np.arange(space.n_states)
    return space.src.astype(np.int64), np.where(space.end & ends, states, -1)


def with_probabilities(
    space: StateSpace, start: Float, end: Float, move: Float, weight: Float, old: HMM, ends: bool
) -> tuple[Float, Float, Float, Float]:
    """Counts of starts, ends, moves and components, as probabilities."""
    n = space.n_states
    at = np.flatnonzero(space.start)
    starts = np.zeros(n)
    starts[at] = normalised(start[at], np.zeros(len(at), np.int64), 1, old.start[at])
    edge_group, end_group = outgoing(space, ends)
    last = np.flatnonzero(end_group >= 0)
    shares = normalised(
        np.concatenate([move, end[last]]),
        np.concatenate([edge_group, last]),
        n,
        np.concatenate([old.move, old.end[last]]),
    )
    finals = np.where(space.end, 1.0, 0.0)
    finals[last] = shares[len(move) :]
    rows = np.repeat(np.arange(n), weight.shape[1])
    weights = normalised(weight.ravel(), rows, n, old.weight.ravel()).reshape(weight.shape)
    return starts, finals, shares[: len(move)], weights


def maximise(
    counts: Counts, old: HMM, space: StateSpace, emission: GaussianMixture | Gaussians, restraint: Restraint
) -> HMM:
    """The most likely HMM; a variance at its floor is the most likely one that is allowed."""
    a = restraint.smoothing
    start, end, move, weight = with_probabilities(
        space,
        np.where(space.start, counts.start + a, 0.0),
        np.where(space.end, counts.end + a, 0.0),
        counts.move + a,
        counts.occupancy + a,
        old,
        restraint.ends,
    )
    met = counts.occupancy[..., None] > LEAST
    occupancy = np.where(met, counts.occupancy[..., None], 1.0)
    mean = counts.first / occupancy
    variance = np.maximum(counts.second / occupancy - mean**2, restraint.floor)
    return HMM(
        weight,
        np.where(met, emission.centre + emission.spread * mean, old.mean),
        np.where(met, emission.spread**2 * variance, old.variance),
        start,
        end,
        move,
    )
