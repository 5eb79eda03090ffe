"""The contract between trainers and what they minimise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import NoReturn

import numpy as np

from chainfield.arrays import Array, Float, Int
from chainfield.errors import ConfigError
from chainfield.potentials import Potentials

from .steps import Steps, Walked

Pullback = Callable[..., None]  # (d scores, into flat vector, scale, paced=False)


class Trainable(ABC):
    """minimise over θ: sum over sequences of weight · loss + l1 ‖θ‖₁ + l2 ‖θ‖².

    Trainers ask, and never look at the data: a sum may be spread over machines, or taken by a network. Sizes and
    ``arrays`` must be told. All else has an answer that is right for any problem, or a refusal: what a trainer asks
    decides which trainers can solve a problem.

    | asked by | questions |
    |---|---|
    | all | ``smooth``, ``l1``, ``l2``, ``dtype``, ``project``, ``penalty`` |
    | L-BFGS, OWL-QN, RProp | ``evaluate``, ``convex``, ``n_jobs`` |
    | SGD, Adam, RProp on batches | ``differentiate``, ``walk``, ``pace``, ``even``, ``step_blocks``, ``penalised`` |
    | the online ones | ``windows``, of which they ask the others |
    | PassiveAggressive, MIRA, AROW | ``walk``, ``has_costs`` |
    | SDCA, Auto | ``linear``, ``kept_shapes``, ``scores``, ``curvature`` besides |

    Two exceptions may be asked for. ``penalised`` (P,) is 0 for parameters that the penalties leave out: they are
    l1 ‖m θ‖₁ + l2 ‖m θ‖² with that mask m, and a trainer that applies penalties by itself must apply the mask as well.
    ``pace`` (P,) is the relative step of each parameter: a trainer with one step size for all (SGD, Adam, SDCA)
    multiplies its step by it (Adam by its root: its steps know no scale of the gradient). Both are None where they
    would be 1 everywhere, which is the rule: no work is done then.
    """

    l1: float = 0.0
    l2: float = 0.0
    #: Threads that may work on it.
    n_jobs: int = 1
    #: Takes θ back, in place, to where constraints hold: a trainer calls it after every step, or refuses the problem.
    project: Callable[[Float], None] | None = None

    # ---- what it is ----------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """P, the length of θ."""

    @property
    @abstractmethod
    def n_sequences(self) -> int:
        """How many terms the sum has."""

    @property
    @abstractmethod
    def n_positions(self) -> int:
        """How many positions the sequences have together."""

    @abstractmethod
    def arrays(self) -> Iterable[Array]:
        """Data and targets: a checkpoint belongs to a problem that has the same ones."""

    @property
    def dtype(self) -> str:
        """How parameters are stored: "float64" or "float32"."""
        return "float64"

    @property
    def smooth(self) -> bool:
        """Whether the gradient is continuous."""
        return True

    @property
    def has_costs(self) -> bool:
        """Whether mistakes cost something in the loss itself."""
        return False

    @property
    def convex(self) -> bool:
        """Whether there is known to be one optimum."""
        return False

    @property
    def linear(self) -> bool:
        """Whether scores are known to be linear in θ."""
        return False

    @property
    def stepwise(self) -> bool:
        """Whether single sequences can be asked for; else all of them together only."""
        return True

    @property
    def quick_steps(self) -> bool:
        """Whether a pass of steps on single sequences takes about as long as a gradient of all."""
        return self.stepwise

    @property
    def keeps(self) -> bool:
        """Whether gradients of single sequences can be kept: ``kept_shapes`` tells how large they are."""
        return self.stepwise

    @property
    def step_bounds(self) -> tuple[int, int]:
        """Where in a pass its sequences begin, and how many the whole pass has: data in pieces take turns."""
        return 0, self.n_sequences

    @property
    def guess_loss(self) -> float:
        """The loss of a model that knows nothing; infinite where it cannot be told."""
        return np.inf

    @property
    def notes(self) -> dict[str, float]:
        """What every record of training tells besides."""
        return {}

    @property
    def windows(self) -> Trainable:
        """The same data for steps on single sequences: where these are long, in pieces that are a step each."""
        return self

    def engine_notes(self) -> dict[str, float]:
        """What is told of the engine while training goes on, and kept nowhere: workers, bytes that were moved."""
        return {}

    # ---- parameters ----------------------------------------------------------------------------------------------

    @property
    def pace(self) -> Float | None:
        """(P,) relative steps, or None: all alike."""
        return None

    @property
    def even(self) -> bool:
        """Whether all parameters have the same relative step."""
        return self.pace is None

    @property
    def penalised(self) -> Float | None:
        """(P,) 1 or 0, or None: the penalties count all parameters."""
        return None

    @property
    def step_blocks(self) -> list[tuple[slice, float, float]]:
        """Blocks of parameters: the place in θ, the relative step, and whether penalties count it (1 or 0)."""
        return [(slice(0, self.n_parameters), 1.0, 1.0)]

    def penalty(self, theta: Float) -> float:
        """l1 ‖θ‖₁ + l2 ‖θ‖², over the parameters that are penalised."""
        if not (self.l1 or self.l2):
            return 0.0
        counted = theta if self.penalised is None else self.penalised * theta
        l1 = self.l1 * float(np.abs(counted).sum()) if self.l1 else 0.0
        return l1 + self.l2 * float(counted @ counted)

    # ---- what trainers ask of it ---------------------------------------------------------------------------------

    def evaluate(self, theta: Float) -> tuple[float, Float]:
        """The smooth part (everything but l1) and its gradient."""
        self._refuse("the gradient of all sequences")

    def curvature(self, theta: Float) -> Float:
        """(P,) an estimate of the Hessian's diagonal."""
        self._refuse("a curvature")

    def differentiate(self, theta: Float, sequences: slice | Int) -> tuple[float, Potentials, Pullback]:
        """Loss of some sequences (penalties left out), its gradient in score space, and the way back to parameters.

        The way back adds scale × gradient to a vector, which may be θ itself: then it is a step of gradient descent
        that touches only what the sequences touch. With ``paced``, every parameter's step has its own size.
        """
        self._refuse("gradients of single sequences")

    def walk(self, steps: Steps) -> Walked:
        """Take steps on single sequences; θ moves in place."""
        self._refuse("steps on single sequences")

    def scores(self, theta: Float, sequences: slice | Int) -> Potentials:
        """The scores of some sequences."""
        self._refuse("scores")

    def kept_shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The shapes of :class:`KeptGradients`: nodes and edges."""
        self._refuse("gradients of sequences to keep")

    def _refuse(self, what: str) -> NoReturn:
        raise ConfigError(f"{type(self).__name__} does not offer {what}; use another trainer.")
