"""``chainfield import``: models of other programs."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Where to write the model; by default FILE with .cf instead.",
)
@click.option("--cost-factor", type=float, help="What scores are multiplied by (CRF++); by default what FILE says.")
def import_(file: Path, output: Path | None, cost_factor: float | None) -> None:
    """Make a model of FILE: a model of CRFsuite, CRF++ or Wapiti, or a pickle of sklearn-crfsuite.

    It gives the same answers, and every command works with it. Pickles are not executed.
    """
    from chainfield.compat.foreign import program_of, read_foreign
    from chainfield.files.replacing import check_writable

    target = file.with_suffix(".cf") if output is None else output
    check_writable(target)
    model = read_foreign(file, cost_factor)
    with open(file, "rb") as opened:
        program = program_of(opened.read(64)) or ""
    model.save(target, {"imported": program})
    fitted = model.tagger_
    kind = "A pickle of sklearn-crfsuite" if program == "pickle" else f"A model of {program}"
    click.echo(
        f"{kind}: {len(fitted.task.labels)} labels, {fitted.features.n_features:,} features, "
        f"{fitted.n_weights:,} weights. Written to {target}."
    )
