"""The formulas of empirical training by plain dictionaries and loops, and corpora to try them on."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np

TOY_X = [["a", "b", "c", "d"]] * 5
TOY_Y = [[0, 0, 0, 0]] * 4 + [[0, 1, 1, 0]]


def draw_corpus(rng: np.random.Generator, n: int, n_words: int = 8, n_labels: int = 3) -> tuple[list, list]:
    """Random sentences in which a word has a favourite label, some labels are unknown and some sentences empty."""
    X, Y = [], []
    for _ in range(n):
        words = rng.integers(0, n_words, rng.integers(0, 6))
        labels = np.where(rng.random(len(words)) < 0.6, words % n_labels, rng.integers(0, n_labels, len(words)))
        X.append([f"w{w}" for w in words])
        Y.append([None if rng.random() < 0.1 else f"L{k}" for k in labels])
    return X, Y


class SlowCounts:
    """c(x), c(x, y), c(x, y, x', y') and all that follows from them."""

    def __init__(self, X, Y):
        self.word, self.tagged, self.pair, self.nexts, self.befores = (Counter() for _ in range(5))
        self.labels_pair, self.words_pair = Counter(), Counter()
        for xs, ys in zip(X, Y, strict=True):
            for x, y in zip(xs, ys, strict=True):
                if y is not None:
                    self.word[x] += 1
                    self.tagged[x, y] += 1
            for (x, y), (x2, y2) in pairwise(zip(xs, ys, strict=True)):
                if y is not None and y2 is not None:
                    self.pair[x, y, x2, y2] += 1
                    self.nexts[x, y, y2] += 1
                    self.befores[y, x2, y2] += 1
                    self.labels_pair[y, y2] += 1
                    self.words_pair[x, x2] += 1
        self.labels = sorted({y for _, y in self.tagged})
        self.total = sum(self.labels_pair.values())

    def psi(self, x, y) -> float:
        return self.tagged[x, y] / self.word[x]

    def left(self, y) -> float:
        return sum(n for (a, _), n in self.labels_pair.items() if a == y) / max(self.total, 1)

    def right(self, y) -> float:
        return sum(n for (_, b), n in self.labels_pair.items() if b == y) / max(self.total, 1)

    def base(self, y, y2, k0) -> float:
        expected = self.left(y) * self.right(y2) * self.total
        return (self.labels_pair[y, y2] + k0) / (expected + k0) if expected + k0 > 0 else 1.0

    def backed_off(self, x, y, x2, y2, k0, k1) -> float:
        r0, found = self.base(y, y2, k0), []
        total = sum(n for (a, b, _), n in self.nexts.items() if (a, b) == (x, y))
        if total:
            found.append((self.nexts[x, y, y2] + k1 * r0) / (total * self.right(y2) + k1))
        total = sum(n for (_, a, b), n in self.befores.items() if (a, b) == (x2, y2))
        if total:
            found.append((self.befores[y, x2, y2] + k1 * r0) / (total * self.left(y) + k1))
        return sum(found) / len(found) if found else r0

    def phi(self, x, y, x2, y2, k0, k1, a) -> float:
        r = self.backed_off(x, y, x2, y2, k0, k1)
        met = self.words_pair[x, x2]
        if not met or not (self.word[x] and self.word[x2]):
            return r
        shares = {
            (i, j): self.psi(x, i) * self.psi(x2, j) * self.backed_off(x, i, x2, j, k0, k1)
            for i in self.labels
            for j in self.labels
            if self.tagged[x, i] and self.tagged[x2, j]
        }
        prior = a * r / sum(shares.values()) if a else 0.0
        return (self.pair[x, y, x2, y2] / (self.psi(x, y) * self.psi(x2, y2)) + prior) / (met + a)


def log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
