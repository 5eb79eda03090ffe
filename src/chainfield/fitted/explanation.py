"""Why a tagger gave a label: each feature's contribution to one prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.features.batch import Batch, Sparse
from chainfield.inference import viterbi
from chainfield.scorers import Boundary, DenseLinear, EdgeFeatures, Pairs, SparseLinear, Transition

from .names import edge_labels
from .tagger import Tagger


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
        return self.chosen - self.runner_up


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
    path's label before, and the start and end scores.
    """
    batch = tagger.features.encode([sequence])
    space, labels = tagger.chain.space, tagger.task.labels
    potentials = tagger.potentials(batch)
    probability = tagger.marginals([sequence])[0]
    path = viterbi(space, potentials)
    chosen = space.label_of[path.states]
    rows = {int(label): int(row) for row, label in reversed(list(enumerate(space.label_of_row)))}
    named_edges = {name: e for e, name in enumerate(edge_labels(space, labels))} if len(chosen) > 1 else {}
    moves = np.zeros(space.n_edges)
    for scorer in tagger.chain.transitions:
        if isinstance(scorer, Transition):
            scorer.forward({"weight": tagger.params[f"{scorer.name}.weight"]}, batch, tagger.how, moves[None])
    explained = []
    for t in range(batch.n_positions):
        order = np.argsort(-probability[t], kind="stable")
        best = int(chosen[t])
        second = next((int(k) for k in order if k != best), best)
        parts = _node_parts(tagger, batch, t, rows[best], rows[second])
        if t > 0:
            context = [labels[i] for i in chosen[max(0, t - 2) : t]]
            edges = [_edge(named_edges, context, labels[k]) for k in (best, second)]
            scores = [-np.inf if e is None else float(moves[e]) for e in edges]
            parts.append(Contribution(f"transition from {context[-1]}", 1.0, *scores))
            parts += _edge_parts(tagger, batch, t, context[-1], edges)
        explained.append(
            PositionExplanation(
                t,
                labels[best],
                float(probability[t, best]),
                labels[second],
                float(probability[t, second]),
                tuple(sorted(parts, key=lambda c: -abs(c.difference))),
            )
        )
    return Explanation(tuple(explained))


def _edge(edges: dict[tuple[Any, ...], int], context: list[Any], label: Any) -> int | None:
    """The edge from the labels before into a label; None if there is none."""
    for name in ((*context, label), (context[-1], label), (None, context[-1], label)):
        if name in edges:
            return edges[name]
    return None


def _entries(sparse: Sparse, t: int) -> list[tuple[int, float]]:
    """Features and values of a position."""
    span = slice(int(sparse.indptr[t]), int(sparse.indptr[t + 1]))
    features = sparse.indices[span].tolist()
    values = [1.0] * len(features) if sparse.values is None else sparse.values[span].tolist()
    return [(f, value) for f, value in zip(features, values, strict=True) if f >= 0]


def _weights(pairs: Pairs, weight: Any, f: int) -> dict[int, float]:
    """Weights of a feature by row."""
    span = slice(pairs.first[f], pairs.first[f + 1])
    return dict(zip(pairs.row[span].tolist(), weight[span].tolist(), strict=True))


def _edge_parts(tagger: Tagger, batch: Batch, t: int, before: Any, edges: list[int | None]) -> list[Contribution]:
    """Shares of the features on transitions."""
    parts = []
    for scorer in tagger.chain.transitions:
        if isinstance(scorer, EdgeFeatures) and batch.edges is not None:
            names, weight = tagger.features.edge_feature_names(), tagger.params[f"{scorer.name}.weight"]
            for f, value in _entries(batch.edges, t):
                own = _weights(scorer.pairs, weight, f)
                shares = [0.0 if e is None else value * own.get(int(scorer.edge_row[e]), 0.0) for e in edges]
                parts.append(Contribution(f"{names[f]} after {before}", value, *shares))
    return parts


def _node_parts(tagger: Tagger, batch: Any, t: int, best: int, second: int) -> list[Contribution]:
    parts = []
    names = tagger.feature_names
    for scorer in tagger.chain.emissions:
        params = tagger.params
        if isinstance(scorer, SparseLinear):
            weight = params[f"{scorer.name}.weight"]
            for f, value in _entries(batch.sparse, t):
                own = _weights(scorer.pairs, weight, f)
                shares = [value * own.get(row, 0.0) for row in (best, second)]
                parts.append(Contribution(names[f], value, *shares))
        elif isinstance(scorer, DenseLinear):
            weight = params[f"{scorer.name}.weight"]
            for f, value in enumerate(batch.dense[t].tolist()):
                parts.append(Contribution(names[f], value, value * weight[f, best], value * weight[f, second]))
        elif isinstance(scorer, Boundary):
            for end, at in (("start", 0), ("end", batch.n_positions - 1)):
                if t == at:
                    weight = params[f"{scorer.name}.{end}"]
                    parts.append(
                        Contribution(f"{end} of the sequence", 1.0, float(weight[best]), float(weight[second]))
                    )
    return parts
