"""Trainers that take steps on single sequences, for data in pieces: iterative parameter mixing (McDonald et al. 2010).

The pieces are dealt to a few *strands*. In a pass every strand starts at the same θ and goes through its pieces one
after the other, each by the trainer's own steps; then

    θ ← Σ_i (n_i / n) θ_i        for strands i with n_i of the n sequences

Strands run side by side. Their number is a setting, not that of threads or machines, so that the result is the same on
any of them. With one strand this is the trainer itself, with sequences shuffled within pieces, and pieces among each
other. Averages count all iterates of all strands alike.
"""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, NoPathError
from chainfield.problem import Piece, Problem, SpreadProblem, Trainable

from .averaging import AveragedState, averages, restarts
from .trainer import Record, State, Trainer, Window, kept, orders

# The fewer sequences a strand has, the more mixing loses: 2,100 sentences in four strands cost 1.7 points of accuracy.
SEQUENCES, MOST = 20_000, 16
_OWN = ("theta", "lag")  # arrays that are mixed in a way of their own


@dataclass
class MixedState(State):
    """θ after mixing, the sum of all averaged iterates, and what the trainer keeps for every parameter."""

    total: Float = kept("the sum of the iterates that are averaged", "P")
    memory: Float = kept(
        "what the trainer keeps for each parameter, one array after the other", "memory", optional=True
    )
    clock: int = 0  # how many iterates are averaged
    rate: float = 0.0
    steps: int = 0
    history: list[float] = field(default_factory=list)


@dataclass
class Strand:
    """A strand on its way through a pass."""

    state: Any
    objective: float = 0.0
    updates: float = 0.0
    done: int = 0  # sequences


@dataclass(frozen=True)
class Penalties:
    """Those of the whole problem; a piece bears its share of them."""

    l1: float
    l2: float
    n_sequences: int

    def of(self, piece: Piece, strand_size: int = 0, done: int = 0) -> Problem:
        """The problem of a piece, at a place within the pass of a strand."""
        share = piece.problem.n_sequences / self.n_sequences
        return replace(
            piece.problem, l1=share * self.l1, l2=share * self.l2, pass_size=strand_size or None, pass_start=done
        )


@final
@dataclass(frozen=True)
class Mixing(Trainer[MixedState]):
    """``inner``: the trainer whose steps are taken; ``strands``: how many parts go side by side.

    None: one for every 20,000 sequences, at least 1 and at most 16.
    """

    inner: Trainer[Any]
    strands: int | None = None
    max_iter: int = 0
    online: ClassVar[bool] = False  # its iterations are passes, but it asks pieces, not sequences
    handles_l1: ClassVar[bool] = True
    handles_single: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = MixedState

    @classmethod
    def of(cls, inner: Trainer[Any], strands: int | None = None) -> Mixing:
        """Around a trainer, for as many passes as that one takes."""
        return cls(inner, strands, inner.max_iter)

    def check(self, problem: Trainable) -> None:
        """The trainer must be able to go through a piece, and to leave it behind."""
        super().check(problem)
        name = type(self.inner).__name__
        if self.strands is not None and self.strands < 1:
            raise ConfigError(f"strands is {self.strands}; at least one is needed.")
        if not isinstance(problem, SpreadProblem):
            raise ConfigError(f"Mixing is for data in pieces; use {name} itself for data in memory.")
        if not issubclass(self.inner.state_type, AveragedState):
            raise ConfigError(
                f"{name} keeps numbers for every sequence, and data in pieces cannot be held; use "
                'trainer="auto", "lbfgs", "owlqn", "rprop", "sgd", "averaged", "adam", "pa-i" or "arow".'
            )
        problem.pieces.relay([[0]], check_piece, [None], self.inner, penalties_of(problem))

    def sizes(self, problem: Trainable) -> dict[str, int]:
        """What the trainer keeps for every parameter besides."""
        return super().sizes(problem) | {"memory": len(memory_names(self.inner)) * problem.n_parameters}

    def begin(self, problem: Trainable, theta: Float) -> MixedState:
        """As the trainer begins on the first piece: there it finds a step size, if none is given."""
        self.check(problem)
        assert isinstance(problem, SpreadProblem)
        nothing = Strand(None)
        first = problem.pieces.relay([[0]], begin_piece, [nothing], self.inner, penalties_of(problem), theta)[0].state
        if len(getattr(first, "spent", ())):
            raise ConfigError(
                f'{type(self.inner).__name__} bounds the steps of every sequence over all passes; use trainer="pa-i".'
            )
        memory = [getattr(first, name) for name in memory_names(self.inner)]
        return MixedState(
            theta.copy(),
            total=np.zeros_like(theta),
            memory=np.concatenate(memory) if memory else theta[:0].copy(),
            rate=getattr(first, "rate", 0.0),
        )

    def step(self, problem: Trainable, state: MixedState) -> Record:
        """A pass over all pieces, and mixing."""
        assert isinstance(problem, SpreadProblem)
        inner, own = self.inner, getattr(self.inner, "average_from", None)
        every = getattr(inner, "restart_every", None)
        if restarts(every, state.iteration) and state.clock:
            state.theta = state.total / state.clock
        if "average_from" in {f.name for f in dataclasses.fields(inner)}:  # type: ignore[arg-type]
            averaging = averages(own, every, state.iteration)
            inner = replace(inner, average_from=0 if averaging else None, restart_every=None)  # type: ignore[type-var]
        sizes, runs = problem.sizes, self.runs(problem, state.iteration)
        whole = [int(sum(sizes[i] for i in run)) for run in runs]
        start = self._strand(state)
        found = problem.pieces.relay(
            runs, walk_piece, [(start, n) for n in whole], inner, penalties_of(problem), state.iteration
        )
        self._mix(state, [strand for strand, _ in found], np.array(whole) / sum(whole))
        state.iteration += 1
        objective = float(sum(strand.objective for strand, _ in found))
        updates = sum(strand.updates for strand, _ in found)
        if not problem.smooth and updates == 0 and not (problem.l1 or problem.l2):
            state.done, state.reason = True, "every training sequence is right, by its margin"
        elif problem.smooth and Window(5).update(state.history, objective, getattr(inner, "tol", 0.0)):
            state.done, state.reason = True, "the objective hardly improves any more"
        return Record(state.iteration, objective, None, {"updates": updates})

    def runs(self, problem: SpreadProblem, iteration: int) -> list[list[int]]:
        """The pieces of each strand, from all over the corpus, in a fresh order each pass."""
        n = len(problem.pieces)
        strands = max(1, min(problem.n_sequences // SEQUENCES, MOST)) if self.strands is None else self.strands
        place = np.argsort(orders(getattr(self.inner, "seed", 0), iteration, n))
        dealt = (range(first, n, strands) for first in range(min(strands, n)))
        return [sorted(run, key=lambda i: int(place[i])) for run in dealt]

    def _strand(self, state: MixedState) -> Strand:
        """What every strand starts a pass with."""
        names, kind = memory_names(self.inner), self.inner.state_type
        memory = np.split(state.memory, len(names)) if names else []
        fields = {f.name for f in dataclasses.fields(kind)}
        more: dict[str, Any] = {name: getattr(state, name) for name in ("rate", "steps") if name in fields}
        more |= dict(zip(names, memory, strict=True))
        return Strand(kind(state.theta, lag=np.zeros_like(state.theta), **more))  # type: ignore[call-arg]

    def _mix(self, state: MixedState, strands: list[Strand], weights: Float) -> None:
        names = memory_names(self.inner)
        theta, memory = np.zeros_like(state.theta), np.zeros_like(state.memory)
        for strand, weight in zip(strands, weights, strict=True):
            own = strand.state
            theta += weight * own.theta
            if own.clock:
                state.total += own.mass * own.theta - own.lag
                state.clock += own.clock
            if names:
                memory += weight * np.concatenate([getattr(own, name) for name in names])
        state.theta, state.memory = theta, memory
        state.steps = int(getattr(strands[0].state, "steps", 0))

    def parameters(self, state: MixedState) -> Float:
        """The average once there is one."""
        return state.total / state.clock if state.clock else state.theta


def memory_names(inner: Trainer[Any]) -> list[str]:
    """The arrays that a trainer keeps for every parameter, beside θ and its average."""
    if "variance" in {f.name for f in dataclasses.fields(inner)}:  # type: ignore[arg-type]
        return ["variance"]
    declared = [f for f in dataclasses.fields(inner.state_type) if "tensor" in f.metadata]
    return [f.name for f in declared if f.name not in _OWN and not f.metadata["optional"]]


def penalties_of(problem: SpreadProblem) -> Penalties:
    """Those of a problem."""
    return Penalties(problem.l1, problem.l2, problem.n_sequences)


def check_piece(piece: Piece, _: None, inner: Trainer[Any], penalties: Penalties) -> None:
    """Whether a trainer can go through a piece."""
    inner.check(penalties.of(piece))


def begin_piece(piece: Piece, _: Any, inner: Trainer[Any], penalties: Penalties, theta: Float) -> Strand:
    """As a trainer begins on a piece."""
    return Strand(inner.begin(penalties.of(piece), theta))


def walk_piece(
    piece: Piece, carried: tuple[Strand, int], inner: Trainer[Any], penalties: Penalties, iteration: int
) -> tuple[Strand, int]:
    """One more piece of a strand's pass; the strand's arrays are changed in place."""
    strand, size = carried
    state = strand.state
    if not strand.done:  # all strands start with the same one
        state = copy.deepcopy(state)
    state = replace(state, iteration=iteration, done=False)
    problem = penalties.of(piece, size, strand.done)
    try:
        record = inner.step(problem, state)
    except NoPathError as error:
        raise NoPathError(piece.first + error.sequence, error.known) from None
    updates = strand.updates + record.notes.get("updates", 0.0)
    return Strand(state, strand.objective + record.objective, updates, strand.done + problem.n_sequences), size
