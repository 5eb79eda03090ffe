"""Exponential functions of two words, fitted to the pairs that were met: EP2's joint function, and its halves.

Both are functions of the features of words by themselves: an observation must always have the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from chainfield.arrays import Array, Float, Int, Int32, distinct
from chainfield.errors import ConfigError
from chainfield.features.batch import Sparse
from chainfield.problem import Trainable
from chainfield.scorers import Pairs
from chainfield.scorers.pair_weights import gather, scatter
from chainfield.scorers.pairs import pairs_from_codes

from .exponential import fit_exponential, minimised
from .forms import Forms
from .word_rates import WordRates


@dataclass(frozen=True, eq=False)
class WordPairs:
    """P pairs of tagged words that were met side by side: forms and rows on both sides, and how often."""

    forms: Forms
    left: Int  # (P,) forms
    right: Int
    row: Int  # (P,) the label on the left
    next_row: Int  # … and on the right
    count: Float  # (P,)
    n_features: int
    n_rows: int


def word_pairs(forms: Forms, rates: WordRates) -> WordPairs:
    """The pairs that rates have counted; refuses features that differ from one occurrence of a word to the next."""
    form_of = np.full(rates.n_features, -1, np.int64)
    there = np.flatnonzero(forms.observation >= 0)
    form_of[forms.observation[there]] = there
    if len(distinct(forms.observation[there])) < len(there):
        raise ConfigError(
            'oov="together", and pairs other than "ladder", need features of the word by itself, but some word was '
            "seen with different ones; leave out features of neighbours, or give another value."
        )
    own = rates.observation
    return WordPairs(
        forms, form_of[own[rates.before]], form_of[own[rates.behind]], rates.row[rates.before].astype(np.int64),
        rates.row[rates.behind].astype(np.int64), rates.pair_count, rates.n_features, rates.n_rows,
    )  # fmt: skip


# ---- halves --------------------------------------------------------------------------------------------------------


def fit_halves(pairs: WordPairs, totals: Float | None, l2: float, n_jobs: int) -> tuple[Pairs, Pairs, list[Float]]:
    """Weights on both sides, and the parameters of :class:`HalfRates` in its order.

    totals (F,): how often each observation was met, so that each counts once; None: as often as it was met.
    """
    left, left_parts, before = _half(pairs, pairs.left, pairs.next_row, pairs.row, totals, l2, n_jobs)
    right, right_parts, after = _half(pairs, pairs.right, pairs.row, pairs.next_row, totals, l2, n_jobs)
    return left, right, [*left_parts, *right_parts, after.ravel(), before.ravel()]


def _half(
    pairs: WordPairs, form: Int, given: Int, row: Int, totals: Float | None, l2: float, n_jobs: int
) -> tuple[Pairs, list[Float], Float]:
    """P(row | given, features of form): the given label is one more feature."""
    r, n_features = pairs.n_rows, pairs.n_features
    weight = pairs.count if totals is None else pairs.count / totals[pairs.forms.observation[form]]
    codes, kind = np.unique(form * r + given, return_inverse=True)
    forms = pairs.forms.take(codes // r)
    indptr = forms.indptr + np.arange(len(codes) + 1)
    indices = np.empty(int(indptr[-1]), np.int32)
    last = np.zeros(len(indices), np.bool_)
    last[indptr[1:] - 1] = True
    indices[last], indices[~last] = n_features + codes % r, forms.indices
    extended = Forms(np.full(len(codes), -1, np.int32), indptr, indices)
    found, weights, bias = fit_exponential(extended, kind, row, weight, n_features + r, r, l2=l2, n_jobs=n_jobs)
    own = int(found.first[n_features])
    table = np.zeros((r, r))
    table[found.feature()[own:] - n_features, found.row[own:]] = weights[own:]
    return Pairs(found.first[: n_features + 1].copy(), found.row[:own].copy()), [weights[:own], bias], table


# ---- the joint function --------------------------------------------------------------------------------------------


def fit_joint(pairs: WordPairs, l2: float) -> tuple[Pairs, Pairs, list[Float]]:
    """Weights on both sides, and the parameters of :class:`JointRates` in its order."""
    problem = JointProblem(pairs, l2)
    return problem.left, problem.right, [minimised(problem)]


@final
class JointProblem(Trainable):
    """minimise -Σ count · log v(y, y' | x, x') + l2 ‖θ‖², with log v = a(x, y) + b(x', y') + T(y, y') - log Z.

    Z = Σ_y' (e^a e^T)(x, y') e^b(x', y'): the product with e^T is taken once for every word, not for every pair.
    θ has the order of :class:`JointRates`: left weights, left bias, right weights, right bias, T. The word itself is
    one of its features.
    """

    def __init__(self, pairs: WordPairs, l2: float) -> None:
        self.l2, self.pairs = l2, pairs
        forms, r = pairs.forms, pairs.n_rows
        self.sparse = _with_words(forms, pairs.n_features)
        self.left, left_seen = self._seen(pairs.left, pairs.row)
        self.right, right_seen = self._seen(pairs.right, pairs.next_row)
        codes, kind = np.unique(pairs.left * len(forms) + pairs.right, return_inverse=True)
        self._before, self._behind = (codes // len(forms)).astype(np.int32), (codes % len(forms)).astype(np.int32)
        self._count = np.bincount(kind, weights=pairs.count, minlength=len(codes)).astype(np.float64)
        square = np.bincount(pairs.row * r + pairs.next_row, weights=pairs.count, minlength=r * r)
        self._observed = np.concatenate([*left_seen, *right_seen, square])

    def _seen(self, form: Int, row: Int) -> tuple[Pairs, list[Float]]:
        """Which weights there are on one side, and how often each of them was met, the bias too."""
        r, sparse = self.pairs.n_rows, self.sparse
        counts = np.zeros((len(self.pairs.forms), r))
        np.add.at(counts, (form, row), self.pairs.count)
        found, seen = seen_weights(sparse, counts)
        return found, [seen, counts.sum(axis=0)]

    @property
    def n_parameters(self) -> int:
        """P."""
        return len(self._observed)

    @property
    def n_sequences(self) -> int:
        """Pairs of words."""
        return len(self._count)

    @property
    def n_positions(self) -> int:
        """Two for each pair."""
        return 2 * len(self._count)

    @property
    def convex(self) -> bool:
        """A log-linear model of label pairs."""
        return True

    def arrays(self) -> Iterable[Array]:
        """What the sum is made of."""
        return self._before, self._behind, self._count, self._observed

    def evaluate(self, theta: Float) -> tuple[float, Float]:
        """The objective and its gradient."""
        from chainfield.kernels.counting.joint import pair_sums

        r, m, n, k = self.pairs.n_rows, len(self.pairs.forms), self.left.n_pairs, self.right.n_pairs
        parts = np.split(theta, np.cumsum([n, r, k, r]))
        a, b = np.tile(parts[1], (m, 1)), np.tile(parts[3], (m, 1))
        gather(self.left, self.sparse, np.ascontiguousarray(parts[0]), a)
        gather(self.right, self.sparse, np.ascontiguousarray(parts[2]), b)
        table = parts[4].reshape(r, r)
        tops = a.max(axis=1), b.max(axis=1), table.max()
        np.exp(np.subtract(a, tops[0][:, None], out=a), out=a)
        np.exp(np.subtract(b, tops[1][:, None], out=b), out=b)
        square = np.exp(table - tops[2])
        message = a @ square
        d_message, d_b = np.zeros_like(message), np.zeros_like(b)
        log_z = pair_sums(self._before, self._behind, self._count, message, b, d_message, d_b)
        log_z += self._count @ (tops[0][self._before] + tops[1][self._behind] + tops[2])
        gradient = -self._observed
        value = float(gradient @ theta) + log_z
        d_table = square * (a.T @ d_message)
        a *= d_message @ square.T
        b *= d_b
        scatter(self.left, self.sparse, a, 1.0, gradient[:n])
        scatter(self.right, self.sparse, b, 1.0, gradient[n + r : n + r + k])
        gradient[n : n + r] += a.sum(axis=0)
        gradient[n + r + k : n + 2 * r + k] += b.sum(axis=0)
        gradient[n + 2 * r + k :] += d_table.ravel()
        gradient += 2.0 * self.l2 * theta
        return value + self.penalty(theta), gradient


def seen_weights(sparse: Sparse, counts: Float) -> tuple[Pairs, Float]:
    """A weight for every feature with a row that some form (M, R) with that feature has; how often each was met."""
    forms, rows = np.nonzero(counts)
    lengths = np.diff(sparse.indptr)[forms]
    first = np.repeat(sparse.indptr[:-1][forms], lengths)
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    codes = distinct(sparse.indices[first + within].astype(np.int64) * counts.shape[1] + np.repeat(rows, lengths))
    found = pairs_from_codes(codes, sparse.n_features, counts.shape[1])
    seen = np.zeros(found.n_pairs)
    scatter(found, sparse, counts, 1.0, seen)
    return found, seen


def _with_words(forms: Forms, n_features: int) -> Sparse:
    """The features of forms, their observation first."""
    has = (forms.observation >= 0).astype(np.int64)
    indptr = forms.indptr + np.concatenate([[0], np.cumsum(has)])
    indices: Int32 = np.empty(int(indptr[-1]), np.int32)
    first = np.zeros(len(indices), np.bool_)
    first[indptr[:-1][has > 0]] = True
    indices[first], indices[~first] = forms.observation[has > 0], forms.indices
    return Sparse(indptr, indices, None, n_features)
