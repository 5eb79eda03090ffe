"""The maximum-entropy Markov model (McCallum, Freitag and Pereira 2000)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

from chainfield.arrays import Float
from chainfield.features.map import FeatureMap
from chainfield.fitted import Tagger
from chainfield.objectives import LocalLikelihood, Objective
from chainfield.potentials import How
from chainfield.scorers import Chain
from chainfield.states import StateSpace

from .compose import Material, linear_emissions, transitions
from .constraints import ordered_space
from .estimator import ChainTagger


@final
class MEMM(ChainTagger):
    """A chain of maximum-entropy classifiers: P(label | label before, input), each normalised by itself.

    It trains faster than a CRF, because a position needs no sum over all paths. But a label that few labels can follow
    passes its probability on whatever the input says (the label bias, Lafferty et al. 2001). Compare it with
    :class:`~chainfield.models.LinearCRF` on your data before you rely on it.

    Parameters
    ----------
    order : 1 or 2
        How many labels back a label sees.
    trainer, l1, l2, max_iter, tol, learning_rate, batch_size, average_from, restart_every, patience
        As for :class:`~chainfield.models.LinearCRF`.
    template, min_count, all_features, all_transitions
        As for :class:`~chainfield.models.LinearCRF`.
    scheme, forbidden, decoder, warm_start, random_state, n_jobs, verbose
        As for :class:`~chainfield.models.LinearCRF`.
    """

    decoders: ClassVar[tuple[str, ...]] = ("viterbi", "posterior")
    objective: str = "local"
    margin: float = 1.0
    class_weight: Any = None

    def __init__(
        self,
        order: int = 1,
        trainer: str = "auto",
        l1: float = 0.0,
        l2: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        average_from: int | None = None,
        restart_every: int | None = None,
        patience: int | None = None,
        template: Any = None,
        min_count: int = 1,
        all_features: bool = False,
        all_transitions: bool = True,
        scheme: str | None = None,
        forbidden: Iterable[tuple[Any, Any]] | None = None,
        decoder: str = "viterbi",
        warm_start: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.order = order
        self.trainer = trainer
        self.l1 = l1
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.average_from = average_from
        self.restart_every = restart_every
        self.patience = patience
        self.template = template
        self.min_count = min_count
        self.all_features = all_features
        self.all_transitions = all_transitions
        self.scheme = scheme
        self.forbidden = forbidden
        self.decoder = decoder
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _objective(self) -> Objective:
        return LocalLikelihood()

    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        space, self.scheme_ = ordered_space(labels, targets, self.order, self.scheme, self.forbidden)
        return space

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        emissions = linear_emissions(material, space, boundary=True)
        return Chain(space, tuple(emissions), tuple(transitions(material, space, all_transitions=self.all_transitions)))

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Tagger:
        # Training has its scores as they are; prediction needs probabilities of steps.
        return super()._make(features, task, replace(chain, normalised=True), theta, how)
