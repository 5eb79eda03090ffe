"""Many labels: pruned training and decoding on the Brown corpus, first and second order; 2,000 made-up labels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from chainfield import LinearCRF

from .empirical import N_TEST, brown
from .measure import Measurements, Options, Table

N_EXACT = 2000  # sentences on which exact training finishes too
N_LABELS, N_MADE_UP, N_MADE_UP_TEST = 2000, 20_000, 2000
Data = tuple[list[Any], list[list[str]]]


def run(options: Options) -> Measurements:
    """Everything from Python's lists to the fitted model, on one thread, in seconds of the processor."""
    sentences = brown(options.sample)
    test, train = _columns(sentences[:N_TEST]), _columns(sentences[N_TEST:])
    result = Measurements("many-labels")
    rows: list[list[str | float | None]] = []
    few = train[0][:N_EXACT], train[1][:N_EXACT]
    contestants: list[tuple[str, dict[str, Any], Data, Data]] = [
        ("first", {}, train, test),
        ("second", {"order": 2}, train, test),
        ("few_exact", {"prune": None, "trainer": "averaged", "max_iter": 6}, few, test),
        ("few_pruned", {"prune": 1e-3, "trainer": "averaged", "max_iter": 6}, few, test),
        ("few_optimum_exact", {"prune": None}, few, test),
        ("few_optimum_pruned", {"prune": 1e-3}, few, test),
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
        f"few: {N_EXACT:,} sentences, over all labels and pruned, by the same optimiser; optimum: by the default one.",
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
