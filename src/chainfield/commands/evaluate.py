"""``chainfield evaluate``: scores of a model, or of a file with gold and predicted labels."""

from __future__ import annotations

import json
from typing import Any

import click

from chainfield.errors import ConfigError

from .options import annotation_files, column_number, format_of_data, format_options, jobs, reading, reading_arguments


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="[MODEL] DATA")
@click.option("--json", "as_json", is_flag=True, help="Write all figures as JSON.")
@click.option("--conlleval", is_flag=True, help="Write what the script conlleval writes, to the letter.")
@click.option("--confusion", is_flag=True, help="Show which labels are taken for which.")
@click.option("--scheme", default="conlleval", show_default=True, help="How spans are read off labels.")
@click.option("--label-column", help="Column of the gold label  [default: the model's; the last but one]")
@format_of_data
@annotation_files
@jobs
@reading
def evaluate(
    files: tuple[str, ...],
    as_json: bool,
    conlleval: bool,
    confusion: bool,
    scheme: str,
    label_column: str | None,
    format_: str | None,
    word_column: str | None,
    sentence_column: str | None,
    text_field: str | None,
    jobs: int,
    **options: Any,
) -> None:
    """Compare the labels of DATA with those that MODEL gives: a column file, or annotated texts.

    Without MODEL, the last column of DATA holds predicted labels and the one before it gold labels, as in the output
    of `chainfield tag` and the input of conlleval.
    """
    if len(files) > 2:
        raise ConfigError("Give a model and a data file, or a data file alone.")
    arguments = reading_arguments(**options)
    if len(files) == 2:
        name, named = format_options(format_, word_column, sentence_column, text_field, files[1], options["encoding"])
        if name is not None:
            truth, guess, known = _of_texts(*files, name, {**named, "label_column": label_column}, jobs, arguments)
        else:
            truth, guess, known = _predicted(*files, column_number(label_column), jobs, arguments)
    else:
        _refuse_model(files[0])
        truth, guess, known = _columns(files[0], column_number(label_column), arguments)
    from chainfield.metrics import conlleval_text
    from chainfield.metrics import evaluate as score

    report = score(truth, guess, scheme, known_labels=known)
    if report.unknown_labels:
        names = ", ".join(report.unknown_labels[:5])
        click.echo(f"Warning: labels that the model has never seen count as errors: {names}.", err=True)
    if as_json:
        click.echo(json.dumps(report.to_dict(), ensure_ascii=False))
    elif conlleval:
        click.echo(conlleval_text(report), nl=False)
    else:
        from .tables import show_report

        show_report(report, confusion=confusion)


def _refuse_model(data: str) -> None:
    """A model alone is not enough."""
    from pathlib import Path

    from chainfield.files.container import is_container

    if Path(data).is_file() and is_container(Path(data)):
        raise ConfigError(f"{data} is a model; name the data behind it: chainfield evaluate MODEL DATA.")


def _of_texts(model: str, data: str, name: str, named: dict[str, Any], jobs: int, arguments: dict[str, Any]) -> Any:
    from pathlib import Path

    from chainfield.formats.format import Options

    from .gold import gold_texts
    from .text import text_tagger

    tagger = text_tagger(Path(model), jobs, None)
    gold = gold_texts(tagger, data, name, Options(encoding=arguments["encoding"], **named))
    return gold.labels, tagger.model_.predict(gold.rows), list(tagger.model_.classes_)


def _predicted(model: str, data: str, label_column: int | None, jobs: int, arguments: dict[str, Any]) -> Any:
    from chainfield.data import load_corpus
    from chainfield.files.model import load_tagger
    from chainfield.parallel import count_jobs

    tagger, about = load_tagger(model, count_jobs(jobs))
    if arguments["separator"] is None:
        arguments["separator"] = about.get("notes", {}).get("separator")
    if label_column is None:
        label_column = about.get("notes", {}).get("label_column", -1)
    corpus = load_corpus(data, label_column=label_column, **arguments)
    width = getattr(tagger.features, "width", None)
    if width is None:
        raise ConfigError(f"The model was trained on {tagger.features.kind} features; evaluate it from Python.")
    if len(corpus.rows[0][0]) != width:
        raise ConfigError(
            f"{corpus.source} has {len(corpus.rows[0][0]) + 1} columns; the model needs {width} and the label."
        )
    return corpus.labels, tagger.predict(corpus.rows), list(tagger.task.labels)


def _columns(data: str, label_column: int | None, arguments: dict[str, Any]) -> Any:
    from chainfield.data import read_columns
    from chainfield.errors import DataError

    truth, guess = [], []
    for sentence in read_columns(data, **arguments):
        if len(sentence.rows[0]) < 2:
            raise DataError(f"{sentence.source}, line {sentence.line}: gold and predicted labels need two columns.")
        gold = -2 if label_column is None else label_column
        if not -len(sentence.rows[0]) <= gold < len(sentence.rows[0]):
            raise DataError(
                f"{sentence.source}, line {sentence.line}: there is no column {gold} to take gold labels from."
            )
        truth.append([row[gold] for row in sentence.rows])
        guess.append([row[-1] for row in sentence.rows])
    if not truth:
        raise DataError(f"{data} holds no sentence.")
    if not {label for labels in truth for label in labels} & {label for labels in guess for label in labels}:
        raise DataError(
            f"{data}: gold and predicted labels (the last two columns) have nothing in common; to evaluate a model, "
            "name it first: chainfield evaluate MODEL DATA."
        )
    return truth, guess, None
