"""The corpora of the benchmarks, with their templates, and the features as strings for the peers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from chainfield.data import Corpus, load_corpus
from chainfield.features import TemplateSet, load_template
from chainfield.features.template import Slot, Template

HERE = Path(__file__).parent
CHUNKING = HERE.parents[1] / "papers" / "experiments" / "conll2000_chunking.template"
NER = HERE / "ner.template"


@dataclass(frozen=True)
class Task:
    """Training and test data, and the templates; the paths are those of the whole files."""

    name: str
    train: Corpus
    test: Corpus
    templates: TemplateSet
    template_path: Path
    train_path: Path
    test_path: Path
    whole: bool = True  # False: a sample, for which no optimum is known


def conll2000(sample: int | None = None) -> Task:
    """Chunking: 8,936 and 2,012 sentences, 22 labels, words and POS tags."""
    about = "NLTK's data package conll2000; for benchmarks only"
    return _load("conll2000", ("train.txt", "test.txt"), CHUNKING, about, sample)


def dutch_ner(sample: int | None = None) -> Task:
    """CoNLL-2002, Dutch names: 15,806 and 5,195 sentences, 9 labels, words and POS tags."""
    about = "the Dutch part of NLTK's data package conll2002; for benchmarks only"
    return _load("conll2002", ("ned.train", "ned.testb"), NER, about, sample, separator=" ")


def _load(
    name: str, files: tuple[str, str], template: Path, about: str, sample: int | None, separator: str | None = None
) -> Task:
    root = os.environ.get("CHAINFIELD_DATA", "")
    train, test = (Path(root) / name / file for file in files)
    if not root or not (train.is_file() and test.is_file()):
        raise click.ClickException(
            f"The corpus {name} is missing: set CHAINFIELD_DATA to a folder that holds {name}/{files[0]} and "
            f"{name}/{files[1]} ({about})."
        )
    known, unknown = (first(load_corpus(path, separator=separator), sample) for path in (train, test))
    return Task(name, known, unknown, load_template(template), template, train, test, sample is None)


def first(corpus: Corpus, sample: int | None) -> Corpus:
    """The first sentences of a corpus."""
    return corpus if sample is None else replace(corpus, rows=corpus.rows[:sample], labels=corpus.labels[:sample])


def feature_strings(templates: TemplateSet, rows: Sequence[Any]) -> list[list[list[str]]]:
    """What a user of python-crfsuite builds: a list of strings a position."""
    if not all(map(_plain, templates.unigrams)):
        return [templates.expand(sequence)[0] for sequence in rows]
    plain = [(str(t.pieces[0]), [(p.offset, p.column) for p in t.slots]) for t in templates.unigrams]
    return [_strings(plain, sequence) for sequence in rows]


def feature_dicts(strings: Sequence[Any]) -> list[list[dict[str, str]]]:
    """The same features as dicts, as most users write them: {"U00": "He"} is the string U00:He."""
    return [[dict(text.split(":", 1) for text in position) for position in sequence] for sequence in strings]


def _plain(template: Template) -> bool:
    """Whether a template is a name and cells with / in between, so that a loop of two lines can write it."""
    name, *between = template.pieces[::2]
    cells = template.pieces[1::2]
    plain_cells = all(isinstance(slot, Slot) and slot == Slot(slot.offset, slot.column) for slot in cells)
    return isinstance(name, str) and plain_cells and all(piece == "/" for piece in between)


def _strings(plain: list[tuple[str, list[tuple[int, int]]]], rows: Sequence[Any]) -> list[list[str]]:
    n = len(rows)
    columns = list(zip(*rows, strict=True))
    return [
        [name + "/".join([_cell(columns, t + offset, column, n) for offset, column in cells]) for name, cells in plain]
        for t in range(n)
    ]


def _cell(columns: list[Any], at: int, column: int, n: int) -> str:
    if at < 0:
        return f"_B{at}"
    if at >= n:
        return f"_B+{at - n + 1}"
    return str(columns[column][at])


def column_text(rows: Sequence[Any], labels: Sequence[Any] | None = None) -> str:
    """Sentences as a column file."""
    sentences = []
    for s, sequence in enumerate(rows):
        lines = (" ".join(row) for row in sequence)
        if labels is not None:
            lines = (f"{line} {label}" for line, label in zip(lines, labels[s], strict=True))
        sentences.append("\n".join(lines) + "\n\n")
    return "".join(sentences)
