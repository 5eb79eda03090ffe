"""``chainfield export``: models for other programs."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--crfsuite", type=click.Path(path_type=Path), required=True, help="Write a model of CRFsuite here.")
def export(model: Path, crfsuite: Path) -> None:
    """Write MODEL as a file of another program.

    CRFsuite's format holds linear-chain taggers without rules, and without weights for first and last labels (train
    them with --no-boundary). CRFsuite, python-crfsuite and sklearn-crfsuite open it.
    """
    import chainfield
    from chainfield.compat.crfsuite import to_crfsuite, write_crfsuite
    from chainfield.files.replacing import check_writable, replace_file

    check_writable(crfsuite)
    found = to_crfsuite(chainfield.load(model))
    content = write_crfsuite(found)
    replace_file(crfsuite, content)
    click.echo(
        f"{len(found.labels)} labels, {len(found.attributes):,} attributes, "
        f"{len(found.state[0]) + len(found.transition[0]):,} weights, {len(content):,} bytes. Written to {crfsuite}."
    )
