"""Why a tagger gave a label: each feature's contribution to one prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.errors import DataError
from chainfield.features.batch import Batch
from chainfield.fitted.tagger import Tagger
from chainfield.inference import add_rows, decoder_named, marginals, viterbi
from chainfield.states import StateSpace

from .rivals import NONE, Rivals, Routes


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the score of the chosen label, and what it adds to the runner-up's.

    ``place``: whether it is about the position itself, about the step from the label before, or about the step to the
    label after. A step after one position is the step before the next one.
    """

    feature: str
    value: float
    chosen: float
    runner_up: float
    place: Literal["position", "before", "after"] = "position"

    @property
    def difference(self) -> float:
        """How much it speaks for the chosen label against the runner-up."""
        return 0.0 if self.chosen == self.runner_up else self.chosen - self.runner_up


@dataclass(frozen=True)
class PositionExplanation:
    """One position: its label, the rival it is contrasted with, their probabilities, and the contributions.

    The largest difference comes first. ``possible`` is False if the labels around rule the rival out.
    """

    position: int
    label: Any
    probability: float
    runner_up: Any
    runner_up_probability: float
    contributions: tuple[Contribution, ...]
    possible: bool = True

    def _repr_html_(self) -> str:
        from chainfield.pages.fragments import framed

        return framed(self._table())

    def _table(self, most: int = 10) -> str:
        """What speaks for the label and against its rival, the strongest first."""
        from chainfield.pages.fragments import bar, note, table

        parts = sorted(self.contributions, key=lambda part: -abs(part.difference))
        limit = max((abs(part.difference) for part in parts if np.isfinite(part.difference)), default=1.0)
        rows = [(part.feature, bar(part.difference, limit)) for part in parts[:most] if part.difference]
        title = (
            f"{self.position}: {self.label} ({100 * self.probability:.0f} %), not {self.runner_up} "
            f"({100 * self.runner_up_probability:.0f} %)"
        )
        return table(("feature", f"for {self.label} or against it"), rows, title) + note(
            f"{len(parts)} features, {self.difference:+.2f} in all"
        )

    @property
    def difference(self) -> float:
        """How far the label's score lies above the rival's, all other labels staying as they are."""
        chosen, rival = (sum(getattr(part, side) for part in self.contributions) for side in ("chosen", "runner_up"))
        return 0.0 if chosen == rival else chosen - rival


@dataclass(frozen=True)
class Explanation:
    """One sequence, position by position."""

    positions: tuple[PositionExplanation, ...]

    def __getitem__(self, position: int) -> PositionExplanation:
        return self.positions[position]

    def __len__(self) -> int:
        return len(self.positions)

    def _repr_html_(self) -> str:
        from chainfield.pages.fragments import framed

        return framed(*(own._table(5) for own in self.positions))

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


def explain(tagger: Tagger, sequence: Sequence[Any], against: Any = None, given: Any = None) -> Explanation:
    """Each feature's share in the scores of the best label and of its rival, at every position.

    The rival is the best other label that is possible between the labels on both sides; where there is none, the most
    probable other label, and the rules speak against it. ``against`` names rivals instead: one label for all positions,
    or a list with a label (or None) for each. ``given`` fixes labels that are known; the others are predicted around
    them.

    The scores of a linear model are sums, so contributions are exact: node features, the transitions from the label
    before and to the label after, and the start and end scores. They add up to what would be lost by giving this one
    position the rival's label. A label with several states is represented by the one that fits best between its
    neighbours. A scorer that is no sum over features contributes as a whole.
    """
    batch = tagger.features.encode([sequence])
    labels = tagger.task.labels
    clamp = None if given is None else tagger.task.clamp(tagger.chain.space, [given], batch.offsets)
    rivals = _named_rivals(tagger, against, batch.n_positions)
    if not batch.n_positions:
        return Explanation(())
    space, known = tagger.scored(batch, clamp)
    potentials = known if clamp is None or tagger.chain.pruner is not None else tagger.potentials(batch)
    posterior = marginals(space, known).expected.node
    probability = add_rows(space, posterior)
    states = viterbi(space, known).states
    best = decoder_named(tagger.decoder)(space, known)
    found = Rivals(space, potentials, states)
    routes = [found.routes(t) for t in range(batch.n_positions)]
    second, possible = _rivals(space, routes, probability, best, rivals)
    rows = np.stack([_rows(space, routes, posterior, label) for label in (best, second)], axis=1)  # (N, 2)
    parts = _node_parts(tagger, batch, rows)
    path = [labels[k] for k in space.label_of[states]]
    over = replace(tagger, chain=tagger.explicit(batch, clamp)[0])
    steps = _edge_parts(over, batch, _edges(routes, rows), path)
    at = np.arange(batch.n_positions)
    if tagger.chain.normalised:
        _add_rest(parts, steps, routes, rows)
    shown = zip(best, probability[at, best], second, probability[at, second], possible, parts, steps, strict=True)
    return Explanation(
        tuple(
            PositionExplanation(
                t,
                labels[a],
                float(p),
                labels[b],
                float(q),
                tuple(sorted(own + step, key=lambda c: -abs(c.difference))),
                bool(can),
            )
            for t, (a, p, b, q, can, own, step) in enumerate(shown)
        )
    )


def _named_rivals(tagger: Tagger, against: Any, n: int) -> list[int | None]:
    """The numbers of the rivals that were asked for; None: choose one."""
    labels, number = tagger.task.labels, tagger.task.number
    wanted = list(against) if isinstance(against, list | tuple) and against not in labels else [against] * n
    if len(wanted) != n:
        raise DataError(f"The sequence has {n} positions, but against has {len(wanted)} labels.")
    for t, label in enumerate(wanted):
        if label is not None and label not in number:
            raise DataError(
                f"Position {t}: the model has no label {label!r} to compare with; it knows "
                f"{', '.join(map(str, labels[:10]))}{' …' if len(labels) > 10 else ''}."
            )
    return [None if label is None else number[label] for label in wanted]


def _rivals(
    space: StateSpace, routes: Sequence[Routes], probability: Float, best: Int32, wanted: list[int | None]
) -> tuple[Int, list[bool]]:
    """(N,) the rival of each best label, and whether it is possible; the best itself if there is no other label.

    Asked for a contrast with the best label itself, the best other one is taken.
    """
    second, possible = best.astype(np.int64), []
    for t, route in enumerate(routes):
        score = np.full(space.n_labels, -np.inf)
        np.maximum.at(score, space.label_of_row, route.score)
        score[best[t]] = -np.inf
        named = wanted[t]
        if named is not None and named != best[t]:
            second[t] = named
        elif np.isfinite(score).any():
            second[t] = int(score.argmax())
        elif space.n_labels > 1:
            others = probability[t].copy()
            others[best[t]] = -1.0
            second[t] = int(others.argmax())
        possible.append(bool(np.isfinite(score[second[t]])))
    return second, possible


def _rows(space: StateSpace, routes: Sequence[Routes], posterior: Float, labels: Any) -> Int:
    """(N,) the row that stands for a label: the one that fits best between its neighbours, else the most probable."""
    rows = np.empty(len(routes), np.int64)
    for t, (route, label) in enumerate(zip(routes, labels.tolist(), strict=True)):
        own = np.flatnonzero(space.label_of_row == label)
        score = route.score[own]
        rows[t] = own[(score if np.isfinite(score).any() else posterior[t, own]).argmax()]
    return rows


def _edges(routes: Sequence[Routes], rows: Int) -> Int:
    """(D, N, 2) the edges of both routes of position t, d steps on; -1: there is none."""
    return np.stack([route.edges[own] for route, own in zip(routes, rows, strict=True)]).transpose(2, 0, 1)


def _node_parts(tagger: Tagger, batch: Batch, rows: Int) -> list[list[Contribution]]:
    """What the emissions contribute at every position."""
    parts: list[list[Contribution]] = [[] for _ in range(batch.n_positions)]
    for scorer in tagger.chain.emissions:
        scores = np.zeros((batch.n_positions, tagger.chain.space.n_rows))
        scorer.forward(tagger.own(scorer), batch, tagger.how, scores)
        for own, shares in zip(
            parts, scorer.shares(tagger.own(scorer), batch, scores, rows, tagger.features), strict=True
        ):
            for share in shares:
                chosen, rival = share.scores
                own.append(Contribution(share.feature or scorer.name, share.value, chosen, rival))
    return parts


def _edge_parts(tagger: Tagger, batch: Batch, edges: Int, path: list[Any]) -> list[list[Contribution]]:
    """What the steps into a position and out of it contribute: all scores of transitions together, and features."""
    n = batch.n_positions
    parts: list[list[Contribution]] = [[] for _ in range(n)]
    node = tagger.scoring.nodes(batch) if tagger.chain.relative else np.empty((0, 0))
    for d, own in enumerate(edges):
        at = np.full((n, 2), NONE, np.int64)  # by the position that a step leads into: its features count
        at[d:] = own[: n - d]
        moves = np.where(at >= 0, 0.0, -np.inf)
        place: Literal["before", "after"] = "before" if d == 0 else "after"
        for scorer in tagger.chain.transitions:
            scores = np.zeros((n if scorer.per_position else 1, tagger.chain.space.n_edges))
            tagger.chain.score_edges(scorer, tagger.params, batch, tagger.how, node, scores)
            shares = scorer.shares(tagger.own(scorer), batch, scores, at, tagger.features)
            for t in range(max(d, 1), n):
                for share in shares[t]:
                    if share.feature:
                        name = f"{share.feature} {'after' if d == 0 else 'before'} {path[t - 1] if d == 0 else path[t]}"
                        chosen, rival = share.scores
                        parts[t - d].append(Contribution(name, share.value, chosen, rival, place))
                    else:
                        moves[t] += share.scores
        for t in range(max(d, 1), n):
            name = f"transition from {path[t - 1]}" if d == 0 else f"transition to {path[t]}"
            parts[t - d].append(Contribution(name, 1.0, float(moves[t, 0]), float(moves[t, 1]), place))
    return parts


def _add_rest(
    parts: list[list[Contribution]], steps: list[list[Contribution]], routes: Sequence[Routes], rows: Int
) -> None:
    """What normalising each step takes away, as a part of its own: with it, contributions add up again."""
    for own, step, route, (a, b) in zip(parts, steps, routes, rows.tolist(), strict=True):
        told = [sum(part) for part in zip(*((c.chosen, c.runner_up) for c in own + step), strict=True)]
        chosen, rival = (
            float(route.score[row]) - side if np.isfinite(side) else 0.0 for row, side in zip((a, b), told, strict=True)
        )
        own.append(Contribution("normalisation", 1.0, chosen, rival))
