"""EM of hidden Markov models against hmmlearn: the same start, the same iterations, the same likelihood."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from chainfield.features.batch import Batch
from chainfield.models.hmm.em import EM
from chainfield.models.hmm.hmm import HMM
from chainfield.models.hmm.joint import JointLikelihood
from chainfield.models.hmm.mixture import GaussianMixture
from chainfield.objectives import Targets
from chainfield.potentials import Clamp
from chainfield.problem import Problem
from chainfield.scorers import Boundary, Chain, Transition
from chainfield.states import partitioned
from chainfield.trainers import begin
from chainfield.trainers import run as train

from .measure import Measurements, Options, alternate

REPEATS, ITERATIONS = 3, 5
SEQUENCES, LENGTH, COLUMNS, STATES = 400, 50, 13, 5


def draw(rng: np.random.Generator, m: int) -> tuple[Any, Any, HMM]:
    """Data with some structure, and where both begin."""
    lengths = rng.integers(LENGTH // 2, 3 * LENGTH // 2, SEQUENCES)
    total = int(lengths.sum())
    data = rng.normal(size=(total, COLUMNS)) + rng.normal(size=(STATES, COLUMNS))[rng.integers(0, STATES, total)]
    shape = (STATES, m, COLUMNS)
    move = rng.dirichlet(np.ones(STATES), STATES).ravel()
    weight, start = rng.dirichlet(5 * np.ones(m), STATES), rng.dirichlet(np.ones(STATES))
    return data, lengths, HMM(weight, rng.normal(size=shape), np.ones(shape), start, np.ones(STATES), move)


def ours(data: Any, lengths: Any, hmm: HMM, threads: int) -> Any:
    """Our EM, as a call that gives the likelihoods."""
    space = partitioned([STATES])
    units = (data.mean(axis=0), data.std(axis=0))
    emission = GaussianMixture(COLUMNS, STATES, hmm.weight.shape[1], *units)
    moves = Transition(np.arange(space.n_edges, dtype=np.int32))
    chain = Chain(space, (emission, Boundary(STATES)), (moves,))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    clamp = Clamp(np.zeros(len(data), np.int32), np.ones((1, STATES), np.bool_))
    problem = Problem(
        chain, JointLikelihood(), Batch(offsets, dense=data), Targets(clamp, np.ones(len(lengths))), n_jobs=threads
    )
    trainer = EM(ITERATIONS, 1e-300, floor=1e-9, smoothing=0.0, ends=False)

    def fit() -> list[float]:
        session = train(trainer, problem, begin(trainer, problem, hmm.theta(chain)))
        return [record["objective"] for record in session.history]

    return fit


def theirs(data: Any, lengths: Any, hmm: HMM) -> Any:
    """hmmlearn's."""
    from hmmlearn.hmm import GMMHMM, GaussianHMM

    m = hmm.weight.shape[1]

    def fit() -> list[float]:
        settings: dict[str, Any] = {"n_iter": ITERATIONS, "tol": -np.inf, "init_params": "", "min_covar": 0.0}
        if m == 1:
            model = GaussianHMM(STATES, "diag", covars_prior=0.0, **settings)
            model.means_, model.covars_ = hmm.mean[:, 0], hmm.variance[:, 0]
        else:
            model = GMMHMM(STATES, m, covariance_type="diag", **settings)
            model.weights_, model.means_, model.covars_ = hmm.weight, hmm.mean, hmm.variance
        model.startprob_, model.transmat_ = hmm.start, hmm.move.reshape(STATES, STATES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data, lengths)
        return [-value for value in model.monitor_.history]

    return fit


def run(options: Options) -> Measurements:
    """One Gaussian and four, on one thread and on two."""
    result = Measurements("hmm-em")
    for m in (1, 4):
        data, lengths, hmm = draw(np.random.default_rng(m), m)
        contestants = {
            "hmmlearn": theirs(data, lengths, hmm),
            "one thread": ours(data, lengths, hmm, 1),
            "two threads": ours(data, lengths, hmm, 2),
        }
        values = {name: fit() for name, fit in contestants.items()}  # also compiles
        same = abs(values["one thread"][0] / values["hmmlearn"][0] - 1.0)
        result.figures[f"relative_difference_of_likelihood_{m}"] = same
        if m == 1:
            last = abs(values["one thread"][-1] / values["hmmlearn"][-1] - 1.0)
            result.figures["relative_difference_after_all_iterations_1"] = last
        for name, seconds in alternate(contestants, options.repeats or REPEATS).items():
            for value in seconds:
                result.add(f"{name}, {m} Gaussians", value)
        for name in ("one thread", "two threads"):
            result.speedup(
                f"times_faster_{name.replace(' ', '_')}_{m}", f"hmmlearn, {m} Gaussians", f"{name}, {m} Gaussians"
            )
    result.notes.append(
        f"{ITERATIONS} iterations of EM on {SEQUENCES} sequences of {LENGTH} positions on average, {COLUMNS} columns, "
        f"{STATES} states that all follow each other, diagonal covariances, from the same start. hmmlearn runs on one "
        "thread. With mixtures it takes variances around the means before the step, so only the first likelihood is "
        "the same."
    )
    return result
