"""From counts to the scorers of an empirical CRF, and back."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError
from chainfield.fitted import FittedModel
from chainfield.scorers import Chain
from chainfield.states import StateSpace

from .counts import Counts, join_entries, join_label, paired, split_entries, split_label
from .exponential import fit_exponential
from .forms import Forms
from .half_rates import HalfRates
from .joint_rates import JointRates
from .known_words import Words
from .pair_functions import WordPairs, fit_halves, fit_joint, word_pairs
from .table import Table
from .together import fit_together
from .unseen import UnseenAverage, UnseenExponential
from .word_rates import WordRates

#: How words that were never met are judged: without weights, or by weights that are fitted.
OOV = ("auto", "empirical", "exponential", "together")
#: Words with their features, times labels, for which weights are fitted by default: the Brown corpus with 4,000
#: sentences and 330 labels has 4 million and takes 1.3 s; with 32,600 sentences it has 21 million and takes 31.
MOST_SCORES = 5_000_000
#: How the labels of words that were not met side by side are judged.
PAIRS = ("ladder", "exponential", "halves")


@dataclass(frozen=True)
class Fitted:
    """Which functions are fitted: of unseen words (one of OOV), of pairs of words (one of PAIRS); their penalty."""

    oov: str
    pairs: str
    l2: float


def chain_of(
    counts: Counts,
    labels: tuple[Any, ...],
    space: StateSpace,
    n_features: int,
    ladder: tuple[float, float, float],
    rare: tuple[float, float],
    counted: str,
    fitted: Fitted,
    n_jobs: int,
) -> tuple[Chain, Float]:
    """The chain of some counts, and its parameters: none, or those of exponential functions.

    ladder: strengths of the rates of labels, of one word, of two. rare: words met fewer times than the first number
    are judged by their features too, with the second as their strength.
    """
    min_count, strength = rare
    place = {label: i for i, label in enumerate(labels)}
    rows = np.array([place[label] for label in counts.labels], np.int64)
    words = words_of(counts, rows, n_features, len(labels), min_count)
    form, label = split_label(counts.samples.codes)
    forms = counts.forms
    fields: dict[str, Any] = {
        "observation": forms.observation,
        "n_own": np.diff(forms.indptr).astype(np.int32),
        "own": forms.indices,
        "form": form.astype(np.int32),
        "row": rows[label].astype(np.int32),
        "count": counts.samples.counts,
        "n_features": n_features,
        "n_rows": len(labels),
        "counted": counted,
        "min_count": min_count,
        "strength": strength,
    }
    average, theta = UnseenAverage(**fields), [np.empty(0)]
    unseen: UnseenAverage | UnseenExponential = average
    rates = rates_of(counts, rows, words, space, ladder)
    oov = fitted.oov
    if oov == "auto":
        oov = "exponential" if len(forms) * len(labels) <= MOST_SCORES else "empirical"
    if oov == "exponential":
        pairs, weight, bias = fit_exponential(
            forms, form, rows[label], average.weight, n_features, len(labels), l2=fitted.l2, n_jobs=n_jobs
        )
        unseen, theta = UnseenExponential(**fields, pairs=pairs), [weight, bias]
    elif oov == "together":
        beside = word_pairs(forms, rates)
        pairs, both = fit_together(beside, rates, form, rows[label], average.weight, fitted.l2)
        unseen, theta = UnseenExponential(**fields, pairs=pairs), [both]
    if fitted.pairs != "ladder" and len(rates.behind):  # without a single pair there is nothing to fit
        totals = average.totals if counted == "types" else None
        rates, more = sided(rates, word_pairs(forms, rates), fitted, totals, n_jobs)
        theta += more
    return Chain(space, (words, unseen), (rates,)), np.concatenate(theta)


def sided(
    rates: WordRates, pairs: WordPairs, fitted: Fitted, totals: Float | None, n_jobs: int
) -> tuple[WordRates, list[Float]]:
    """The same rates with functions of pairs of words, and their parameters."""
    own = {f.name: getattr(rates, f.name) for f in dataclasses.fields(rates) if f.init}
    if fitted.pairs == "exponential":
        left, right, theta = fit_joint(pairs, fitted.l2)
        return JointRates(**own, left=left, right=right), theta
    left, right, theta = fit_halves(pairs, totals, fitted.l2, n_jobs)
    return HalfRates(**own, left=left, right=right), theta


def words_of(counts: Counts, rows: Int, n_features: int, n_rows: int, min_count: float) -> Words:
    """Entries sorted by observation and row; those that were taken back are left out."""
    observation, label = split_label(counts.entries)
    there = counts.entry_counts > 0
    code = observation[there] * n_rows + rows[label[there]]
    order = np.argsort(code, kind="stable")
    return Words(
        (code[order] // n_rows).astype(np.int32),
        (code[order] % n_rows).astype(np.int32),
        counts.entry_counts[there][order],
        n_features,
        n_rows,
        min_count,
    )


def rates_of(
    counts: Counts, rows: Int, words: Words, space: StateSpace, ladder: tuple[float, float, float]
) -> WordRates:
    """Pairs of entries, in the order of the words."""
    observation, label = split_label(counts.entries)
    known = words.observation.astype(np.int64) * space.n_rows + words.row
    entry = np.searchsorted(known, observation * space.n_rows + rows[label])
    table = paired(counts.pairs, entry)
    before, behind = split_entries(table.codes)
    whole = space.n_edges == space.n_rows**2
    return WordRates(
        words.observation,
        words.row,
        words.count,
        np.bincount(before, minlength=len(words.row)).astype(np.int32),
        behind.astype(np.int32),
        table.counts,
        np.empty(0, np.int32) if whole else (space.src * space.n_rows + space.dst).astype(np.int32),
        words.n_features,
        space.n_rows,
        *ladder,
        words.min_count,
    )


def counts_of(fitted: FittedModel) -> Counts:
    """The counts behind a fitted model: its scorers hold all of them."""
    scorers = fitted.chain.scorers
    unseen = next((s for s in scorers if isinstance(s, UnseenAverage | UnseenExponential)), None)
    rates = next((s for s in scorers if isinstance(s, WordRates)), None)
    if unseen is None or rates is None:
        raise ConfigError("The model is no EmpiricalCRF: its scorers hold no counts.")
    forms = Forms(unseen.observation, np.concatenate([[0], np.cumsum(unseen.n_own, dtype=np.int64)]), unseen.own)
    samples = Table(np.empty(0, np.int64), unseen.count).recoded(
        join_label(unseen.form.astype(np.int64), unseen.row.astype(np.int64))
    )
    entries = join_label(rates.observation.astype(np.int64), rates.row.astype(np.int64))
    codes = join_entries(rates.before.astype(np.int64), rates.behind.astype(np.int64))
    return Counts(tuple(fitted.task.labels), forms, entries, samples, Table(codes, rates.pair_count))
