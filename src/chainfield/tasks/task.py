"""The contract of tasks: what targets mean, and how answers are read off states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainfield.potentials import Clamp
from chainfield.states import StateSpace

Int = NDArray[np.int64]


class Task(ABC):
    """Tagging gives every position a label; classification gives a label to a whole sequence."""

    labels: tuple[Any, ...]

    @abstractmethod
    def clamp(self, space: StateSpace, targets: Sequence[Any], offsets: Int) -> Clamp:
        """What the targets of a batch tell about its states."""

    @abstractmethod
    def decode(self, space: StateSpace, states: NDArray[np.int32], offsets: Int) -> list[Any]:
        """The answers behind a path of states."""
