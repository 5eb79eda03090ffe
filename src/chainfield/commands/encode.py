"""``chainfield encode``: a corpus in numbers, in a folder, for trainings that need not hold it in memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from chainfield.errors import ConfigError

from .options import jobs, reading, reading_arguments


@click.command()
@click.argument("data", nargs=-1, required=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--template", metavar="FILE", help="Feature templates.  [default: the text template]")
@click.option("--min-count", type=int, default=1, show_default=True, help="Leave out features that are rarer.")
@click.option("--label-column", type=int, default=-1, show_default=True, help="Column of the label, from 0 or -1.")
@click.option("--unknown", help="Sign that marks an unknown label (partly labelled data).")
@click.option("--piece-bytes", type=int, help="Bytes of text in a piece.  [default: by the size of the corpus]")
@jobs
@reading
@click.option("--quiet", is_flag=True, help="Show nothing but errors.")
def encode(
    data: tuple[str, ...],
    folder: Path,
    template: str | None,
    min_count: int,
    label_column: int,
    unknown: str | None,
    piece_bytes: int | None,
    jobs: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Encode the files DATA into the new folder FOLDER, piece by piece.

    DATA are column files or arrays (.npz, for models of whole sequences): names, patterns such as 'data/*.txt', or
    addresses such as s3://bucket/*.txt (with fsspec).
    Train on the result with: chainfield train FOLDER OUTPUT
    """
    from chainfield.corpora import encode_corpus, plan_sources
    from chainfield.models.inputs import as_template, choose_map

    if min_count < 1:
        raise ConfigError(f"--min-count {min_count}: give 1 or more.")
    if piece_bytes is not None and piece_bytes < 1:
        raise ConfigError(f"--piece-bytes {piece_bytes}: give 1 or more.")
    templates = None if template is None else as_template(template)
    arguments = reading_arguments(**options)
    columns = {"label_column": label_column, "unknown": unknown, "piece_bytes": piece_bytes, **arguments}
    sources = plan_sources(list(data), **columns)
    notes = {"label_column": label_column, "separator": arguments["separator"]}
    choose = partial(choose_map, template=templates)
    watch = None if quiet else _show
    corpus = encode_corpus(sources, folder, choose, min_count=min_count, n_jobs=jobs, notes=notes, watch=watch)
    if not quiet:
        size = f"{corpus.profile.n_sequences:,} sentences, {corpus.profile.n_positions:,} tokens"
        features = corpus.features.n_features + corpus.features.n_edge_features
        click.echo(f"{folder}: {size}, {features:,} features, {len(corpus.files)} pieces", err=True)


def _show(stage: str, done: int, of: int) -> None:
    """One line per tenth of the way."""
    if done == of or done * 10 // of > (done - 1) * 10 // of:
        click.echo(f"{stage} {done} of {of} pieces", err=True)
