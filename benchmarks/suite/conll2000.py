"""CoNLL-2000 chunking for the benchmarks: the corpus, its templates, and the features as strings for the peers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from chainfield.data import Corpus, load_corpus
from chainfield.features import TemplateSet, load_template

OPTIMUM = 12768.94  # with l2 = 1 on all pairs seen and all label pairs; found by CRFsuite's L-BFGS in 250 iterations


@dataclass(frozen=True)
class Task:
    """Training and test data, and the templates."""

    train: Corpus
    test: Corpus
    templates: TemplateSet
    train_path: Path
    test_path: Path


def load_task() -> Task:
    """Find the corpus through CHAINFIELD_DATA."""
    folder = Path(os.environ.get("CHAINFIELD_DATA", "")) / "conll2000"
    if not os.environ.get("CHAINFIELD_DATA") or not (folder / "train.txt").exists():
        raise click.ClickException(
            "The corpus conll2000 is missing: set CHAINFIELD_DATA to a folder that holds conll2000/train.txt and "
            "conll2000/test.txt (NLTK's data package conll2000; for benchmarks only)."
        )
    templates = Path(__file__).parents[2] / "papers" / "experiments" / "conll2000_chunking.template"
    train, test = folder / "train.txt", folder / "test.txt"
    return Task(load_corpus(train), load_corpus(test), load_template(templates), train, test)


def feature_strings(templates: TemplateSet, corpus: Corpus) -> list[list[list[str]]]:
    """What a user of python-crfsuite builds: a list of strings a position."""
    plain = [(t.pieces, [(p.offset, p.column) for p in t.slots]) for t in templates.unigrams]
    result = []
    for rows in corpus.rows:
        n = len(rows)
        columns = list(zip(*rows, strict=True))
        sequence = []
        for t in range(n):
            strings = []
            for pieces, slots in plain:
                values = [_cell(columns, t + offset, column, n) for offset, column in slots]
                strings.append(str(pieces[0]) + "/".join(values))
            sequence.append(strings)
        result.append(sequence)
    return result


def _cell(columns: list[Any], at: int, column: int, n: int) -> str:
    if at < 0:
        return f"_B{at}"
    if at >= n:
        return f"_B+{at - n + 1}"
    return str(columns[column][at])
