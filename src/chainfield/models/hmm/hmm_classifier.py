"""Hidden Markov models with Gaussian mixtures as a classifier: one per class, by likelihood or discriminatively."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, SettingError
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import Classifier
from chainfield.models.estimator import ChainClassifier
from chainfield.models.groups import ObjectiveSettings, TrainingSettings
from chainfield.models.material import Material
from chainfield.models.trainers import named_trainer, trainer_name
from chainfield.models.transfer import carry_over
from chainfield.objectives import Contrast, Objective
from chainfield.potentials import How
from chainfield.problem import SummedProblem
from chainfield.scorers import Chain
from chainfield.settings import Choice, but, choice
from chainfield.states import StateSpace
from chainfield.trainers import GRADIENT_TRAINERS, Trainer

from .aligning import Aligning
from .chains import Fitting, anchored, fit_hmm, in_moments, moment_chain, plain_chain, unanchored, with_sharpness
from .ebw import EBW
from .em import EM
from .flattened import Flattened
from .hmm import HMM
from .joint import JointLikelihood
from .renormalising import renormaliser
from .sizing import Blocks
from .topologies import BlockSettings

OWN_TRAINERS = ("em", "ebw")
STEPPING = ("sgd", "averaged", "adam")  # no line search, and the size of a gradient counts


@final
class HMMClassifier(
    Aligning,
    Blocks,
    ChainClassifier,
    BlockSettings,
    without=(
        "objective",
        "margin",
        "l1",
        "temperature",
        "template",
        "scaling",
        "min_count",
        "all_features",
        "aggressiveness",
        "forgetting",
        "rehearsal",
    ),
):
    """One hidden Markov model per class, over arrays: a sequence gets the class whose model, with its prior, fits best.

    Every state has a mixture of Gaussians with diagonal covariances. Training is by maximum likelihood (EM), or from
    there on discriminative: by extended Baum-Welch, or by any gradient trainer of the library.
    """

    constraints: str = choice(
        "free",
        ("free", "renormalised"),
        "Gradient trainers: log-probabilities move freely, which leaves an "
        "unnormalised model (free), or are normalised after every step (renormalised).",
    )
    mean_steps: str = choice(
        "gradient",
        ("gradient", "whitened"),
        "Trainers sgd, averaged and adam: means follow their gradient, or the gradient without its division by the "
        "variances, so that columns with large variances are not left behind (whitened).",
    )
    flatten: str | None = but(
        BlockSettings.flatten,
        default="classes",
        help="For the discriminative trainers: what kappa flattens, the posteriors of "
        "classes or those "
        "of paths (states); None: nothing.",
    )
    kappa: float = but(BlockSettings.kappa, search=())
    trainer: str = but(
        TrainingSettings.trainer,
        default="em",
        kind=Choice((*OWN_TRAINERS, *GRADIENT_TRAINERS)),
        help="em: maximum likelihood. All others start from it and maximise the probability of the right classes: ebw "
        "by extended Baum-Welch, the others by the gradient of means, log variances, transitions and mixture weights.",
    )
    l2: float = but(
        ObjectiveSettings.l2,
        default=0.0,
        optional=False,
        search=(),
        help="Gradient trainers: penalty on the squared distance from the maximum-likelihood model.",
    )

    @property
    def hmm_(self) -> HMM:
        """The model as probabilities, means and variances; free gradient training may leave it unnormalised."""
        fitted = self._classifier()
        return HMM.read(fitted.chain, fitted.theta)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, classes: Sequence[Any] | None = None) -> Any:
        """Not for HMMs: EM needs all data in every iteration."""
        raise ConfigError("HMMClassifier needs all data at once; call fit, or use HiddenCRF.")

    def check_settings(self) -> None:
        """Besides the rest: steps that are no gradient are for trainers that need none."""
        super().check_settings()
        if self.mean_steps == "whitened" and self.trainer not in STEPPING:
            raise SettingError(
                f'mean_steps="whitened" has no effect with trainer="{self.trainer}", or would mislead it; it belongs '
                f"to {', '.join(STEPPING[:-1])} and {STEPPING[-1]}."
            )

    def _objective(self) -> Objective:
        if self.trainer == "em":
            return JointLikelihood()
        if self.flatten is None or self.kappa == 1.0:
            return Contrast("sum")
        return Flattened(Contrast("sum"), self.kappa, "states" if self.flatten == "states" else "classes")

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        if material.pairs is not None:
            raise ConfigError("HMMClassifier needs arrays of numbers; for dicts, strings and text use HiddenCRF.")
        return moment_chain(material, space, self._n_components(material, space))

    def _start(self, problem: SummedProblem, material: Material, theta: Float) -> tuple[SummedProblem, Float]:
        """The maximum-likelihood model (for EM itself, where EM begins); for gradient trainers as means and variances,
        whose parameters are distances from it.
        """
        chain, previous = problem.chain, material.previous
        sharpness = float(self.kappa) if self.flatten == "states" and self.trainer != "em" else 1.0
        own = self.trainer in OWN_TRAINERS
        likely = fit_hmm(chain, material, Fitting.of(self, begin=self.trainer == "em"))
        if previous is not None:
            carry_over(previous, chain, material.origin(chain.space), likely)
        if own:
            return problem.restated(with_sharpness(chain, sharpness)), likely
        moments = in_moments(chain, sharpness, self.mean_steps == "whitened")
        start = anchored(moments, HMM.read(chain, likely).theta(moments))
        project = None if self.constraints == "free" else renormaliser(*unanchored(start), ends=self.ends)
        return problem.restated(start, project), np.zeros(start.n_parameters)

    def _trainer(self, problem: SummedProblem, theta: Float, partial: bool) -> Trainer[Any]:
        if self.trainer not in OWN_TRAINERS:
            return named_trainer(self, trainer_name(self, problem.objective, partial), problem.objective, partial)
        given = {k: getattr(self, k) for k in ("max_iter", "tol") if getattr(self, k) is not None}
        if self.trainer == "em":
            return EM(floor=self.variance_floor, smoothing=self.smoothing, ends=self.ends, **given)
        return EBW(floor=self.variance_floor, ends=self.ends, **given)

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Classifier:
        return super()._make(features, task, *plain_chain(chain, theta), how)
