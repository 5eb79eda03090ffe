"""The average of all iterates of an online trainer, at the cost of what its steps touch; and restarts from it.

With θ_k the iterate after step k, the sum of all iterates since averaging began is kept as mass · θ - lag: a step
changes the lag where it changes θ, by the mass times the change, and then the mass grows by one (Daumé 2006; Xu 2011).

Latent models gain from a restart every few passes (Sun et al. 2009, "modified averaged parameters"): θ becomes the
average of all iterates so far, and goes on from there. The average itself goes on too: the iterates behind it count as
much as ever, each of them as if it had been the average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError

from .trainer import State, kept


@dataclass
class AveragedState(State):
    """θ, and what is behind the average."""

    lag: Float = kept("the sum over steps of (mass before the step) · (change of θ)", "P")
    clock: int = 0  # steps since averaging began
    mass: float = 0.0  # the sum of the iterates since then is mass · θ - lag

    def average(self) -> Float:
        """The average, once there is one."""
        return (self.mass * self.theta - self.lag) / self.clock if self.clock else self.theta

    def restart(self) -> None:
        """Go on from the average."""
        if self.clock:
            np.copyto(self.theta, self.average())
            self.lag.fill(0.0)
            self.mass = float(self.clock)

    def settle(self) -> Float:
        """The average for good, in the memory of what was behind it: this state cannot go on."""
        if not self.clock:
            return self.theta
        for part in pieces(slice(0, len(self.theta))):
            self.lag[part] = (self.mass * self.theta[part] - self.lag[part]) / self.clock
        return self.lag


def pieces(block: slice, size: int = 1 << 20) -> Iterator[slice]:
    """Parts of a long vector, so that what is computed from it on the way needs no memory of its length."""
    yield from (slice(at, min(at + size, block.stop)) for at in range(block.start, block.stop, size))


def averages(average_from: int | None, restart_every: int | None, iteration: int) -> bool:
    """Whether a pass counts for the average; whoever restarts from it averages from the beginning."""
    first = average_from if average_from is not None or restart_every is None else 0
    return first is not None and iteration >= first


def restarts(restart_every: int | None, iteration: int) -> bool:
    """Whether a pass begins at the average: passes k, 2k, 3k … do, counted from 1; ``iteration`` counts from 0."""
    return restart_every is not None and iteration > 0 and (iteration + 1) % restart_every == 0


def check_averaging(average_from: int | None, restart_every: int | None) -> None:
    """Refuse settings that make no sense."""
    if average_from is not None and average_from < 0:
        raise ConfigError(f"average_from is {average_from}; passes are numbered from 0.")
    if restart_every is not None and restart_every < 1:
        raise ConfigError(
            f"restart_every is {restart_every}; training can restart from the average every pass (1), every second "
            "pass (2) and so on; 2 to 8 are usual, None is never."
        )
