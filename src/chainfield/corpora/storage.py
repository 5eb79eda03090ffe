"""Files by path or by URL: sizes, patterns, and the bytes between two places. URLs need fsspec."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chainfield.data.opening import Readable, open_bytes
from chainfield.errors import ConfigError, DataError

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_WINDOW = 1 << 16
_NEWLINE = ord("\n")


def is_url(path: str) -> bool:
    """Whether fsspec has to open it."""
    return "://" in path


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError:
        raise ConfigError("Addresses such as s3://… need fsspec: pip install chainfield[dask].") from None
    return fsspec


def expand(pattern: str | os.PathLike[str]) -> list[str]:
    """The files that a pattern stands for, in the order of their names; at least one."""
    text = os.fspath(pattern)
    if is_url(text):
        first, chained, rest = text.partition("::")  # zip://a.txt::s3://bucket/b.zip
        files, paths = _listed(text)
        found = [files.unstrip_protocol(path) + chained + rest for path in sorted(paths)]
        if found or glob.has_magic(first):
            return found or _none(text)
        raise FileNotFoundError(f"There is no file {text}; check the address.")
    if Path(text).exists() or not glob.has_magic(text):
        if not Path(text).exists():
            raise FileNotFoundError(f"There is no file {text}; check the name and the directory you are in.")
        return [text]
    return sorted(path for path in glob.glob(text, recursive=True) if Path(path).is_file()) or _none(text)


def file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        files, inner = _fsspec().core.url_to_fs(address)
    except (ValueError, ImportError) as error:
        raise ConfigError(f"{address} cannot be opened: {error}.") from None
    return files, inner


def _listed(address: str) -> tuple[Any, list[str]]:
    """The file system of an address, and the files that are there."""
    files, inner = file_system(address)
    try:
        return files, files.glob(inner) if glob.has_magic(inner) else [inner] if files.exists(inner) else []
    except OSError as error:
        raise DataError(f"{address} cannot be read: {error}.") from None


def _none(pattern: str) -> list[str]:
    raise DataError(f"No file fits the pattern {pattern}; check the name and the directory you are in.")


def size_of(path: str) -> int:
    """Bytes of a file."""
    if is_url(path):
        files, inner = file_system(path)
        return int(files.size(inner))
    return Path(path).stat().st_size


def is_compressed(path: str) -> bool:
    """Whether a file can be read from its beginning only."""
    return path.lower().endswith(COMPRESSED)


@contextmanager
def opened(path: str) -> Iterator[Readable]:
    """What readers of column files take: the path itself, or an open file that is decompressed on the way."""
    if not is_url(path):
        yield path
        return
    with _fsspec().open(path, "rb", compression="infer") as file:
        yield file


@contextmanager
def local_file(path: str) -> Iterator[str]:
    """A file that has a name here: the file itself, or a copy of what an address leads to."""
    if not is_url(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="chainfield-") as folder, _fsspec().open(path, "rb") as file:
        copy = Path(folder) / Path(path).name
        with copy.open("wb") as out:
            shutil.copyfileobj(file, out)
        yield str(copy)


def chunks_of(path: str, size: int) -> Iterator[bytes]:
    """The bytes of a file, decompressed, some at a time."""
    if is_url(path):
        with opened(path) as file:
            yield from iter(lambda: file.read(size), b"")  # type: ignore[union-attr]
        return
    with open_bytes(path) as read:
        some: list[bytes] = []
        for chunk in iter(read, b""):
            some.append(chunk)
            if sum(map(len, some)) >= size:
                yield b"".join(some)
                some = []
        yield b"".join(some)


@contextmanager
def binary(path: str) -> Iterator[Any]:
    """An open file, as it is."""
    with _fsspec().open(path, "rb") if is_url(path) else open(path, "rb") as file:
        yield file


def chunks_between(path: str, start: int, stop: int, size: int) -> Iterator[bytes]:
    """The bytes from start to stop, some at a time."""
    with binary(path) as file:
        file.seek(start)
        while start < stop:
            chunk = file.read(min(size, stop - start))
            if not chunk:
                raise DataError(f"{path} has become shorter while it was read; read it again.")
            yield chunk
            start += len(chunk)


def cuts_between_sentences(path: str, n_bytes: int, size: int) -> list[int]:
    """Places between sentences, about every ``size`` bytes: the first one behind an empty line; from 0 to the end."""
    cuts = [0]
    with binary(path) as file:
        for wanted in range(size, n_bytes, size):
            if wanted > cuts[-1]:
                place = _behind_empty_line(file, wanted, n_bytes)
                if place >= n_bytes:
                    break
                cuts.append(place)
    return [*cuts, n_bytes]


def _behind_empty_line(file: Any, place: int, end: int) -> int:
    """The first place at or behind ``place`` that empty lines stand before, and no empty line behind."""
    file.seek(place)
    newlines = 0  # in a row, just before ``place``
    while window := file.read(_WINDOW):
        at = 0
        while at < len(window):
            if window[at] == _NEWLINE:
                newlines, at = newlines + 1, at + 1
            elif newlines > 1:
                return int(place + at)
            else:
                newlines, found = 0, window.find(b"\n\n", at)
                at = found if found >= 0 else len(window) - window.endswith(b"\n")
        place += len(window)
    return end
