"""The linear-chain conditional random field (Lafferty, McCallum and Pereira 2001)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, final

from chainfield.scorers import Chain
from chainfield.states import StateSpace

from .compose import Material, linear_emissions, transitions
from .constraints import ordered_space
from .estimator import ChainTagger


@final
class LinearCRF(ChainTagger):
    """A log-linear tagger with exact inference: one state a label, linear emissions, dense transitions.

    Parameters
    ----------
    order : 1 or 2
        How many labels back a label sees.
    objective : "likelihood", "perceptron", "large_margin", "softmax_margin", "piecewise" or "pseudolikelihood"
        What training minimises.
    trainer : "auto", "lbfgs", "owlqn", "sgd", "averaged", "adam", "rprop" or "sdca"
        How. "auto": a few stochastic passes, then L-BFGS (OWL-QN with l1) until the objective is within about
        ``tol`` = 1e-3 of its optimum; averaged stochastic steps for objectives that are not smooth.
    l1, l2 : float
        The penalty is l1 · ‖w‖₁ + l2 · ‖w‖² (CRFsuite's c1 and c2). l2 None: 0 for perceptron and
        large_margin, which averaging regularises, 0.5 for the others.
    max_iter, tol, learning_rate, batch_size
        None: the trainer's own defaults. An iteration of an online trainer is a pass over the data.
    average_from : int, optional
        For "sgd", "averaged" and "adam": iterates are averaged from this pass on (burn-in).
    restart_every : int, optional
        For the same: every so many passes, training goes on from the average. 2 to 8 suit latent models.
    margin : float
        Cost of a wrong label in the margin objectives.
    patience : int, optional
        With development data: stop after this many iterations without a better score.
    template : TemplateSet, str or path, optional
        Feature templates (CRF++, Wapiti or chainfield syntax) for rows of text columns; None: a built-in set.
    min_count : int
        Features that occur at fewer positions are left out.
    all_features : bool
        A weight for every feature with every label, not only for pairs seen in training.
    all_transitions : bool
        A weight for every label pair, not only for those seen in training.
    boundary : bool
        Weights for the first and the last label of a sequence.
    scheme : "bio", "iob1", "bioes", "bilou", "auto" or None
        Hard constraints of a tagging scheme, in training and in prediction alike.
    forbidden : list of (label, label), optional
        Transitions that must not occur; (None, label) forbids a start, (label, None) an end.
    class_weight : dict, "balanced" or None
        Odds by which labels are favoured at every position.
    decoder : "viterbi" or "posterior"
        What ``predict`` takes for the best labels: those of the best path, which obeys all rules, or the most probable
        label of each position by itself, which makes fewest mistakes a token. May be changed after ``fit``.
    warm_start : bool
        ``fit`` starts from the weights of the last fit.
    random_state : int
        Seed (None: 0); the same data and settings give the same model, bit by bit, with any number of threads.
    n_jobs : int, optional
        Threads; None or -1: all processors.
    verbose : bool
        Print a line an iteration.
    """

    decoders: ClassVar[tuple[str, ...]] = ("viterbi", "posterior")

    def __init__(
        self,
        order: int = 1,
        objective: str = "likelihood",
        trainer: str = "auto",
        l1: float = 0.0,
        l2: float | None = None,
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
        all_transitions: bool = True,
        boundary: bool = True,
        scheme: str | None = None,
        forbidden: Iterable[tuple[Any, Any]] | None = None,
        class_weight: Any = None,
        decoder: str = "viterbi",
        warm_start: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.order = order
        self.objective = objective
        self.trainer = trainer
        self.l1 = l1
        self.l2 = l2
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
        self.all_transitions = all_transitions
        self.boundary = boundary
        self.scheme = scheme
        self.forbidden = forbidden
        self.class_weight = class_weight
        self.decoder = decoder
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        space, self.scheme_ = ordered_space(labels, targets, self.order, self.scheme, self.forbidden)
        return space

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        emissions = linear_emissions(material, space, boundary=self.boundary)
        return Chain(space, tuple(emissions), tuple(transitions(material, space, all_transitions=self.all_transitions)))
