"""Rare spans: names thinned to one token in a hundred, with and without weights of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from chainfield import LinearCRF
from chainfield.metrics import span_f1
from suite.measure import Measurements, Options, Table

from .corpora import SOURCES, Split

CORPORA = ("names-nl", "names-en", "names-wiki", "names-bio")
SHARE = 0.01  # of tokens that belong to a name
TRAINING = 0.5  # of the sentences
MODELS: dict[str, dict[str, Any]] = {
    "unweighted": {},
    "balanced": {"class_weight": "balanced"},
    "tuned": {"tune_for": "span_f1"},
}


def run(options: Options) -> Measurements:
    """Train on half of the thinned training data of each corpus, judge by the other half."""
    result, rows = Measurements("rare-names"), []
    for name in CORPORA:
        source = SOURCES[name]
        folder = source.folder()
        if folder is None or source.read is None:
            raise click.ClickException(f"The corpus {source.corpus.name} is missing: set CHAINFIELD_DATA.")
        split = halves(*thinned(*source.read(folder), seed=0), options.sample)
        scores = {}
        for kind, settings in MODELS.items():
            model = LinearCRF(n_jobs=1, **settings).fit(split.X, split.y)
            scores[kind] = 100.0 * span_f1(split.y_dev, model.predict(split.X_dev))
            result.figures[f"{name}_{kind}"] = scores[kind]
        inside = sum(label != "O" for labels in split.y_dev for label in labels)
        rows.append([name, len(split.X), len(split.X_dev), *scores.values(), scores["balanced"] - scores["unweighted"]])
        click.echo(f"{name}: {scores}, {inside} tokens of names to find", err=True)
    result.figures["balanced_worst_change"] = min(float(row[-1]) for row in rows)
    result.tabled = [name for name in result.figures if name != "balanced_worst_change"]
    head = ["corpus", "sentences", "judged by", *MODELS, "balanced - unweighted"]
    result.tables = [Table("Span F1 of `LinearCRF` with 1 % of tokens in names", head, rows)]
    result.notes = [
        "All sentences without a name and a few with one, so that one token in a hundred belongs to a name; a random "
        'half of them trains. tuned: `tune_for="span_f1"`, by parts of the training data. Test data are not read.'
    ]
    return result


def thinned(X: Sequence[Any], y: Sequence[Any], seed: int) -> tuple[list[Any], list[Any]]:
    """All sentences without spans, and as many others as leave SHARE of the tokens in spans; in random order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X)).tolist()
    inside = np.array([sum(label != "O" for label in labels) for labels in y])
    plain = [i for i in order if inside[i] == 0]
    tokens, named = sum(len(y[i]) for i in plain), 0
    kept = set(plain)
    for i in order:
        if inside[i] and named + inside[i] <= SHARE * (tokens + len(y[i])):
            kept.add(i)
            tokens, named = tokens + len(y[i]), named + int(inside[i])
    chosen = rng.permutation(sorted(kept)).tolist()  # those with spans were found first
    return [X[i] for i in chosen], [y[i] for i in chosen]


def halves(X: list[Any], y: list[Any], sample: int | None) -> Split:
    """The first part trains, the others judge."""
    at = round(TRAINING * len(X))
    return Split(X[:at], y[:at], X[at:], y[at:]).first(sample)
