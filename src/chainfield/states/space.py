"""The state space: which states there are, whose label they carry, and which may follow which."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from chainfield.arrays import Array, Bool, Int32, distinct
from chainfield.errors import ConfigError

if TYPE_CHECKING:
    from chainfield.kernels.graph import Graph

    from .blocks import Block


MOST_STEPS = 1 << 26  # entries of the table that follows row sequences


def _frozen(values: ArrayLike, dtype: Any) -> Array:
    array: Array = np.array(values, dtype=dtype, order="C")
    array.setflags(write=False)
    return array


def _gapless(numbers: Int32) -> bool:
    """Whether all numbers from 0 to the largest occur, and no others."""
    if len(numbers) == 0:
        return True
    return bool(numbers.min() >= 0 and numbers.max() < len(numbers) and np.bincount(numbers).all())


MOST_SHOWN = 40  # states that a notebook lists


@dataclass(frozen=True, eq=False)
class StateSpace:
    """States of a chain and the edges between them. K states, L labels, R emission rows, E edges.

    A path is a sequence of states; every state belongs to one label; states with the same emission row share
    their node score (the pairs (i, j) of a second-order chain all emit as j). All states of a row have the same
    label. An edge that is not listed does not exist: no path takes it, in training or in decoding.
    """

    n_labels: int
    label_of: Int32  # (K,)
    row_of: Int32  # (K,)
    src: Int32  # (E,) sorted by (src, dst)
    dst: Int32  # (E,)
    start: Bool  # (K,)
    end: Bool  # (K,)
    edge_row: Int32 = field(default=None)  # type: ignore[arg-type]  # (E,) ties edges: the first-order edge below

    def __post_init__(self) -> None:
        for name in ("label_of", "row_of", "src", "dst"):
            object.__setattr__(self, name, _frozen(getattr(self, name), np.int32))
        for name in ("start", "end"):
            object.__setattr__(self, name, _frozen(getattr(self, name), np.bool_))
        edge_row = np.arange(len(self.src)) if self.edge_row is None else self.edge_row
        object.__setattr__(self, "edge_row", _frozen(edge_row, np.int32))
        self._check()

    def _repr_html_(self) -> str:
        from chainfield.pages.fragments import Raw, framed, note, table

        n = len(self.label_of)
        told = f"{n} states, {self.n_labels} labels, {len(self.src)} transitions"
        if n > MOST_SHOWN:
            return framed(note(told))
        there = set(zip(self.src.tolist(), self.dst.tolist(), strict=True))
        yes, no = Raw("<span class='b' style='width:10px' title='possible'></span>"), ""
        ends = zip(self.label_of.tolist(), self.start.tolist(), self.end.tolist(), strict=True)
        rows = [
            (k, label, yes if begins else no, yes if stops else no, *(yes if (k, j) in there else no for j in range(n)))
            for k, (label, begins, stops) in enumerate(ends)
        ]
        head = ("from state", "label", "begins", "ends", *(f"to {j}" for j in range(n)))
        return framed(note(told), table(head, rows))

    def _check(self) -> None:
        k = len(self.label_of)
        if k == 0:
            raise ConfigError("A state space needs at least one state.")
        if not len(self.row_of) == len(self.start) == len(self.end) == k:
            raise ConfigError("label_of, row_of, start and end must have one entry a state.")
        if not len(self.src) == len(self.dst) == len(self.edge_row):
            raise ConfigError("src, dst and edge_row must have one entry an edge.")
        for name, values, limit in (
            ("label_of", self.label_of, self.n_labels),
            ("src", self.src, k),
            ("dst", self.dst, k),
        ):
            if len(values) and (values.min() < 0 or values.max() >= limit):
                raise ConfigError(f"{name} has an entry outside 0 … {limit - 1}.")
        if not _gapless(self.row_of):
            raise ConfigError("Emission rows must be numbered 0, 1, 2 … without gaps.")
        if not _gapless(self.edge_row):
            raise ConfigError("Edge rows must be numbered 0, 1, 2 … without gaps.")
        code = self.src.astype(np.int64) * k + self.dst
        if np.any(np.diff(code) <= 0):
            raise ConfigError("Edges must be sorted by (source, target), each listed once.")
        if np.any(self.label_of_row[self.row_of] != self.label_of):
            raise ConfigError("States that share an emission row must have the same label.")

    @property
    def n_states(self) -> int:
        """K."""
        return len(self.label_of)

    @property
    def n_edges(self) -> int:
        """E."""
        return len(self.src)

    @cached_property
    def n_rows(self) -> int:
        """R."""
        return int(self.row_of.max()) + 1

    @cached_property
    def n_edge_rows(self) -> int:
        """How many distinct first-order edges lie below the edges."""
        return int(self.edge_row.max()) + 1 if len(self.edge_row) else 0

    @cached_property
    def label_of_row(self) -> Int32:
        """(R,) the label of an emission row."""
        labels = np.zeros(self.n_rows, np.int32)
        labels[self.row_of] = self.label_of
        return labels

    @cached_property
    def one_path(self) -> bool:
        """Whether a label sequence never has more than one state path: one row per label, one path per row sequence."""
        return self.n_rows == len(distinct(self.label_of_row)) and self.steps is not None

    @cached_property
    def edge_of(self) -> Int32:
        """(K, K) the edge from state to state, -1: there is none."""
        found = np.full((self.n_states, self.n_states), -1, np.int32)
        found[self.src, self.dst] = np.arange(self.n_edges)
        return found

    @cached_property
    def dense(self) -> bool:
        """Whether states mostly follow each other, and none share a row: edges are then best seen as a matrix."""
        k = self.n_states
        return self.n_rows == k and 2 * self.n_edges >= k * k and bool((np.diff(self.row_of) == 1).all())

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The parts of a space in which no edge leaves a label, one per label."""
        from .blocks import split_blocks

        return split_blocks(self)

    @cached_property
    def shortest(self) -> Int32:
        """(L,) for class blocks: the least number of positions that a path of a label has."""
        found = np.zeros(self.n_labels, np.int32)
        for block in self.blocks:
            found[block.label] = block.shortest
        return found

    @cached_property
    def graph(self) -> Graph:
        """The same structure, as the kernels want it."""
        from .bundling import build_graph

        return build_graph(self)

    @cached_property
    def steps(self) -> tuple[Int32, Int32] | None:
        """Tables that follow a row sequence: (edge from state into row (K, R), start state (R,)); -1: none.

        None if some row sequence has more than one state path, so that the path is not determined by it; or if the
        table would be large.
        """
        if self.n_states * self.n_rows > MOST_STEPS:
            return None
        edge = np.full((self.n_states, self.n_rows), -1, np.int32)
        start = np.full(self.n_rows, -1, np.int32)
        rows = self.row_of[self.dst]
        pairs = self.src.astype(np.int64) * self.n_rows + rows
        starts = np.flatnonzero(self.start)
        if len(distinct(pairs)) < len(pairs) or len(distinct(self.row_of[starts])) < len(starts):
            return None
        edge[self.src, rows] = np.arange(self.n_edges)
        start[self.row_of[starts]] = starts
        return edge, start

    def __getstate__(self) -> dict[str, object]:
        names = ("n_labels", "label_of", "row_of", "src", "dst", "start", "end", "edge_row")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
