"""``chainfield classify``: a label for each whole sequence."""

from __future__ import annotations

import json
from pathlib import Path

import click

from .options import check_output, jobs


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path())
@click.option("-o", "--output", type=click.Path(), default="-", help="Where to write; - is standard output.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object per sequence: name, label, probabilities, states."
)
@jobs
def classify(model: Path, data: str, output: str, as_json: bool, jobs: int) -> None:
    """Label the sequences of DATA, a .npz file or a folder of arrays, with MODEL.

    Writes one line per sequence: its name, its label and the label's probability. If DATA has labels, the accuracy is
    printed on standard error.
    """
    from chainfield.data.array_corpus import load_arrays
    from chainfield.errors import DataError, ModelFileError
    from chainfield.models import ClassifyingModel, load

    check_output(output, data, model)
    estimator = load(model, jobs)
    if not isinstance(estimator, ClassifyingModel):
        raise ModelFileError(f"{model} labels positions, not whole sequences; use chainfield tag.")
    found = load_arrays(data)
    try:
        probabilities = estimator.predict_proba(found.sequences)
    except DataError as error:
        raise found.named(error) from None
    classes = estimator.classes_.tolist()  # plain values: JSON knows no others
    labels = estimator.predict(found.sequences).tolist()
    states = estimator.predict_states(found.sequences, labels) if as_json else []
    with click.open_file(output, "w", encoding="utf-8") as out:
        for s, (name, label, p) in enumerate(zip(found.names, labels, probabilities.tolist(), strict=True)):
            if as_json:
                shares = {str(c): round(share, 6) for c, share in zip(classes, p, strict=True)}
                row = {"name": name, "label": label, "probabilities": shares, "states": states[s].tolist()}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                out.write(f"{name}\t{label}\t{p[classes.index(label)]:.6f}\n")
    if found.labelled:
        written = {str(label): label for label in classes}  # names of folders are strings, whatever the model has
        truth = [y if y is None or y in classes else written.get(str(y), y) for y in found.labels]
        accuracy = 100 * estimator.score(found.sequences, truth)
        click.echo(f"accuracy {accuracy:.2f} % of {sum(y is not None for y in truth)} labelled sequences", err=True)
