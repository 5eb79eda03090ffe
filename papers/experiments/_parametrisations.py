"""Two factorisations of a chain that are no good parametrisations (Zhu et al., 3.2.1), by plain counting.

    (10)  Π φ(y_i, y_i+1 | x_i, x_i+1) / Π ψ(y_j | x_j), j = 2 … n-1          every φ and every ψ a distribution
    (11)  φ(y_1, y_2 | x_1, x_2) Π ψ(y_i+1 | y_i, x_i+1), i = 2 … n-1

Both are right if φ and ψ are the marginals of one distribution. As parameters of their own they are not: the likelihood
of (10) grows without bound as ψ of what was seen goes to 0; (11) is normalised locally and has the label bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np


@dataclass
class Tables:
    """Counts of symbols and labels: pairs (x, x', y, y'), single positions inside (x, y), steps (y, x', y')."""

    symbols: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)

    def count(self, data: Sequence[tuple[list[str], list[str]]]) -> Tables:
        """From sequences with their labels."""
        for words, tags in data:
            for word, tag in zip(words, tags, strict=True):
                self.symbols.setdefault(word, len(self.symbols))
                self.labels.setdefault(tag, len(self.labels))
        x, y = len(self.symbols), len(self.labels)
        self.pairs, self.inside, self.steps = np.zeros((x, x, y, y)), np.zeros((x, y)), np.zeros((y, x, y))
        self.first = np.zeros((x, x, y, y))
        for words, tags in data:
            own = [(self.symbols[word], self.labels[tag]) for word, tag in zip(words, tags, strict=True)]
            for i, ((a, p), (b, q)) in enumerate(pairwise(own)):
                self.pairs[a, b, p, q] += 1
                if i:
                    self.steps[p, b, q] += 1
                else:
                    self.first[a, b, p, q] += 1
            for a, p in own[1:-1]:
                self.inside[a, p] += 1
        return self


class Quotient:
    """(10): φ at its maximum, ψ = softmax of weights that follow the gradient for some steps."""

    def __init__(self, n_steps: int, rate: float = 1.0) -> None:
        self.n_steps, self.rate = n_steps, rate

    def fit(self, words: Sequence[list[str]], tags: Sequence[list[str]]) -> Quotient:
        """Objectives of all steps are kept: they rise for ever."""
        self.tables = Tables().count(list(zip(words, tags, strict=True)))
        self.phi = _shares(self.tables.pairs.reshape(*self.tables.pairs.shape[:2], -1)).reshape(self.tables.pairs.shape)
        count = self.tables.inside
        total = np.maximum(count.sum(axis=1, keepdims=True), 1.0)
        weight, self.objectives = np.zeros_like(count), []
        for _ in range(self.n_steps):
            log_psi = _log_softmax(weight)
            self.objectives.append(float(-(count * log_psi).sum()))
            weight -= self.rate * (count / total - np.exp(log_psi) * (count.sum(axis=1, keepdims=True) > 0))
        self.log_psi = _log_softmax(weight)
        return self

    def predict(self, words: Sequence[list[str]]) -> list[list[str]]:
        """The best labels by their product."""

        def score(x: list[int], y: tuple[int, ...]) -> float:
            steps = sum(_log(self.phi[a, b, p, q]) for (a, p), (b, q) in pairwise(zip(x, y, strict=True)))
            return steps - sum(float(self.log_psi[a, p]) for a, p in list(zip(x, y, strict=True))[1:-1])

        return _best_of_all(self.tables, words, score)


class Local:
    """(11): counts of the first pair, then of each label after another."""

    def fit(self, words: Sequence[list[str]], tags: Sequence[list[str]]) -> Local:
        """All in closed form."""
        self.tables = Tables().count(list(zip(words, tags, strict=True)))
        shape = self.tables.first.shape
        self.phi = _shares(self.tables.first.reshape(*shape[:2], -1)).reshape(shape)
        self.psi = _shares(self.tables.steps)
        return self

    def predict(self, words: Sequence[list[str]]) -> list[list[str]]:
        """The best labels by their product."""

        def score(x: list[int], y: tuple[int, ...]) -> float:
            found = _log(self.phi[x[0], x[1], y[0], y[1]])
            return found + sum(_log(self.psi[y[i], x[i + 1], y[i + 1]]) for i in range(1, len(x) - 1))

        return _best_of_all(self.tables, words, score)


def _best_of_all(tables: Tables, words: Sequence[list[str]], score: Any) -> list[list[str]]:
    """There are few distinct sequences."""
    found: dict[tuple[str, ...], list[str]] = {}
    for sequence in words:
        if tuple(sequence) not in found:
            found[tuple(sequence)] = _best(tables, sequence, score)
    return [found[tuple(sequence)] for sequence in words]


def _best(tables: Tables, words: list[str], score: Any) -> list[str]:
    names, x = list(tables.labels), [tables.symbols[word] for word in words]
    found = max(product(range(len(names)), repeat=len(x)), key=lambda y: score(x, y))
    return [names[k] for k in found]


def _shares(counts: np.ndarray) -> np.ndarray:
    """Shares along the last axis; all alike where nothing was counted."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, counts / np.maximum(totals, 1.0), 1.0 / counts.shape[-1])


def _log_softmax(weight: np.ndarray) -> np.ndarray:
    below = weight - weight.max(axis=1, keepdims=True)
    return below - np.log(np.exp(below).sum(axis=1, keepdims=True))


def _log(share: float) -> float:
    """Never -inf, so that a quotient of zeros still has an order."""
    return float(np.log(max(share, 1e-12)))
