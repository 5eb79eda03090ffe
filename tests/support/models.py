"""Two small models that the library does not have: hidden states behind labels, and classes of whole sequences."""

from __future__ import annotations

from chainfield.models import ChainClassifier, ChainTagger
from chainfield.models.compose import linear_emissions, transitions
from chainfield.scorers import Chain
from chainfield.states import class_blocks, left_to_right, partitioned, second_order


class Settings:
    """Hyper-parameters that these models do not expose."""

    objective, trainer, margin, l1, l2 = "likelihood", "lbfgs", 1.0, 0.0, 0.1
    tol = learning_rate = batch_size = average_from = patience = template = n_jobs = None
    min_count, warm_start, verbose = 1, False, False


class LatentTagger(Settings, ChainTagger):
    def __init__(
        self,
        n_states=2,
        order=1,
        start_scale=0.1,
        max_iter=20,
        objective="likelihood",
        trainer="lbfgs",
        all_features=False,
        all_transitions=True,
        template=None,
        class_weight=None,
        decoder="viterbi",
        warm_start=False,
        random_state=0,
    ):
        self.n_states = n_states
        self.order = order
        self.start_scale = start_scale
        self.max_iter = max_iter
        self.objective = objective
        self.trainer = trainer
        self.all_features = all_features
        self.all_transitions = all_transitions
        self.template = template
        self.class_weight = class_weight
        self.decoder = decoder
        self.warm_start = warm_start
        self.random_state = random_state

    def _space(self, labels, targets):
        space = partitioned([self.n_states] * len(labels))
        return second_order(space) if self.order == 2 else space

    def _chain(self, material, space):
        emissions = linear_emissions(material, space, boundary=True)
        edges = transitions(material, space, all_transitions=self.all_transitions)
        return Chain(space, tuple(emissions), tuple(edges), self.start_scale)


class BlockClassifier(Settings, ChainClassifier):
    def __init__(
        self,
        n_states=2,
        start_scale=0.1,
        max_iter=20,
        objective="likelihood",
        trainer="lbfgs",
        margin=1.0,
        all_features=False,
        class_weight=None,
        warm_start=False,
        random_state=0,
    ):
        self.n_states = n_states
        self.start_scale = start_scale
        self.max_iter = max_iter
        self.objective = objective
        self.trainer = trainer
        self.margin = margin
        self.all_features = all_features
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state

    def _space(self, labels, targets):
        return class_blocks([left_to_right(self.n_states)] * len(labels))

    def _chain(self, material, space):
        emissions = linear_emissions(material, space, boundary=False)
        return Chain(space, tuple(emissions), tuple(transitions(material, space, all_transitions=True)), 0.1)
