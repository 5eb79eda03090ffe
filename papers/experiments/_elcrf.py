"""What the experiments of the embedded latent CRF share: data, vectors, and cells of a table that are kept."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import chainfield
from chainfield.metrics import span_f1
from harness.cells import kept, place
from harness.corpora import CONLL2003, GLOVE50
from harness.experiment import Context

PAPER = (
    "Thai, Murty, Bansal, Vilnis, Belanger and McCallum, Low-Rank Hidden State Embeddings for Viterbi Sequence "
    "Labeling, ICML workshop on deep structured prediction 2017"
)
#: With this variable set to anything, the table is made of the trainings that are kept, and nothing is trained.
ONLY = "CHAINFIELD_CELLS_ONLY"
LABELS = 8
Sentences = tuple[list[list[str]], list[list[str]]]


def load(context: Context) -> tuple[Sentences, Sentences, Sentences]:
    """Words and IOB1 labels of the three parts."""
    parts = []
    for file, quick in zip(CONLL2003.files, (600, 200, 200), strict=True):
        corpus = chainfield.load_corpus(context.data[CONLL2003.name] / file)
        words = [[row[0] for row in sentence] for sentence in corpus.rows]
        labels = [[str(label) for label in sentence] for sentence in corpus.labels]
        parts.append((words[:quick], labels[:quick]) if context.quick else (words, labels))
    return parts[0], parts[1], parts[2]


def vectors(context: Context) -> tuple[list[str], np.ndarray]:
    """The words and their GloVe vectors."""
    folder = context.data[GLOVE50.name]
    table, words = (folder / file for file in GLOVE50.files)
    return words.read_text(encoding="utf-8").split("\n")[: len(np.load(table, mmap_mode="r"))], np.load(table)


@dataclass(frozen=True)
class Cell:
    """One training: its settings, and what came out: F1 on both parts, and the labels of the test data."""

    name: str
    settings: dict[str, Any]
    seed: int
    passes: int
    best: int
    dev: float
    test: float
    seconds: float
    labels: list[list[str]]


def cell(name: str, settings: dict[str, Any], seed: int, context: Context, data: Any, known: Any) -> Cell | None:
    """Train, choose the pass on development data, and score the test data; None if only kept trainings count."""

    def compute() -> dict[str, Any]:
        (x, y), (x_dev, y_dev), (x_test, y_test) = data
        told = {"context": "none", **settings}  # as in the paper
        model = chainfield.NeuralCRF(vectors=known, random_state=seed, n_jobs=context.jobs, **told)
        started = time.perf_counter()
        model.fit(x, y, X_dev=x_dev, y_dev=y_dev, callback=lambda p: context.log(f"{name}, seed {seed}: {p.to_dict()}"))
        seconds = time.perf_counter() - started
        labels = model.predict(x_test)
        dev, test = 100 * span_f1(y_dev, model.predict(x_dev)), 100 * span_f1(y_test, labels)
        context.log(f"{name}, seed {seed}: development {dev:.2f}, test {test:.2f}, {seconds:.0f} s")
        where = model_file(name, settings, seed, context)
        if where is not None:
            where.parent.mkdir(parents=True, exist_ok=True)
            model.save(where)
        plain = [[str(label) for label in own] for own in labels]
        found = Cell(name, settings, seed, model.n_iter_, model.best_iteration_, dev, test, seconds, plain)
        return asdict(found)

    told = {**settings, "seed": seed}
    where = place(name, told, context, compute.__module__)
    if os.environ.get(ONLY) and not (where is not None and where.exists()):
        return None
    return Cell(**kept(name, told, context, compute))


def model_file(name: str, settings: dict[str, Any], seed: int, context: Context) -> Path | None:
    """Where the model of a training is kept; None if there is no folder."""
    where = place(name, {**settings, "seed": seed}, context, __name__)
    return None if where is None else where.with_suffix(".cf")
