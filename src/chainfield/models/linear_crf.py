"""The linear-chain conditional random field (Lafferty, McCallum and Pereira 2001)."""

from __future__ import annotations

from typing import Any, final

from chainfield.scorers import Chain
from chainfield.states import Rules, StateSpace, one_per_label

from .compose import Material, linear_emissions, transitions
from .constraints import ordered_space
from .estimator import ChainTagger
from .groups import OrderSettings, TransitionSettings


class LinearTagger(ChainTagger, OrderSettings, TransitionSettings):
    """Base of the taggers with one state per label, linear emissions and dense transitions."""

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        return ordered_space(one_per_label(len(labels)), rules, self.order)

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        emissions = linear_emissions(material, space, boundary=self.boundary)
        return Chain(space, tuple(emissions), tuple(transitions(material, space, all_transitions=self.all_transitions)))


@final
class LinearCRF(LinearTagger):
    """A log-linear tagger with exact inference: one state per label, linear emissions, dense transitions."""
