"""The trainers that have a name."""

from __future__ import annotations

from typing import Any

from chainfield.errors import ConfigError
from chainfield.objectives import Objective

from .adam import Adam
from .auto import Auto
from .lbfgs import LBFGS, OWLQN
from .margin import AROW, MIRA, PassiveAggressive
from .online import SGD
from .rprop import RProp
from .sdca import SDCA
from .trainer import Trainer

#: Those of any smooth objective; of linear scores besides; of best paths.
GRADIENT_TRAINERS = ("auto", "lbfgs", "owlqn", "sgd", "averaged", "adam", "rprop")
TRAINERS = (*GRADIENT_TRAINERS, "sdca", "pa", "pa-i", "pa-ii", "mira", "arow")
#: Which trainers a setting means something to.
USERS = {
    "learning_rate": ("sgd", "averaged", "adam", "rprop", "herding"),
    "batch_size": ("sgd", "averaged", "adam", "rprop"),
    "average_from": ("sgd", "averaged", "adam", "herding"),
    "restart_every": ("sgd", "averaged", "adam"),
    "aggressiveness": ("pa-i", "pa-ii", "mira", "arow"),
}


def resolve_trainer(name: str, objective: Objective) -> str:
    """What "auto" means for an objective: a chain of trainers if it is smooth, else averaged stochastic steps."""
    if name not in TRAINERS:
        raise ConfigError(f"Unknown trainer {name!r}; choose one of {', '.join(TRAINERS)}.")
    if name != "auto":
        return name
    return "auto" if objective.smooth else "averaged"


def check_users(name: str, given: dict[str, Any]) -> None:
    """Refuse settings that mean nothing to the trainer of that name."""
    for what, value in given.items():
        if value not in (None, "auto") and name not in USERS[what]:
            raise ConfigError(f"{what} has no effect with trainer={name!r}; it belongs to {', '.join(USERS[what])}.")


def make_trainer(
    name: str,
    *,
    smooth: bool = True,
    max_iter: int | None = None,
    tol: float | None = None,
    seed: int = 0,
    rate: float | None = None,
    batch_size: int | None = None,
    average_from: int | None = None,
    restart_every: int | None = None,
    aggressiveness: float | None = None,
) -> Trainer[Any]:
    """A trainer by name; what is None keeps the trainer's own default.

    "averaged" is stochastic gradient descent whose iterates are averaged from pass ``average_from`` on (0: from the
    beginning) and restarted from their average every ``restart_every`` passes. For a perceptron objective, which is not
    smooth, the step is constant: the averaged perceptron.

    ``aggressiveness``: C of "pa-i", "pa-ii" and "mira", 1 / γ of "arow".
    """
    check_users(
        name,
        {
            "learning_rate": rate,
            "batch_size": batch_size,
            "average_from": average_from,
            "restart_every": restart_every,
            "aggressiveness": aggressiveness,
        },
    )
    common: dict[str, Any] = {"max_iter": max_iter, "tol": tol}
    stochastic = common | {"seed": seed}
    online = stochastic | {
        "rate": rate, "batch_size": batch_size, "average_from": average_from, "restart_every": restart_every,
    }  # fmt: skip
    bounded = stochastic | {"aggressiveness": aggressiveness}
    options: dict[str, tuple[type[Trainer[Any]], dict[str, Any]]] = {
        "auto": (Auto, stochastic),
        "lbfgs": (LBFGS, common),
        "owlqn": (OWLQN, common),
        "rprop": (RProp, stochastic | {"first": rate, "batch_size": batch_size}),
        "sdca": (SDCA, stochastic),
        "pa": (PassiveAggressive, stochastic | {"variant": 0}),
        "pa-i": (PassiveAggressive, bounded | {"variant": 1}),
        "pa-ii": (PassiveAggressive, bounded | {"variant": 2}),
        "mira": (MIRA, bounded),
        "arow": (AROW, stochastic | {"gamma": None if aggressiveness is None else 1.0 / aggressiveness}),
        "adam": (Adam, online),
        "sgd": (SGD, online),
        "averaged": (
            SGD,
            online
            | {
                "rate": 1.0 if rate is None and not smooth else rate,
                "decay": None if smooth else 0.0,
                "average_from": (1 if smooth else 0) if average_from is None else average_from,
                "max_iter": 20 if max_iter is None else max_iter,
            },
        ),
    }
    if name not in options:
        raise ConfigError(f"Unknown trainer {name!r}; choose one of {', '.join(TRAINERS)}.")
    kind, settings = options[name]
    return kind(**{key: value for key, value in settings.items() if value is not None})
