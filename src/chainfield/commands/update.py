"""``chainfield update``: single weights of a model."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("patch", type=click.Path(), default="-")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Where to write the model; by default over MODEL."
)
def update(model: Path, patch: str, output: Path | None) -> None:
    """Set weights of MODEL as PATCH (or standard input) says.

    One line per weight: feature, label before (# where there is none), label, weight, with tabs in between. Plain
    transitions are called b. `chainfield show MODEL --lines` writes such lines; all that are left out stay as they are.
    """
    import chainfield
    from chainfield.compat.patching import patched, read_changes
    from chainfield.data.opening import source_name
    from chainfield.errors import ConfigError
    from chainfield.files.model import load_model
    from chainfield.files.replacing import check_writable
    from chainfield.models.tagging import TaggingModel

    from .text import of_tokens

    target = model if output is None else output
    check_writable(target)
    whole, notes = chainfield.load(model), load_model(model)[1].get("notes")
    found = of_tokens(whole)
    if not isinstance(found, TaggingModel):
        raise ConfigError("The model labels whole sequences; weights are changed for taggers.")
    with click.open_file(patch, encoding="utf-8", errors="surrogateescape") as lines:
        changes = read_changes(lines, found, source_name(patch))
    made = patched(found, changes)
    if whole is found:
        made.save(target, notes)
    else:  # a tagger of texts
        whole.model_ = made
        whole.save(target, notes)
    click.echo(f"{len(changes):,} weights set. Written to {target}.")
