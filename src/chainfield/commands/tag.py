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

from .given import split_given
from .options import annotation_files, check_output, format_options, jobs, reading, reading_arguments

if TYPE_CHECKING:
    from chainfield.data.coded_rows import CodedRows
    from chainfield.data.column_blocks import Block
    from chainfield.data.sentences import SentenceReader
    from chainfield.fitted.tagger import Tagger

BATCH = 1024  # sentences
CHUNKS = 32  # of 64 kilobytes each: about as many sentences
_DECODERS = ["viterbi", "posterior", "latent-dynamic"]


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(), default="-")
@click.option("-o", "--output", type=click.Path(), default="-", help="Where to write; - is standard output.")
@click.option("--given", type=int, metavar="COLUMN", help="Column (from 0 or -1) of what is known of labels.")
@click.option("--decoder", type=click.Choice(_DECODERS), help="Which labels are the best.  [default: the model's]")
@click.option("--marginals", is_flag=True, help="Add each label's probability.")
@click.option("--n-best", type=int, help="Write the N best label sequences with their probabilities.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per sentence: labels, probabilities, spans.")
@click.option("--text", is_flag=True, help="DATA is raw text: one document per line. Answers are spans, as JSON lines.")
@click.option("--whole", is_flag=True, help="With --text: all of DATA is one document.")
@click.option("--format", "format_", metavar="NAME", help="DATA is an annotation file (chainfield convert --list).")
@click.option("--to", metavar="NAME", help="Format of the answers.  [default: by the name of the output]")
@click.option("--review", type=int, metavar="N", help="Raw text: only the N texts that a person should check first.")
@annotation_files
@click.option("--dask", metavar="ADDRESS", help="Tag on a cluster: DATA is a pattern, the output a folder or address.")
@jobs
@reading
def tag(
    model: Path,
    data: str,
    output: str,
    given: int | None,
    decoder: str | None,
    marginals: bool,
    n_best: int | None,
    as_json: bool,
    text: bool,
    whole: bool,
    format_: str | None,
    to: str | None,
    review: int | None,
    word_column: str | None,
    sentence_column: str | None,
    text_field: str | None,
    dask: str | None,
    jobs: int,
    **options: Any,
) -> None:
    """Label the column file DATA (or standard input) with MODEL.

    Every row is written as it was, with its label in one more column. Rows may have the label column of the training
    data or lack it.

    A column --given says what is known: a label; A|B (one of these); A=-2.5|B=1 (added to the scores of labels); ? or
    _ (nothing). Labels around it are predicted accordingly.

    With --text, DATA is raw text, and with --format an annotation file (CoNLL-U, Label Studio, ...; its name may tell).
    The answers are spans by character with their probabilities, one JSON object per document, or in the format --to.
    """
    from chainfield.data.opening import source_name
    from chainfield.data.sentences import SentenceReader
    from chainfield.files.model import load_tagger
    from chainfield.parallel import count_jobs

    if n_best is not None and n_best < 1:
        raise ConfigError(f"--n-best {n_best}: give 1 or more.")
    if n_best is not None and marginals:
        raise ConfigError("--marginals and --n-best do not go together, except as --n-best with --json.")
    check_output(output, data, model)
    if dask is not None:
        if n_best or marginals or as_json or decoder or text or format_ or to or given is not None:
            raise ConfigError("--dask adds labels to column files; leave out the options of other answers.")
        names = {"words": word_column and word_column.split(","), "sequence": sentence_column}
        own = {name: value for name, value in names.items() if value is not None}
        _tag_on_cluster(model, data, output, dask, reading_arguments(**options), own)
        return
    name, fields = format_options(format_, word_column, sentence_column, text_field, data, options["encoding"])
    name = "text" if text else name
    if name is not None:
        if given is not None:
            raise ConfigError("--given is a column of column files; leave it out for raw text and annotation files.")
        fields["separator"] = options["separator"] and options["separator"].replace("\\t", "\t")
        _tag_text(model, data, output, name, whole, to, n_best, decoder, jobs, options["encoding"], fields, review)
        return
    if whole or to or review is not None:
        raise ConfigError(
            "--whole, --to and --review are for raw text and annotation files; give --text or --format too."
        )
    _check_name(output, as_json=as_json)
    if Path(output).suffix in (".gz", ".bz2", ".xz", ".zst"):
        raise ConfigError(f"{output}: output is plain text; write it to a pipe to compress it.")
    tagger, about = load_tagger(model, count_jobs(jobs))
    if decoder is not None:
        tagger = replace(tagger, decoder=decoder)
    if options["separator"] is not None:
        about = {**about, "asked": options["separator"]}
    else:
        options["separator"] = about.get("notes", {}).get("separator")
    arguments = reading_arguments(**options)
    encoding, between = arguments.pop("encoding"), arguments["separator"]
    reader = SentenceReader(**arguments, source=source_name(data))  # refuses what does not go together
    only_labels = not (marginals or n_best or as_json or given is not None)
    with click.open_file(output, "w", encoding=encoding, lazy=True) as out:  # made once there is something to write
        if os.linesep != "\n" and hasattr(out, "reconfigure"):
            out.reconfigure(newline="")  # line ends stay as they were
        for block in _blocks(data, encoding, reader, as_bytes=only_labels):
            known = None
            if given is not None:
                block, known = split_given(block, given, tagger)
            rows = input_rows(block, tagger, about)
            if block.sentences:
                _write(out, tagger, block, rows, between, marginals, n_best, as_json, known)
            else:
                cells = tagger.labels(tagger.features.encode(rows, tagger.n_jobs))
                out.buffer.write(block.with_cells(cells, list(map(str, tagger.task.labels))))  # type: ignore[attr-defined]
            out.flush()
        out.flush()  # data without a sentence have an answer too


def _check_name(output: str, *, as_json: bool) -> None:
    """Refuse names of files that promise something else than columns."""
    from chainfield.formats.endings import format_named

    promised = None if output == "-" else format_named(output)
    if promised in ("jsonl", "label-studio", "doccano", "prodigy", "parquet", "docbin") and not as_json:
        raise ConfigError(
            f"{output}: a column file is answered with one more column; give the output another name, or --json for "
            "one JSON object per sentence."
        )


def _tag_on_cluster(
    model: Path, data: str, output: str, address: str, reading: dict[str, Any], names: dict[str, Any]
) -> None:
    """Every piece once, on the workers of a cluster; ``names``: columns of Parquet files."""
    if "-" in (data, output):
        raise ConfigError("--dask needs a pattern of files and a folder: chainfield tag MODEL 'data/*.txt' -o FOLDER.")
    try:
        import chainfield.dask as cluster
    except ImportError as error:
        raise ConfigError(str(error)) from None

    def show(done: int, of: int) -> None:
        click.echo(f"tagged {done} of {of} pieces", err=True)

    parquet = data.endswith(".parquet")
    if names and not parquet:
        raise ConfigError("--word-column and --sentence-column name columns of Parquet files; column files have none.")
    found = cluster.tag(model, data, output, address, watch=show, **(names if parquet else reading))
    skipped = f"; {found.n_skipped} were there already" if found.n_skipped else ""
    click.echo(
        f"{found.folder}: {found.n_pieces} pieces, {found.n_sentences:,} sentences, {found.n_tokens:,} tokens{skipped}",
        err=True,
    )


def _tag_text(
    model: Path,
    data: str,
    output: str,
    name: str,
    whole: bool,
    to: str | None,
    n_best: int | None,
    decoder: str | None,
    jobs: int,
    encoding: str,
    fields: dict[str, Any],
    review: int | None,
) -> None:
    """Raw text and annotation files."""
    if review is not None and review < 1:
        raise ConfigError(f"--review {review}: give 1 or more.")
    from chainfield.formats.format import Options

    from .text import tag_documents, text_tagger, whole_file

    tagger = text_tagger(model, jobs, decoder)
    options = Options(encoding=encoding, **fields)
    read = whole_file if whole else None
    tag_documents(tagger, data, name, output, to, options, (n_best or 1) - 1, read, review)


def _blocks(data: str, encoding: str, reader: SentenceReader, as_bytes: bool) -> Iterator[Block]:
    """As many sentences at a time as have arrived; as bytes, where they are UTF-8."""
    from chainfield.data.column_blocks import Block, blocks_of
    from chainfield.data.opening import is_utf8_file, line_runs_of, open_bytes

    from .stream import batches

    if as_bytes and is_utf8_file(data, encoding):
        with open_bytes(data) as read:
            chunks = (b"".join(some) for some in batches(iter(read, b""), CHUNKS))
            yield from blocks_of(chunks, reader, verbatim=True)
        return
    with line_runs_of(data, encoding) as (_, runs):
        for some in batches(reader.sentences(runs), BATCH):
            yield Block.of(some, reader.separator)


def input_rows(block: Block, tagger: Tagger, about: dict[str, Any]) -> CodedRows:
    """The columns that the model reads: a label column is taken out if there is one."""
    rows = block.read_by(tagger.features, about)
    if block.rows.n_columns == tagger.features.width == 1 and "asked" not in about:
        _refuse_sentences(block)
    return rows


def _refuse_sentences(block: Block) -> None:
    """A column of words in which every cell has a space is a column of sentences."""
    words = block.rows.values[0]
    if all(" " in word.strip() for word in words):
        raise DataError(
            f"{block.source}, line {block.line_of(0)}: {words[0]!r:.60} looks like a sentence, but one token per "
            "line is expected; for raw text give --text (if these are tokens, give --separator '\\t')."
        )


def _write(
    out: IO[Any],
    tagger: Tagger,
    block: Block,
    rows: CodedRows,
    between: str | None,
    marginals: bool,
    n_best: int | None,
    as_json: bool,
    known: list[list[Any]] | None,
) -> None:
    from chainfield.fitted.confidence import confidences

    several = tagger.n_best(rows, n_best, known) if n_best else None
    if as_json or marginals:
        sure = confidences(tagger, rows, known)
        labels = [c.labels for c in sure]
    else:
        sure = None
        labels = tagger.predict(rows, known) if several is None else [found[0][0] for found in several]
    for i, sentence in enumerate(block.sentences):
        if as_json:
            assert sure is not None
            found = _described(rows[i], sure[i], several[i] if several else None)
            out.write(json.dumps(found, ensure_ascii=False) + "\n")
            continue
        end = sentence.newline
        out.writelines(line + end for line in sentence.leading)
        separator = between or ("\t" if "\t" in sentence.lines[0] or " " not in sentence.lines[0] else " ")
        if several is not None:
            for rank, (best, probability) in enumerate(several[i]):
                out.write(f"#{rank}:{probability:.6f}{end}")  # one cell: it cannot be taken for a row
                out.writelines(f"{line}{separator}{y}{end}" for line, y in zip(sentence.lines, best, strict=True))
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
