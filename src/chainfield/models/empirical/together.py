"""Weights of unseen words, trained together with the known words beside them.

EP2 fits u(y | features) to words by themselves, and the two kinds of scores meet at prediction only; the authors
"believe the OOV accuracy can be further improved by training them together" (section 4.3). Here every word that was met
stands beside a neighbour that it was met with, as if it had never been met itself:

    P(y' | x, features of x') ∝ m(y' | x) u(y' | features of x'),     m(y' | x) = Σ_y ψ(y, x) φ(y, y' | x)

and the same for a neighbour behind it. ψ are the neighbour's label shares, φ the rates of one word (rung 2 of
:mod:`.word_rates`), so m is known before: the weights of u learn what neighbours leave open, and the problem is convex.
A word without neighbours has m = 1. All of it comes from counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from chainfield.arrays import Array, Float, Int, Integers
from chainfield.features.batch import Sparse
from chainfield.problem import Trainable
from chainfield.scorers import Pairs
from chainfield.scorers.pair_weights import gather, scatter

from .exponential import minimised
from .pair_functions import WordPairs, seen_weights
from .word_rates import WordRates

CHUNK = 1 << 20  # numbers that are worked on at a time


def fit_together(
    pairs: WordPairs, rates: WordRates, form: Int, row: Int, weight: Float, l2: float
) -> tuple[Pairs, Float]:
    """Pairs of features and rows, and the parameters of :class:`UnseenExponential` in its order.

    form, row, weight (n,): samples, and what each counts; it is shared out over the neighbours of a sample.
    """
    problem = TogetherProblem(pairs, rates, form, row, weight, l2)
    return problem.weights, minimised(problem)


@final
class TogetherProblem(Trainable):
    """minimise -Σ weight · log P(y | neighbour, features) + l2 ‖θ‖²; θ: a weight per pair, then a bias per row.

    G groups: a form beside a neighbour. Offsets are log m.
    """

    def __init__(self, pairs: WordPairs, rates: WordRates, form: Int, row: Int, weight: Float, l2: float) -> None:
        self.l2, self.n_rows = l2, pairs.n_rows
        forms, r = pairs.forms, pairs.n_rows
        self.sparse = Sparse(forms.indptr, forms.indices, None, pairs.n_features)
        codes, neighbour, count = _beside(pairs)
        known, place = np.unique(codes, return_inverse=True)
        met = np.bincount(place, weights=count, minlength=len(known))
        # What a sample counts is shared out over its neighbours; one without them stands by itself (neighbour 0).
        own = form.astype(np.int64) * r + row
        order = np.argsort(own)
        own, weight = own[order], weight[order]
        at = np.searchsorted(own, codes)
        alone = ~np.isin(own, known)
        sample = np.concatenate([codes, own[alone]])
        share = np.concatenate([count * weight[at] / met[place], weight[alone]])
        neighbour = np.concatenate([neighbour, np.zeros(int(alone.sum()), np.int64)])

        contexts, context = np.unique(neighbour, return_inverse=True)
        self.offsets = _offsets(contexts, pairs, rates)  # (contexts, R)
        groups, group = np.unique(sample // r * len(contexts) + context, return_inverse=True)
        self._form, self._context = groups // len(contexts), groups % len(contexts)
        self._weight = np.bincount(group, weights=share, minlength=len(groups)).astype(np.float64)  # (G,)
        counts = np.zeros((len(forms), r))
        np.add.at(counts, (sample // r, sample % r), share)
        self._given = float(share @ self.offsets[context, sample % r])
        self.weights, seen = seen_weights(self.sparse, counts)
        self._observed = np.concatenate([seen, counts.sum(axis=0)])

    @property
    def n_parameters(self) -> int:
        """P."""
        return len(self._observed)

    @property
    def n_sequences(self) -> int:
        """Groups."""
        return len(self._weight)

    @property
    def n_positions(self) -> int:
        """One in each."""
        return len(self._weight)

    @property
    def convex(self) -> bool:
        """A log-linear model with offsets."""
        return True

    def arrays(self) -> Iterable[Array]:
        """What the sum is made of."""
        return self._form, self._context, self._weight, self._observed, self.offsets

    def evaluate(self, theta: Float) -> tuple[float, Float]:
        """The objective and its gradient."""
        n, r = self.weights.n_pairs, self.n_rows
        scores = np.tile(theta[n:], (len(self.sparse.indptr) - 1, 1))
        gather(self.weights, self.sparse, np.ascontiguousarray(theta[:n]), scores)
        d, gradient = np.zeros_like(scores), -self._observed
        value = float(gradient @ theta) - self._given
        step = max(CHUNK // r, 1)
        for at in range(0, len(self._weight), step):
            form, weight = self._form[at : at + step], self._weight[at : at + step]
            own = scores[form] + self.offsets[self._context[at : at + step]]
            top = own.max(axis=1)
            np.exp(own - top[:, None], out=own)
            total = own.sum(axis=1)
            value += float(weight @ (np.log(total) + top))
            own *= (weight / total)[:, None]
            first = np.flatnonzero(np.diff(form, prepend=-1))  # groups are sorted by form
            d[form[first]] += np.add.reduceat(own, first)
        scatter(self.weights, self.sparse, d, 1.0, gradient[:n])
        gradient[n:] += d.sum(axis=0)
        gradient += 2.0 * self.l2 * theta
        return value + self.penalty(theta), gradient


def _beside(pairs: WordPairs) -> tuple[Int, Int, Float]:
    """(2P,) samples (form · R + row), the neighbour of each, and how often the two were met.

    A neighbour is 1 + its form if it stands before the sample, 1 + M + its form if it stands behind it.
    """
    m, r = len(pairs.forms), pairs.n_rows
    codes = np.concatenate([pairs.right * r + pairs.next_row, pairs.left * r + pairs.row])
    neighbour = np.concatenate([1 + pairs.left, 1 + m + pairs.right])
    return codes, neighbour, np.concatenate([pairs.count, pairs.count])


def _offsets(contexts: Int, pairs: WordPairs, rates: WordRates) -> Float:
    """(contexts, R) log m; 0 for no neighbour."""
    tables, m, r = rates.rates, len(pairs.forms), pairs.n_rows
    found = np.zeros((len(contexts), r))
    before = (tables.base, tables.right, tables.next_first, tables.next_label, tables.next_count, tables.next_total)
    behind = (
        tables.base.T, tables.left, tables.before_first, tables.before_label, tables.before_count, tables.before_total,
    )  # fmt: skip
    step = max(CHUNK // r, 1)
    for side, low, high in ((before, 1, m), (behind, 1 + m, 2 * m)):
        own = np.flatnonzero((contexts >= low) & (contexts <= high))
        for at in range(0, len(own), step):
            some = own[at : at + step]
            found[some] = _sums(pairs.forms.observation[contexts[some] - low], tables, *side)
    with np.errstate(divide="ignore"):
        return np.log(found, out=found, where=(contexts > 0)[:, None])


def _sums(
    words: Integers, tables: Any, base: Float, chance: Float, first: Int, label: Int, count: Float, total: Float
) -> Float:
    """(words, R) Σ_y ψ(y, x) φ(y, · | x), over the labels that each word had."""
    lengths = tables.entry_first[words + 1] - tables.entry_first[words]
    starts = np.cumsum(lengths) - lengths
    entry = np.repeat(tables.entry_first[words] - starts, lengths) + np.arange(int(lengths.sum()))
    alone = base[tables.entry_label[entry]]  # (entries, R)
    expected = total[entry][:, None] * chance + tables.word_strength
    n = first[entry + 1] - first[entry]
    rows = np.repeat(np.arange(len(entry)), n)
    places = np.repeat(first[entry] - (np.cumsum(n) - n), n) + np.arange(int(n.sum()))
    sums = tables.word_strength * alone
    sums[rows, label[places]] += count[places]  # a label stands once in the list of an entry
    rate = np.divide(sums, expected, out=alone, where=expected > 0)
    found: Float = np.add.reduceat(tables.entry_share[entry][:, None] * rate, starts)
    return found
