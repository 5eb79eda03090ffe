"""A chain model: a state space and the scorers that fill its potentials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from chainfield.arrays import Float, Ragged
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch
from chainfield.potentials import How, Potentials
from chainfield.potentials.normalising import normalise
from chainfield.states import StateSpace

from .pruner import Pruner
from .relative import Relative, RelativePullback
from .scorer import Scorer

# Node and edge scores of a block should stay in the processor's cache between scoring, inference and the way back.
BLOCK_BYTES = 1 << 20
# Many states are summed over by products of matrices, for which sequences go side by side: the more, the better.
MANY_STATES = 128
MANY_POSITIONS = 2048
Parameters = Mapping[str, Float]  # "scorer.parameter" -> array
Pullback = Callable[..., None]  # (d potentials, into, scale, paced=False)


@dataclass(frozen=True, eq=False)
class Chain:
    """Emissions and transitions add up to potentials; their parameters live in one flat vector."""

    space: StateSpace
    emissions: tuple[Scorer, ...]
    transitions: tuple[Scorer, ...]
    #: Deviation of the random numbers that are added to the scorers' start: hidden states that start alike stay alike.
    start_scale: float = 0.0
    #: Whether scores become log-probabilities of steps, given the state before (a maximum-entropy Markov model).
    normalised: bool = False
    #: How parameters are stored: "float64", or "float32" for models that are large.
    dtype: str = "float64"
    #: What leaves out implausible rows in prediction; None: inference goes over all of them.
    pruner: Pruner | None = None

    def __post_init__(self) -> None:
        names = [scorer.name for scorer in self.scorers]
        if len(set(names)) < len(names):
            raise ConfigError(f"Two scorers of a chain have the same name: {', '.join(sorted(names))}.")
        for group in ("emissions", "transitions"):
            for scorer in getattr(self, group):
                if scorer.group not in (None, group):
                    raise ConfigError(f"{type(scorer).__name__} stands among the {group}; it belongs to the others.")

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """All of them, emissions first."""
        return self.emissions + self.transitions

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Every parameter as ``scorer.parameter``, in the order of the flat vector."""
        return {f"{s.name}.{name}": shape for s in self.scorers for name, shape in s.shapes().items()}

    @cached_property
    def n_parameters(self) -> int:
        """Length of the flat vector."""
        return sum(prod(shape) for shape in self.shapes.values())

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each parameter begins in the flat vector."""
        ends = np.cumsum([0, *(prod(shape) for shape in self.shapes.values())])
        return dict(zip(self.shapes, ends.tolist(), strict=False))

    def views(self, theta: Float) -> dict[str, Float]:
        """Named views into a flat vector: writing to one writes to the vector."""
        return {name: theta[at:end].reshape(shape) for name, at, end, shape in self._layout}

    @cached_property
    def _layout(self) -> list[tuple[str, int, int, tuple[int, ...]]]:
        """Name, beginning, end and shape of every parameter."""
        ends = np.cumsum([0, *(prod(shape) for shape in self.shapes.values())]).tolist()
        return [(name, ends[i], ends[i + 1], shape) for i, (name, shape) in enumerate(self.shapes.items())]

    def start(self, rng: np.random.Generator) -> Float:
        """The scorers' start values, as one vector; random numbers of deviation ``start_scale`` are added."""
        theta = np.empty(self.n_parameters, self.dtype)
        views = self.views(theta)
        for scorer in self.scorers:
            for name, value in scorer.start(rng).items():
                views[f"{scorer.name}.{name}"][...] = value
        if self.start_scale:
            for scorer in self.scorers:
                for name, value in scorer.jitter(rng, self.start_scale).items():
                    views[f"{scorer.name}.{name}"][...] += value
        return theta

    @cached_property
    def pace(self) -> Float | None:
        """(P,) the relative step of each parameter, as the scorers want it; None: the same for all."""
        return self._spread([s.pace(name) for s in self.scorers for name in s.shapes()])

    @cached_property
    def even(self) -> bool:
        """Whether all parameters have the same relative step."""
        return all(pace == 1.0 for pace in self.paces.values())

    @cached_property
    def step_blocks(self) -> list[tuple[slice, float, float]]:
        """Where each parameter lies in the flat vector, its relative step, and whether penalties count it (1 or 0)."""
        found, at = [], 0
        for scorer in self.scorers:
            for name, shape in scorer.shapes().items():
                size = prod(shape)
                found.append((slice(at, at + size), scorer.pace(name), float(scorer.penalised(name))))
                at += size
        return found

    @cached_property
    def paces(self) -> dict[str, float | dict[str, float]]:
        """The relative steps of each scorer: a number, or one for each of its parameters where they differ."""
        found: dict[str, float | dict[str, float]] = {}
        for scorer in self.scorers:
            own = {name: scorer.pace(name) for name in scorer.shapes()}
            found[scorer.name] = own if len(set(own.values())) > 1 else next(iter(own.values()), 1.0)
        return found

    @cached_property
    def penalised(self) -> Float | None:
        """(P,) 1 where penalties count a parameter, 0 where they do not; None: they count all."""
        return self._spread([float(s.penalised(name)) for s in self.scorers for name in s.shapes()])

    def _spread(self, values: list[float]) -> Float | None:
        """One value per block of parameters, as a vector; None if it is 1 everywhere."""
        if all(value == 1.0 for value in values):
            return None
        return np.repeat(values, [prod(shape) for shape in self.shapes.values()])

    @cached_property
    def reach(self) -> int:
        """How many rows back scores look, beyond what the space says."""
        return max([1, *(scorer.reach for scorer in self.transitions)])

    @cached_property
    def per_position(self) -> bool:
        """Whether every position has its own edge scores."""
        return self.normalised or self.own_edges

    @cached_property
    def own_edges(self) -> bool:
        """Whether some transition gives every position its own edge scores."""
        return any(t.per_position for t in self.transitions)

    @cached_property
    def _names(self) -> dict[str, list[tuple[str, str]]]:
        """Of each scorer, its parameters by their own names and by those of the chain."""
        return {s.name: [(name, f"{s.name}.{name}") for name in s.shapes()] for s in self.scorers}

    def own(self, params: Parameters, scorer: Scorer) -> dict[str, Float]:
        """The parameters of one scorer, by their own names."""
        return {name: params[full] for name, full in self._names[scorer.name]}

    def potentials(self, params: Parameters, batch: Batch, how: How) -> tuple[Potentials, Pullback]:
        """Scores of a batch and the way back: pullback(d_potentials, into, scale, paced).

        ``paced``: every parameter's scale is multiplied by its relative step.
        """
        n = batch.n_positions
        node = np.zeros((n, self.space.n_rows))
        edge = np.zeros((n if self.own_edges else 1, self.space.n_edges))
        from_nodes = [(s, s.forward(self.own(params, s), batch, how, node)) for s in self.emissions]
        from_edges = [(s, self.score_edges(s, params, batch, how, node, edge)) for s in self.transitions]

        def pullback(d: Potentials, into: Parameters, scale: float, paced: bool = False) -> None:
            def own(scorer: Scorer) -> Any:
                pace = self.paces[scorer.name] if paced else 1.0
                return {k: scale * p for k, p in pace.items()} if isinstance(pace, dict) else scale * pace

            d_node = d.node.copy() if self.relative else d.node
            for scorer, way in from_edges:
                way(d.edge, d_node, self.own(into, scorer), own(scorer))
            for scorer, back in from_nodes:
                back(d_node, self.own(into, scorer), own(scorer))

        raw = Potentials(node, edge, batch.offsets)
        if not self.normalised:
            return raw, pullback
        found, back = normalise(self.space, raw)
        return found, lambda d, into, scale, paced=False: pullback(back(d), into, scale, paced)

    def score_edges(
        self, scorer: Scorer, params: Parameters, batch: Batch, how: How, node: Float, edge: Float
    ) -> RelativePullback:
        """Add the scores of one of the transitions to ``edge``, beside all node scores."""
        if isinstance(scorer, Relative):
            return scorer.beside(self.own(params, scorer), batch, how, node, edge)
        way = scorer.forward(self.own(params, scorer), batch, how, edge)
        return lambda d, d_node, into, scale: way(d, into, scale)

    @cached_property
    def relative(self) -> bool:
        """Whether a transition depends on node scores."""
        return any(isinstance(scorer, Relative) for scorer in self.transitions)

    def blocks(self, ragged: Ragged, lo: int = 0, hi: int | None = None) -> Iterator[tuple[int, int]]:
        """Cut sequences lo:hi into runs whose potentials fit into the cache."""
        return ragged.blocks(self.block_positions, lo, hi)

    @cached_property
    def block_positions(self) -> int:
        """How many positions have potentials that fit into the cache."""
        row_bytes = 8 * (self.space.n_rows + (self.space.n_edges if self.per_position else 0))
        row_bytes += 8 * sum(scorer.width() for scorer in self.scorers)
        limit = max(1, BLOCK_BYTES // row_bytes)
        return max(limit, MANY_POSITIONS) if self.space.n_states >= MANY_STATES and not self.per_position else limit
