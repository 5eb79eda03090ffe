"""Plain text: one document per line, or one document per file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, final

from chainfield.text.document import Document

from .format import Format, Options, Report, writing
from .lines import text_lines


@final
class Plain(Format):
    """Texts without annotations; each line is a document."""

    name: ClassVar[str] = "text"
    title: ClassVar[str] = "plain text, one document per line, without annotations"
    extensions: ClassVar[tuple[str, ...]] = ()

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """Line by line; blank lines are documents too, so that answers have the same lines."""
        for _, line in text_lines(path, options):
            yield Document(line)

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """The texts alone."""
        with writing(path, options) as out:
            for number, document in enumerate(documents):
                if document.spans:
                    report.add("spans left out", f"document {number}")
                if "\n" in document.text:
                    report.add("line break replaced by a space", f"document {number}")
                out.write(document.text.replace("\r\n", " ").replace("\n", " ") + "\n")
