"""``chainfield show --states``: what the states of a model stand for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chainfield.errors import ConfigError

if TYPE_CHECKING:
    from chainfield.fitted.tagger import Tagger
    from chainfield.inspection.states import HiddenState, HiddenStates


def show_states(
    tagger: Tagger,
    about: dict[str, Any],
    data: str,
    top: int,
    label: str | None,
    sentence: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """The tokens of each state, or the states along one sentence; as a table, as JSON, or as a picture."""
    from chainfield.data.column_blocks import read_blocks
    from chainfield.inspection.states import hidden_states, state_path

    from .tag import input_rows

    separator = about.get("notes", {}).get("separator")
    rows = [own for block in read_blocks(data, separator=separator) for own in input_rows(block, tagger, about)]
    if sentence is not None:
        if sentence > len(rows):
            raise ConfigError(f"{data} has {len(rows)} sentences; there is no sentence {sentence}.")
        path = state_path(tagger, rows[sentence - 1])
        if output is not None:
            path.save(output)
        elif as_json:
            click.echo(json.dumps([at.__dict__ for at in path.positions], ensure_ascii=False, default=str))
        else:
            click.echo(str(path))
        return
    found = hidden_states(tagger, rows, n=top)
    if output is not None:
        found.save(output)
        return
    chosen = [state for state in found.states if label is None or str(state.label) == label]
    if as_json:
        click.echo(json.dumps([state.__dict__ for state in chosen], ensure_ascii=False, default=str))
    else:
        _table(found, chosen)


def _table(found: HiddenStates, chosen: list[HiddenState]) -> None:
    from rich.table import Table

    from .tables import console

    out = console()
    out.print(f"{len(found.used())} of {len(found.states)} states fire (in effect {found.perplexity:.1f})")
    shown = Table(box=None, pad_edge=False)
    for name in ("state", "count", "tokens"):
        shown.add_column(name, justify="right" if name == "count" else "left")
    for state in sorted(chosen, key=lambda state: (str(state.label), -state.count)):
        if state.count:
            shown.add_row(str(state.name), f"{state.count:,}", ", ".join(token for token, _ in state.tokens))
    out.print(shown)
