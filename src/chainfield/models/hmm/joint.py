"""The likelihood of observations and labels together: what generative models are trained by.

    loss = - clamped(scores)        gradient = - clamped posterior

Scores must be log-probabilities, as those of a hidden Markov model are: nothing else keeps them from growing for ever.
So no model with free weights offers this objective. The negative gradient holds expected counts, what EM needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from chainfield.errors import NoPathError
from chainfield.inference import add_posteriors
from chainfield.objectives.objective import Objective, Targets
from chainfield.potentials import How, Potentials
from chainfield.states import StateSpace


@final
@dataclass(frozen=True)
class JointLikelihood(Objective):
    """Minus the log of the sum over all paths that agree with what is known."""

    how: How = field(default="sum", init=False)
    smooth: bool = field(default=True, init=False)
    uses_cost: bool = field(default=False, init=False)

    def __call__(self, space: StateSpace, potentials: Potentials, targets: Targets) -> tuple[float, Potentials]:
        """Loss and gradient in score space."""
        d = potentials.zeros()
        clamp = targets.clamp
        known = potentials if clamp.table.all() else clamp.apply(potentials)
        try:
            found = add_posteriors(space, known, -targets.weight, d)
        except NoPathError as error:
            raise NoPathError(error.sequence, "its training labels") from None
        return -float(targets.weight @ found), d
