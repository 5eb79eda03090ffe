"""Many labels: pruned training and decoding on the Brown corpus and a treebank, both orders; 2,000 labels."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from chainfield import LinearCRF

from .empirical import N_TEST, brown
from .measure import Measurements, Options, Table

N_EXACT, N_EXACT_TEST = 2000, 8000  # sentences on which exact training finishes too, and those that judge it
N_TREES = 500  # of a treebank, for testing
N_LABELS, N_MADE_UP, N_MADE_UP_TEST = 2000, 20_000, 2000
Data = tuple[list[Any], list[list[str]]]


def run(options: Options) -> Measurements:
    """Everything from Python's lists to the fitted model, on one thread, in seconds of the processor."""
    sentences = brown(options.sample)
    test, train = _columns(sentences[:N_TEST]), _columns(sentences[N_TEST:])
    result = Measurements("many-labels")
    rows: list[list[str | float | None]] = []
    few = train[0][:N_EXACT], train[1][:N_EXACT]
    unseen = train[0][-N_EXACT_TEST:], train[1][-N_EXACT_TEST:]
    trees = _treebank(options.sample)
    some, others = (trees[0][N_TREES:], trees[1][N_TREES:]), (trees[0][:N_TREES], trees[1][:N_TREES])
    contestants: list[tuple[str, dict[str, Any], Data, Data]] = [
        ("first", {}, train, test),
        ("second", {"order": 2}, train, test),
        ("dictionary", {"prune_by": "dictionary"}, train, test),
        ("counts", {"prune_by": "counts"}, train, test),
        ("few_exact", {"prune": None}, few, unseen),
        ("few_pruned", {}, few, unseen),
        ("treebank_first", {}, some, others),
        ("treebank_second", {"order": 2}, some, others),
        ("made_up", {}, *_made_up(options.sample)),
    ]
    for name, settings, data, held_out in contestants:
        figures = _measured(LinearCRF(n_jobs=1, **settings), data, held_out)
        result.figures |= {f"{name}_{figure}": value for figure, value in figures.items()}
        rows.append([name, *figures.values()])
    result.tables = [Table("LinearCRF with many labels", ["model", *figures], rows)]
    result.tabled = list(result.figures)
    result.notes = [
        "first, second: Brown with all its tags, the default settings and built-in features. seconds: of the "
        "processor, everything from lists of words to the fitted model. decoding: tokens per second of `predict`, from "
        "lists of words, in seconds of the processor. width, lost: labels that the pruner leaves at a position, and "
        "the share of right ones that it would have lost, in per cent.",
        "dictionary, counts: the same with label dictionaries, and with shares of labels, in place of the softmax.",
        f"few: {N_EXACT:,} sentences, over all labels and pruned, by the same optimiser, judged by {N_EXACT_TEST:,} "
        "others.",
        "treebank: parts of speech of the Penn Treebank's sample, 45 labels without traces; first order over all "
        "labels, second order pruned, both by default.",
        f"made_up: {N_LABELS:,} labels, {N_MADE_UP:,} sentences of ten words; two labels may follow a label, and a "
        "word belongs to two labels.",
    ]
    return result


def _measured(model: LinearCRF, train: Data, test: Data) -> dict[str, float]:
    started = time.process_time()
    model.fit(*train)
    fitted = time.process_time()
    guess = model.predict(test[0])
    decoded = time.process_time()
    right = [a == b for truth, own in zip(test[1], guess, strict=True) for a, b in zip(truth, own, strict=True)]
    pruner = model.tagger_.chain.pruner
    return {
        "labels": len(model.classes_),
        "seconds": fitted - started,
        "accuracy": 100.0 * float(np.mean(right)),
        "decoding": len(right) / max(decoded - fitted, 1e-9),
        "width": float(len(model.classes_)) if pruner is None else pruner.width,
        "lost": 0.0 if pruner is None else 100.0 * pruner.lost,
    }


def _treebank(sample: int | None) -> Data:
    """Words and parts of speech of the trees, without traces."""
    X, y = list[Any](), list[list[str]]()
    for path in sorted((Path(os.environ.get("CHAINFIELD_DATA", "")) / "treebank" / "combined").glob("*.mrg")):
        for tree in re.split(r"\n(?=\( ?\()", path.read_text(encoding="utf-8")):
            leaves = [(tag, word) for tag, word in re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree) if tag != "-NONE-"]
            if leaves:
                X.append([(word,) for _, word in leaves])
                y.append([tag for tag, _ in leaves])
    if not X:
        raise click.ClickException("The corpus treebank is missing: CHAINFIELD_DATA must hold treebank/combined/*.mrg.")
    order = np.random.default_rng(0).permutation(len(X))[: None if sample is None else N_TREES + sample].tolist()
    return [X[i] for i in order], [y[i] for i in order]


def _columns(sentences: list[tuple[list[str], list[str]]]) -> Data:
    return [[(word,) for word in words] for words, _ in sentences], [labels for _, labels in sentences]


def _made_up(sample: int | None) -> tuple[Data, Data]:
    """Sentences of a Markov chain over labels."""
    rng = np.random.default_rng(0)

    def drawn(n: int) -> Data:
        X, y = [], []
        for _ in range(n):
            tags = [int(rng.integers(N_LABELS))]
            for step in rng.integers(2, size=9).tolist():
                tags.append((7 * tags[-1] + step) % N_LABELS)
            shifted = rng.random(10) < 0.3
            X.append([(f"w{(tag + int(other)) % N_LABELS}",) for tag, other in zip(tags, shifted, strict=True)])
            y.append([f"T{tag}" for tag in tags])
        return X, y

    return drawn(N_MADE_UP if sample is None else sample), drawn(N_MADE_UP_TEST if sample is None else sample)
