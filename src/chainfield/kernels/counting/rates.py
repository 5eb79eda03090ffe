"""Co-occurrence rates of labels, step by step, and Viterbi over the labels that a word may have.

The rate of a step from label y of word x to label y' of word x' climbs a ladder (see models.empirical.word_rates):

    r0(y, y')     = (c(y, y') + k0) / (e(y, y') + k0)                              labels alone
    rx(y, y')     = (c(x, y, y') + k1 r0) / (c(x, y, .) p(y') + k1)                the word before is known
    rx'(y, y')    = (c(y, x', y') + k1 r0) / (c(., x', y') p(y) + k1)              the word behind is known
    r             = the mean of those that are known, r0 if none is
    phi(y, y')    = [c(x, y, x', y') / (psi psi') + a r / Z] / (c(x, x') + a),     Z = sum of psi psi' r

The last rung is for pairs of words that were met often enough to speak for themselves. A rare word may have labels that
it never had before; for those, what is known of the other side counts, or r0.

A word has few labels of the hundreds there are. What a step costs is the product of the numbers of labels on its two
sides, in place of the square of the number of all labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chainfield.kernels.declare import Bool, Bool2D, Float, Float2D, Float3D, Int, Int32, Out
from chainfield.kernels.jit import inner, kernel, part

REBASE = 64  # as in chainfield.kernels.chain.max: the same sums in the same order


class Rates(NamedTuple):
    """L labels, F features, n entries (a word with a label), sorted by word, then by label."""

    base: Float2D  # (L, L) r0
    log_base: Float2D  # (L, L)
    left: Float  # (L,) share of a label among first sides of steps
    right: Float  # (L,) among second sides
    entry_first: Int  # (F+1,) entries of a word
    entry_label: Int32  # (n,)
    entry_share: Float  # (n,) psi
    pair_first: Int  # (n+1,) pairs whose first side is an entry
    pair_entry: Int32  # (pairs,) their second sides, ascending
    pair_count: Float  # (pairs,)
    next_first: Int  # (n+1,) labels behind an entry
    next_label: Int32
    next_count: Float
    next_total: Float  # (n,)
    before_first: Int  # (n+1,) labels before an entry
    before_label: Int32
    before_count: Float
    before_total: Float  # (n,)
    word_strength: float  # k1
    strength: float  # a


class Beyond(NamedTuple):
    """What is said of steps beyond counts: left[t, y] + right[t, y'] + tables[k, y, y'] for the step into t.

    table[t] is 0 where counts speak alone, 1 + k where this takes the place of the rates, -1 - k where it is added.
    """

    table: Int32  # (N,)
    left: Float2D  # (N, L)
    right: Float2D  # (N, L)
    tables: Float3D  # (K, L, L)


@inner
def entries_of(rates: Any, word: int, entries: Any, n: int, labels: Any) -> None:
    """The entry of each of n ascending labels of a rare word, -1 where it never had one; ``word``: -2 - its number."""
    for i in range(n):
        entries[i] = -1
    if word <= -2:
        i = 0
        for e in range(rates.entry_first[-2 - word], rates.entry_first[-1 - word]):
            while i < n and labels[i] < rates.entry_label[e]:
                i += 1
            if i < n and labels[i] == rates.entry_label[e]:
                entries[i] = e


@inner
def labels_of(rates: Any, word: int, labels: Any, entries: Any) -> int:
    """The labels that a word may have with their entries: all labels, unless the word is known well. How many."""
    n = 0
    if word >= 0:
        for e in range(rates.entry_first[word], rates.entry_first[word + 1]):
            labels[n] = rates.entry_label[e]
            entries[n] = e
            n += 1
    else:
        n = len(rates.left)
        for k in range(n):
            labels[k] = k
        entries_of(rates, word, entries, n, labels)
    return n


@inner
def search(values: Any, lo: int, hi: int, wanted: int) -> int:
    """The first place in an ascending run whose value is not below ``wanted``."""
    while lo < hi:
        middle = (lo + hi) // 2
        if values[middle] < wanted:
            lo = middle + 1
        else:
            hi = middle
    return lo


@part
def step_rates(
    rates: Any, word: int, before: Any, own: Any, n_before: int, behind: int, after: Any, theirs: Any, n_after: int,
    place: Any, out: Any,
) -> None:  # fmt: skip
    """Logarithms of the rates of one step into out[i, j]: label before[i] of ``word``, label after[j] of ``behind``.

    own, theirs: the entries of these labels, -1: none; all entries of a word that is known well (>= 0), in order.
    place (L,) is scratch memory and holds -1.
    """
    k1 = rates.word_strength
    for i in range(n_before):
        place[before[i]] = i
    for j in range(n_after):
        e = theirs[j]
        total = rates.before_total[e] if e >= 0 else 0.0
        y2 = after[j]
        if total <= 0.0:
            for i in range(n_before):
                out[i, j] = -1.0  # nothing known yet
            continue
        for i in range(n_before):
            r0 = rates.base[before[i], y2]
            expected = total * rates.left[before[i]] + k1
            out[i, j] = k1 * r0 / expected if expected > 0.0 else r0
        for c in range(rates.before_first[e], rates.before_first[e + 1]):
            i = place[rates.before_label[c]]
            if i >= 0:
                out[i, j] += rates.before_count[c] / (total * rates.left[before[i]] + k1)
    for i in range(n_before):
        place[before[i]] = -1
    for j in range(n_after):
        place[after[j]] = j
    for i in range(n_before):
        e = own[i]
        total = rates.next_total[e] if e >= 0 else 0.0
        y = before[i]
        if total <= 0.0:
            for j in range(n_after):
                if out[i, j] < 0.0:
                    out[i, j] = rates.base[y, after[j]]
            continue
        for c in range(rates.next_first[e], rates.next_first[e + 1]):
            j = place[rates.next_label[c]]
            if j >= 0:  # what was met is added where the label's turn comes
                place[rates.next_label[c]] = -2 - c
        for j in range(n_after):
            c = -2 - place[after[j]]
            met = rates.next_count[c] if place[after[j]] <= -2 else 0.0
            place[after[j]] = j
            r0 = rates.base[y, after[j]]
            expected = total * rates.right[after[j]] + k1
            rate = (met + k1 * r0) / expected if expected > 0.0 else r0
            out[i, j] = rate if out[i, j] < 0.0 else 0.5 * (out[i, j] + rate)
    for j in range(n_after):
        place[after[j]] = -1
    if word >= 0 and behind >= 0:
        e1 = rates.entry_first[word]
        e2 = rates.entry_first[behind]
        e3 = e2 + n_after
        met = 0.0
        for i in range(n_before):
            hi = rates.pair_first[e1 + i + 1]
            c = search(rates.pair_entry, rates.pair_first[e1 + i], hi, e2)
            while c < hi and rates.pair_entry[c] < e3:
                met += rates.pair_count[c]
                c += 1
        if met > 0.0:
            total = 0.0
            for i in range(n_before):
                for j in range(n_after):
                    total += rates.entry_share[e1 + i] * rates.entry_share[e2 + j] * out[i, j]
            a = rates.strength
            factor = a / total if total > 0.0 else 0.0
            for i in range(n_before):
                for j in range(n_after):
                    out[i, j] *= factor / (met + a)
                hi = rates.pair_first[e1 + i + 1]
                c = search(rates.pair_entry, rates.pair_first[e1 + i], hi, e2)
                while c < hi and rates.pair_entry[c] < e3:
                    j = rates.pair_entry[c] - e2
                    share = rates.entry_share[e1 + i] * rates.entry_share[e2 + j]
                    out[i, j] += rates.pair_count[c] / (share * (met + a))
                    c += 1
    for i in range(n_before):
        for j in range(n_after):
            out[i, j] = np.log(out[i, j]) if out[i, j] > 0.0 else -np.inf


@inner
def step_scores(
    rates: Any, beyond: Any, t: int, word: int, before: Any, own: Any, n: int, behind: int, after: Any, theirs: Any,
    m: int, place: Any, out: Any,
) -> None:  # fmt: skip
    """Scores of the step into t: of counts (see step_rates), and of what is said beyond them."""
    table = beyond.table[t]
    if table <= 0:
        step_rates(rates, word, before, own, n, behind, after, theirs, m, place, out)
    if table != 0:
        k = abs(table) - 1
        for i in range(n):
            for j in range(m):
                more = beyond.left[t, before[i]] + beyond.right[t, after[j]] + beyond.tables[k, before[i], after[j]]
                out[i, j] = out[i, j] + more if table < 0 else more


@kernel
def fill_rates(rates: Rates, beyond: Beyond, words: Int32, offsets: Int, out: Out[Float3D]) -> None:
    """Logarithms of rates into out (N, L, L), row t for the step into t; labels that a word never had get log r0."""
    n_labels = len(rates.left)
    before = np.empty(n_labels, np.int32)
    after = np.empty(n_labels, np.int32)
    own = np.empty(n_labels, np.int64)
    theirs = np.empty(n_labels, np.int64)
    place = np.full(n_labels, -1, np.int32)
    step = np.empty((n_labels, n_labels))
    for s in range(len(offsets) - 1):
        for t in range(offsets[s] + 1, offsets[s + 1]):
            n = labels_of(rates, words[t - 1], before, own)
            m = labels_of(rates, words[t], after, theirs)
            if n < n_labels or m < n_labels:
                for i in range(n_labels):
                    for j in range(n_labels):
                        out[t, i, j] = rates.log_base[i, j]
            step_scores(rates, beyond, t, words[t - 1], before, own, n, words[t], after, theirs, m, place, step)
            for i in range(n):
                for j in range(m):
                    out[t, before[i], after[j]] = step[i, j]


@kernel
def best_labels(
    rates: Rates, beyond: Beyond, allowed: Bool2D, start: Bool, end: Bool, words: Int32, offsets: Int, node: Float2D,
    labels: Out[Int32], score: Out[Float],
) -> None:  # fmt: skip
    """Viterbi over the labels that words may have: the best labels (N,), and the score of each sequence (S,).

    allowed (L, L), start (L,), end (L,): the rules. Labels whose node score is -inf cost nothing. Sums are made in the
    order of the dense recursion, so that the result is the same, ties and all.
    """
    n_labels = len(start)
    score[:] = 0.0
    place = np.full(n_labels, -1, np.int32)
    for s in range(len(offsets) - 1):
        at = offsets[s]
        n = offsets[s + 1] - at
        if n == 0:
            continue
        first = np.zeros(n + 1, np.int64)  # where the labels of a position lie
        for t in range(n):
            word = words[at + t]
            m = 0
            if word >= 0:
                m = rates.entry_first[word + 1] - rates.entry_first[word]
            else:
                for k in range(n_labels):
                    if node[at + t, k] > -np.inf:
                        m += 1
            first[t + 1] = first[t] + m
        own = np.empty(first[n], np.int32)
        entry = np.empty(first[n], np.int64)
        back = np.full(first[n], -1, np.int32)
        delta = np.full(first[n], -np.inf)
        base = 0.0
        widest = 0
        for t in range(n):
            lo = first[t]
            m = first[t + 1] - lo
            widest = max(widest, m)
            word = words[at + t]
            if word >= 0:
                for i in range(m):
                    entry[lo + i] = rates.entry_first[word] + i
                    own[lo + i] = rates.entry_label[entry[lo + i]]
            else:
                i = lo
                for k in range(n_labels):
                    if node[at + t, k] > -np.inf:
                        own[i] = k
                        i += 1
                entries_of(rates, word, entry[lo:], m, own[lo:])
        step = np.empty((widest, widest))
        for t in range(n):
            lo = first[t]
            m = first[t + 1] - lo
            after = own[lo : lo + m]
            if t == 0:
                for j in range(m):
                    delta[lo + j] = 0.0 + node[at, after[j]] if start[after[j]] else -np.inf
            else:
                p = first[t - 1]
                before = own[p:lo]
                step_scores(
                    rates, beyond, at + t, words[at + t - 1], before, entry[p:lo], lo - p, words[at + t], after,
                    entry[lo:], m, place, step,
                )  # fmt: skip
                for j in range(m):
                    top = -np.inf
                    best = -1
                    for i in range(lo - p):
                        if allowed[before[i], after[j]]:
                            value = delta[p + i] + step[i, j]
                            if value > top:
                                top = value
                                best = i
                    back[lo + j] = best
                    delta[lo + j] = top + node[at + t, after[j]]
            if t % REBASE == REBASE - 1:
                top = -np.inf
                for j in range(m):
                    top = max(top, delta[lo + j])
                if top > -np.inf:
                    base += top
                    for j in range(m):
                        delta[lo + j] -= top
        lo = first[n - 1]
        top = -np.inf
        best = -1
        for j in range(first[n] - lo):
            if end[own[lo + j]] and delta[lo + j] > top:
                top = delta[lo + j]
                best = j
        score[s] = base + top
        if best < 0:
            continue
        for t in range(n - 1, -1, -1):
            labels[at + t] = own[first[t] + best]
            best = back[first[t] + best]
