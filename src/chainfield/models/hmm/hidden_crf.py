"""The hidden conditional random field for whole sequences (Quattoni et al. 2004; Gunawardana et al. 2005)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import Classifier
from chainfield.models.compose import linear_emissions
from chainfield.models.estimator import ChainClassifier
from chainfield.models.groups import ObjectiveSettings, TrainingSettings
from chainfield.models.material import Material
from chainfield.models.trainers import PRODUCT_RATE, named_trainer, trainer_name
from chainfield.models.transfer import carry_over
from chainfield.objectives import Objective, objective_named
from chainfield.potentials import How
from chainfield.problem import SummedProblem
from chainfield.scorers import Boundary, Chain, LowRankTransition, Scorer, Transition
from chainfield.settings import Choice, Number, but, choice, whole
from chainfield.states import StateSpace
from chainfield.trainers import SGD, Trainer, calibrate, resolve_trainer

from .aligning import Aligning
from .anchored import Anchored
from .certainty import USUAL, flattening
from .chains import Fitting, anchored, fit_hmm, moment_chain, plain_chain
from .flattened import Flattened
from .mixture import GaussianMixture
from .sizing import Blocks
from .topologies import BlockSettings

START_SCALE = 0.1  # deviation of a random start
BATCH_SIZE = 10  # sequences per step: nearly the same steps as one by one, in a fraction of the time
# Weights that start from an HMM are drawn back there with force: by this times the number of sequences. Passes over the
# data are few for the same reason: later ones mostly overfit.
ANCHORED_L2, PASSES = 0.05, 25
# Settings that speak of stochastic steps.
STEPS = ("learning_rate", "batch_size", "average_from")
# A step away from an HMM: a pass over any number of sequences moves about as far. The average of the iterates bears
# longer steps than the last iterate, by which a trial on a sample judges; but not any.
PASS_RATE, BOLDER = 6.0, 8.0


@final
class HiddenCRF(
    Aligning, Blocks, ChainClassifier, BlockSettings, without=("scaling", "aggressiveness", "forgetting", "rehearsal")
):
    """Gives a whole sequence one label, by a chain of hidden states for every label, trained to tell labels apart.

    Over numbers (arrays), a state scores first and second moments of the observations, as a Gaussian mixture does, with
    free weights; training starts from hidden Markov models that EM fits to each class. Over dicts, strings, columns of
    text and sparse matrices, a state scores features linearly.
    """

    rank: int | None = whole(
        None,
        "Transitions between states are a product U Vᵀ of this rank; None: a weight for every transition. With a "
        'rank, arrays need start="random".',
    )
    start: str = choice(
        "hmm",
        ("hmm", "random"),
        "Arrays: training starts from an HMM that explains each class, or from small random "
        "weights. Other data start at random.",
    )
    kappa: Any = but(
        BlockSettings.kappa,
        default="auto",
        kind=Number(above=True, words=("auto",)),
        help="How much is flattened: 1 changes nothing. auto: by how much HMMs of half of the sequences are too sure "
        'of the others (flatten="classes", or data in pieces: 0.1). Speech with 12 or 39 columns gives 0.05 to 0.1, '
        "few columns more.",
    )
    objective: str = but(
        ObjectiveSettings.objective,
        kind=Choice(("likelihood", "perceptron", "large_margin", "softmax_margin")),
        help="What training minimises.",
    )
    l2: float | None = but(
        ObjectiveSettings.l2,
        search=(0.1, 1000.0),
        help="Penalty l2 · ‖w‖². Where training starts from an HMM, penalties draw weights to the start, else to 0. "
        "None: 0.05 times the number of sequences from an HMM, else 0.15 (0.5 over arrays); 0 for objectives that are "
        "not smooth.",
    )
    auto_trainer: ClassVar[str | None] = "sgd"
    max_iter: int | None = but(
        TrainingSettings.max_iter,
        help="Most iterations; for online trainers, passes over the data. None: 25 passes of sgd from an HMM, else the "
        "trainer's own default.",
    )
    trainer: str = but(
        TrainingSettings.trainer,
        kind=Choice(("auto", "sgd", "averaged", "rprop", "lbfgs", "adam", "owlqn")),
        help="How the objective is minimised. auto: sgd over arrays, and where steps are set (learning_rate, "
        "batch_size, average_from); over text and other features L-BFGS (OWL-QN with l1). sgd is stochastic gradient "
        "ascent; for smooth objectives it takes 10 sequences per step and averages from the second pass on, unless "
        "batch_size and average_from say otherwise. rprop with a batch_size is stochastic RProp.",
    )

    def _objective(self) -> Objective:
        objective = objective_named(self.objective)
        kappa = USUAL if self.kappa == "auto" else self.kappa
        return Flattened(objective, kappa, "classes") if self.flatten == "classes" else objective

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        if self.rank is None:
            moves: Scorer = Transition(np.arange(space.n_edges, dtype=np.int32))
        else:
            moves = LowRankTransition(space.src, space.row_of[space.dst], self.rank)
        if material.pairs is None:
            if self.rank is not None and self.start == "hmm" and material.previous is None:
                raise ConfigError('Transitions of low rank cannot start from an HMM; with rank, use start="random".')
            chain = replace(moment_chain(material, space, self._n_components(material, space)), transitions=(moves,))
            return replace(chain, start_scale=START_SCALE) if self._starts_at_random(material) else chain
        if self.n_components not in ("auto", 1):
            raise ConfigError(
                "n_components is for arrays; sparse features and text are scored linearly. Use more states instead."
            )
        emissions: list[Scorer] = linear_emissions(material, space, boundary=False)
        return Chain(space, (*emissions, Boundary(space.n_rows)), (moves,), start_scale=START_SCALE)

    def _starts_at_random(self, material: Material) -> bool:
        return material.pairs is not None or (self.start == "random" and material.previous is None)

    def _start(self, problem: SummedProblem, material: Material, theta: Float) -> tuple[SummedProblem, Float]:
        """From an HMM, parameters are distances from it."""
        if self._starts_at_random(material):
            return problem, theta
        chain, previous = problem.chain, material.previous
        likely = np.zeros(chain.n_parameters)
        if previous is None or len(material.labels) > len(previous.task.labels):
            start = Fitting.of(self)
            likely = fit_hmm(chain, material, start)
            if self.flatten == "states":
                likely *= flattening(chain, material, start) if self.kappa == "auto" else self.kappa
        if previous is not None:
            carry_over(previous, chain, material.origin(chain.space), likely)
        own = self.l2 is None and problem.objective.smooth
        l2 = ANCHORED_L2 * material.extent.n_sequences if own else None
        problem = problem.restated(anchored(chain, likely), l2=l2)
        return problem, np.zeros(problem.n_parameters)

    def _trainer(self, problem: SummedProblem, theta: Float, partial: bool) -> Trainer[Any]:
        objective, name = problem.objective, self._trainer_name(problem, partial)
        from_hmm = any(isinstance(scorer, Anchored) for scorer in problem.chain.scorers)
        small: dict[str, Any] = {} if self.rank is None or objective.smooth else {"rate": PRODUCT_RATE}
        if name == "sgd" and objective.smooth:
            small = {"average_from": 1, "batch_size": BATCH_SIZE, "max_iter": PASSES if from_hmm else None}
        trainer = named_trainer(self, name, objective, partial, **small)
        if not isinstance(trainer, SGD) or trainer.rate is not None or trainer.average_from is None or not from_hmm:
            return trainer
        tried = calibrate(problem, theta, trainer.seed)
        return replace(trainer, rate=min(PASS_RATE / problem.n_sequences, BOLDER * tried))

    def _trainer_name(self, problem: SummedProblem, partial: bool) -> str:
        moments = any(isinstance(scorer, Anchored | GaussianMixture) for scorer in problem.chain.scorers)
        stepping = partial or any(getattr(self, step) is not None for step in STEPS)
        if self.trainer == "auto" and not moments and not stepping:
            return resolve_trainer("auto", problem.objective)
        return trainer_name(self, problem.objective, partial)

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Classifier:
        return super()._make(features, task, *plain_chain(chain, theta), how)
