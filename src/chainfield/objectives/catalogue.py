"""The objectives that have a name."""

from __future__ import annotations

from chainfield.errors import ConfigError

from .contrast import Contrast
from .objective import Objective
from .piecewise import Piecewise
from .pseudolikelihood import PseudoLikelihood

OBJECTIVES: dict[str, Objective] = {
    "likelihood": Contrast("sum"),
    "perceptron": Contrast("max"),
    "large_margin": Contrast("max", uses_cost=True),
    "softmax_margin": Contrast("sum", uses_cost=True),
    "piecewise": Piecewise(weighed=True),
    "plain_piecewise": Piecewise(),
    "pseudolikelihood": PseudoLikelihood(),
}


def objective_named(name: str) -> Objective:
    """One of the objectives that have a name."""
    if name not in OBJECTIVES:
        raise ConfigError(f"Unknown objective {name!r}; choose one of {', '.join(OBJECTIVES)}.")
    return OBJECTIVES[name]
