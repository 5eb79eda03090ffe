"""Steps and starts of hidden units: how large they must be for the data at hand.

Everything is measured by the step of the transitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import add
from typing import Protocol, final

import numpy as np

from chainfield.errors import ConfigError
from chainfield.models.material import Examples, Material
from chainfield.objectives import Objective
from chainfield.problem import LONG, WINDOW

# Steps relative to those of transitions. A step on the input weights moves the input of a unit by its size times
# the squared norm of x: dividing by the mean of that makes the scale of the data immaterial.
UNIT_PACE, PACE = 0.1, 2.0
# The step of transitions, relative to the margin. Scores of max objectives are homogeneous: multiplying steps, start
# and margin by one number changes nothing, so that this is one knob, not three. It is for a thousand units: with more
# of them a step on all moves a score further, so that it falls with the root of their number.
STEP, UNITS = 0.006, 1000
# The start, for max objectives, relative to the step: deviations of w · x and of the output weights.
START_INPUT, START_OUTPUT = 1.0, 0.1
# Perceptrons over sparse features, which ask for no margin, want output weights that differ from the start. Held-out
# error of parts of speech 5.44 and 5.90 % with 0.1, 4.78 and 5.11 % with 10 (two folds), of chunks 5.06 and 4.76 %.
# With margins 0.1 was the best on the first (4.07 % against 4.27), and so it is for pictures.
SPARSE_OUTPUT = 10.0
# The start for sums, whose scores have a scale of their own.
SUM_INPUT, SUM_OUTPUT = 0.3, 0.1
# And the step: a trial of a few hundred sequences, as for convex models, tells little where the start is a saddle.
SUM_STEP = 0.2
# Both are for sequences of up to this length. The gradient of a longer one is a sum of more terms, partly alike: steps
# fall with this power of the length; a maximum has no gradient where labels are right.
LENGTH, MAX_POWER, SUM_POWER = 25.0, 0.75, 1.0
# Passes by default. Few data, which are gone through quickly, want more of them: slots of 600 requests (5,000 words)
# have a span F1 of 76.0 after 30 passes and 78.7 after 60; larger data change by less than half a point.
FEWEST, MOST, POSITIONS = 30, 60, 300_000


class Sized(Protocol):
    """Data, or a problem: how many sequences there are, and how long, is all that steps ask."""

    @property
    def n_sequences(self) -> int:
        """How many sequences there are."""

    @property
    def n_positions(self) -> int:
        """How many positions they have together."""


@final
@dataclass(frozen=True)
class Steps:
    """The step of the transitions, and where units start."""

    rate: float
    input_scale: float  # deviation of w · x at the start, for x of norm 1
    output_scale: float


@final
@dataclass(frozen=True)
class Wishes:
    """What a user asks for: the step, and the start in steps (for sums: as it is). None: by the data."""

    rate: float | None
    input_start: float | None
    output_start: float | None


def steps_of(
    data: Sized, objective: Objective, hidden_units: int, margin: float, wishes: Wishes, *, sparse: bool = False
) -> Steps:
    """The steps and the start for such data, unless the user gives them. ``sparse``: features, not columns."""
    smooth = objective.smooth
    rate = SUM_STEP if smooth else STEP * scale_of(objective, margin) * float(np.sqrt(UNITS / hidden_units))
    rate = rate * shorter(data, SUM_POWER if smooth else MAX_POWER) if wishes.rate is None else wishes.rate
    output = SPARSE_OUTPUT if sparse and not objective.uses_cost else START_OUTPUT
    usual = (SUM_INPUT, SUM_OUTPUT) if smooth else (START_INPUT, output)
    asked = (wishes.input_start, wishes.output_start)
    unit = 1.0 if smooth else rate
    return Steps(rate, *(unit * (own if wish is None else wish) for own, wish in zip(usual, asked, strict=True)))


def scale_of(objective: Objective, margin: float) -> float:
    """The difference of scores that max objectives ask for."""
    return margin if objective.uses_cost and margin > 0 else 1.0


def shorter(data: Sized, power: float) -> float:
    """A factor of at most 1 for steps on sequences of this length."""
    length = data.n_positions / max(data.n_sequences, 1)
    length = WINDOW if length > LONG else length  # long sequences are cut
    return float(min(1.0, (LENGTH / max(length, 1.0)) ** power))


def passes_of(data: Sized) -> int:
    """How often online trainers go through the data, unless the user says so."""
    return min(MOST, max(FEWEST, POSITIONS // max(data.n_positions, 1)))


def mean_square_norm(material: Material) -> float:
    """The mean of ‖x‖² over positions; 1 if there is nothing to measure."""
    extent = material.extent
    if not (extent.sparse or (extent.dense and material.features.n_columns)):
        raise ConfigError("The data have no features at all.")
    return material.fold(_square_norm, add) / max(extent.n_positions, 1) or 1.0


def _square_norm(examples: Examples) -> float:
    """The sum of ‖x‖² over positions."""
    batch = examples.batch
    if batch.dense is not None:
        return float(np.einsum("td,td->", batch.dense, batch.dense))
    assert batch.sparse is not None
    values, known = batch.sparse.values, batch.sparse.indices >= 0
    return float(known.sum()) if values is None else float((values[known] ** 2).sum())
