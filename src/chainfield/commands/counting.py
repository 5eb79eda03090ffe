"""``chainfield train --model empirical``: counting a column file as it comes, without holding it; and texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from .training_data import TrainingData


def count(
    estimator: Any,
    data: str,
    output: Path,
    add: str | None,
    settings: dict[str, Any],
    columns: dict[str, Any],
    *,
    quiet: bool,
) -> None:
    """Count DATA and write the model; with --add, to the counts of an older one."""
    from chainfield.data import stream_corpus
    from chainfield.errors import ConfigError
    from chainfield.kernels.clock import working_time
    from chainfield.models import EmpiricalCRF, load

    if add:
        older = load(add, estimator.n_jobs)
        if not isinstance(older, EmpiricalCRF):
            raise ConfigError(f"{add} is no empirical model: there are no counts to add to.")
        for name in ("template", "scheme", "forbidden"):
            if name in settings:
                flag = EmpiricalCRF.settings[name].flag
                raise ConfigError(f"{flag} has no effect with --add: {add} has its own; leave it out.")
        estimator = older.set_params(**settings)
    started, stream = working_time(), stream_corpus(data, **columns)
    (estimator.partial_fit_stream if add else estimator.fit_stream)(stream)
    estimator.save(output, notes={"label_column": columns["label_column"], "separator": stream.separator})
    if not quiet:
        click.echo(f"{data}: {stream.n_sentences:,} sentences, {stream.n_positions:,} tokens", err=True)
        _tell(estimator, output, working_time() - started)


def count_texts(tagger: Any, found: TrainingData, output: Path, *, quiet: bool) -> None:
    """Count the tokens of annotated texts and write the model."""
    from chainfield.errors import DataError
    from chainfield.kernels.clock import working_time

    started = working_time()
    try:
        tagger.fit(found.X)
    except DataError as error:
        raise found.named(error) from None
    tagger.save(output, notes=found.notes)
    if not quiet:
        _tell(tagger.model_, output, working_time() - started)


def _tell(estimator: Any, output: Path, seconds: float) -> None:
    """What was counted, and where it stands."""
    tagger, size = estimator.tagger_, output.stat().st_size / 1e6
    parts = [f"{len(tagger.task.labels)} labels", f"{tagger.features.n_features:,} features"]
    if estimator.scheme_ is not None:
        parts.append(f"scheme {estimator.scheme_}")
    kind = "counts and weights" if len(tagger.theta) else "counts"  # weights: of unseen words
    click.echo(", ".join([*parts, f"{tagger.n_weights:,} {kind}"]), err=True)
    click.echo(f"Counted in {seconds:.1f} s. Wrote {output} ({size:.1f} MB).", err=True)
