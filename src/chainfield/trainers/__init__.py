"""Trainers: frozen configurations that minimise a problem one step at a time."""

from .adam import Adam
from .auto import Auto
from .catalogue import GRADIENT_TRAINERS, TRAINERS, check_users, make_trainer, resolve_trainer
from .lbfgs import LBFGS, OWLQN
from .margin import AROW, MIRA, PassiveAggressive
from .mixing import Mixing
from .online import SGD, calibrate
from .rprop import RProp
from .sdca import SDCA
from .session import Progress, Session, begin, run
from .trainer import Record, State, Trainer

__all__ = [
    "AROW",
    "GRADIENT_TRAINERS",
    "LBFGS",
    "MIRA",
    "OWLQN",
    "SDCA",
    "SGD",
    "TRAINERS",
    "Adam",
    "Auto",
    "Mixing",
    "PassiveAggressive",
    "Progress",
    "RProp",
    "Record",
    "Session",
    "State",
    "Trainer",
    "begin",
    "calibrate",
    "check_users",
    "make_trainer",
    "resolve_trainer",
    "run",
]
