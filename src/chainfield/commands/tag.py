"""``chainfield tag``: labels for a column file, streaming."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from chainfield.errors import ConfigError, DataError

from .options import check_output, jobs, reading, reading_arguments

if TYPE_CHECKING:
    from chainfield.data import Sentence
    from chainfield.data.passages import Passage
    from chainfield.fitted.tagger import Tagger

BATCH = 1024  # sentences
CHUNKS = 32  # of 64 kilobytes each: about as many sentences
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
    from chainfield.data.passages import Passage
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
    read_columns("-", **arguments)  # refuses what does not go together, and reads nothing yet
    only_labels = not (marginals or n_best or as_json)
    with click.open_file(output, "w", encoding=options["encoding"]) as out:
        if os.linesep != "\n" and hasattr(out, "reconfigure"):
            out.reconfigure(newline="")  # line ends stay as they were
        for part in _parts(data, arguments) if only_labels else _batches(data, arguments):
            if isinstance(part, Passage):
                out.buffer.write(_labelled(part, tagger, about))  # type: ignore[attr-defined]
            else:
                batch = [(sentence, input_rows(sentence, tagger, about)) for sentence in part]
                _write(out, tagger, batch, arguments["separator"], marginals, n_best, as_json)
            out.flush()


def _batches(data: str, arguments: dict[str, Any]) -> Iterator[list[Sentence]]:
    """Sentences, as many as have arrived."""
    from chainfield.data import read_columns

    from .stream import batches

    return batches(read_columns(data, **arguments), BATCH)


def _parts(data: str, arguments: dict[str, Any]) -> Iterator[Passage | list[Sentence]]:
    """The same as bytes, where they are UTF-8."""
    from chainfield.data.grid import is_utf8_file
    from chainfield.data.opening import open_bytes, source_name
    from chainfield.data.passages import read_passages

    from .stream import batches

    if not is_utf8_file(data, arguments["encoding"]):
        yield from _batches(data, arguments)
        return
    with open_bytes(data) as read:
        chunks = (b"".join(some) for some in batches(iter(read, b""), CHUNKS))
        settings = arguments["separator"], arguments["comments"], arguments["docstart"] == "skip"
        yield from read_passages(chunks, source_name(data), *settings)


def _labelled(passage: Passage, tagger: Tagger, about: dict[str, Any]) -> bytes:
    """The passage with its labels."""
    rows = passage.rows
    at = _label_column(rows.n_columns, passage.source, passage.line, tagger, about)
    if at is not None:
        rows = rows.take([c for c in range(rows.n_columns) if c != at])
    numbers = tagger.labels(tagger.features.encode(rows, tagger.n_jobs))
    return passage.with_cells(numbers, [str(label) for label in tagger.task.labels])


def input_rows(sentence: Sentence, tagger: Tagger, about: dict[str, Any]) -> list[tuple[str, ...]]:
    """The columns that the model reads: a label column is taken out if there is one."""
    at = _label_column(len(sentence.rows[0]), sentence.source, sentence.line, tagger, about)
    return list(sentence.rows) if at is None else [row[:at] + row[at + 1 :] for row in sentence.rows]


def _label_column(n: int, source: str, line: int, tagger: Tagger, about: dict[str, Any]) -> int | None:
    """Which of n columns the model does not read; None: it reads all."""
    from chainfield.features import TemplateFeatures
    from chainfield.models.neural.word_features import WordFeatures

    features = tagger.features
    if not isinstance(features, TemplateFeatures | WordFeatures):
        raise DataError(f"The model was trained on {features.kind} features, not on column files; use it from Python.")
    if n == features.width:
        return None
    if n == features.width + 1:
        return int(about.get("notes", {}).get("label_column", -1)) % n
    raise DataError(
        f"{source}, line {line}: there are {n} columns; the model reads {features.width} "
        f"({features.width + 1} with the label), one token a line."
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
