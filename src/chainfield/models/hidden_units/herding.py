"""Conditional herding: predictions of many iterates are averaged, not the iterates (Gelfand et al. 2010).

The steps are those of the perceptron (with or without a margin). Where averaging keeps the mean of all θ, herding keeps
the θ at the end of every pass after burn-in: at test time each of them predicts, and they vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.problem import Trainable
from chainfield.trainers.online import SGD, OnlineState
from chainfield.trainers.trainer import Record, State, Trainer, kept


@dataclass
class HerdState(OnlineState):
    """θ, and the ones that will vote."""

    members: Float = kept("the parameters of those that will vote", "M", "P", optional=True)


@final
@dataclass(frozen=True)
class Herding(Trainer[HerdState]):
    """Steps of ``walk``, which averages nothing; the parameters of all passes but the first ``burn_in`` are kept.

    The parameters that come out are those of all members, one after the other.
    """

    walk: SGD
    burn_in: int = 0
    online: ClassVar[bool] = True
    handles_l1: ClassVar[bool] = True
    projects: ClassVar[bool] = True
    handles_single: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = HerdState

    @property
    def max_iter(self) -> int:  # type: ignore[override]
        """As many passes as the walk has."""
        return self.walk.max_iter

    def check(self, problem: Trainable) -> None:
        """Herding follows a maximum; sums have no herd."""
        super().check(problem)
        if problem.smooth:
            raise ConfigError(
                'trainer="herding" needs objective="perceptron" or "large_margin"; use "averaged" for the others.'
            )

    def begin(self, problem: Trainable, theta: Float) -> HerdState:
        """No members yet."""
        self.check(problem)
        return HerdState(**vars(self.walk.begin(problem, theta)), members=np.empty((0, len(theta)), theta.dtype))

    def step(self, problem: Trainable, state: HerdState) -> Record:
        """A pass over the data, and one more member after burn-in."""
        record = self.walk.step(problem, state)
        if state.iteration > self.burn_in:
            state.members = np.concatenate([state.members, state.theta[None]])
        return record

    def parameters(self, state: HerdState) -> Float:
        """(M · P,) all members, or θ as long as there is none."""
        return state.members.ravel() if len(state.members) else state.theta

    def keep(self, state: HerdState, best: Float) -> Float:
        """A herd grows: its memory is new each time."""
        return self.parameters(state).copy()
