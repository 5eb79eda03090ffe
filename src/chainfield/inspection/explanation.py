"""Why a tagger gave a label: each feature's contribution to one prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int, Int32, Integers
from chainfield.features.batch import Batch
from chainfield.fitted.tagger import Tagger
from chainfield.inference import add_rows, decoder_named, marginals, viterbi
from chainfield.states import StateSpace


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the score of the chosen label, and what it adds to the runner-up's."""

    feature: str
    value: float
    chosen: float
    runner_up: float

    @property
    def difference(self) -> float:
        """How much it speaks for the chosen label against the runner-up."""
        return 0.0 if self.chosen == self.runner_up else self.chosen - self.runner_up


@dataclass(frozen=True)
class PositionExplanation:
    """One position: the labels, their probabilities, and the contributions, largest difference first."""

    position: int
    label: Any
    probability: float
    runner_up: Any
    runner_up_probability: float
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True)
class Explanation:
    """One sequence, position by position."""

    positions: tuple[PositionExplanation, ...]

    def __getitem__(self, position: int) -> PositionExplanation:
        return self.positions[position]

    def __len__(self) -> int:
        return len(self.positions)

    def __str__(self) -> str:
        lines = []
        for p in self.positions:
            lines.append(
                f"{p.position}: {p.label} ({p.probability:.3f}), not {p.runner_up} ({p.runner_up_probability:.3f})"
            )
            lines += [
                f"    {_amount(c.difference)}  {c.feature}" + ("" if c.value == 1.0 else f" = {c.value:g}")
                for c in p.contributions[:8]
            ]
        return "\n".join(lines)


def _amount(difference: float) -> str:
    return f"{difference:+8.3f}" if np.isfinite(difference) else "   rules"


def explain(tagger: Tagger, sequence: Sequence[Any]) -> Explanation:
    """Each feature's share in the scores of the best label and of the second best, at every position.

    The scores of a linear model are sums, so contributions are exact: node features, the transition from the best
    path's state before, and the start and end scores. A label with several states is represented by the one on the
    best path, or else by its most probable one. A scorer that is no sum over features contributes as a whole.
    """
    batch = tagger.features.encode([sequence])
    space, labels = tagger.chain.space, tagger.task.labels
    potentials = tagger.potentials(batch)
    if not batch.n_positions:
        return Explanation(())
    posterior = marginals(space, potentials).expected.node
    probability = add_rows(space, posterior)
    states = viterbi(space, potentials).states
    best = decoder_named(tagger.decoder)(space, potentials)
    second = _runners_up(probability, best)
    rows = np.stack([_rows(space, posterior, states, label) for label in (best, second)], axis=1)  # (N, 2)
    parts = _node_parts(tagger, batch, rows)
    steps = _edge_parts(tagger, batch, _edges(space, states, rows), [labels[k] for k in space.label_of[states]])
    at = np.arange(batch.n_positions)
    shown = zip(best, probability[at, best], second, probability[at, second], parts, steps, strict=True)
    return Explanation(
        tuple(
            PositionExplanation(
                t, labels[a], float(p), labels[b], float(q), tuple(sorted(own + step, key=lambda c: -abs(c.difference)))
            )
            for t, (a, p, b, q, own, step) in enumerate(shown)
        )
    )


def _runners_up(probability: Float, best: Int32) -> Int:
    """(N,) the most probable label but the best one; the best one itself if there is no other."""
    others = probability.copy()
    if others.shape[1] > 1:
        others[np.arange(len(best)), best] = -1.0
    return others.argmax(axis=1)


def _rows(space: StateSpace, posterior: Float, states: Int32, labels: Integers) -> Int:
    """(N,) the row that stands for a label: the best path's, or the most probable one."""
    own = np.where(space.label_of_row == labels[:, None], posterior, -1.0).argmax(axis=1)
    return np.where(space.label_of[states] == labels, space.row_of[states], own)


def _edges(space: StateSpace, states: Int32, rows: Int) -> Int:
    """(N, 2) the edges from the best path's state before into these rows; -1: there is none."""
    edges = np.full(rows.shape, -1, np.int64)
    for t in range(1, len(rows)):
        out = np.flatnonzero(space.src == states[t - 1])
        for column, row in enumerate(rows[t]):
            into = out[space.row_of[space.dst[out]] == row]
            if len(into):
                same = into[space.dst[into] == states[t]]
                edges[t, column] = (same if len(same) else into)[0]
    return edges


def _node_parts(tagger: Tagger, batch: Batch, rows: Int) -> list[list[Contribution]]:
    """What the emissions contribute at every position."""
    parts: list[list[Contribution]] = [[] for _ in range(batch.n_positions)]
    for scorer in tagger.chain.emissions:
        scores = np.zeros((batch.n_positions, tagger.chain.space.n_rows))
        scorer.forward(tagger.own(scorer), batch, tagger.how, scores)
        for own, shares in zip(
            parts, scorer.shares(tagger.own(scorer), batch, scores, rows, tagger.features), strict=True
        ):
            own += [Contribution(share.feature or scorer.name, share.value, *share.scores) for share in shares]
    return parts


def _edge_parts(tagger: Tagger, batch: Batch, edges: Int, path: list[Any]) -> list[list[Contribution]]:
    """What the step into every position contributes: all scores of transitions together, and features on them."""
    parts: list[list[Contribution]] = [[] for _ in range(batch.n_positions)]
    moves = np.where(edges >= 0, 0.0, -np.inf)
    node = tagger.scoring.nodes(batch) if tagger.chain.relative else np.empty((0, 0))
    for scorer in tagger.chain.transitions:
        scores = np.zeros((batch.n_positions if scorer.per_position else 1, tagger.chain.space.n_edges))
        tagger.chain.score_edges(scorer, tagger.params, batch, tagger.how, node, scores)
        shares = scorer.shares(tagger.own(scorer), batch, scores, edges, tagger.features)
        for t in range(1, batch.n_positions):
            for share in shares[t]:
                if share.feature:
                    parts[t].append(Contribution(f"{share.feature} after {path[t - 1]}", share.value, *share.scores))
                else:
                    moves[t] += share.scores
    for t in range(1, batch.n_positions):
        parts[t].append(Contribution(f"transition from {path[t - 1]}", 1.0, *moves[t].tolist()))
    return parts
