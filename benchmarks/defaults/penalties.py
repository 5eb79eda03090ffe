"""The penalty of likelihoods over sparse features: on the small parts of the harness, and on all training data."""

from __future__ import annotations

import click
import numpy as np

from chainfield import LinearCRF
from suite.measure import Measurements, Options, Table

from .corpora import SOURCES, Source, Split, cut
from .grids import SPARSE
from .training import judged

PENALTIES = (0.015, 0.05, 0.15, 0.5, 1.5)
HELD_OUT, MOST = 6, 3000  # a sixth of the sequences, at most so many, judges models of all others


def run(options: Options) -> Measurements:
    """Every penalty on every corpus, in both sizes."""
    result, rows = Measurements("penalties"), []
    regrets: dict[str, list[float]] = {f"{penalty:g}": [] for penalty in PENALTIES}
    for name in SPARSE:
        source = SOURCES[name]
        if source.folder() is None:
            raise click.ClickException(f"The corpus {source.corpus.name} is missing: set CHAINFIELD_DATA.")
        for split in (*source.load(), whole(source)):
            own = split.first(options.sample)
            scores = {
                f"{penalty:g}": 100.0 * judged(LinearCRF(n_jobs=1, l2=penalty).fit(own.X, own.y), own)
                for penalty in PENALTIES
            }
            for penalty, score in scores.items():
                regrets[penalty].append(max(scores.values()) - score)
            rows.append([name, len(own.X), *scores.values()])
            click.echo(f"{name}, {len(own.X)} sequences: {scores}", err=True)
    result.figures = {f"worst_regret_{penalty}": max(own) for penalty, own in regrets.items()}
    result.tables = [
        Table(
            "Span F1 or accuracy of `LinearCRF` by its penalty",
            ["corpus", "sequences", *(f"l2={penalty}" for penalty in regrets)],
            rows,
        )
    ]
    result.notes = [
        "Small parts as in `defaults`, and all training data but a sixth (3,000 sequences at most), which judges. Test "
        "data are not read."
    ]
    return result


def whole(source: Source) -> Split:
    """All sequences of the training data, some of them held out."""
    folder = source.folder()
    assert folder is not None
    assert source.read is not None
    X, y = source.read(folder)
    order = np.random.default_rng(0).permutation(len(X)).tolist()
    n = min(len(X) // HELD_OUT, MOST)
    return cut(X, y, order[n:], order[:n])
