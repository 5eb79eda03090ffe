"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from chainfield.errors import ConfigError

F = TypeVar("F", bound=Callable[..., Any])


def encoding_of(what: str) -> Callable[[F], F]:
    """The encoding of what is read."""
    said = f"Text encoding of {what}."
    return click.option("--encoding", default="utf-8", show_default=True, callback=_known_encoding, help=said)


def _known_encoding(_: click.Context, __: click.Parameter, name: str) -> str:
    from chainfield.data.opening import text_encoding

    text_encoding(name)
    return name


def reading(function: F) -> F:
    """How column files are read."""
    for option in reversed(
        [
            encoding_of("the data"),
            click.option(
                "--separator",
                help="Column separator; by default the model's, in training tabs if the first row has one or spaces.",
            ),
            click.option("--no-comments", is_flag=True, help="Lines that start with # are tokens, never comments."),
            click.option("--keep-docstart", is_flag=True, help="Treat -DOCSTART- lines as tokens."),
        ]
    ):
        function = option(function)
    return function


def annotation_files(function: F) -> F:
    """How annotation files are read."""
    for option in reversed(
        [
            click.option(
                "--word-column", metavar="NAME", help="Column of the word, by name or number (CoNLL-U: FORM)."
            ),
            click.option("--sentence-column", metavar="NAME", help="Column that tells sentences apart (CSV)."),
            click.option("--text-field", metavar="NAME", help="Field of the text (JSON, Parquet)."),
        ]
    ):
        function = option(function)
    return function


def annotated_texts(function: F) -> F:
    """How annotated texts are read."""
    for option in reversed(
        [
            format_of_data,
            click.option(
                "--tokeniser",
                metavar="REGEX",
                help="Annotated texts: what matches one token.  [default: built-in rules]",
            ),
            click.option(
                "--sentences", is_flag=True, help="Annotated texts: sequences are sentences, not whole texts."
            ),
            click.option(
                "--misaligned",
                type=click.Choice(["refuse", "expand", "shrink", "drop"]),
                default="refuse",
                show_default=True,
                help="Annotated texts: spans that cut a token.",
            ),
            click.option(
                "--overlapping",
                type=click.Choice(["refuse", "longest", "first"]),
                default="refuse",
                show_default=True,
                help="Annotated texts: spans that overlap.",
            ),
        ]
    ):
        function = option(function)
    return function


def format_of_data(function: F) -> F:
    """The format of annotated texts, where the name of the file does not tell."""
    return click.option(
        "--format", "format_", metavar="NAME", help="DATA are annotated texts in this format (convert --list)."
    )(function)


def format_options(
    format_: str | None,
    word_column: str | None,
    sentence_column: str | None,
    text_field: str | None,
    data: str,
    encoding: str,
) -> tuple[str | None, dict[str, Any]]:
    """The format of DATA (None: a column file), and the options that its reader takes."""
    from chainfield.formats.endings import annotated

    named: dict[str, Any] = {"word_column": word_column, "sentence_column": sentence_column, "text_field": text_field}
    return annotated(data, format_, named=any(named.values()), encoding=encoding), named


def reading_arguments(encoding: str, separator: str | None, no_comments: bool, keep_docstart: bool) -> dict[str, Any]:
    """The same options as arguments of ``read_columns``."""
    return {
        "encoding": encoding,
        "separator": None if separator is None else separator.replace("\\t", "\t"),
        "comments": not no_comments,
        "docstart": "keep" if keep_docstart else "skip",
    }


def check_output(output: str | Path, *inputs: str | Path | None) -> None:
    """Refuse to write over what is being read, or to where nobody can."""
    if str(output) == "-" and sys.stdout is None:
        raise ConfigError("Standard output is closed; give a file to write to (-o), or /dev/null.")
    if str(output) == "-" or not Path(output).exists():
        return
    for other in inputs:
        if other is not None and str(other) != "-" and Path(other).exists() and Path(output).samefile(other):
            raise ConfigError(f"{output} is read and would be written over; give another name for the output.")


jobs = click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1: all processors.")


def labels_given(function: F) -> F:
    """The options about the labels of a column file."""
    where = "Column of the label, from 0 or -1, or its name."
    sign = "Sign that marks an unknown label (partly labelled data)."
    function = click.option("--unknown", "sign", help=sign)(function)
    return click.option("--label-column", default="-1", show_default=True, help=where)(function)


def column_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """What readers of labelled column files take, from the options of a command."""
    names = ("encoding", "separator", "no_comments", "keep_docstart")
    return {
        "label_column": column_number(options["label_column"]),
        "unknown": options["sign"],
        **reading_arguments(*(options[name] for name in names)),
    }


def column_number(text: Any) -> Any:
    """The number of a column of a column file; None stays None."""
    try:
        return None if text is None else int(text)
    except ValueError:
        raise ConfigError(
            f"--label-column {text}: columns of column files have numbers, from 0 or from -1 backwards; for files "
            "whose columns have names, say what they are: --format token-csv for CSV, --format conllu for CoNLL-U."
        ) from None
