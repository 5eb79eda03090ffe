"""Conditional random fields with hidden states behind labels: LDCRF = DPLVM, the latent perceptron, low rank.

Morency, Quattoni and Darrell 2007; Sun, Matsuzaki, Okanohara and Tsujii 2009; Thai, Ramesh, Murty, Vilnis and
McCallum 2018.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import add
from typing import Any, final

import numpy as np

from chainfield.arrays import Float, distinct
from chainfield.errors import ConfigError
from chainfield.inference import DECODERS
from chainfield.memory import demand_memory
from chainfield.problem import Problem
from chainfield.scorers import Chain
from chainfield.settings import Choice, Whole, but, flag, given, number, whole
from chainfield.states import Rules, StateSpace, partitioned
from chainfield.trainers import Trainer

from .compose import linear_emissions, transitions
from .constraints import ordered_space
from .estimator import ChainTagger
from .groups import DecoderSettings, LabelStates, OrderSettings, TrainingSettings, TransitionSettings
from .kinds import StateCounts
from .material import Examples, Material
from .trainers import PRODUCT_RATE, named_trainer, trainer_name

RESTART_EVERY = 4
# Training with hidden states often ends in a poor optimum. Several starts cost little where there are few data; with
# many data one start has been enough, and several would be expensive: names in 40,000 positions had 80.8 by five starts
# in 40 s, 81.0 by one in 8 s.
MOST_STARTS = 8
START_POSITIONS = 40_000
# Deviation of the first weights. Sums over states need some, to leave the saddle point where all states are alike. A
# perceptron's first step has size 1 and forgets a smaller start at once, so scores must differ by about 1 there.
SCALE = 0.5
BYTES_PER_EDGE = 150  # the edge, its places in the kernels' layouts, its weights and their gradients


@final
class LatentCRF(ChainTagger, OrderSettings, TransitionSettings):
    """A tagger whose labels have several hidden states each, learned from the labels alone, with exact inference.

    Labels are often too coarse: "her" begins a noun phrase in "is her brother" and in "gave her flowers", but only in
    the first is the phrase left open. States behind the labels let the model tell such cases apart, and remember what
    it has seen over longer distances than its order.

    >>> X = [["Anna", "lives", "in", "Oslo"], ["Oslo", "is", "cold"]]
    >>> y = [["B-PER", "O", "O", "B-LOC"], ["B-LOC", "O", "O"]]
    >>> LatentCRF(n_states=2).fit(X, y).predict([["Anna", "is", "in", "Oslo"]])
    [['B-PER', 'O', 'O', 'B-LOC']]
    """

    n_states: LabelStates = given(
        2,
        "Hidden states behind each label; a dict names labels, and those that it does not name have one state.",
        StateCounts(),
        option="states",
        search=(1, 2, 3, 5),
    )
    rank: int | None = whole(
        None, "Transitions between states are a product U Vᵀ of this rank; None: a weight for every pair of states."
    )
    share_labels: bool = flag(
        True,
        "Labels have weights of their own, for features and transitions, beside those of their states. States then "
        "share what is common to them, which helps most where features are many.",
    )
    triple_features: bool = flag(
        False,
        "Features of transitions (B and * lines of a template) have weights for state triples too.",
        only_with={"order": (2,)},
    )
    n_init: Any = whole(
        "auto",
        "Random starts. The best is kept: by development score if there are such data, else by the training "
        "data. auto: up to 8 where there are few training data, 1 from 20,000 positions on.",
        words=("auto",),
    )
    start_scale: float | None = number(
        None,
        "Standard deviation of the random weights that training starts from. None: 0.5; for perceptron and large "
        "margin, 1 over the square root of the number of features per position.",
    )
    restart_every: Any = but(
        TrainingSettings.restart_every,
        default="auto",
        kind=Whole(words=("auto",)),
        optional=True,
        help="Every so many passes, training continues from the average. auto: every 4 for averaged perceptron and "
        "large margin, else never.",
    )
    decoder: str = but(
        DecoderSettings.decoder,
        kind=Choice(tuple(DECODERS)),
        help="Which labels predict takes: those of the best state path (viterbi), the most probable label of each "
        "position (posterior), or the most probable label sequence, summed over its state paths (latent-dynamic). May "
        "be changed after fit.",
    )

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        counts = count_states(self.n_states, labels)
        n = sum(counts)
        if self.rank is not None and self.rank > n:
            raise ConfigError(f"rank is {self.rank}, but there are {n} states; a rank is {n} at most.")
        edges = n**2 if self.order == 1 else n**3
        advice = "take fewer states per label" + (", or order=1" if self.order == 2 else "")
        demand_memory(BYTES_PER_EDGE * edges, f"A chain of {n:,} states, order {self.order}", advice)
        return ordered_space(partitioned(counts), rules, self.order)

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
        hidden = space.n_rows > len(distinct(space.label_of_row))  # without hidden states nothing needs telling apart
        emissions = linear_emissions(material, space, boundary=self.boundary)
        return Chain(space, tuple(emissions), tuple(edges), scale if hidden else 0.0)

    def _default_scale(self, material: Material) -> float:
        if self._objective().how == "sum":
            return SCALE
        n = max(material.extent.n_positions, 1)
        features = material.features.n_columns + material.fold(_n_entries, add) / n
        return float(1.0 / np.sqrt(max(features, 1.0)))

    def _n_starts(self, n_positions: int) -> int:
        if self.n_init != "auto":
            return int(self.n_init)
        return min(max(START_POSITIONS // max(n_positions, 1), 1), MOST_STARTS)

    def _trainer(self, problem: Problem, theta: Float, partial: bool) -> Trainer[Any]:
        name, objective = trainer_name(self, problem.objective, partial), problem.objective
        restarts = self.restart_every == "auto" and name == "averaged" and not objective.smooth
        rate = None if self.rank is None or objective.smooth else PRODUCT_RATE
        every = RESTART_EVERY if restarts else None
        return named_trainer(self, name, objective, partial, rate=rate, restart_every=every)


def _n_entries(examples: Examples) -> int:
    return 0 if examples.batch.sparse is None else len(examples.batch.sparse.indices)


def count_states(wanted: LabelStates, labels: tuple[Any, ...]) -> list[int]:
    """How many states each label has."""
    if not isinstance(wanted, Mapping):
        return [int(wanted)] * len(labels)
    unknown = [label for label in wanted if label not in labels]
    if unknown:
        raise ConfigError(f"n_states names {unknown[0]!r}, which is not a label of the training data.")
    return [int(wanted.get(label, 1)) for label in labels]
