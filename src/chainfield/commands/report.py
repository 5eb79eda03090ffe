"""``chainfield report``: a page on what a model does on labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chainfield.errors import ConfigError, DataError

from .options import (
    annotation_files,
    check_output,
    column_number,
    format_of_data,
    format_options,
    jobs,
    reading,
    reading_arguments,
)

if TYPE_CHECKING:
    from chainfield.formats.format import Options

DOCSTART = "-DOCSTART-"


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="MODEL... DATA")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The page (.html) or its data (.json).",
)
@click.option(
    "--train",
    help="The training data: adds a learning curve and doubtful labels of these data. Takes 15 more trainings.",
)
@click.option("--title", default="", help="Title of the page.")
@click.option("--errors", type=click.IntRange(min=0), default=200, show_default=True, help="Sentences with mistakes.")
@click.option("--label-column", help="Column of the gold label  [default: the model's]")
@format_of_data
@annotation_files
@click.option("--quiet", is_flag=True, help="Show nothing but errors.")
@jobs
@reading
def report(
    files: tuple[str, ...],
    output: Path,
    train: str | None,
    title: str,
    errors: int,
    label_column: str | None,
    format_: str | None,
    word_column: str | None,
    sentence_column: str | None,
    text_field: str | None,
    quiet: bool,
    jobs: int,
    **options: Any,
) -> None:
    """Write a page on what MODEL does on the labelled DATA: scores, mistakes, confidence, and what is inside.

    Several models are compared on the same data. The page is one file that needs no network. Documents that are
    separated by -DOCSTART- lines are resampled as wholes. DATA is a column file or annotated texts; for models of whole
    sequences, a .npz file or a folder of arrays.
    """
    if len(files) < 2:
        raise ConfigError("Give a model and labelled data: chainfield report MODEL DATA")
    if output.suffix.lower() not in (".html", ".htm", ".json"):
        raise ConfigError(f"{output}: the name of a report must end in .html or .json.")
    *models, data = files
    check_output(output, data, train, *models)
    from chainfield.files import check_writable
    from chainfield.formats.format import Options
    from chainfield.models import ClassifyingModel, load
    from chainfield.reports import report as make

    from .text import of_tokens

    check_writable(output)
    loaded = [load(name, jobs) for name in models]
    arguments = reading_arguments(**options)

    def read(path: str) -> tuple[Any, Any, Any]:
        if isinstance(loaded[0], ClassifyingModel):
            return _arrays(path)
        name, named = format_options(format_, word_column, sentence_column, text_field, path, arguments["encoding"])
        if name is not None:
            named = {**named, "label_column": label_column}
            return _texts(path, loaded[0], models[0], name, Options(encoding=arguments["encoding"], **named), quiet)
        return _columns(path, of_tokens(loaded[0]), models[0], column_number(label_column), arguments)

    X, y, groups = read(data)
    more: dict[str, Any] = {}
    if train is not None:
        X_train, y_train, train_groups = read(train)
        more = {"train": (X_train, y_train), "train_groups": train_groups}
    page = make(
        [of_tokens(model) for model in loaded],
        X,
        y,
        output,
        names=_names(models),
        groups=groups,
        title=title,
        source=Path(data).name,
        max_errors=errors,
        watch=None if quiet else lambda text: click.echo(text, err=True),
        **more,
    )
    if not quiet:
        click.echo(str(page))
        click.echo(f"Wrote {output} ({output.stat().st_size / 1e6:.1f} MB).", err=True)


def _names(paths: list[str]) -> list[str]:
    """What models are called: by their files, as short as they can be told apart."""
    stems = [Path(path).stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _columns(
    data: str, model: Any, name: str, label_column: int | None, arguments: dict[str, Any]
) -> tuple[Any, Any, Any]:
    """Sentences, their labels, and the document of each, where -DOCSTART- lines tell."""
    from chainfield.data import load_corpus
    from chainfield.files.model import load_tagger

    about = load_tagger(name)[1].get("notes", {})
    separator = arguments["separator"] if arguments["separator"] is not None else about.get("separator")
    column = about.get("label_column", -1) if label_column is None else label_column
    arguments = arguments | {"separator": separator, "docstart": "keep"}
    width = getattr(model.tagger_.features, "width", None)
    if width is None:
        raise ConfigError(
            f"{name} was trained on {model.tagger_.features.kind} features; make its report from Python: "
            "chainfield.report."
        )
    try:
        corpus = load_corpus(data, label_column=column, **arguments)
    except DataError as error:
        if "only one column" in str(error):
            raise DataError(
                f"{data} has no gold labels: it has only one column. A report needs labelled data."
            ) from None
        raise
    found = len(corpus.rows[0][0])
    if found != width:
        hint = " A report needs gold labels." if found + 1 == width else ""
        raise ConfigError(f"{corpus.source} has {found + 1} columns; the model needs {width} and the label.{hint}")
    rows, labels, groups, document = [], [], [], 0
    for cells, own in zip(corpus.rows, corpus.labels, strict=True):
        if len(cells) == 1 and cells[0][0] == DOCSTART:
            document += 1
        else:
            rows.append(list(cells))
            labels.append(own)
            groups.append(document)
    return rows, labels, groups if len(set(groups)) > 1 else None


def _texts(data: str, model: Any, name: str, kind: str, options: Options, quiet: bool) -> tuple[Any, Any, Any]:
    """Sentences of annotated texts, and their labels."""
    from chainfield.text.tagging.text_tagger import TextTagger

    from .gold import gold_texts

    gold = gold_texts(TextTagger.around(model, name), data, kind, options, quiet=quiet)
    return gold.rows, gold.labels, None


def _arrays(data: str) -> tuple[Any, Any, Any]:
    from chainfield.data.array_corpus import load_arrays

    found = load_arrays(data)
    if not found.labelled:
        raise DataError(f"{found.source} has no labels; give y in the .npz file, or a folder for each label.")
    return found.sequences, found.labels, None
