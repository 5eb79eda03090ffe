"""``chainfield tag``: labels for a column file, streaming."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from .options import check_output, jobs, reading, reading_arguments

if TYPE_CHECKING:
    from chainfield.data import Sentence
    from chainfield.fitted.tagger import Tagger

BATCH = 1024  # sentences
_DECODERS = ["viterbi", "posterior", "latent-dynamic"]


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(), default="-")
@click.option("-o", "--output", type=click.Path(), default="-", help="Where to write; - is standard output.")
@click.option("--decoder", type=click.Choice(_DECODERS), help="Which labels are the best.  [default: the model's]")
@click.option("--marginals", is_flag=True, help="Add each label's probability.")
@click.option("--n-best", type=int, help="Write the N best label sequences with their probabilities.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a sentence: labels, probabilities, spans.")
@jobs
@reading
def tag(
    model: Path,
    data: str,
    output: str,
    decoder: str | None,
    marginals: bool,
    n_best: int | None,
    as_json: bool,
    jobs: int,
    **options: Any,
) -> None:
    """Label the column file DATA (or standard input) with MODEL.

    Every row is written as it was, with its label in one more column. Rows may have the label column of the training
    data or lack it.
    """
    from chainfield.data import read_columns
    from chainfield.errors import ConfigError
    from chainfield.files.model import load_tagger
    from chainfield.parallel import count_jobs

    if n_best is not None and n_best < 1:
        raise ConfigError(f"--n-best {n_best}: give 1 or more.")
    if n_best is not None and marginals:
        raise ConfigError("--marginals and --n-best do not go together, except as --n-best with --json.")
    check_output(output, data, model)
    if Path(output).suffix in (".gz", ".bz2", ".xz", ".zst"):
        raise ConfigError(f"{output}: output is plain text; write it to a pipe to compress it.")
    tagger, about = load_tagger(model, count_jobs(jobs))
    if decoder is not None:
        tagger = replace(tagger, decoder=decoder)
    if options["separator"] is None:
        options["separator"] = about.get("notes", {}).get("separator")
    arguments = reading_arguments(**options)
    sentences = read_columns(data, **arguments)
    with click.open_file(output, "w", encoding=options["encoding"]) as out:
        if os.linesep != "\n" and hasattr(out, "reconfigure"):
            out.reconfigure(newline="")  # line ends stay as they were
        for batch in _rows(sentences, tagger, about):
            _write(out, tagger, batch, arguments["separator"], marginals, n_best, as_json)
            out.flush()


def _rows(
    sentences: Iterator[Sentence], tagger: Tagger, about: dict[str, Any]
) -> Iterator[list[tuple[Sentence, list[tuple[str, ...]]]]]:
    from .stream import batches

    for batch in batches(sentences, BATCH):
        yield [(sentence, input_rows(sentence, tagger, about)) for sentence in batch]


def input_rows(sentence: Sentence, tagger: Tagger, about: dict[str, Any]) -> list[tuple[str, ...]]:
    """The columns that the model reads: a label column is taken out if there is one."""
    from chainfield.errors import DataError
    from chainfield.features import TemplateFeatures, WordFeatures

    if not isinstance(tagger.features, TemplateFeatures | WordFeatures):
        raise DataError(
            f"The model was trained on {tagger.features.kind} features, not on column files; use it from Python."
        )
    width, n = tagger.features.width, len(sentence.rows[0])
    if n == width:
        return list(sentence.rows)
    if n == width + 1:
        at = about.get("notes", {}).get("label_column", -1) % n
        return [row[:at] + row[at + 1 :] for row in sentence.rows]
    raise DataError(
        f"{sentence.source}, line {sentence.line}: there are {n} columns; the model reads {width} "
        f"({width + 1} with the label), one token a line."
    )


def _write(
    out: IO[Any],
    tagger: Tagger,
    batch: list[tuple[Sentence, list[tuple[str, ...]]]],
    between: str | None,
    marginals: bool,
    n_best: int | None,
    as_json: bool,
) -> None:
    from chainfield.fitted.confidence import confidences

    rows = [own for _, own in batch]
    several = tagger.n_best(rows, n_best) if n_best else None
    if as_json or marginals:
        sure = confidences(tagger, rows)
        labels = [c.labels for c in sure]
    else:
        sure = None
        labels = tagger.predict(rows) if several is None else [found[0][0] for found in several]
    for i, (sentence, own) in enumerate(batch):
        if as_json:
            assert sure is not None
            out.write(json.dumps(_described(own, sure[i], several[i] if several else None), ensure_ascii=False) + "\n")
            continue
        end = sentence.newline
        out.writelines(line + end for line in sentence.leading)
        separator = between or ("\t" if "\t" in sentence.lines[0] or " " not in sentence.lines[0] else " ")
        if several is not None:
            for rank, (found, probability) in enumerate(several[i]):
                out.write(f"#{rank}:{probability:.6f}{end}")  # one cell: it cannot be taken for a row
                out.writelines(f"{line}{separator}{y}{end}" for line, y in zip(sentence.lines, found, strict=True))
                out.write(end)
            continue
        if sure is not None:
            cells = [f"{y}{separator}{p:.6f}" for y, p in zip(labels[i], sure[i].tokens, strict=True)]
        else:
            cells = labels[i]
        written = [f"{line}{separator}{cell}" for line, cell in zip(sentence.lines, cells, strict=True)]
        out.write(end.join(written) + end + end)


def _described(rows: list[tuple[str, ...]], sure: Any, several: Any) -> dict[str, Any]:
    words = [row[0] for row in rows]
    described: dict[str, Any] = {
        "tokens": words,
        "labels": sure.labels,
        "probabilities": [round(p, 6) for p in sure.tokens],
        "probability": round(sure.sequence, 6),
        "spans": [
            {
                "type": span.type,
                "start": span.start,
                "end": span.end,
                "text": " ".join(words[span.start : span.end]),
                "probability": round(span.probability, 6),
            }
            for span in sure.spans
        ],
    }
    if several is not None:
        described["n_best"] = [{"labels": labels, "probability": round(p, 6)} for labels, p in several]
    return described
