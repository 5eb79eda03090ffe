"""Confidence: coverage of conformal sets over random splits, and calibration of span probabilities; no peer has both.

Nothing was chosen on these figures: calibration chooses between its methods by itself, on the half that it learns from.
"""

from __future__ import annotations

import os
from pathlib import Path

import click
import numpy as np

from chainfield import TextTagger
from chainfield.confidence.calibration import METHODS, fit_calibration
from chainfield.confidence.conformal import conformal_threshold
from chainfield.formats import read_documents
from chainfield.metrics.reliability_bins import reliability
from chainfield.text import Document
from chainfield.text.tagging.span_sets import ranked_labels

from .measure import Measurements, Options, Table

ALPHA = 0.1
SPLITS = 200
N_BEST = 100
CORPORA = {
    "snips": ("snips/snips.train.conll", "snips/snips.test.conll"),
    "conll2003": ("conll2003/eng.train", "conll2003/eng.testa", "conll2003/eng.testb"),
    "conll2002-ned": ("conll2002/ned.train", "conll2002/ned.testa", "conll2002/ned.testb"),
    "wikigold": ("wikigold/wikigold.conll.txt",),
}
Outcomes = tuple[np.ndarray, np.ndarray, np.ndarray]  # probabilities of spans, whether they are right, labels
HALVES = 20  # random halves of held-out texts for the calibration
HEAD = ("corpus", "learned from", "spans", "before", *(f"after {method}" for method in METHODS), "exact ones")


def run(options: Options) -> Measurements:
    """Every corpus: train, then look at held-out texts only."""
    root = Path(os.environ.get("CHAINFIELD_DATA", ""))
    result, coverage, errors = Measurements("confidence"), [], []
    for name, files in CORPORA.items():
        if not all((root / file).is_file() for file in files):
            raise click.ClickException(f"The corpus {name} is missing: set CHAINFIELD_DATA to a folder that holds it.")
        train, *rest = (list(read_documents(root / file, "columns"))[: options.sample] for file in files)
        if not rest:  # one file: every third sentence trains
            train, rest = train[::3], [train[1::3] + train[2::3]]
        tagger = TextTagger().fit(train)
        held_out = [document for part in rest for document in part]
        for kind, (truth, sizes) in {
            "sequences": _sequences(tagger, held_out),
            "spans": _spans(tagger, held_out),
        }.items():
            found = _splits(truth, sizes)
            coverage.append([name, kind, len(truth), *found])
            result.figures[f"{name}_{kind}_coverage"], result.figures[f"{name}_{kind}_inside"] = found[0], found[3]
            result.figures[f"{name}_{kind}_mean_size"] = found[4]
        errors += _calibrated([_outcomes(tagger, part) for part in rest], name, result)
    result.tables = [
        Table(
            f"Conformal sets at alpha = {ALPHA}, {SPLITS} random halves",
            ("corpus", "sets of", "examples", "coverage", "5 %", "95 %", "within 0.88–0.92", "mean size"),
            coverage,
        ),
        Table(
            "Calibration error of span probabilities (10 bins), on texts that neither training nor calibration saw",
            HEAD,
            errors,
        ),
    ]
    result.tabled = list(result.figures)
    result.notes.append(
        "Default settings. Half of the held-out examples, drawn at random, give the threshold, and the others show how "
        f"often sets hold the truth. Sequences: of the {N_BEST} best label sequences of a sentence; spans: the labels "
        f"of each found span, with 'none'. Calibration: means over {HALVES} random halves of the held-out spans; testa "
        "and testb: learned from the one, measured on the other, which are of other days and not alike. exact ones: "
        "what probabilities that are exactly right would show with as many spans, by chance. auto is the default."
    )
    return result


def _sequences(tagger: TextTagger, documents: list[Document]) -> tuple[np.ndarray, list[np.ndarray]]:
    """1 - p of the right label sequence of each text (0 if it comes first), and 1 - p of those behind the first."""
    _, tokens, labels = tagger.aligned(documents)
    truth = tokens.sequences.cut(labels)
    scores, others = [], []
    for found, gold in zip(tagger.model_.predict_n_best(tokens.rows(), N_BEST), truth, strict=True):
        p = np.array([probability for _, probability in found])
        at = next((i for i, (own, _) in enumerate(found) if own == gold), None)
        scores.append((np.inf if at is None else 1.0 - p[at], at == 0))
        others.append(1.0 - p[1:])
    return np.array(scores), others


def _spans(tagger: TextTagger, documents: list[Document]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The same for the labels of each found span."""
    scores, others = [], []
    for ranked, document in zip(ranked_labels(tagger, documents), documents, strict=True):
        right = {(a, b): y for a, b, y in document.spans}
        for span, answers in ranked:
            wanted = right.get((span.start, span.end), "none")
            at = next((i for i, (label, _) in enumerate(answers) if label == wanted), None)
            scores.append((np.inf if at is None else 1.0 - answers[at][1], at == 0))
            others.append(1.0 - np.array([p for _, p in answers[1:]]))
    return np.array(scores), others


def _splits(truth: np.ndarray, others: list[np.ndarray]) -> list[float]:
    """Coverage (mean, 5 %, 95 %), the share of splits within 0.88–0.92, and the mean size of sets."""
    rng, n = np.random.default_rng(0), len(truth)
    lengths = np.array([len(own) for own in others])
    of, flat = np.repeat(np.arange(n), lengths), np.concatenate(others)
    covered, sizes = [], []
    for _ in range(SPLITS):
        drawn = rng.permutation(n)
        threshold = conformal_threshold(truth[drawn[: n // 2], 0], ALPHA)
        test = drawn[n // 2 :]
        covered.append(float(((truth[test, 0] <= threshold) | (truth[test, 1] > 0)).mean()))
        size = 1 + np.bincount(of[flat <= threshold], minlength=n)
        sizes.append(float(size[test].mean()))
    found = np.array(covered)
    inside = float(((found >= 0.88) & (found <= 0.92)).mean())
    low, high = np.quantile(found, [0.05, 0.95])
    return [float(found.mean()), float(low), float(high), inside, float(np.mean(sizes))]


def _calibrated(parts: list[Outcomes], name: str, result: Measurements) -> list[list[object]]:
    """Errors before and after: over random halves of all held-out spans, and from one part to the other."""
    rng = np.random.default_rng(0)
    p, right, labels = (np.concatenate(own) for own in zip(*parts, strict=True))
    drawn = [np.array_split(rng.permutation(len(p)), 2) for _ in range(HALVES)]
    halves = [_errors(*((p[own], right[own], labels[own]) for own in pair), rng) for pair in drawn]
    means = np.mean(halves, axis=0).tolist()
    for what, value in zip(("before", *METHODS, "exact"), means, strict=True):
        result.figures[f"{name}_calibration_{what}"] = value
    rows: list[list[object]] = [[name, "a random half", len(p) // 2, *means]]
    if len(parts) > 1:
        rows.append([name, "testa, for testb", len(parts[1][0]), *_errors(parts[0], parts[1], rng)])
    return rows


def _errors(learned: Outcomes, asked: Outcomes, rng: np.random.Generator) -> list[float]:
    """The error before, after each method, and of probabilities that are exactly right."""
    q, truth, names = asked
    after = [fit_calibration(*learned[:2], learned[2].tolist(), method=m).apply(q, names) for m in METHODS]
    exact = np.mean([reliability(q, (rng.random(len(q)) < q).astype(float)).error for _ in range(10)])
    return [*(reliability(one, truth).error for one in (q, *after)), float(exact)]


def _outcomes(tagger: TextTagger, documents: list[Document]) -> Outcomes:
    found = tagger.predict(documents)
    rows = [
        (s.probability, s.span in set(document.spans), s.label)
        for own, document in zip(found, documents, strict=True)
        for s in own
    ]
    p, right, labels = zip(*rows, strict=True)
    return np.array(p), np.array(right, float), np.array(labels, object)
