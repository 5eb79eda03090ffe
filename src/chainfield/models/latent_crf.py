"""Conditional random fields with hidden states behind labels: LDCRF = DPLVM, the latent perceptron, low rank.

Morency, Quattoni and Darrell 2007; Sun, Matsuzaki, Okanohara and Tsujii 2009; Thai, Ramesh, Murty, Vilnis and
McCallum 2018.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Float, Int32
from chainfield.errors import ConfigError
from chainfield.fitted.names import row_names
from chainfield.memory import demand_memory
from chainfield.objectives import Objective
from chainfield.scorers import Chain
from chainfield.states import StateSpace, partitioned, second_order
from chainfield.trainers import Trainer, resolve_trainer

from .compose import Material, linear_emissions, transitions
from .constraints import check_rules, found_scheme, label_rules, restricted
from .estimator import ChainTagger
from .inputs import split_sequences

RESTART_EVERY = 4
# Training with hidden states often ends in a poor optimum. Several starts cost little where there are few data; with
# many data one start has been enough, and several would be expensive.
MOST_STARTS = 8
START_POSITIONS = 200_000
# Deviation of the first weights. Sums over states need some, to leave the saddle point where all states are alike. A
# perceptron's first step has size 1 and forgets a smaller start at once, so scores must differ by about 1 there.
SCALE = 0.5
BYTES_PER_EDGE = 150  # the edge, its places in the kernels' layouts, its weights and their gradients


@final
class LatentCRF(ChainTagger):
    """A tagger whose labels have several hidden states each, learned from the labels alone, with exact inference.

    Labels are often too coarse: "her" begins a noun phrase in "is her brother" and in "gave her flowers", but only in
    the first is the phrase left open. States behind the labels let the model tell such cases apart, and remember what
    it has seen over longer distances than its order.

    Parameters
    ----------
    states_per_label : int or dict
        Hidden states behind each label; a dict names labels, and those it does not name have one state.
    order : 1 or 2
        How many states back a state sees.
    rank : int, optional
        Transitions between states are a product U Vᵀ of this rank; None: a weight for every pair of states.
    share_labels : bool
        Labels have weights of their own, for features and transitions, beside those of their states. States then share
        what is common to them, which helps most where features are many.
    triple_features : bool
        With order 2: features of transitions (``B`` and ``*`` lines of a template) have weights for state triples too.
    objective : "likelihood", "perceptron", "large_margin", "softmax_margin", "piecewise" or "pseudolikelihood"
        "likelihood" sums over hidden states (LDCRF, DPLVM); "perceptron" takes the best ones (latent perceptron).
    trainer : "auto", "lbfgs", "owlqn", "sgd", "averaged", "adam" or "rprop"
        As for :class:`~chainfield.models.LinearCRF`.
    n_init : int or "auto"
        Random starts; the best is kept, by development score if there are such data, else by the training data.
        "auto": up to 8 where there are few training data, 1 from 200,000 positions on.
    start_scale : float, optional
        Deviation of the random numbers that training starts from. None: 0.5; for perceptron and large_margin 1 over the
        square root of the number of features a position.
    restart_every : int, "auto" or None
        Every so many passes, training goes on from the average. "auto": every 4 for averaged perceptron and
        large_margin, else never (None).
    l1, l2, max_iter, tol, learning_rate, batch_size, average_from, margin, patience
        As for :class:`~chainfield.models.LinearCRF`.
    template, min_count, all_features, all_transitions, boundary, scheme, forbidden, class_weight
        As for :class:`~chainfield.models.LinearCRF`.
    decoder : "viterbi", "posterior" or "latent-dynamic"
        What ``predict`` takes for the best labels: those of the best state path; the most probable label of each
        position; the most probable label sequence, summed over its state paths. May be changed after ``fit``.
    warm_start, random_state, n_jobs, verbose
        As for :class:`~chainfield.models.LinearCRF`.
    """

    choosable: ClassVar[tuple[str, ...]] = ("n_init", "restart_every")

    def __init__(
        self,
        states_per_label: int | Mapping[Any, int] = 2,
        order: int = 1,
        rank: int | None = None,
        share_labels: bool = True,
        triple_features: bool = False,
        objective: str = "likelihood",
        trainer: str = "auto",
        n_init: Any = "auto",
        start_scale: float | None = None,
        l1: float = 0.0,
        l2: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        average_from: int | None = None,
        restart_every: Any = "auto",
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
        self.states_per_label = states_per_label
        self.order = order
        self.rank = rank
        self.share_labels = share_labels
        self.triple_features = triple_features
        self.objective = objective
        self.trainer = trainer
        self.n_init = n_init
        self.start_scale = start_scale
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

    # ---- composition ---------------------------------------------------------------------------------------------

    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        if self.order not in (1, 2):
            raise ConfigError(f"order is {self.order!r}; 1 and 2 are possible.")
        if self.triple_features and self.order == 1:
            raise ConfigError("triple_features has no effect with order=1; give order=2.")
        counts = count_states(self.states_per_label, labels)
        n = sum(counts)
        if self.rank is not None:
            _check_whole("rank", self.rank)
            if self.rank > n:
                raise ConfigError(f"rank is {self.rank}, but there are {n} states; a rank is {n} at most.")
        edges = n**2 if self.order == 1 else n**3
        advice = "take fewer states a label" + (", or order=1" if self.order == 2 else "")
        demand_memory(BYTES_PER_EDGE * edges, f"A chain of {n:,} states, order {self.order}", advice)
        self.scheme_ = found_scheme(labels, self.scheme, targets)
        rules = label_rules(labels, self.scheme_, self.forbidden)
        space = restricted(partitioned(counts), rules)
        check_rules(rules, labels, targets)
        return second_order(space) if self.order == 2 else space

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        edges = transitions(
            material,
            space,
            all_transitions=self.all_transitions,
            share_labels=self.share_labels,
            rank=self.rank,
            triples=self.triple_features,
        )
        scale = self._default_scale(material) if self.start_scale is None else float(self.start_scale)
        hidden = space.n_rows > len(np.unique(space.label_of_row))  # without hidden states nothing needs telling apart
        emissions = linear_emissions(material, space, boundary=self.boundary)
        return Chain(space, tuple(emissions), tuple(edges), scale if hidden else 0.0)

    def _default_scale(self, material: Material) -> float:
        if self._objective().how == "sum":
            return SCALE
        sparse, n = material.batch.sparse, max(material.batch.n_positions, 1)
        features = material.features.n_columns + (0 if sparse is None else len(sparse.indices) / n)
        return float(1.0 / np.sqrt(max(features, 1.0)))

    def _n_starts(self, n_positions: int) -> int:
        if self.n_init != "auto":
            return int(self.n_init)
        return min(max(START_POSITIONS // max(n_positions, 1), 1), MOST_STARTS)

    def _trainer(self, objective: Objective, partial: bool) -> tuple[str, Trainer[Any]]:
        if not (self.start_scale is None or (_is_number(self.start_scale) and self.start_scale >= 0)):
            raise ConfigError(f"start_scale is {self.start_scale!r}; a number of at least 0 is expected.")
        return super()._trainer(objective, partial)

    def _restart_every(self, objective: Objective) -> int | None:
        if self.restart_every != "auto":
            return super()._restart_every(objective)
        averaged = resolve_trainer(self.trainer, objective) == "averaged"
        return RESTART_EVERY if averaged and not objective.smooth else None

    # ---- looking at hidden states --------------------------------------------------------------------------------

    @property
    def states_(self) -> list[Any]:
        """The hidden states by number: a label, or (label, number) where a label has several."""
        fitted = self._fitted()
        return row_names(fitted.chain.space, fitted.task.labels)

    def states(self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None) -> list[Int32]:
        """The hidden states of the best path, as numbers into ``states_``; ``given`` fixes labels (None elsewhere)."""
        fixed = None if given is None else split_sequences(given, lengths, "given")
        rows = self._fitted().chain.space.row_of
        return [rows[path] for path in self._fitted().states(split_sequences(X, lengths), fixed)]

    def predict_state_marginals(
        self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None
    ) -> list[Float]:
        """Probabilities of hidden states: a (length, states) array a sequence, columns in the order of ``states_``."""
        fixed = None if given is None else split_sequences(given, lengths, "given")
        return self._fitted().occupancies(split_sequences(X, lengths), fixed)


def count_states(wanted: int | Mapping[Any, int], labels: tuple[Any, ...]) -> list[int]:
    """How many states each label has."""
    if not isinstance(wanted, Mapping):
        _check_whole("states_per_label", wanted)
        return [int(wanted)] * len(labels)
    unknown = [label for label in wanted if label not in labels]
    if unknown:
        raise ConfigError(f"states_per_label names {unknown[0]!r}, which is not a label of the training data.")
    for label, n in wanted.items():
        _check_whole(f"states_per_label of {label!r}", n)
    return [int(wanted.get(label, 1)) for label in labels]


def _check_whole(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ConfigError(f"{name} is {value!r}; a whole number of at least 1 is expected.")


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and bool(np.isfinite(float(value)))
