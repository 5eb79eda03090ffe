"""The hidden conditional random field for whole sequences (Quattoni et al. 2004; Gunawardana et al. 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.features.map import FeatureMap
from chainfield.fitted import Classifier
from chainfield.models.compose import Material, linear_emissions
from chainfield.models.estimator import ChainClassifier
from chainfield.models.settings import check_number, check_whole, seed_of
from chainfield.models.transfer import carry_over
from chainfield.objectives import Objective, objective_named
from chainfield.parallel import count_jobs
from chainfield.potentials import How
from chainfield.problem import Problem
from chainfield.scorers import Boundary, Chain, LowRankTransition, Scorer, Transition
from chainfield.states import StateSpace
from chainfield.trainers import SGD, Trainer, calibrate

from .aligning import Aligning
from .anchored import Anchored
from .chains import Start, anchored, likely_start, moment_chain, released
from .em import EM
from .flattened import Flattened
from .topologies import block_space, plainly

STARTS = ("hmm", "random")
FLATTENINGS = ("states", "classes")
EM_ITERATIONS = 20
START_SCALE = 0.1  # deviation of a random start
BATCH_SIZE = 10  # sequences a step: nearly the same steps as one by one, in a fraction of the time
ANCHORED_L2 = 10.0  # weights that start from an HMM may be drawn back there with force
# A step away from an HMM: a pass over any number of sequences moves about as far. The average of the iterates bears
# longer steps than the last iterate, by which a trial on a sample judges; but not any.
PASS_RATE, BOLDER = 6.0, 8.0


def starts_from_hmm(chain: Chain) -> bool:
    """Whether parameters are distances from a start that knows something."""
    return any(isinstance(scorer, Anchored) for scorer in chain.scorers)


@final
class HiddenCRF(Aligning, ChainClassifier):
    """Gives a whole sequence one label, by a chain of hidden states for every label, trained to tell labels apart.

    Over numbers (arrays), a state scores first and second moments of the observations, as a Gaussian mixture does, with
    free weights; training starts from hidden Markov models that EM fits to each class. Over dicts, strings, columns of
    text and sparse matrices, a state scores features linearly.

    Parameters
    ----------
    n_states : int
        Hidden states of a label.
    topology : "left-to-right", "ergodic", or a matrix
        Which states may follow which. A boolean matrix [from, to], or a tuple (matrix, starts, ends), is your own.
    skip : int
        Left to right: how far a step may go ahead.
    n_components : int
        Mixture components of a state (arrays only); they are summed over.
    rank : int, optional
        Transitions between states are a product U Vᵀ of this rank; None: a weight for every transition. With a rank,
        arrays need ``start="random"``.
    start : "hmm" or "random"
        Arrays: from an HMM that explains each class, or from small random weights. Other data start at random.
    flatten : "states", "classes" or None
        With ``kappa``: what makes the start less sure of itself. "states" scales the start's weights, which brings
        paths and labels closer together; "classes" raises the labels' posteriors to ``kappa`` during training.
    kappa : float
        How much; 1 changes nothing. Small values suit many columns, whose HMM is far too sure of itself.
    objective : "likelihood", "perceptron", "large_margin" or "softmax_margin"
        What training minimises.
    trainer : "sgd", "averaged", "rprop", "lbfgs", "adam", "owlqn" or "auto"
        How. "sgd" is stochastic gradient ascent; for smooth objectives it takes 10 sequences a step and averages from
        the second pass on, unless ``batch_size`` and ``average_from`` say otherwise. "rprop" with a ``batch_size`` is
        stochastic RProp.
    l1, l2 : float
        Penalties. Where training starts from an HMM, they draw weights to the start, else to 0. ``l2`` None: 10 or 0.5;
        0 for objectives that are not smooth.
    variance_floor, smoothing, ends, init
        Of the HMM to start from: see :class:`~chainfield.models.HMMClassifier`.
    max_iter, tol, learning_rate, batch_size, average_from, restart_every, margin, patience
        As for :class:`~chainfield.models.LinearCRF`.
    template, min_count, all_features, class_weight, warm_start, random_state, n_jobs, verbose
        As for :class:`~chainfield.models.LinearCRF`.
    """

    def __init__(
        self,
        n_states: int = 3,
        topology: Any = "left-to-right",
        skip: int = 1,
        n_components: int = 1,
        rank: int | None = None,
        start: str = "hmm",
        flatten: str | None = "states",
        kappa: float = 0.3,
        objective: str = "likelihood",
        trainer: str = "sgd",
        l1: float = 0.0,
        l2: float | None = None,
        variance_floor: float = 0.01,
        smoothing: float = 0.01,
        ends: bool = True,
        init: str = "kmeans",
        max_iter: int | None = None,
        tol: float | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        average_from: int | None = None,
        restart_every: int | None = None,
        margin: float = 1.0,
        patience: int | None = None,
        template: Any = None,
        min_count: int = 1,
        all_features: bool = False,
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
        self.rank = rank
        self.start = start
        self.flatten = flatten
        self.kappa = kappa
        self.objective = objective
        self.trainer = trainer
        self.l1 = l1
        self.l2 = l2
        self.variance_floor = variance_floor
        self.smoothing = smoothing
        self.ends = ends
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.average_from = average_from
        self.restart_every = restart_every
        self.margin = margin
        self.patience = patience
        self.template = template
        self.min_count = min_count
        self.all_features = all_features
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _objective(self) -> Objective:
        objective = objective_named(self.objective)
        if self.flatten not in (None, *FLATTENINGS):
            raise ConfigError(f"flatten is {self.flatten!r}; choose one of {', '.join(FLATTENINGS)}, or None.")
        if self.start not in STARTS:
            raise ConfigError(f"start is {self.start!r}; choose one of {', '.join(STARTS)}.")
        check_whole(self, "n_components", 1)
        check_whole(self, "rank", 1, optional=True)
        check_number(self, "variance_floor", 0.0, strict=True)
        check_number(self, "smoothing", 0.0)
        flat = Flattened(objective, self.kappa, "classes")  # checks kappa, whatever it is for
        return flat if self.flatten == "classes" else objective

    def _trainer(self, objective: Objective, partial: bool) -> tuple[str, Trainer[Any]]:
        if self.trainer != "sgd" or not objective.smooth:
            return super()._trainer(objective, partial)
        return self._named_trainer("sgd", objective, partial, average_from=1, batch_size=BATCH_SIZE)

    def _tailored(self, problem: Problem, penalty_share: float) -> Problem:
        if self.l2 is not None or not problem.objective.smooth or not starts_from_hmm(problem.chain):
            return problem
        return replace(problem, l2=penalty_share * ANCHORED_L2)

    def _adapted(self, trainer: Trainer[Any], problem: Problem, theta: Float) -> Trainer[Any]:
        if not isinstance(trainer, SGD) or trainer.rate is not None or trainer.average_from is None:
            return trainer
        if not starts_from_hmm(problem.chain):
            return trainer
        tried = calibrate(problem, theta, trainer.seed)
        return replace(trainer, rate=min(PASS_RATE / problem.n_sequences, BOLDER * tried))

    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        return block_space(len(labels), self.n_states, self.topology, self.skip)

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        if material.pairs is not None:
            return self._linear(material, space)
        chain = replace(moment_chain(material, space, self.n_components), transitions=(self._moves(space),))
        if material.previous is not None:
            theta = self._likely(chain, material) if space.n_labels > len(material.previous.task.labels) else None
            theta = np.zeros(chain.n_parameters) if theta is None else theta
            carry_over(material.previous, chain, material.origin(space), theta)
            return anchored(chain, theta)
        if self.start == "random":
            return replace(chain, start_scale=START_SCALE)
        if self.rank is not None:
            raise ConfigError('Transitions of low rank cannot start from an HMM; with rank, use start="random".')
        return anchored(chain, self._likely(chain, material))

    def _likely(self, chain: Chain, material: Material) -> Float:
        em = EM(EM_ITERATIONS, floor=self.variance_floor, smoothing=self.smoothing, ends=self.ends)
        start = Start(self.n_components, self.init, em, seed_of(self.random_state), count_jobs(self.n_jobs))
        theta = likely_start(chain, material, np.ones(material.batch.n_sequences), start)
        return self.kappa * theta if self.flatten == "states" else theta

    def _linear(self, material: Material, space: StateSpace) -> Chain:
        if self.n_components > 1:
            raise ConfigError(
                "n_components is for arrays; sparse features and text are scored linearly. Use more states instead."
            )
        emissions: list[Scorer] = linear_emissions(material, space, boundary=False)
        return Chain(space, (*emissions, Boundary(space.n_rows)), (self._moves(space),), start_scale=START_SCALE)

    def _moves(self, space: StateSpace) -> Scorer:
        """The scores of transitions."""
        if self.rank is None:
            return Transition(np.arange(space.n_edges, dtype=np.int32))
        return LowRankTransition(space.src, space.row_of[space.dst], self.rank)

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Classifier:
        return super()._make(features, task, *released(chain, theta), how)

    def _settings(self) -> dict[str, Any]:
        return plainly(self, super()._settings)
