"""How many states a class needs, and how many Gaussians a state: ``n_states="auto"``, ``n_components="auto"``.

States of a class: the root of the median length of its sequences. A state then stands for about as many positions as
there are states. Gaussians: as many as the data can tell apart, in powers of two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float
from chainfield.models.inputs import choose_map
from chainfield.models.material import Examples, Material
from chainfield.states import Rules, StateSpace

from .mixture import GaussianMixture
from .topologies import TOPOLOGIES, block_space, form_of

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.fitted import FittedModel
    from chainfield.models.training_data import TrainingData

MOST_STATES, MOST_COMPONENTS = 8, 8
FRAMES = 5  # positions of a class for each of its states, at least
PER_COLUMN, PER_GAUSSIAN = 3, 30  # positions of a Gaussian, at least: for each column, and whatever their number


class Blocks:
    """Of models with :class:`~chainfield.models.hmm.topologies.BlockSettings`."""

    n_states: Any
    n_components: Any
    topology: Any
    skip: int

    template: Any

    def _features(self, sequences: Sequence[Any]) -> FeatureMap:
        return choose_map(sequences, self.template)  # numbers as they are: mixtures have a scale of their own

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        return self._blocks(labels, {}, None, None)

    def _sized_space(
        self,
        labels: tuple[Any, ...],
        rules: Rules | None,
        data: TrainingData,
        features: FeatureMap,
        previous: FittedModel | None,
    ) -> StateSpace:
        needed = self.n_states == "auto" and isinstance(self.topology, str)
        return self._blocks(labels, data.lengths() if needed else {}, features, previous)

    def _n_components(self, material: Material, space: StateSpace) -> int:
        """Of arrays; those of an older model stay."""
        if self.n_components != "auto":
            return int(self.n_components)
        before = () if material.previous is None else material.previous.chain.emissions
        return next((s.n_components for s in before if isinstance(s, GaussianMixture)), None) or auto_components(
            material, space
        )

    def _blocks(
        self,
        labels: tuple[Any, ...],
        lengths: Mapping[Any, Mapping[int, int]],
        features: FeatureMap | None,
        previous: FittedModel | None,
    ) -> StateSpace:
        """Classes that an older model knows keep their states."""
        form = form_of(self.topology, features)
        skip = int(self.skip) if isinstance(form, str) and form == TOPOLOGIES[0] else None
        found = {label: auto_states(lengths.get(label, {}), skip) for label in labels}
        if previous is not None:
            found |= {previous.task.labels[b.label]: len(b.states) for b in previous.chain.space.blocks}
        return block_space(
            [found[label] if self.n_states == "auto" else int(self.n_states) for label in labels],
            form,
            self.skip,
        )


def auto_states(lengths: Mapping[int, int], skip: int | None) -> int:
    """By the lengths of a class's sequences, and how often each occurs.

    ``skip``: how far a step goes ahead from left to right, where the shortest sequence must reach the last state.
    """
    if not lengths:
        return 1
    found = min(MOST_STATES, round(median(_each(lengths)) ** 0.5), sum(n * k for n, k in lengths.items()) // FRAMES)
    if skip is not None:
        found = min(found, (min(lengths) - 1) * skip + 1)
    return max(found, 1)


def auto_components(material: Material, space: StateSpace) -> int:
    """By the positions that the states of a class have on average, in the class with the fewest and in all."""
    counts = material.fold(class_positions, np.add, space)
    states = np.array([len(block.states) for block in space.blocks])
    seen = counts > 0
    if not seen.any():
        return 1
    usual = counts.sum() / states.sum() / max(PER_COLUMN * material.features.n_columns, PER_GAUSSIAN)
    most = min(usual, float((counts[seen] / states[seen]).min()), MOST_COMPONENTS)
    return int(2 ** np.floor(np.log2(max(most, 1.0))))


def class_positions(examples: Examples, space: StateSpace) -> Float:
    """(classes,) how many positions of a piece have sequences of each class; unknown ones count for none."""
    table = examples.clamp.table
    known = np.flatnonzero(~table.all(axis=1) & table.any(axis=1))
    times = np.bincount(examples.clamp.index, minlength=len(table))
    found = np.zeros(len(space.blocks))
    for k in known.tolist():
        found[space.label_of_row[int(np.argmax(table[k]))]] += times[k]
    return found


def _each(lengths: Mapping[int, int]) -> list[int]:
    return [length for length, times in lengths.items() for _ in range(times)]
