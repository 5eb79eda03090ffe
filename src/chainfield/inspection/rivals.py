"""Rivals of a path: what it would take to give one position another label, all other labels staying as they are.

A rival's route leaves the path at one position and comes back as soon as it can: at the next position, or one later
where a state also tells the label before it (second order). Shapes: K states, R rows, D steps that a route may change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.potentials import Potentials
from chainfield.states import StateSpace

NONE = -1


@dataclass(frozen=True, eq=False)
class Routes:
    """For one position of a path: the score of giving it each row, (R,), and the edges of that route, (R, D).

    The score is that of the position and of all steps that differ; -inf: no route exists. An edge of -1 is none.
    """

    score: Float
    edges: Int


class Rivals:
    """Routes of all positions of one sequence, whose best path is known."""

    def __init__(self, space: StateSpace, potentials: Potentials, path: Int32) -> None:
        self._space, self._potentials, self._path = space, potentials, path
        #: How many positions after its own a route may take other states of the same rows.
        self.detour = 0 if space.n_states == space.n_rows else 1

    @property
    def n_steps(self) -> int:
        """D: the step into the position, and those after it."""
        return self.detour + 2

    def routes(self, t: int) -> Routes:
        """The routes through position t."""
        return self._direct(t) if self.detour == 0 else self._searched(t)

    def _direct(self, t: int) -> Routes:
        """Every row is a state: two edges decide, one from the state before and one to the state after."""
        space, path, n = self._space, self._path, len(self._path)
        edges = np.full((space.n_states, 2), NONE, np.int64)
        score = self._potentials.node[t][space.row_of].astype(np.float64)
        if t > 0:
            own = slice(*np.searchsorted(space.src, [path[t - 1], path[t - 1] + 1]))
            edges[space.dst[own], 0] = np.arange(own.start, own.stop)
            score += self._scores(edges[:, 0], t)
        else:
            score[~space.start] = -np.inf
        if t + 1 < n:
            into = np.flatnonzero(space.dst == path[t + 1])
            edges[space.src[into], 1] = into
            score += self._scores(edges[:, 1], t + 1)
        else:
            score[~space.end] = -np.inf
        by_row = np.empty(space.n_rows, np.int64)
        by_row[space.row_of] = np.arange(space.n_states)
        edges[~np.isfinite(score)] = NONE
        return Routes(score[by_row], edges[by_row])

    def _scores(self, edges: Int, at: int) -> Float:
        own = self._potentials.edge[0 if self._potentials.shared else at]
        return np.where(edges >= 0, own[edges], -np.inf)

    @cached_property
    def _edge(self) -> dict[tuple[int, int], int]:
        ends = zip(self._space.src.tolist(), self._space.dst.tolist(), strict=True)
        return {pair: e for e, pair in enumerate(ends)}

    @cached_property
    def _states_of(self) -> list[list[int]]:
        """The states of each row."""
        order = np.argsort(self._space.row_of, kind="stable")
        cuts = np.searchsorted(self._space.row_of[order], np.arange(self._space.n_rows + 1))
        return [order[a:b].tolist() for a, b in pairwise(cuts.tolist())]

    def _searched(self, t: int) -> Routes:
        """States of a row differ in what came before: the route may have to change them for one more step."""
        scores = np.full(self._space.n_rows, -np.inf)
        edges = np.full((self._space.n_rows, self.n_steps), NONE, np.int64)
        for row in range(self._space.n_rows):
            if np.isfinite(self._potentials.node[t, row]):
                scores[row], edges[row] = self._through(t, row)
        return Routes(scores, edges)

    def _through(self, t: int, row: int) -> tuple[float, list[int]]:
        """The best route that gives position t this row: a little Viterbi over the states that may differ."""
        n, path = len(self._path), self._path.tolist()
        before = None if t == 0 else path[t - 1]
        # reached[state] = (score, edges) of the best way into it; None stands for "before the sequence".
        reached: dict[int | None, tuple[float, list[int]]] = {before: (float(self._potentials.node[t, row]), [])}
        for step in range(self.n_steps):
            at = t + step
            if at > n or not reached:
                break
            last_step = step == self.n_steps - 1
            if at == n:
                ends = self._space.end
                reached = {s: way for s, way in reached.items() if s is not None and ends[s]}
                break
            if step == 0:
                targets = self._states_of[row]
            elif last_step:
                targets = [path[at]]
            else:
                targets = self._states_of[int(self._space.row_of[path[at]])]
            reached = self._step(reached, targets, at, first=at == 0)
        if not reached:
            return -np.inf, [NONE] * self.n_steps
        score, edges = max(reached.values(), key=lambda way: way[0])
        return score, edges + [NONE] * (self.n_steps - len(edges))

    def _step(
        self, reached: dict[int | None, tuple[float, list[int]]], targets: list[int], at: int, *, first: bool
    ) -> dict[int | None, tuple[float, list[int]]]:
        found: dict[int | None, tuple[float, list[int]]] = {}
        edge_scores = self._potentials.edge[0 if self._potentials.shared else at]
        for target in targets:
            if first:
                if self._space.start[target]:
                    found[target] = (reached[None][0], [NONE])
                continue
            ways = [
                (score + float(edge_scores[e]), [*edges, e])
                for source, (score, edges) in reached.items()
                if source is not None and (e := self._edge.get((source, target), NONE)) >= 0
            ]
            if ways:
                best = max(ways, key=lambda way: way[0])
                if np.isfinite(best[0]):
                    found[target] = best
        return found
