"""Annotated texts that a model is judged by: their tokens, and the labels that their spans stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from chainfield.formats.format import Options
    from chainfield.text.tagging.text_tagger import TextTagger


@dataclass(frozen=True)
class GoldTexts:
    """Sequences of words, each a row of one column, with their labels."""

    rows: list[list[Any]]
    labels: list[list[str]]


def gold_texts(tagger: TextTagger, data: str, name: str, options: Options, *, quiet: bool = False) -> GoldTexts:
    """Read a file as the model reads texts. Spans that labels cannot hold are made to fit; how often is told."""
    from chainfield.text.alignment import Repairs

    from .text import load_annotations

    documents = load_annotations(data, name, options, quiet, "to compare with")
    tagger.set_params(misaligned="expand", overlapping="longest")
    repairs = Repairs()
    _, tokens, labels = tagger.aligned(documents, None, tagger.tokeniser_, repairs)
    if len(repairs) and not quiet:
        click.echo(f"{data}: {repairs}", err=True)
    return GoldTexts([list(sentence) for sentence in tokens.rows()], tokens.sequences.cut(labels))
