"""Most of the field in one class: all paths against the paths that agree with what is known.

    loss = free(scores + cost) - clamped(scores)        gradient = free posterior - clamped posterior

| objective      | free | clamped | cost |
|----------------|------|---------|------|
| likelihood     | sum  | sum     |      | Lafferty et al. 2001; with hidden states Quattoni et al. 2007
| perceptron     | max  | max     |      | Collins 2002; with hidden states Sun et al. 2009
| large_margin   | max  | max     | yes  | Taskar et al. 2003
| softmax_margin | sum  | sum     | yes  | Gimpel and Smith 2010

What a mistake costs is the task's to say: Hamming for tagging, 0 or 1 for whole sequences (``Task.cost``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from chainfield.arrays import Float
from chainfield.errors import NoPathError
from chainfield.inference import Paths, add_path, add_posteriors, viterbi
from chainfield.potentials import How, Potentials
from chainfield.states import StateSpace

from .objective import Objective, Targets


@final
@dataclass(frozen=True)
class Contrast(Objective):
    """How both sides are gathered, and whether wrong rows cost extra on the free side."""

    how: How
    uses_cost: bool = False
    smooth: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "smooth", self.how == "sum")

    def softened(self) -> Objective:
        """The likelihood of a perceptron, the softmax margin of a large margin."""
        return Contrast("sum", self.uses_cost)

    def __call__(self, space: StateSpace, potentials: Potentials, targets: Targets) -> tuple[float, Potentials]:
        """Loss and gradient in score space."""
        d = potentials.zeros()
        free, extra = potentials, targets.extra(self.uses_cost)
        if extra is not None:
            free = Potentials(potentials.node + extra[targets.clamp.index], potentials.edge, potentials.offsets)
        above = self._gather(space, free, targets.weight, d)
        if targets.path is not None:
            below = add_path(space, potentials, targets.path, -targets.weight, d)
        else:
            try:
                below = self._gather(space, targets.clamp.apply(potentials), -targets.weight, d)
            except NoPathError as error:
                raise NoPathError(error.sequence, "its training labels") from None
        return float(targets.weight @ (above - below)), d

    def _gather(self, space: StateSpace, potentials: Potentials, weight: Float, into: Potentials) -> Float:
        if self.how == "sum":
            return add_posteriors(space, potentials, weight, into)
        best: Paths = viterbi(space, potentials)
        return add_path(space, potentials, best, weight, into)
