"""The state space of a class per block, sized by the settings or by the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chainfield.models.material import Material
from chainfield.states import Rules, StateSpace

from .mixture import GaussianMixture
from .sizing import auto_components, auto_states, resolved
from .topologies import TOPOLOGIES, block_space

if TYPE_CHECKING:
    from chainfield.fitted import FittedModel
    from chainfield.models.training_data import TrainingData


class Blocks:
    """Of models with :class:`~chainfield.models.hmm.topologies.BlockSettings`."""

    n_states: Any
    n_components: Any
    topology: Any
    skip: int

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        return self._blocks(labels, {}, None)

    def _sized_space(
        self, labels: tuple[Any, ...], rules: Rules | None, data: TrainingData, previous: FittedModel | None
    ) -> StateSpace:
        needed = self.n_states == "auto" and isinstance(self.topology, str)
        return self._blocks(labels, data.lengths() if needed else {}, previous)

    def _n_components(self, material: Material, space: StateSpace) -> int:
        """Of arrays; those of an older model stay."""
        if self.n_components != "auto":
            return int(self.n_components)
        before = () if material.previous is None else material.previous.chain.emissions
        return next((s.n_components for s in before if isinstance(s, GaussianMixture)), None) or auto_components(
            material, space
        )

    def _blocks(
        self, labels: tuple[Any, ...], lengths: Mapping[Any, Mapping[int, int]], previous: FittedModel | None
    ) -> StateSpace:
        """Classes that an older model knows keep their states."""
        skip = int(self.skip) if isinstance(self.topology, str) and self.topology == TOPOLOGIES[0] else None
        found = {label: auto_states(lengths.get(label, {}), skip) for label in labels}
        if previous is not None:
            found |= {previous.task.labels[b.label]: len(b.states) for b in previous.chain.space.blocks}
        return block_space([resolved(self.n_states, found[label]) for label in labels], self.topology, self.skip)
