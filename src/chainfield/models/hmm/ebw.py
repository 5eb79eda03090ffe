"""Extended Baum-Welch (Gopalakrishnan et al. 1991; Normandin 1991): maximum mutual information for HMMs.

With counts "num" of the right class's paths and "den" of all paths, and a constant D for every Gaussian,

    μ' = (num¹ - den¹ + D μ) / (num⁰ - den⁰ + D)        σ²' = (num² - den² + D (σ² + μ²)) / (num⁰ - den⁰ + D) - μ'²

and probabilities p' ∝ num - den + C p, with a constant C for every set that adds up to 1. D is E times the Gaussian's
count in "den", and at least twice what keeps all its variances above the floor (Woodland and Povey 2002); C likewise.
The larger they are, the smaller the step, and a step that is small enough raises the objective: so a step that does not
is taken back, and tried again with twice the constants. No iteration lowers the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError
from chainfield.objectives import Contrast, Objective
from chainfield.problem import SummedProblem, Trainable
from chainfield.states import StateSpace
from chainfield.trainers.trainer import Record, State, Trainer, kept

from .expectations import Counts, expected_counts
from .flattened import Flattened
from .hmm import HMM, find_parts
from .joint import JointLikelihood
from .maximising import Restraint, outgoing, with_probabilities
from .mixture import GaussianMixture

TRIALS = 12  # doublings of the constants before it is said that nothing is left to gain
DOUBLINGS = 100  # a constant that is large enough leaves everything as it was, so the search ends long before
SMALLEST = 1e-3  # of a constant: what is never met stays as it is


@dataclass
class EBWState(State):
    """The objective and its gradient at θ, and the factor E."""

    value: float = np.inf
    gradient: Float = kept("the gradient at θ", "P")
    factor: float = 0.0


@final
@dataclass(frozen=True)
class EBW(Trainer[EBWState]):
    """``factor``: the first E. ``floor``, ``ends``: as for EM. ``tol``: relative gain at which it stops."""

    factor: float = 2.0
    max_iter: int = 30
    tol: float = 1e-4
    floor: float = 0.01
    ends: bool = True
    online: ClassVar[bool] = False
    needs_smooth: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = EBWState

    def check(self, problem: Trainable) -> None:
        """Needs an HMM in natural parameters and the conditional likelihood, flattened or not, without penalties."""
        super().check(problem)
        assert isinstance(problem, SummedProblem)
        if not isinstance(find_parts(problem.chain).emission, GaussianMixture):
            raise ConfigError("EBW needs a GaussianMixture; Gaussians are for gradient trainers.")
        if clamped_side(problem.objective) is None:
            raise ConfigError('trainer="ebw" maximises the likelihood of labels; use objective="likelihood".')
        if problem.l2:
            raise ConfigError('trainer="ebw" knows no l2; its constants keep a step small instead.')

    def begin(self, problem: Trainable, theta: Float) -> EBWState:
        """The objective where it starts."""
        self.check(problem)
        value, gradient = problem.evaluate(theta)
        return EBWState(theta.copy(), value=value, gradient=gradient, factor=self.factor)

    def step(self, problem: Trainable, state: EBWState) -> Record:
        """The first of ever smaller steps that raises the objective."""
        assert isinstance(problem, SummedProblem)
        chain, space = problem.chain, problem.chain.space
        numerator = clamped_side(problem.objective)
        assert numerator is not None
        _, counts = expected_counts(problem, state.theta, numerator)
        num, den = Counts.read(chain, counts), Counts.read(chain, counts + state.gradient)
        old, parts = HMM.read(chain, state.theta), find_parts(chain)
        assert isinstance(parts.emission, GaussianMixture)
        restraint = Restraint(self.floor, 0.0, self.ends)
        before = state.value
        for _ in range(TRIALS):
            new = extend(num, den, old, space, parts.emission, restraint, state.factor)
            theta = new.theta(chain)
            value, gradient = problem.evaluate(theta)
            if value <= before:
                break
            state.factor *= 2.0
        else:
            state.iteration += 1
            state.done, state.reason = True, "no step raises the likelihood any more"
            return Record(state.iteration, before, None, {"factor": state.factor})
        used = state.factor
        state.theta, state.value, state.gradient = theta, value, gradient
        state.factor = max(self.factor, 0.5 * used)
        state.iteration += 1
        if before - value < self.tol * abs(value):
            state.done, state.reason = True, "the likelihood hardly rises any more"
        return Record(state.iteration, value, None, {"factor": used})


def clamped_side(objective: Objective) -> Objective | None:
    """The objective of the right paths alone; None if this is no likelihood."""
    if isinstance(objective, Flattened):
        inner = clamped_side(objective.inner)
        return None if inner is None else Flattened(inner, objective.kappa, objective.of)
    return JointLikelihood() if objective == Contrast("sum") else None


def extend(
    num: Counts, den: Counts, old: HMM, space: StateSpace, emission: GaussianMixture, restraint: Restraint,
    factor: float,
) -> HMM:  # fmt: skip
    """One update, with constants of ``factor`` times the counts of all paths, and large enough for the constraints."""
    mean = (old.mean - emission.centre) / emission.spread
    variance = old.variance / emission.spread**2
    zeroth = (num.occupancy - den.occupancy)[..., None]
    first, second = num.first - den.first, num.second - den.second

    def moved(d: Float) -> tuple[Float, Float, Float]:
        total = zeroth + d
        safe = np.where(total > 0.0, total, 1.0)
        new_mean = (first + d * mean) / safe
        return total, new_mean, (second + d * (variance + mean**2)) / safe - new_mean**2

    wanted = factor * den.occupancy[..., None] + SMALLEST
    d = wanted
    for _ in range(DOUBLINGS):
        total, _, new_variance = moved(d)
        fits = ((total > 0.0) & (new_variance > 0.0)).all(axis=-1, keepdims=True)
        if fits.all():
            break
        d = np.where(fits, d, 2.0 * d)
    _, new_mean, new_variance = moved(np.where(d > wanted, 2.0 * d, d))
    new_variance = np.maximum(new_variance, restraint.floor)
    start, end, move, weight = extend_probabilities(num, den, old, space, restraint.ends, factor)
    return HMM(
        weight,
        emission.centre + emission.spread * new_mean,
        emission.spread**2 * new_variance,
        start,
        end,
        move,
    )


def extend_probabilities(
    num: Counts, den: Counts, old: HMM, space: StateSpace, ends: bool, factor: float
) -> tuple[Float, Float, Float, Float]:
    """p' ∝ num - den + C p for each set of probabilities that add up to 1."""
    edge_group, end_group = outgoing(space, ends)
    last = np.flatnonzero(end_group >= 0)
    n, m = space.n_states, old.weight.shape[1]
    at = np.flatnonzero(space.start)
    start = np.zeros(n)
    start[at] = _grown(num.start[at], den.start[at], old.start[at], np.zeros(len(at), np.int64), 1, factor)
    out = _grown(
        np.concatenate([num.move, num.end[last]]),
        np.concatenate([den.move, den.end[last]]),
        np.concatenate([old.move, old.end[last]]),
        np.concatenate([edge_group, last]),
        n,
        factor,
    )
    end = np.zeros(n)
    end[last] = out[len(old.move) :]
    rows = np.repeat(np.arange(n), m)
    weight = _grown(num.occupancy.ravel(), den.occupancy.ravel(), old.weight.ravel(), rows, n, factor).reshape(n, m)
    return with_probabilities(space, start, end, out[: len(old.move)], weight, old, ends)


def _grown(num: Float, den: Float, old: Float, group: Int, n_groups: int, factor: float) -> Float:
    gain = num - den
    needed = np.where(old > 0, -gain / np.where(old > 0, old, 1.0), 0.0)
    least = np.zeros(n_groups)
    np.maximum.at(least, group, needed)
    constant = np.maximum(2.0 * least, factor * np.bincount(group, weights=den, minlength=n_groups)) + SMALLEST
    return np.where(old > 0, gain + constant[group] * old, 0.0)
