"""How much perceptrons differ from seed to seed, with hidden states and without."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from chainfield import LatentCRF, LinearCRF
from suite.measure import Measurements, Options, Table

from .corpora import SOURCES
from .training import judged

CORPORA = ("chunks", "names-nl", "names-en", "names-wiki", "slots", "addresses")
N_SEEDS = 5
MODELS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "perceptron": (LinearCRF, {"objective": "perceptron"}),
    "latent perceptron": (LatentCRF, {"objective": "perceptron"}),
    "latent likelihood": (LatentCRF, {}),
}


def run(options: Options) -> Measurements:
    """Every model with every seed on every corpus, all else by default."""
    result, rows = Measurements("seeds"), []
    for name in CORPORA:
        source = SOURCES[name]
        if source.folder() is None:
            raise click.ClickException(f"The corpus {source.corpus.name} is missing: set CHAINFIELD_DATA.")
        split = source.load()[0].first(options.sample)
        row: list[str | float | None] = [name]
        for title, (kind, settings) in MODELS.items():
            models = (
                kind(n_jobs=1, temperature=1.0, random_state=seed, **settings).fit(split.X, split.y)
                for seed in range(N_SEEDS)
            )
            scores = [100.0 * judged(model, split) for model in models]
            key = f"{name}_{title.replace(' ', '_')}"
            result.figures |= {f"{key}_mean": float(np.mean(scores)), f"{key}_range": max(scores) - min(scores)}
            row += [result.figures[f"{key}_mean"], result.figures[f"{key}_range"]]
        rows.append(row)
        click.echo(f"{row}", err=True)
    for title in MODELS:
        key = title.replace(" ", "_")
        result.figures[f"{key}_widest_range"] = max(result.figures[f"{name}_{key}_range"] for name in CORPORA)
    result.tabled = [name for name in result.figures if not name.endswith("_widest_range")]
    head = ["corpus", *(column for title in MODELS for column in (title, "range"))]
    result.tables = [Table(f"Span F1 or accuracy, mean and range over {N_SEEDS} seeds", head, rows)]
    result.notes = ["All defaults but the seed; the parts of corpora of `defaults`. Test data are not read."]
    return result
