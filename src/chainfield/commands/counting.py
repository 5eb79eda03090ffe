"""``chainfield train --model empirical``: counting a column file as it comes, without holding it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource


def count(estimator: Any, data: str, output: Path, options: dict[str, Any], columns: dict[str, Any]) -> None:
    """Count DATA and write the model; with --add, to the counts of an older one."""
    from chainfield.data import stream_corpus
    from chainfield.errors import ConfigError
    from chainfield.models import EmpiricalCRF, load

    context = click.get_current_context()
    if options["add"]:
        older = load(options["add"], options["jobs"])
        if not isinstance(older, EmpiricalCRF):
            raise ConfigError(f"{options['add']} is no empirical model: there are no counts to add to.")
        given = [name for name in options if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        for name in ("template", "scheme", "forbid"):
            if name in given:
                raise ConfigError(f"--{name} has no effect with --add: {options['add']} has its own; leave it out.")
        changed = {"n_jobs", *{"oov", "min_count", "l2", "decoder"}.intersection(given)}
        estimator = older.set_params(**{name: getattr(estimator, name) for name in changed})
    started, stream = time.perf_counter(), stream_corpus(data, **columns)
    (estimator.partial_fit_stream if options["add"] else estimator.fit_stream)(stream)
    estimator.save(output, notes={"label_column": options["label_column"], "separator": stream.separator})
    if not options["quiet"]:
        tagger, size = estimator.tagger_, output.stat().st_size / 1e6
        click.echo(f"{data}: {stream.n_sentences:,} sentences, {stream.n_positions:,} tokens", err=True)
        parts = [f"{len(tagger.task.labels)} labels", f"{tagger.features.n_features:,} features"]
        if estimator.scheme_ is not None:
            parts.append(f"scheme {estimator.scheme_}")
        click.echo(", ".join([*parts, f"{tagger.n_weights:,} counts"]), err=True)
        click.echo(f"Counted in {time.perf_counter() - started:.1f} s. Wrote {output} ({size:.1f} MB).", err=True)
