"""From a model's settings to its trainer."""

from __future__ import annotations

from typing import Any

from chainfield.objectives import Objective
from chainfield.trainers import Trainer, check_users, make_trainer, resolve_trainer

from .kinds import seed_of

PARTIAL_RATE = 0.1
# Where scores are products of parameters, as those of low rank, steps of best paths must be short. (Elsewhere their
# length changes nothing.) Of 1 and 0.3 they ran away; 0.1 was as good as 0.03 or better, over arrays and text.
PRODUCT_RATE = 0.1
STEPS = ("learning_rate", "batch_size", "average_from", "restart_every", "aggressiveness")


def trainer_name(model: Any, objective: Objective, partial: bool) -> str:
    """Which trainer the settings stand for."""
    if isinstance(model.trainer, Trainer):
        return type(model.trainer).__name__.lower()
    if model.trainer != "auto":
        return str(model.trainer)
    if model.auto_trainer is not None:
        return str(model.auto_trainer)
    if partial:
        return "sgd" if objective.smooth else "averaged"
    return resolve_trainer("auto", objective)


def check_trainer(model: Any, name: str) -> None:
    """Refuse settings that mean nothing to the trainer."""
    check_users(name, {step: getattr(model, step) for step in STEPS if step in model.settings})


def named_trainer(
    model: Any,
    name: str,
    objective: Objective,
    partial: bool,
    *,
    rate: float | None = None,
    max_iter: int | None = None,
    average_from: int | None = None,
    batch_size: int | None = None,
    restart_every: int | None = None,
) -> Trainer[Any]:
    """The trainer of a name with the model's settings; the arguments stand in for settings that are None or "auto"."""
    smooth = objective.smooth
    rate = rate if model.learning_rate is None else model.learning_rate
    max_iter = max_iter if model.max_iter is None else model.max_iter
    if average_from is not None and max_iter is not None:
        average_from = min(average_from, max_iter // 3)
    if rate is None and partial and smooth and name in ("sgd", "averaged", "adam"):
        rate = PARTIAL_RATE  # a step chosen on a handful of new sequences would be bold, at the cost of old ones
    return make_trainer(
        name,
        smooth=smooth,
        max_iter=1 if partial and model.max_iter is None else max_iter,
        tol=model.tol,
        seed=seed_of(model.random_state),
        rate=rate,
        batch_size=batch_size if model.batch_size is None else model.batch_size,
        average_from=average_from if model.average_from is None else model.average_from,
        restart_every=restart_every if model.restart_every in (None, "auto") else model.restart_every,
        aggressiveness=getattr(model, "aggressiveness", None),
    )
