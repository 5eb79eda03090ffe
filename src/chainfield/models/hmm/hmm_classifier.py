"""Hidden Markov models with Gaussian mixtures as a classifier: one a class, by likelihood or discriminatively."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.features.map import FeatureMap
from chainfield.fitted import Classifier
from chainfield.models.compose import Material
from chainfield.models.estimator import ChainClassifier
from chainfield.models.settings import check_number, check_whole, seed_of
from chainfield.models.transfer import carry_over
from chainfield.objectives import Contrast, Objective
from chainfield.parallel import count_jobs
from chainfield.potentials import How
from chainfield.problem import Problem
from chainfield.scorers import Chain
from chainfield.states import StateSpace
from chainfield.trainers import TRAINERS, Trainer

from .aligning import Aligning
from .chains import Start, anchored, in_moments, likely_start, moment_chain, released, sharpened, unanchored
from .ebw import EBW
from .em import EM
from .flattened import Flattened
from .hidden_crf import EM_ITERATIONS, FLATTENINGS
from .hmm import HMM
from .joint import JointLikelihood
from .renormalising import renormaliser
from .topologies import block_space, plainly

OWN_TRAINERS = ("em", "ebw")
CONSTRAINTS = ("free", "renormalised")


@final
class HMMClassifier(Aligning, ChainClassifier):
    """A hidden Markov model a class, over arrays: a sequence gets the class whose model, with its prior, fits best.

    Every state has a mixture of Gaussians with diagonal covariances. Training is by maximum likelihood (EM), or from
    there on discriminative: by extended Baum-Welch, or by any gradient trainer of the library.

    Parameters
    ----------
    n_states : int
        States of a class.
    topology : "left-to-right", "ergodic", or a matrix
        Which states may follow which. A boolean matrix [from, to], or a tuple (matrix, starts, ends), is your own.
    skip : int
        Left to right: how far a step may go ahead.
    n_components : int
        Gaussians of a state.
    trainer : "em", "ebw", "sgd", "rprop", "lbfgs", "adam" or "averaged"
        "em": maximum likelihood. All others start from it and maximise the probability of the right classes: "ebw" by
        extended Baum-Welch, the others by the gradient of means, log variances, transitions and mixture weights.
    constraints : "free" or "renormalised"
        Gradient trainers: log-probabilities move freely, which leaves an unnormalised model, or are normalised after
        every step.
    flatten : "classes", "states" or None
        With ``kappa``, for the discriminative trainers: what makes training less sure of itself. "classes" raises
        posteriors of classes to ``kappa``, "states" those of paths.
    kappa : float
        How much; 1 changes nothing.
    init : "kmeans" or "split"
        Where mixtures come from: clusters of a state's observations, or one Gaussian that is split again and again.
    variance_floor : float
        Least variance, as a share of the data's.
    smoothing : float
        Added to every count behind a probability.
    ends : bool
        Whether the last state has a probability to end, so that lengths count.
    l2 : float
        Gradient trainers: penalty on the squared distance from the maximum-likelihood model.
    max_iter, tol, learning_rate, batch_size, average_from, restart_every, patience
        As for :class:`~chainfield.models.LinearCRF`.
    class_weight, warm_start, random_state, n_jobs, verbose
        As for :class:`~chainfield.models.LinearCRF`.
    """

    objective: str = "likelihood"
    l1: float = 0.0
    margin: float = 1.0
    template: Any = None
    min_count: int = 1
    all_features: bool = False

    def __init__(
        self,
        n_states: int = 3,
        topology: Any = "left-to-right",
        skip: int = 1,
        n_components: int = 1,
        trainer: str = "em",
        constraints: str = "free",
        flatten: str | None = "classes",
        kappa: float = 1.0,
        init: str = "kmeans",
        variance_floor: float = 0.01,
        smoothing: float = 0.01,
        ends: bool = True,
        l2: float = 0.0,
        max_iter: int | None = None,
        tol: float | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        average_from: int | None = None,
        restart_every: int | None = None,
        patience: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_states = n_states
        self.topology = topology
        self.skip = skip
        self.n_components = n_components
        self.trainer = trainer
        self.constraints = constraints
        self.flatten = flatten
        self.kappa = kappa
        self.init = init
        self.variance_floor = variance_floor
        self.smoothing = smoothing
        self.ends = ends
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.average_from = average_from
        self.restart_every = restart_every
        self.patience = patience
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def hmm_(self) -> HMM:
        """The model as probabilities, means and variances; free gradient training may leave it unnormalised."""
        fitted = self._classifier()
        return HMM.read(fitted.chain, fitted.theta)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, classes: Sequence[Any] | None = None) -> Any:
        """Not for HMMs: EM needs all data in every iteration."""
        raise ConfigError("HMMClassifier needs all data at once; call fit, or use HiddenCRF.")

    # ---- settings ------------------------------------------------------------------------------------------------

    def _objective(self) -> Objective:
        for name, choices in (("flatten", (None, *FLATTENINGS)), ("constraints", CONSTRAINTS)):
            if getattr(self, name) not in choices:
                raise ConfigError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(map(str, choices))}.")
        check_whole(self, "n_components", 1)
        check_number(self, "variance_floor", 0.0, strict=True)
        check_number(self, "smoothing", 0.0)
        flat = Flattened(Contrast("sum"), self.kappa, "states" if self.flatten == "states" else "classes")
        if self.trainer == "em":
            return JointLikelihood()
        return Contrast("sum") if self.flatten is None or self.kappa == 1.0 else flat

    @property
    def _sharpness(self) -> float:
        return float(self.kappa) if self.flatten == "states" and self.trainer != "em" else 1.0

    def _trainer(self, objective: Objective, partial: bool) -> tuple[str, Trainer[Any]]:
        if self.trainer not in (*OWN_TRAINERS, *TRAINERS):
            raise ConfigError(
                f"Unknown trainer {self.trainer!r}; choose one of {', '.join((*OWN_TRAINERS, *TRAINERS))}."
            )
        if self.trainer not in OWN_TRAINERS:
            return super()._trainer(objective, partial)
        for name in ("learning_rate", "batch_size", "average_from", "restart_every"):
            if getattr(self, name) is not None:
                raise ConfigError(f"{name} has no effect with trainer={self.trainer!r}; leave it out.")
        given = {k: getattr(self, k) for k in ("max_iter", "tol") if getattr(self, k) is not None}
        if self.trainer == "em":
            return "em", EM(floor=self.variance_floor, smoothing=self.smoothing, ends=self.ends, **given)
        return "ebw", EBW(floor=self.variance_floor, ends=self.ends, **given)

    # ---- from data to a chain ------------------------------------------------------------------------------------

    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        return block_space(len(labels), self.n_states, self.topology, self.skip)

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        if material.pairs is not None:
            raise ConfigError("HMMClassifier needs arrays of numbers; for dicts, strings and text use HiddenCRF.")
        chain = moment_chain(material, space, self.n_components)
        if self.trainer in OWN_TRAINERS:
            return sharpened(chain, self._sharpness)
        moments = in_moments(chain, self._sharpness)
        theta = self._likely(chain, material)
        if material.previous is not None:
            carry_over(material.previous, chain, material.origin(space), theta)
        return anchored(moments, HMM.read(chain, theta).theta(moments))

    def _theta(self, chain: Chain, material: Material) -> Float:
        return self._likely(chain, material) if self.trainer in OWN_TRAINERS else super()._theta(chain, material)

    def _likely(self, chain: Chain, material: Material) -> Float:
        """The maximum-likelihood model; for EM itself only where EM begins."""
        own = self.trainer == "em" and self.init == "kmeans"
        em = EM(0 if own else EM_ITERATIONS, floor=self.variance_floor, smoothing=self.smoothing, ends=self.ends)
        start = Start(self.n_components, self.init, em, seed_of(self.random_state), count_jobs(self.n_jobs))
        return likely_start(chain, material, np.ones(material.batch.n_sequences), start)

    def _tailored(self, problem: Problem, penalty_share: float) -> Problem:
        if self.trainer in OWN_TRAINERS or self.constraints == "free":
            return problem
        return replace(problem, project=renormaliser(*unanchored(problem.chain), ends=self.ends))

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Classifier:
        return super()._make(features, task, *released(chain, theta), how)

    def _settings(self) -> dict[str, Any]:
        return plainly(self, super()._settings)
