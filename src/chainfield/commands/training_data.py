"""What ``chainfield train`` learns from: column files for taggers, arrays for models of whole sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chainfield.errors import ConfigError, DataError


@dataclass(frozen=True)
class TrainingData:
    """Sequences with their labels, and development data beside them."""

    source: str
    size: str  # as a person reads it
    X: Any
    y: Any
    X_dev: Any = None
    y_dev: Any = None
    notes: dict[str, Any] = field(default_factory=dict)  # for the model file
    named: Callable[[DataError], Exception] = lambda error: error  # an error with the name of what it is about

    @property
    def development(self) -> dict[str, Any]:
        """The development data as ``fit`` takes them."""
        return {"X_dev": self.X_dev, "y_dev": self.y_dev}


@dataclass(frozen=True)
class AnnotatedTexts(TrainingData):
    """Texts with spans."""

    @property
    def development(self) -> dict[str, Any]:
        """Under the names that a tagger of texts has for them."""
        return {} if self.X_dev is None else {"texts_dev": self.X_dev}


def load_texts(
    estimator: Any, data: str, dev: str | None, name: str, options: dict[str, Any]
) -> tuple[TrainingData, Any]:
    """Annotated texts, and the tagger that learns from them."""
    from chainfield.formats.endings import annotated
    from chainfield.formats.format import Options
    from chainfield.text.tagging.text_tagger import TextTagger

    from .text import load_annotations

    label = options["label_column"]
    reading = Options(
        encoding=options["encoding"],
        label_column=None if label == "-1" else label,
        separator=options["separator"] and options["separator"].replace("\\t", "\t"),
        **{key: options[key] for key in ("word_column", "sentence_column", "text_field")},
    )
    documents = load_annotations(data, name, reading, options["quiet"])
    held_out = None
    if dev is not None:
        kind = annotated(dev, options["format_"], named=name == "token-csv", encoding=options["encoding"])
        held_out = load_annotations(dev, kind or name, reading, options["quiet"])
    tagger = TextTagger(
        model=estimator, **{key: options[key] for key in ("tokeniser", "sentences", "misaligned", "overlapping")}
    )
    size = f"{len(documents):,} texts, {sum(len(document.spans) for document in documents):,} spans"

    def named(error: DataError) -> DataError:
        """The error with the name of the file, and with the options in place of Python's settings."""
        text = (
            str(error)
            .replace("pass misaligned=", "give --misaligned ")
            .replace("pass overlapping=", "give --overlapping ")
        )
        return DataError(f"{data}: {text}")

    return AnnotatedTexts(data, size, documents, None, held_out, notes={"format": name}, named=named), tagger


def load_columns(data: str, dev: str | None, columns: dict[str, Any], *, insisted: bool = False) -> TrainingData:
    """Column files: one label per token."""
    from chainfield.data import load_corpus

    if data.endswith(".npz"):
        raise ConfigError(f"{data} holds arrays; --model hmm and --model hcrf learn from them.")
    corpus = load_corpus(data, **columns)
    if not insisted:
        _refuse_row_numbers(corpus)
    held_out = load_corpus(dev, **columns) if dev else None
    width = len(corpus.rows[0][0])
    if held_out is not None and len(held_out.rows[0][0]) != width:
        raise DataError(
            f"{held_out.source} has {len(held_out.rows[0][0]) + 1} columns, but {corpus.source} has {width + 1}."
        )
    return TrainingData(
        corpus.source,
        f"{len(corpus.rows):,} sentences, {sum(map(len, corpus.rows)):,} tokens",
        corpus.rows,
        corpus.labels,
        None if held_out is None else held_out.rows,
        None if held_out is None else held_out.labels,
        {"label_column": columns["label_column"], "separator": corpus.separator},
    )


def _refuse_row_numbers(corpus: Any) -> None:
    """A file of ten columns whose first one counts the words is CoNLL-U: its words are in the second one."""
    first = [row[0] for row in corpus.rows[0]]
    if len(corpus.rows[0][0]) == 9 and first[0] in ("1", "1-2") and first[-1].isdecimal() and len(first) > 1:
        raise DataError(
            f"{corpus.source}: the first column holds the numbers of words, as CoNLL-U does; give --format conllu, and "
            "--label-column UPOS or another name (to train on the columns as they are: --format columns)."
        )


def load_encoded(
    data: str, dev: str | None, columns: dict[str, Any], memory: float | None, jobs: int | None, *, whole: bool = False
) -> TrainingData:
    """An encoded corpus; development data are a column file, or arrays for models of whole sequences."""
    from chainfield.corpora import open_corpus

    corpus = open_corpus(data, n_jobs=jobs, **({} if memory is None else {"memory": int(memory * 1e9)}))
    names, profile = ("sequences", "positions") if whole else ("sentences", "tokens"), corpus.profile
    held_out = None if dev is None else load_sequences(dev, None) if whole else load_columns(dev, None, columns)
    return TrainingData(
        data,
        f"{profile.n_sequences:,} {names[0]}, {profile.n_positions:,} {names[1]} in {len(corpus.files)} pieces",
        corpus,
        None,
        None if held_out is None else held_out.X,
        None if held_out is None else held_out.y,
        {name: corpus.notes.get(name) for name in ("label_column", "separator")},
    )


def load_sequences(data: str, dev: str | None) -> TrainingData:
    """Arrays: one label per sequence."""
    from chainfield.data.array_corpus import load_arrays

    found = load_arrays(data)
    held_out = load_arrays(dev) if dev else None
    for part in (found, held_out):
        if part is not None and not part.labelled:
            raise DataError(f"{part.source} has no labels; give y in the .npz file, or a folder for each label.")
    return TrainingData(
        found.source,
        f"{len(found.sequences):,} sequences, {sum(map(len, found.sequences)):,} positions",
        found.sequences,
        found.labels,
        None if held_out is None else held_out.sequences,
        None if held_out is None else held_out.labels,
        named=found.named,
    )
