"""Streams: ``partial_fit`` over ten chunks in twenty orders, against one ``fit``, on every corpus of labels."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click
import numpy as np

from chainfield import LinearCRF, load
from suite.measure import Measurements, Options, Table

from .corpora import SOURCES, Split
from .grids import SPARSE
from .training import judged

N_CHUNKS, N_ORDERS, N_SAVED = 10, 20, 5
OBJECTIVES = ("likelihood", "perceptron")


def run(options: Options) -> Measurements:
    """On one thread. Sentences stand in random order; the orders are those of the chunks."""
    result, rows = Measurements("chunks"), []
    orders = range(N_ORDERS if options.sample is None else 2)
    for name in SPARSE:
        source = SOURCES[name]
        if source.folder() is None:
            raise click.ClickException(f"The corpus {source.corpus.name} is missing: set CHAINFIELD_DATA.")
        split = source.load()[0].first(options.sample)
        whole = {objective: _fitted(split, objective) for objective in OBJECTIVES}
        streamed = [_streamed(split, seed) for seed in orders]
        with tempfile.TemporaryDirectory() as folder:
            saved = [_streamed(split, seed, Path(folder)) for seed in orders[:N_SAVED]]
        rows.append([name, len(split.X), *whole.values(), min(streamed), float(np.median(streamed)), min(saved)])
        for objective, score in whole.items():
            result.figures[f"{name}_{objective}_worst_order_change"] = min(streamed) - score
        result.figures[f"{name}_from_files_change"] = min(saved) - whole["likelihood"]
        click.echo(f"{name}: {rows[-1]}", err=True)
    for objective in OBJECTIVES:
        changes = [result.figures[f"{name}_{objective}_worst_order_change"] for name in SPARSE]
        result.figures[f"{objective}_worst_change"] = min(changes)
    result.tabled = [name for name in result.figures if not name.endswith("_worst_change")]
    result.tables = [
        Table(
            f"Span F1 (tags, addresses: accuracy) of `partial_fit` over {N_CHUNKS} chunks",
            ["corpus", "sequences", "fit", "fit, perceptron", "worst order", "median order", "from files, worst"],
            rows,
        )
    ]
    result.notes = [
        f"The sequences of `defaults`, {N_CHUNKS} chunks in {N_ORDERS} orders, judged by other parts of the training "
        "data. A perceptron streams by its likelihood, so that both have the same streams. From files: the model is "
        f"saved and loaded after every chunk, so that no earlier sequence is at hand ({N_SAVED} orders)."
    ]
    return result


def _fitted(split: Split, objective: str) -> float:
    return 100.0 * judged(LinearCRF(n_jobs=1, objective=objective).fit(split.X, split.y), split)


def _streamed(split: Split, seed: int, folder: Path | None = None) -> float:
    """The score after all chunks; with a folder, by way of a file after each of them."""
    bounds = np.linspace(0, len(split.X), N_CHUNKS + 1).astype(int)
    model: Any = LinearCRF(n_jobs=1)
    for k in np.random.default_rng(seed).permutation(N_CHUNKS).tolist():
        at = slice(int(bounds[k]), int(bounds[k + 1]))
        model.partial_fit(split.X[at], split.y[at])
        if folder is not None:
            model.save(folder / "model.cf")
            model = load(folder / "model.cf", n_jobs=1)
    return 100.0 * judged(model, split)
