"""The table of formats, and how a format is found for a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from typing import Any

from chainfield.errors import ConfigError
from chainfield.text.document import Document

from .brat import Brat
from .columns import Columns
from .conllu import ConllU
from .docbin import DocBin
from .endings import format_named
from .format import Format, Options, Report
from .json_spans import Doccano, Jsonl, Prodigy
from .label_studio import LabelStudio
from .parquet import Parquet
from .plain import Plain
from .token_csv import TokenCsv

#: Formats by name.
FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Columns(),
        ConllU(),
        Jsonl(),
        LabelStudio(),
        Doccano(),
        Prodigy(),
        Brat(),
        DocBin(),
        Parquet(),
        TokenCsv(),
        Plain(),
    )
}


def format_of(path: str | PathLike[str], name: str | None = None) -> Format:
    """The format of that name, or else the one that files of such a name have."""
    if name is not None:
        if name not in FORMATS:
            raise ConfigError(f"There is no format {name!r}; choose one of {', '.join(FORMATS)}.")
        return FORMATS[name]
    found = format_named(path)
    if found is not None:
        return FORMATS[found]
    raise ConfigError(
        f"The format of {fspath(path)} cannot be told from its name; say which one it is with --format or format=: "
        f"{', '.join(FORMATS)}."
    )


def read_documents(
    path: str | PathLike[str], format: str | None = None, *, report: Report | None = None, **options: Any
) -> Iterator[Document]:
    """The documents of a file, one after the other; ``format`` is found by the file's name if it is not given.

    ``report`` gathers what was left out. ``options``: encoding, word_column, label_column, sentence_column, text_field,
    separator, and ``gold=True``, which leaves out texts that nobody has annotated (Label Studio's open tasks).
    """
    chosen = format_of(path, format)
    return chosen.read(fspath(path), _options(options), Report() if report is None else report)


def write_documents(
    documents: Iterable[Document], path: str | PathLike[str], format: str | None = None, **options: Any
) -> Report:
    """Write documents; the report says what the format could not hold."""
    report = Report()
    format_of(path, format).write(documents, fspath(path), _options(options), report)
    return report


def convert(
    source: str | PathLike[str],
    target: str | PathLike[str],
    source_format: str | None = None,
    target_format: str | None = None,
    **options: Any,
) -> Report:
    """From one file to another; the report says what was left out on the way.

    ``scheme``: how labels of tokens write spans in the target (bio, iob1, bioes, bilou, io). Other options are for the
    source.
    """
    report = Report()
    found = read_documents(source, source_format, report=report, **options)
    writing = _options({name: options[name] for name in ("scheme",) if name in options})
    format_of(target, target_format).write(found, fspath(target), writing, report)
    return report


def _options(given: dict[str, Any]) -> Options:
    try:
        return Options(**given)
    except TypeError:
        known = ", ".join(Options.__dataclass_fields__)
        wrong = next(name for name in given if name not in Options.__dataclass_fields__)
        raise ConfigError(f"There is no option {wrong!r} of formats; there are {known}.") from None
