"""``chainfield review``: labels of annotated data that a person should look at again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from chainfield.errors import ConfigError, DataError

from .model_options import given_settings
from .options import (
    annotated_texts,
    annotation_files,
    check_output,
    column_arguments,
    format_options,
    labels_given,
    reading,
)
from .train import MODELS_SHOWN, Train

_TAGGERS = [name for name in MODELS_SHOWN if name not in ("hmm", "hcrf", "empirical")]


@click.command(cls=Train)
@click.argument("data", type=click.Path())
@click.option("-o", "--output", type=click.Path(), default="-", help="Where to write; - is standard output.")
@click.option("--model", type=click.Choice(_TAGGERS), default="linear", metavar="NAME", help="Kind of model.")
@click.option("--folds", type=int, default=5, show_default=True, help="How many models are trained.")
@click.option("--first", type=int, default=50, show_default=True, metavar="N", help="How many places to list; 0: all.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per place.")
@labels_given
@annotated_texts
@annotation_files
@reading
@click.option("--quiet", is_flag=True, help="Show nothing but the places.")
def review(
    data: str, output: str, model: str, folds: int, first: int, as_json: bool, quiet: bool, **options: Any
) -> None:
    """List labels of DATA that may be wrong: where models that have not seen a text disagree with it.

    DATA is a column file or holds annotated texts, as for chainfield train. Models are trained on all parts of it but
    one, and asked about that one. Where they are surest comes first, with the model's answer. The model may be wrong,
    or the label.
    """
    from chainfield.models import MODELS

    if first < 0:
        raise ConfigError(f"--first {first}: give the number of places to list, or 0 for all.")
    check_output(output, data)
    kind = MODELS[model]
    estimator = kind(**{"n_jobs": -1, **given_settings(kind, options)})

    def watch(done: int, of: int) -> None:
        if not quiet:
            click.echo(f"model {done} of {of}", err=True)

    named = {key: options[key] for key in ("format_", "word_column", "sentence_column", "text_field", "encoding")}
    name, _ = format_options(**named, data=data)
    options |= {"quiet": quiet}
    places = (
        _columns(estimator, data, options, folds, watch)
        if name is None
        else _texts(estimator, data, name, options, folds, watch)
    )
    with click.open_file(output, "w", encoding="utf-8") as out:
        for i, place in enumerate(places):
            if i == first > 0:
                break
            out.write((json.dumps(place, ensure_ascii=False) if as_json else _line(place)) + "\n")


def _texts(estimator: Any, data: str, name: str, options: dict[str, Any], folds: int, watch: Any) -> Iterator[Any]:
    from chainfield.text import doubtful_spans

    from .training_data import load_texts

    found, tagger = load_texts(estimator, data, None, name, options)
    _said(found, options)
    try:
        places = doubtful_spans(tagger, found.X, n_folds=folds, watch=watch)
    except DataError as error:
        raise found.named(error) from None
    for place in places:
        yield place.to_dict()


def _columns(estimator: Any, data: str, options: dict[str, Any], folds: int, watch: Any) -> Iterator[Any]:
    from chainfield.models.folds import doubtful_labels

    from .training_data import load_columns

    found = load_columns(data, None, column_arguments(options), insisted=options["format_"] is not None)
    _said(found, options)
    for place in doubtful_labels(estimator, found.X, found.y, n_folds=folds, watch=watch):
        words = [row[0] for row in found.X[place.sequence]]
        yield {
            "sentence": place.sequence,
            "start": place.start,
            "end": place.end,
            "text": " ".join(words[place.start : place.end]),
            "kind": "type" if place.mistake is None else place.mistake.kind,
            "gold": list(place.gold),
            "found": list(place.found),
            "p_gold": round(place.p_gold, 6),
            "p_found": round(place.p_found, 6),
            "fold": place.fold,
        }


def _said(found: Any, options: dict[str, Any]) -> None:
    if not found.size:
        raise DataError(f"{found.source} holds nothing to review.")
    if not options["quiet"]:
        click.echo(f"{found.source}: {found.size}", err=True)


def _line(place: dict[str, Any]) -> str:
    """One place for a person: where, what, the gold label and the model's, with their probabilities."""
    where = f"document {place['document']}" if "document" in place else f"sentence {place['sentence']}"
    gold, found = (_shown(place[side]) for side in ("gold", "found"))
    return f"{where}\t{place['text']!r}\tgold {gold} {place['p_gold']:.3f}\tmodel {found} {place['p_found']:.3f}"


def _shown(side: Any) -> str:
    if side is None:
        return "none"
    return " ".join(side) if isinstance(side, list) else f"{side['start']}-{side['end']} {side['label']}"
