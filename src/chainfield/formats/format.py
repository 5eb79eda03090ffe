"""What a format is: documents from a file, documents to a file, and a report of what did not fit."""

from __future__ import annotations

import os
import secrets
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, Any, ClassVar

from chainfield.data.opening import text_encoding
from chainfield.errors import ConfigError, DataError
from chainfield.spans import scheme_name
from chainfield.text.document import Document

from .endings import ENDINGS


@dataclass
class Options:
    """How files are read and written; a format takes from it what it knows."""

    encoding: str = "utf-8"
    word_column: str | None = None
    label_column: str | None = None
    sentence_column: str | None = None
    text_field: str | None = None
    separator: str | None = None
    scheme: str = "bio"  # how labels of tokens write spans
    gold: bool = False  # spans are learned from or compared with: texts that nobody has annotated are left out

    def __post_init__(self) -> None:
        scheme_name(self.scheme)
        text_encoding(self.encoding)


@dataclass
class Report:
    """What a reader left out, or a writer could not hold: counted by kind, with the place of the first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, where: str) -> None:
        """One more of this kind."""
        self.counts[what] += 1
        self.first.setdefault(what, where)

    def __bool__(self) -> bool:
        return bool(self.counts)

    def lines(self) -> list[str]:
        """One line per kind."""
        return [f"{n:,} × {what} (first: {self.first[what]})" for what, n in self.counts.items()]


class Format(ABC):
    """One way to write documents down. ``read`` and ``write`` go document by document."""

    name: ClassVar[str]
    #: One line for people.
    title: ClassVar[str]
    #: The package that is needed, and the extra that brings it.
    needs: ClassVar[tuple[str, str] | None] = None

    @property
    def extensions(self) -> tuple[str, ...]:
        """How names of such files end; the first is the usual one."""
        return ENDINGS[self.name]

    @abstractmethod
    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """The documents of a file; what is wrong is refused with file and line."""

    @abstractmethod
    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """Write documents; what the format cannot hold is reported."""

    def package(self) -> Any:
        """The package that is needed, or one sentence about how to get it."""
        assert self.needs is not None
        name, extra = self.needs
        try:
            return import_module(name)
        except ImportError:
            raise ConfigError(
                f"The format {self.name} needs the package {name}; install it with: pip install 'chainfield[{extra}]'."
            ) from None


@contextmanager
def writing(path: str, options: Options) -> Iterator[IO[str]]:
    """A file to write text to: it appears as a whole or not at all. - is standard output."""
    if path == "-":
        import sys

        yield sys.stdout
        return
    temporary = temporary_name(path)
    try:
        with open(temporary, "x", encoding=options.encoding, newline="") as out:
            yield out
        os.replace(temporary, os.path.realpath(path))
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise DataError(
            f"{path}: the character {bad!a} cannot be written as {error.encoding}; "
            "write it as UTF-8, or repair the text (a lone surrogate belongs to no text)."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def temporary_name(path: str) -> Path:
    """A new file beside the one that is wanted (behind links, if it is one), under a name that nobody else has."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise DataError(f"{path}: the folder {target.parent} does not exist; create it first.")
    if target.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file.")
    if target.exists() and not target.is_file():
        raise DataError(f"{path} is a device or a pipe; give the name of a file.")
    return target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.tmp")
