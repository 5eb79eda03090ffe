"""``chainfield convert``: annotations from one format to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from .losses import show_losses
from .options import annotation_files, check_output, encoding_of

if TYPE_CHECKING:
    from chainfield.text.document import Document


@click.command()
@click.argument("source", type=click.Path(), required=False)
@click.argument("target", type=click.Path(), required=False)
@click.option("--from", "source_format", metavar="NAME", help="Format of SOURCE.  [default: by its name]")
@click.option("--to", "target_format", metavar="NAME", help="Format of TARGET.  [default: by its name]")
@click.option("--label-column", help="The column of the label, by name or number.")
@encoding_of("SOURCE")
@click.option(
    "--scheme",
    type=click.Choice(["bio", "iob1", "bioes", "bilou", "io"]),
    default="bio",
    show_default=True,
    help="How labels of tokens write spans in TARGET.",
)
@click.option("--list", "listed", is_flag=True, help="List the formats and exit.")
@annotation_files
def convert(
    source: str | None,
    target: str | None,
    source_format: str | None,
    target_format: str | None,
    listed: bool,
    scheme: str,
    **options: Any,
) -> None:
    """Convert annotated texts from SOURCE to TARGET.

    Formats follow from the names of the files, or are given. What TARGET cannot hold is counted on standard error.
    """
    from chainfield.formats import FORMATS, Report
    from chainfield.formats.format import Options

    from .text import format_by

    if listed:
        for one in FORMATS.values():
            click.echo(f"{one.name:13} {', '.join(one.extensions) or '-':22} {one.title}")
        return
    if source is None or target is None:
        raise click.UsageError("Give a source and a target; chainfield convert --list shows the formats.")
    check_output(target, source)
    reader, writer, report = (
        format_by(source, source_format, "--from"),
        format_by(target, target_format, "--to"),
        Report(),
    )
    seen = {"documents": 0, "spans": 0}

    def counted(documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            seen["documents"] += 1
            seen["spans"] += len(document.spans)
            yield document

    writer.write(counted(reader.read(source, Options(**options), report)), target, Options(scheme=scheme), report)
    click.echo(f"{seen['documents']:,} documents, {seen['spans']:,} spans: {reader.name} → {writer.name}", err=True)
    show_losses(report)
