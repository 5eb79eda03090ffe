"""Where finished pieces go: a folder that all workers see, or an address that fsspec writes to. Files appear whole."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainfield.corpora.storage import file_system, is_url
from chainfield.errors import ConfigError, DataError
from chainfield.files.replacing import replace_file

#: Where an object is there as a whole, or not at all; elsewhere files are written under another name first.
WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "memory"}


@dataclass(frozen=True)
class Folder:
    """A folder by its path, or by an address such as s3://bucket/tagged."""

    place: str

    def __str__(self) -> str:
        return self.place

    def make(self) -> None:
        """Create it, if there is need to."""
        if is_url(self.place):
            with self._there() as (files, inner):
                files.makedirs(inner, exist_ok=True)
        else:
            Path(self.place).mkdir(parents=True, exist_ok=True)

    def names(self) -> set[str]:
        """The files that are there."""
        if not is_url(self.place):
            return {path.name for path in Path(self.place).iterdir()}
        with self._there() as (files, inner):
            files.invalidate_cache()
            try:
                found = files.ls(inner, detail=False)
            except FileNotFoundError:
                return set()  # an object store has no empty folders
        return {path.rstrip("/").rpartition("/")[2] for path in found if path.rstrip("/") != inner.rstrip("/")}

    def read(self, name: str) -> bytes:
        """A whole file."""
        if not is_url(self.place):
            return Path(self.place, name).read_bytes()
        with self._there() as (files, inner):
            content: bytes = files.cat_file(f"{inner}/{name}")
        return content

    def write(self, name: str, content: bytes) -> None:
        """A file that appears when it is complete."""
        if not is_url(self.place):
            replace_file(Path(self.place, name), content)
            return
        with self._there() as (files, inner):
            if WHOLE & set([files.protocol] if isinstance(files.protocol, str) else files.protocol):
                files.pipe_file(f"{inner}/{name}", content)
                return
            passing = f"{inner}/.{name}.{uuid.uuid4().hex}"
            files.pipe_file(passing, content)
            files.mv(passing, f"{inner}/{name}")

    @contextmanager
    def _there(self) -> Iterator[tuple[Any, str]]:
        files, inner = file_system(self.place)
        try:
            yield files, inner.rstrip("/")
        except FileNotFoundError:
            raise
        except PermissionError as error:
            raise ConfigError(f"{self.place} cannot be written to: {error}.") from None
        except OSError as error:
            raise DataError(f"{self.place} cannot be used: {error}.") from None
