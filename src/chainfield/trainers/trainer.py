"""The contract of trainers: a frozen configuration, a separate state, one step at a time."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from chainfield.arrays import Array, Float, Int
from chainfield.errors import ConfigError, DivergenceError
from chainfield.problem import Trainable
from chainfield.schema import LARGEST, Part, Size, Tensor, Value, demand

# A pass whose loss is so many times that of a model which knows nothing has not learned, however it goes on.
RUN_AWAY = 10.0


def kept(content: str, *shape: Size, single: bool = False, optional: bool = False, least: float | None = None) -> Any:
    """A field of a state that is an array, empty at first, with what checkpoints may hold of it.

    It has the precision of θ, or ``single`` precision; ``optional``: it may be empty.
    """
    dtype, types = (np.float32, ("F32",)) if single else (np.float64, ("F64", "F32"))
    return field(
        default_factory=lambda: np.empty((0,) * len(shape), dtype),
        metadata={"tensor": Tensor("", types, shape, content, least=least, empty=True), "optional": optional},
    )


# What checkpoints may hold of the other fields, by their annotations.
_PLAIN: dict[Any, dict[str, Any]] = {
    "int": {"kind": "whole"},
    "float": {"kind": "number", "least": -LARGEST, "most": LARGEST, "infinite": True},
    "bool": {"kind": "truth"},
    "str": {"kind": "text"},
    "list[float]": {"kind": "list", "of": "number", "least": -LARGEST, "most": LARGEST, "infinite": True},
}


@dataclass
class State:
    """All that a trainer needs to go on. Arrays and plain numbers only, so that it can be saved and resumed."""

    theta: Float = kept("the trainer's parameters", "P")
    iteration: int = 0
    done: bool = False
    reason: str = ""

    def pack(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Arrays and plain values, by field name."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return arrays, {name: value for name, value in values.items() if name not in arrays}

    @classmethod
    def schema(cls) -> Part:
        """What checkpoints may hold of it."""
        fields = dataclasses.fields(cls)
        return Part(
            tuple(Value(f.name, content="", **_PLAIN[f.type]) for f in fields if "tensor" not in f.metadata),
            tuple(replace(f.metadata["tensor"], name=f.name) for f in fields if "tensor" in f.metadata),
        )

    @classmethod
    def unpack(cls, arrays: dict[str, Array], plain: dict[str, Any]) -> State:
        """The inverse of :meth:`pack`."""
        values: dict[str, Any] = {name: np.array(value) for name, value in arrays.items()} | plain
        return cls(**values)


@dataclass(frozen=True)
class Record:
    """What one iteration did, as data."""

    iteration: int
    objective: float
    gradient_norm: float | None = None
    notes: dict[str, float] = field(default_factory=dict)


S = TypeVar("S", bound=State)


class Trainer(ABC, Generic[S]):
    """Minimises a problem. Subclasses are frozen dataclasses; everything that changes lives in the state."""

    #: An iteration is a pass over the data with many steps (online) or one step (batch).
    online: ClassVar[bool]
    #: Whether it needs a continuous gradient, hence a "sum" objective.
    needs_smooth: ClassVar[bool] = False
    #: Whether it can handle l1 > 0.
    handles_l1: ClassVar[bool] = False
    #: Whether it calls ``problem.project`` after every step.
    projects: ClassVar[bool] = False
    #: Whether single precision is enough for it.
    handles_single: ClassVar[bool] = False
    state_type: ClassVar[type[State]]
    max_iter: int

    def check(self, problem: Trainable) -> None:
        """Refuse a problem that this trainer cannot solve, before any work is done."""
        name = type(self).__name__
        if self.needs_smooth and not problem.smooth:
            raise ConfigError(
                f"{name} needs a smooth objective (likelihood, softmax_margin); for perceptron and large_margin use "
                'trainer="averaged", "sgd", "adam" or "rprop".'
            )
        if problem.l1 > 0 and not self.handles_l1:
            raise ConfigError(f'{name} cannot handle l1 > 0; use trainer="owlqn", "sgd", "adam", "rprop" or "auto".')
        if problem.dtype != "float64" and not self.handles_single:
            raise ConfigError(
                f'{name} needs dtype="float64": it compares objectives that hardly differ; for "float32" use '
                'trainer="sgd", "averaged" or "adam".'
            )
        if self.online and not problem.stepwise:
            raise ConfigError(
                f"{name} takes steps on single sequences, and data in pieces give whole gradients; use "
                'trainer="auto", "lbfgs", "owlqn" or "rprop".'
            )
        if problem.project is not None and not self.projects:
            raise ConfigError(
                f'{name} cannot keep to constraints after every step; use trainer="sgd", "rprop" or "adam", or free '
                "constraints."
            )

    @abstractmethod
    def begin(self, problem: Trainable, theta: Float) -> S:
        """The state before the first iteration."""

    @abstractmethod
    def step(self, problem: Trainable, state: S) -> Record:
        """One iteration: changes the state in place, sets ``done`` and ``reason`` when there is no more to do."""

    def sizes(self, problem: Trainable) -> dict[str, int]:
        """The sizes of the arrays of a state, by the names that their declarations have."""
        return {"P": problem.n_parameters}

    def absent(self, state: S) -> frozenset[str]:
        """Arrays that a state does not have at this point of the training: they are empty."""
        return frozenset()

    def check_state(self, problem: Trainable, state: S) -> None:
        """Refuse (by a ValueError) a state of a file that cannot be gone on from: arrays of other types, or missing."""
        sizes, absent = self.sizes(problem), self.absent(state)
        for f in dataclasses.fields(state):
            if "tensor" in f.metadata:
                array, tensor = getattr(state, f.name), f.metadata["tensor"]
                full = math.prod(sizes.get(size, 1) for size in tensor.shape)
                demand(array.size == 0 or f.name not in absent, f"the array {f.name}, at this point")
                there = array.size > 0 or full == 0 or f.name in absent or f.metadata["optional"]
                demand(there, f"an empty array {f.name}")
                # An array that is empty still has the type that its kernels were declared for.
                usual = (problem.dtype, np.dtype(np.float64)) if array.size == 0 else (problem.dtype,)
                typed = tensor.types == ("F32",) or array.dtype in usual
                demand(typed, f"the type of {f.name}")

    def parameters(self, state: S) -> Float:
        """The parameters to use if training stopped now (an average, for trainers that average)."""
        return state.theta

    def keep(self, state: S, best: Float) -> Float:
        """The same in the memory of ``best``, those of an earlier iteration."""
        np.copyto(best, self.parameters(state))
        return best

    def finish(self, state: S) -> Float:
        """The same when training is over, for good: the state may be used up, to spare memory."""
        return self.parameters(state)


def check_pace(problem: Trainable, theta: Float, loss: float, what: str, rate: float) -> None:
    """Refuse to go on after a pass in which steps were too large."""
    if not np.isfinite(theta.sum()):
        raise DivergenceError(f"{what}: the parameters are not finite any more; use a smaller step than {rate:g}.")
    guessing = problem.guess_loss
    if problem.smooth and not loss <= RUN_AWAY * guessing:
        raise DivergenceError(
            f"{what}: its loss is {loss / guessing:.0f} times that of guessing; use a smaller step than {rate:g}."
        )


def orders(seed: int, iteration: int, n: int) -> Int:
    """A fresh random order for a pass; the seed and the pass determine it, so that resuming needs no more."""
    return np.random.default_rng([seed, iteration]).permutation(n)


@dataclass(frozen=True)
class Window:
    """Stops when the objective has hardly improved over the last few iterations."""

    period: int = 10

    def update(self, history: list[float], value: float, tol: float) -> bool:
        """Append the value; True if the mean relative improvement an iteration over the period is below ``tol``."""
        history.append(value)
        del history[: -self.period - 1]
        if len(history) <= self.period:
            return False
        return (history[0] - value) / max(abs(value), 1e-300) < tol * self.period


@dataclass(frozen=True)
class Outlook:
    """Stops when what is left to gain, going by the last iterations, is small.

    Two spans of iterations tell by which factor the gain shrinks from one span to the next; the gains of all spans to
    come are then a geometric series. The factor is kept away from 0 and 1: steps are uneven. Where nothing makes the
    problem strongly convex, what is left may fall as slowly as 1/k instead, and k times the last gain is left.
    """

    span: int = 3
    least: float = 0.8
    most: float = 0.95

    def update(self, history: list[float], value: float, tol: float, slow: int = 0) -> bool:
        """Append the value; True if the expected rest is within ``tol`` of it, relatively.

        slow: the number k of iterations so far, if they may be as slow as that.
        """
        history.append(value)
        del history[: -2 * self.span - 1]
        if len(history) <= 2 * self.span:
            return False
        gain, before = history[self.span] - value, history[0] - history[self.span]
        factor = min(max(gain / before, self.least), self.most) if before > 0 else self.most
        rest = max(gain * factor / (1.0 - factor), slow * gain / self.span)
        return rest <= tol * max(abs(value), 1e-300)
