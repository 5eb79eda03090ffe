"""Confidence: coverage of conformal sets over random splits, and calibration of span probabilities; no peer has both.

The method is chosen on SNIPS: between the two calibrations, by the error on its test data. CoNLL-2003, on which nothing
was chosen, is what is reported.
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
}


def run(options: Options) -> Measurements:
    """Both corpora: train, then look at held-out texts only."""
    root = Path(os.environ.get("CHAINFIELD_DATA", ""))
    result, coverage, errors = Measurements("confidence"), [], []
    for name, files in CORPORA.items():
        if not all((root / file).is_file() for file in files):
            raise click.ClickException(f"The corpus {name} is missing: set CHAINFIELD_DATA to a folder that holds it.")
        train, *rest = (list(read_documents(root / file, "columns"))[: options.sample] for file in files)
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
        errors += _calibrated(tagger, rest if len(rest) > 1 else [held_out[::2], held_out[1::2]], name, result)
    result.tables = [
        Table(
            f"Conformal sets at alpha = {ALPHA}, {SPLITS} random halves",
            ("corpus", "sets of", "examples", "coverage", "5 %", "95 %", "within 0.88–0.92", "mean size"),
            coverage,
        ),
        Table(
            "Calibration error of span probabilities (10 bins), on texts that neither training nor calibration saw",
            ("corpus", "spans", "before", *(f"after {method}" for method in METHODS)),
            errors,
        ),
    ]
    result.tabled = list(result.figures)
    result.notes.append(
        "Default settings. Half of the held-out examples, drawn at random, give the threshold, and the others show how "
        "often sets hold the truth. Methods were tried on snips; nothing was chosen on conll2003. Sequences: of "
        f"the {N_BEST} best label sequences of a sentence; spans: the labels of each found span, with 'none'. The "
        "calibration learns from eng.testa and is measured on eng.testb; from every second test sentence of SNIPS, "
        "and measured on the others."
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


def _calibrated(tagger: TextTagger, parts: list[list[Document]], name: str, result: Measurements) -> list[list[object]]:
    (p, right, labels), (q, truth, names) = (_outcomes(tagger, part) for part in parts[:2])
    before = reliability(q, truth).error
    after = []
    for method in METHODS:
        after.append(reliability(fit_calibration(p, right, labels, method=method).apply(q, names), truth).error)
        result.figures[f"{name}_calibration_{method}"] = after[-1]
    result.figures[f"{name}_calibration_before"] = before
    return [[name, len(q), before, *after]]


def _outcomes(tagger: TextTagger, documents: list[Document]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    found = tagger.predict(documents)
    rows = [
        (s.probability, s.span in set(document.spans), s.label)
        for own, document in zip(found, documents, strict=True)
        for s in own
    ]
    p, right, labels = zip(*rows, strict=True)
    return np.array(p), np.array(right, float), list(labels)
