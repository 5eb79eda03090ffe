"""``chainfield show``: what a model has learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from chainfield.errors import ConfigError


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many features and transitions to show.",
)
@click.option("--label", help="Only this label.")
@click.option("--template", is_flag=True, help="Write the model's feature templates and nothing else.")
@click.option("--states", type=click.Path(), help="The tokens of this column file that fire each state.")
@click.option("--sentence", type=click.IntRange(min=1), help="With --states: the states along this sentence.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="With --states: a picture (png, svg) or page (html)."
)
@click.option("--json", "as_json", is_flag=True, help="Write all weights (with --states: the states) as JSON.")
@click.option("--lines", is_flag=True, help="Write all weights that are not 0, one per line (see chainfield update).")
def show(
    model: Path,
    top: int,
    label: str | None,
    template: bool,
    states: str | None,
    sentence: int | None,
    output: Path | None,
    as_json: bool,
    lines: bool,
) -> None:
    """Show the strongest features and transitions of MODEL, or what its states stand for."""
    from chainfield.features import TemplateFeatures
    from chainfield.files.model import load_model
    from chainfield.fitted import names

    if lines:
        _lines(model, as_json or template or label is not None or states is not None)
        return
    tagger, about = load_model(model)
    if label is not None and label not in map(str, tagger.task.labels):
        known = ", ".join(map(str, tagger.task.labels[:10]))
        more = " …" if len(tagger.task.labels) > 10 else ""
        raise ConfigError(f"The model has no label {label!r}; it knows {known}{more}.")
    if template:
        if not isinstance(tagger.features, TemplateFeatures):
            raise ConfigError(f"The model has no templates: its features are {tagger.features.kind}.")
        click.echo(tagger.features.templates.text.rstrip("\n"))
        return

    if states is None and (sentence is not None or output is not None):
        raise ConfigError(f"--{'output' if sentence is None else 'sentence'} needs --states FILE.")
    if states is not None:
        from chainfield.fitted import Tagger

        from .hidden import show_states

        if not isinstance(tagger, Tagger):
            raise ConfigError("--states reads column files; use hidden_states from Python for whole sequences.")
        show_states(tagger, about, states, top, label, sentence, output, as_json)
        return

    def wanted(name: Any) -> bool:
        return label is None or label in (str(name), str(names.label_of_name(name)))

    weights = [entry for entry in names.feature_weights(tagger) if wanted(entry[1])]
    moves = {ends: w for ends, w in names.transition_weights(tagger).items() if any(map(wanted, ends))}
    if as_json:
        features = [{"feature": f, "label": y, "weight": w} for f, y, w in weights]
        edges = [{"labels": list(labels), "weight": w} for labels, w in moves.items()]
        content = {"labels": list(tagger.task.labels), "features": features, "transitions": edges}
        ends = names.boundary_weights(tagger)
        boundary = {end: {_key(name): w for name, w in scores.items()} for end, scores in ends.items()}
        click.echo(json.dumps(content | {"boundary": boundary}, ensure_ascii=False, default=str))
        return
    from .portrait import show_portrait

    show_portrait(tagger, about, weights, moves, top, label)


def _lines(model: Path, others: bool) -> None:
    """All weights, as ``chainfield update`` reads them."""
    import chainfield
    from chainfield.compat.patching import weight_lines
    from chainfield.models.tagging import TaggingModel

    from .text import of_tokens

    if others:
        raise ConfigError("--lines writes all weights; leave out --json, --label, --states and --template.")
    found = of_tokens(chainfield.load(model))
    if not isinstance(found, TaggingModel):
        raise ConfigError("The model labels whole sequences; weights are written for taggers.")
    for line in weight_lines(found):
        click.echo(line.encode("utf-8", "surrogateescape"))


def _key(name: Any) -> Any:
    """A key of a JSON object: other values than these have to be written."""
    return name if isinstance(name, str | int | float | bool | None) else str(name)
