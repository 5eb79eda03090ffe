"""Online training whose steps are as long as the margins of sequences demand: passive-aggressive, MIRA, AROW.

For each sequence, in fresh random order each pass, with Δ the features of the known labels minus those of the best
ones, and ℓ the hinge loss (difference of scores and cost of the mistakes):

    passive-aggressive   θ += τ Δ     τ = ℓ / ‖Δ‖²;  I: at most C;  II: ℓ / (‖Δ‖² + 1 / 2C)   Crammer et al. 2006
    1-best MIRA          θ += τ Δ     the steps of one sequence are together at most C         Crammer and Singer 2003
    AROW                 θ += τ V Δ   τ = ℓ / (Δᵀ V Δ + γ),  1 / v_i += Δ_i² / γ               Crammer et al. 2009

The objective says what is compared: with "perceptron" the best labels as they are, and mistakes cost w ** power for w
wrong positions (CRFsuite: the root; CRF++: their number); with "large_margin" the labels that are best with their cost
added, which is that of the objective.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.problem import MarginRule, Steps, Trainable

from .averaging import AveragedState
from .trainer import Record, State, Trainer, kept, orders

_NONE = np.empty(0)
ROOT, COUNT = 0.5, 1.0


@dataclass
class MarginState(AveragedState):
    """θ, its average, the steps of each sequence so far, and the variances; empty where there are none."""

    spent: Float = kept("the steps that were taken on each sequence", "sequences", optional=True, least=0)
    variance: Float = kept("AROW's variances", "P", optional=True, least=0)


@dataclass(frozen=True, kw_only=True)
class MarginTrainer(Trainer[MarginState]):
    """What the three share: a pass, and when to stop."""

    power: float = COUNT
    average: bool = False
    max_iter: int = 20
    tol: float = 0.0
    seed: int = 0
    online: ClassVar[bool] = True
    projects: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = MarginState

    def check(self, problem: Trainable) -> None:
        """Best paths only, and no penalties: the margin is what regularises."""
        super().check(problem)
        name = type(self).__name__
        if problem.smooth:
            raise ConfigError(f'{name} compares best paths; use objective="perceptron" or "large_margin".')
        if problem.l1 or problem.l2:
            raise ConfigError(f"{name} has no penalties, its steps are bounded instead; set l1 and l2 to 0.")

    def begin(self, problem: Trainable, theta: Float) -> MarginState:
        """Nothing is spent yet."""
        self.check(problem)
        lag = np.zeros_like(theta) if self.average else _NONE.copy()
        return MarginState(theta.copy(), lag=lag, **self._memory(problem))

    def sizes(self, problem: Trainable) -> dict[str, int]:
        """Sequences besides."""
        return super().sizes(problem) | {"sequences": problem.windows.n_sequences}

    def absent(self, state: MarginState) -> frozenset[str]:
        """Without averages there is no lag."""
        return frozenset() if self.average else frozenset({"lag"})

    def _memory(self, problem: Trainable) -> dict[str, Any]:
        """What a rule keeps between steps."""
        return {}

    @abstractmethod
    def _rule(self, problem: Trainable, state: MarginState) -> MarginRule:
        """How far steps go."""

    def _power(self, problem: Trainable) -> float | None:
        return None if problem.has_costs else self.power

    def step(self, problem: Trainable, state: MarginState) -> Record:
        """A pass over the data."""
        problem = problem.windows
        n = problem.n_sequences
        order = orders(self.seed, state.iteration, n)
        lag = state.lag if self.average else None
        steps = Steps(state.theta, order, np.ones(n), lag=lag, mass=state.mass, margin=self._rule(problem, state))
        loss, updates, mass = problem.walk(steps)
        if self.average:
            state.mass, state.clock = mass, state.clock + n
        state.iteration += 1
        if updates == 0:
            state.done, state.reason = True, "every training sequence is right, by its margin"
        elif loss / n < self.tol:
            state.done, state.reason = True, "the mean loss of a sequence is small"
        return Record(state.iteration, loss, None, {"updates": float(updates)})

    def parameters(self, state: MarginState) -> Float:
        """The average, where there is one."""
        return state.average()

    def finish(self, state: MarginState) -> Float:
        """The average takes the place of what was behind it."""
        return state.settle()


@final
@dataclass(frozen=True)
class PassiveAggressive(MarginTrainer):
    """variant 0: as far as the margin demands; 1: at most C; 2: C / (1 + …), softly bounded."""

    variant: int = 1
    aggressiveness: float = 1.0
    power: float = ROOT
    average: bool = True

    def __post_init__(self) -> None:
        check_positive("aggressiveness", self.aggressiveness)
        if self.variant not in (0, 1, 2):
            raise ConfigError(f"variant is {self.variant!r}; passive-aggressive training has variants 0, 1 and 2.")

    def _rule(self, problem: Trainable, state: MarginState) -> MarginRule:
        limit = self.aggressiveness if self.variant == 1 else math.inf
        return MarginRule(self._power(problem), limit, 0.5 / self.aggressiveness if self.variant == 2 else 0.0)


@final
@dataclass(frozen=True)
class MIRA(MarginTrainer):
    """1-best MIRA as CRF++ has it."""

    aggressiveness: float = 1.0

    def __post_init__(self) -> None:
        check_positive("aggressiveness", self.aggressiveness)

    def _memory(self, problem: Trainable) -> dict[str, Any]:
        return {"spent": np.zeros(problem.windows.n_sequences)}

    def _rule(self, problem: Trainable, state: MarginState) -> MarginRule:
        return MarginRule(self._power(problem), self.aggressiveness, spent=state.spent)


@final
@dataclass(frozen=True)
class AROW(MarginTrainer):
    """Adaptive regularisation of weights: weights that were changed often change less."""

    variance: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("variance", self.variance)
        check_positive("gamma", self.gamma)

    def _memory(self, problem: Trainable) -> dict[str, Any]:
        return {"variance": np.full(problem.n_parameters, self.variance)}

    def _rule(self, problem: Trainable, state: MarginState) -> MarginRule:
        return MarginRule(self._power(problem), slack=self.gamma, variance=state.variance)


def check_positive(name: str, value: float) -> None:
    """Refuse a bound that leaves no steps."""
    if not (math.isfinite(value) and value > 0):
        raise ConfigError(f"{name} is {value}; a finite number larger than 0 is expected.")
