"""``chainfield train`` for models of whole sequences: from arrays to a model file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from chainfield.errors import DataError


def train_sequences(estimator: Any, data: str, output: Path, options: dict[str, Any]) -> None:
    """Fit a classifier of whole sequences and save it."""
    from chainfield.data.array_corpus import load_arrays

    from .progress import Reporter

    found = load_arrays(data)
    dev = load_arrays(options["dev"]) if options["dev"] else None
    for part in (found, dev):
        if part is not None and not part.labelled:
            raise DataError(f"{part.source} has no labels; give y in the .npz file, or a folder for each label.")
    quiet = options["quiet"]
    if not quiet:
        positions = sum(map(len, found.sequences))
        click.echo(f"{found.source}: {len(found.sequences):,} sequences, {positions:,} positions", err=True)
    checkpoint = output.with_name(output.name + ".checkpoint")
    started, interrupted = time.perf_counter(), False
    with Reporter(quiet=quiet, log=options["log"]) as watch:
        try:
            estimator.fit(
                found.sequences,
                found.labels,
                X_dev=None if dev is None else dev.sequences,
                y_dev=None if dev is None else dev.labels,
                callback=watch,
                checkpoint=checkpoint,
                resume=options["resume"],
            )
        except KeyboardInterrupt:
            interrupted = True
        except DataError as error:
            raise found.named(error) from None
    if interrupted and not getattr(estimator, "history_", None):
        click.echo("Stopped before the first iteration was finished; nothing was saved.", err=True)
        raise SystemExit(130)
    estimator.save(output)
    if not interrupted:
        checkpoint.unlink(missing_ok=True)
    if not quiet:
        model = estimator.classifier_
        kept = estimator.history_[estimator.best_iteration_ - 1]
        parts = [
            f"{len(model.task.labels)} labels",
            f"{model.chain.space.n_states} states",
            f"{model.n_weights:,} weights",
        ]
        parts.append(f"{estimator.n_iter_} iterations of {estimator.trainer_}")
        click.echo(f"{', '.join(parts)}; objective {kept['objective']:.2f}", err=True)
        if "dev_score" in kept:
            best, at = 100 * kept["dev_score"], estimator.best_iteration_
            click.echo(f"best development accuracy {best:.2f} (iteration {at})", err=True)
        size = output.stat().st_size / 1e6
        how = "Interrupted" if interrupted else f"Done in {time.perf_counter() - started:.1f} s"
        click.echo(f"{how}: {estimator.stop_reason_}. Wrote {output} ({size:.1f} MB).", err=True)
    if interrupted:
        raise SystemExit(130)
