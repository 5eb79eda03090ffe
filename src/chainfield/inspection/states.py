"""Looking into hidden states: the tokens that fire each of them, how they follow each other, and one sequence.

It asks a fitted model for its best state paths, its state posteriors and its transition scores, and for nothing else:
every model with hidden states can be looked into, whatever made its scores.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError
from chainfield.fitted.names import edge_scores, row_names

from .ordering import block_order

if TYPE_CHECKING:
    from chainfield.fitted.model import FittedModel


@dataclass(frozen=True)
class HiddenState:
    """A state: its name, how many positions it fired at, and the tokens there with their numbers, the most first."""

    number: int
    name: Any
    label: Any
    count: int
    tokens: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{self.name} ({self.count:,}): " + ", ".join(token for token, _ in self.tokens)


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """The hidden states of a model, as some data show them. R emission rows: the states, unless several share one."""

    states: tuple[HiddenState, ...]
    moves: Int  # (R, R) how often states followed each other, read [from, to]
    scores: Float  # (R, R) transition scores, -inf where there is no edge

    def of(self, label: Any) -> tuple[HiddenState, ...]:
        """The states of a label, those that fire most first."""
        found = [state for state in self.states if state.label == label]
        if not found:
            known = ", ".join(dict.fromkeys(str(state.label) for state in self.states))
            raise ConfigError(f"The model has no label {label!r}; it knows {known}.")
        return tuple(sorted(found, key=lambda state: -state.count))

    def used(self, min_count: int = 1) -> Int:
        """The numbers of the states that fire at least so often."""
        return np.array([state.number for state in self.states if state.count >= min_count], np.int64)

    def order(self, *, by_label: bool = True, min_count: int = 1) -> Int:
        """The used states in an order that shows blocks: states that follow, and are followed by, the same ones."""
        used = self.used(min_count)
        labels = [self.states[i].label for i in used.tolist()] if by_label else [None] * len(used)
        return used[block_order(self.scores[np.ix_(used, used)], labels)]

    @cached_property
    def perplexity(self) -> float:
        """How many states are in use, in effect: exp of the entropy of their shares."""
        counts = np.array([state.count for state in self.states], float)
        share = counts[counts > 0] / max(counts.sum(), 1.0)
        return float(np.exp(-(share * np.log(share)).sum()))

    def __str__(self) -> str:
        used = [state for state in self.states if state.count]
        head = f"{len(used)} of {len(self.states)} states fire (in effect {self.perplexity:.1f})"
        return "\n".join([head, *map(str, sorted(used, key=lambda state: (str(state.label), -state.count)))])

    def _repr_html_(self) -> str:
        from chainfield.pages.fragments import framed, note, table

        used = sorted((state for state in self.states if state.count), key=lambda own: (str(own.label), -own.count))
        rows = [(own.name, own.count, ", ".join(token for token, _ in own.tokens)) for own in used]
        told = f"{len(used)} of {len(self.states)} states fire (in effect {self.perplexity:.1f})"
        return framed(note(told), table(("state", "fires", "tokens"), rows))

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """A picture of the transitions (.png, .svg, .pdf), or a page with tokens and transitions (.html)."""
        from chainfield.plots.states import save_states

        save_states(self, path, **options)


@dataclass(frozen=True)
class StateAt:
    """One position of a sequence: its token, its label, the state of the best path, and how probable that state is."""

    token: str
    label: Any
    state: Any
    probability: float


@dataclass(frozen=True)
class StatePath:
    """The best state path of one sequence."""

    positions: tuple[StateAt, ...]

    def __str__(self) -> str:
        width = max((len(at.token) for at in self.positions), default=0)
        return "\n".join(f"{at.token:<{width}}  {at.state}  {at.probability:.3f}" for at in self.positions)

    def _repr_html_(self) -> str:
        from chainfield.pages.fragments import framed, table

        rows = [(at.token, at.label, at.state, round(at.probability, 3)) for at in self.positions]
        return framed(table(("token", "label", "state", "probability"), rows))

    def save(self, path: str | os.PathLike[str]) -> None:
        """A picture (.png, .svg, .pdf) or a page (.html)."""
        from chainfield.plots.states import save_path

        save_path(self, path)


def token_name(item: Any) -> str:
    """What a position is called: a word, the first column of a row, the first value of attributes."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        return str(next(iter(item.values()), ""))
    if isinstance(item, tuple | list) and item:
        return token_name(item[0])
    return ""


def hidden_states(
    model: FittedModel,
    sequences: Sequence[Any],
    given: Sequence[Any] | None = None,
    *,
    n: int = 10,
    name: Callable[[Any], str] = token_name,
) -> HiddenStates:
    """What the states of a model stand for, by the best state paths of some sequences.

    ``given`` fixes labels that are known. ``n``: tokens to keep for each state. ``name``: what a position is called;
    positions without a name (rows of numbers) have no tokens, but are counted.
    """
    if n < 1:
        raise ConfigError(f"n is {n}; at least one token must be asked for.")
    space = model.chain.space
    rows = space.n_rows
    tokens: list[Counter[str]] = [Counter() for _ in range(rows)]
    counts, moves = np.zeros(rows, np.int64), np.zeros((rows, rows), np.int64)
    for sequence, best in zip(sequences, model.states(sequences, given), strict=True):
        path = space.row_of[best].tolist()
        np.add.at(counts, path, 1)
        for a, b in pairwise(path):
            moves[a, b] += 1
        for item, row in zip(sequence, path, strict=True) if hasattr(sequence, "__iter__") else ():
            called = name(item)
            if called:
                tokens[row][called] += 1
    names, labels = row_names(space, model.task.labels), space.label_of_row.tolist()
    states = tuple(
        HiddenState(
            row, names[row], model.task.labels[labels[row]], int(counts[row]), tuple(tokens[row].most_common(n))
        )
        for row in range(rows)
    )
    return HiddenStates(states, moves, row_scores(model))


def row_scores(model: FittedModel) -> Float:
    """(R, R) scores of transitions between rows; the mean, where several edges lead from one to the other."""
    space = model.chain.space
    scores = edge_scores(model)
    pair = space.row_of[space.src].astype(np.int64) * space.n_rows + space.row_of[space.dst]
    number = np.bincount(pair, minlength=space.n_rows**2)
    total = np.bincount(pair, scores, space.n_rows**2)
    return np.where(number > 0, total / np.maximum(number, 1), -np.inf).reshape(space.n_rows, space.n_rows)


def state_path(
    model: FittedModel, sequence: Any, given: Any = None, *, name: Callable[[Any], str] = token_name
) -> StatePath:
    """The states along one sequence."""
    space = model.chain.space
    known = None if given is None else [given]
    states = model.states([sequence], known)[0]
    rows = space.row_of[states].tolist()
    shares = model.occupancies([sequence], known)[0]
    names = row_names(space, model.task.labels)
    called = [name(item) for item in sequence] if hasattr(sequence, "__iter__") else [""] * len(rows)
    return StatePath(
        tuple(
            StateAt(token or str(t), model.task.labels[space.label_of_row[row]], names[row], float(shares[t, row]))
            for t, (token, row) in enumerate(zip(called, rows, strict=True))
        )
    )
