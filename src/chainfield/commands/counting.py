"""``chainfield train --model empirical``: counting a column file as it comes, without holding it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click


def count(estimator: Any, data: str, output: Path, options: dict[str, Any], columns: dict[str, Any]) -> None:
    """Count DATA and write the model; with --add, to the counts of an older one."""
    from chainfield.errors import ConfigError, DataError
    from chainfield.models import EmpiricalCRF, load

    if options["add"]:
        older = load(options["add"], options["jobs"])
        if not isinstance(older, EmpiricalCRF):
            raise ConfigError(f"{options['add']} is no empirical model: there are no counts to add to.")
        chosen = {"oov", "min_count", "decoder", "n_jobs"}
        estimator = older.set_params(**{name: getattr(estimator, name) for name in chosen})
    quiet, started, met = options["quiet"], time.perf_counter(), {"sentences": 0, "tokens": 0, "separator": None}
    (estimator.partial_fit_stream if options["add"] else estimator.fit_stream)(_stream(data, columns, met))
    if not met["sentences"]:
        raise DataError(f"{data} holds no sentence; write one token a line, with its label beside it.")
    separator = columns["separator"] if columns["separator"] is not None else met["separator"]
    estimator.save(output, notes={"label_column": options["label_column"], "separator": separator})
    if not quiet:
        tagger, size = estimator.tagger_, output.stat().st_size / 1e6
        click.echo(f"{data}: {met['sentences']:,} sentences, {met['tokens']:,} tokens", err=True)
        parts = [f"{len(tagger.task.labels)} labels", f"{tagger.features.n_features:,} features"]
        if estimator.scheme_ is not None:
            parts.append(f"scheme {estimator.scheme_}")
        click.echo(", ".join([*parts, f"{tagger.n_weights:,} counts"]), err=True)
        click.echo(f"Counted in {time.perf_counter() - started:.1f} s. Wrote {output} ({size:.1f} MB).", err=True)


def _stream(data: str, columns: dict[str, Any], met: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Sentences with their labels; keeps the books."""
    from chainfield.data import read_columns
    from chainfield.data.corpus import split_label

    reading = {name: columns[name] for name in ("encoding", "separator", "comments", "docstart")}
    for sentence in read_columns(data, **reading):
        if not met["sentences"] and "\t" in sentence.lines[0]:
            met["separator"] = "\t"
        met["sentences"] += 1
        met["tokens"] += len(sentence.rows)
        yield split_label(sentence, columns["label_column"], columns["unknown"])
