"""Expectation maximisation (Baum et al. 1970; Dempster, Laird and Rubin 1977) for chains that are HMMs.

    E: expected counts under the present model       M: the model that makes these counts most likely

The likelihood (times the prior that the smoothing stands for) never falls: a floor under variances is a constraint on
the M step, not a change after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from chainfield.arrays import Float
from chainfield.errors import ConfigError, DivergenceError
from chainfield.problem import SummedProblem, Trainable
from chainfield.trainers.trainer import Record, State, Trainer

from .expectations import Counts, expected_counts
from .hmm import HMM, find_parts
from .joint import JointLikelihood
from .maximising import Restraint, maximise
from .mixture import GaussianMixture


@dataclass
class EMState(State):
    """The objective before the last step."""

    value: float = float("inf")


@final
@dataclass(frozen=True)
class EM(Trainer[EMState]):
    """``floor``, ``smoothing``, ``ends``: see :class:`~chainfield.models.hmm.maximising.Restraint`.

    Stops when an iteration gains less than ``tol`` times the objective.
    """

    max_iter: int = 100
    tol: float = 1e-4
    floor: float = 0.01
    smoothing: float = 0.01
    ends: bool = True
    online: ClassVar[bool] = False
    needs_smooth: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = EMState

    @property
    def restraint(self) -> Restraint:
        """What keeps the model from collapsing."""
        return Restraint(self.floor, self.smoothing, self.ends)

    def check(self, problem: Trainable) -> None:
        """Needs an HMM in natural parameters and the likelihood of observations, without penalties."""
        super().check(problem)
        assert isinstance(problem, SummedProblem)
        if not isinstance(find_parts(problem.chain).emission, GaussianMixture):
            raise ConfigError("EM needs a GaussianMixture; Gaussians are for gradient trainers.")
        if not isinstance(problem.objective, JointLikelihood):
            raise ConfigError('trainer="em" maximises the joint likelihood; for other objectives use another trainer.')
        if problem.l2:
            raise ConfigError('trainer="em" knows no l2; give smoothing and a floor under variances instead.')

    def begin(self, problem: Trainable, theta: Float) -> EMState:
        """Nothing but θ."""
        self.check(problem)
        return EMState(theta.copy())

    def step(self, problem: Trainable, state: EMState) -> Record:
        """An E and an M step; the record tells the objective before it."""
        assert isinstance(problem, SummedProblem)
        chain = problem.chain
        parts, old = find_parts(chain), HMM.read(chain, state.theta)
        value, counts = expected_counts(problem, state.theta, problem.objective)
        value -= self.restraint.log_prior(old, chain.space)
        if value != value:
            raise DivergenceError("The likelihood is not a number any more; raise the floor under variances.")
        new = maximise(Counts.read(chain, counts), old, chain.space, parts.emission, self.restraint)
        state.theta = new.theta(chain)
        state.iteration += 1
        if state.value - value < self.tol * abs(value):
            state.done, state.reason = True, "the likelihood hardly rises any more"
        state.value = value
        return Record(state.iteration, value)
