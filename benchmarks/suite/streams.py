"""Data in chunks (`partial_fit` in 20 orders) and long documents: training on them, probabilities of their spans."""

from __future__ import annotations

import time
from itertools import chain
from typing import Any

import numpy as np

from chainfield import HiddenUnitCRF, LatentCRF, LinearCRF
from chainfield.metrics import span_f1

from .measure import Measurements, Options, Table
from .tasks import dutch_ner, feature_strings

N_TRAIN, N_TEST, N_CHUNKS, N_ORDERS = 2000, 1000, 10, 20
POSITIONS = 10_000  # of a document
N_SEEDS = 6
TRAINERS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "default": (LinearCRF, {}),
    "l-bfgs": (LinearCRF, {"trainer": "lbfgs"}),
    "sdca": (LinearCRF, {"trainer": "sdca"}),
    "sgd": (LinearCRF, {"trainer": "sgd", "max_iter": 20}),
    "adam": (LinearCRF, {"trainer": "adam", "max_iter": 10}),
    "perceptron": (LinearCRF, {"objective": "perceptron"}),
    "large margin": (LinearCRF, {"objective": "large_margin"}),
    "passive-aggressive": (LinearCRF, {"objective": "perceptron", "trainer": "pa-i"}),
    "mira": (LinearCRF, {"objective": "perceptron", "trainer": "mira"}),
    "arow": (LinearCRF, {"objective": "perceptron", "trainer": "arow"}),
    "latent perceptron": (LatentCRF, {"objective": "perceptron", "n_init": 1}),
    "hidden units": (HiddenUnitCRF, {"hidden_units": 100, "max_iter": 20}),
}
Data = tuple[list[Any], list[list[str]]]


def run(options: Options) -> Measurements:
    """On one thread; Dutch names, chunks in the order of the corpus."""
    task = dutch_ner(options.sample or N_TRAIN)
    train, test = (
        (feature_strings(task.templates, part.rows), [list(labels) for labels in part.labels])
        for part in (task.train, task.test)
    )
    test = test[0][:N_TEST], test[1][:N_TEST]
    result = Measurements("streams")
    rows: list[list[str | float | None]] = []
    found = [_streamed(train, test, seed) for seed in range(N_ORDERS if options.sample is None else 2)]
    for objective in ("likelihood", "perceptron"):
        whole = _f1(LinearCRF(n_jobs=1, objective=objective).fit(*train), test)
        rows.append([objective, whole, min(found), float(np.median(found)), max(found)])
        result.figures |= {f"{objective}_fit": whole, f"{objective}_worst_order": min(found)}
    head = ["objective", "one fit", "worst order", "median", "best order"]
    result.tables = [Table(f"Span F1 of `partial_fit` over {N_CHUNKS} chunks, in {N_ORDERS} orders", head, rows)]
    documents, lines = _documents(train), []
    for name, (kind, settings) in TRAINERS.items():
        (a, seconds), (b, longer) = (_trained(kind, settings, data, test) for data in (train, documents))
        ratio = longer / max(seconds, 1e-9)
        lines.append([name, a, b, seconds, longer, ratio])
        key = name.replace(" ", "_").replace("-", "_")
        result.figures |= {
            f"{key}_documents_f1_change": b - a,
            f"{key}_documents_time_ratio": longer / max(seconds, 1e-9),
        }
    head = ["trainer", "F1 by sentences", "F1 by documents", "seconds", "seconds, documents", "ratio"]
    result.tables.append(
        Table(f"Training on documents of {POSITIONS:,} tokens, with the features of sentences", head, lines)
    )
    model = LinearCRF(n_jobs=1).fit(*train)
    document = [documents[0][0]]
    model.predict_confidence(document)
    started = time.perf_counter()
    spans = model.predict_confidence(document)[0].spans
    result.figures |= {"document_spans": float(len(spans)), "document_spans_seconds": time.perf_counter() - started}
    result.tabled = [name for name in result.figures if not name.startswith("document_")]
    result.notes = [
        "A perceptron streams by its likelihood: both rows have the same streams.",
        f"Documents: means over {N_SEEDS} seeds.",
        "document_spans_seconds: best labels and exact probabilities of all spans of one document.",
    ]
    return result


def _f1(model: Any, test: Data) -> float:
    return 100.0 * span_f1(test[1], model.predict(test[0]))


def _streamed(train: Data, test: Data, seed: int) -> float:
    bounds = np.linspace(0, len(train[0]), N_CHUNKS + 1).astype(int)
    model = LinearCRF(n_jobs=1)
    for k in np.random.default_rng(seed).permutation(N_CHUNKS).tolist():
        at = slice(int(bounds[k]), int(bounds[k + 1]))
        model.partial_fit(train[0][at], train[1][at])
    return _f1(model, test)


def _documents(data: Data) -> Data:
    """Sentences laid end to end, up to so many positions."""
    X, y = (list(chain.from_iterable(part)) for part in data)
    cuts = range(0, len(X), POSITIONS)
    return [X[at : at + POSITIONS] for at in cuts], [y[at : at + POSITIONS] for at in cuts]


def _trained(kind: type[Any], settings: dict[str, Any], data: Data, test: Data) -> tuple[float, float]:
    """Means over some seeds: the F1 of perceptrons differs by two points and more from seed to seed."""
    found, seconds = 0.0, 0.0
    for seed in range(N_SEEDS):
        model = kind(n_jobs=1, random_state=seed, **settings)
        started = time.process_time()
        model.fit(*data)
        seconds += time.process_time() - started
        found += _f1(model, test)
    return found / N_SEEDS, seconds / N_SEEDS
