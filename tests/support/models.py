"""Two small models that the library does not have: hidden states behind labels, and classes of whole sequences."""

from __future__ import annotations

from chainfield.models import ChainClassifier, ChainTagger
from chainfield.models.compose import linear_emissions, transitions
from chainfield.models.constraints import ordered_space
from chainfield.models.groups import (
    DecoderSettings,
    ObjectiveSettings,
    OrderSettings,
    TrainingSettings,
    TransitionSettings,
)
from chainfield.scorers import Chain
from chainfield.settings import Choice, but, number, whole
from chainfield.states import class_blocks, left_to_right, partitioned


class LatentTagger(ChainTagger, OrderSettings, TransitionSettings):
    n_states = whole(2, "States of each label.")
    start_scale = number(0.1, "Deviation of the start.")
    max_iter = but(TrainingSettings.max_iter, default=20)
    trainer = but(TrainingSettings.trainer, default="lbfgs")
    l2 = but(ObjectiveSettings.l2, default=0.1)
    decoder = but(DecoderSettings.decoder, kind=Choice(("viterbi", "posterior", "latent-dynamic")))

    def _space(self, labels, rules):
        return ordered_space(partitioned([self.n_states] * len(labels)), rules, self.order)

    def _chain(self, material, space):
        emissions = linear_emissions(material, space, boundary=True)
        edges = transitions(material, space, all_transitions=self.all_transitions)
        return Chain(space, tuple(emissions), tuple(edges), self.start_scale)


class BlockClassifier(ChainClassifier):
    n_states = whole(2, "States of each class.")
    start_scale = number(0.1, "Deviation of the start.")
    max_iter = but(TrainingSettings.max_iter, default=20)
    trainer = but(TrainingSettings.trainer, default="lbfgs")
    l2 = but(ObjectiveSettings.l2, default=0.1)

    def _space(self, labels, rules):
        return class_blocks([left_to_right(self.n_states)] * len(labels))

    def _chain(self, material, space):
        emissions = linear_emissions(material, space, boundary=False)
        return Chain(space, tuple(emissions), tuple(transitions(material, space, all_transitions=True)), 0.1)
