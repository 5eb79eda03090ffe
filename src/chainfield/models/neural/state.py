"""What the training of a network needs to go on; torch is not needed to know it."""

from __future__ import annotations

from dataclasses import dataclass

from chainfield.arrays import Single
from chainfield.trainers import State
from chainfield.trainers.trainer import kept


@dataclass
class NeuralState(State):
    """The parameters and Adam's moments of those that are trained, laid end to end."""

    first: Single = kept("Adam's mean gradients of a network's trained parameters", "trained", single=True)
    second: Single = kept("Adam's mean squares of them", "trained", single=True, least=0)
    steps: int = 0
