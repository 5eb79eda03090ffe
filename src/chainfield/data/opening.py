"""Text lines from a file, whichever way it is compressed, with errors that name file and line."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from os import PathLike, fspath
from pathlib import Path
from typing import IO, BinaryIO, TypeGuard, cast

from chainfield.errors import ConfigError, DataError

_CHUNK = 1 << 16
# A few bytes of Zstandard may unfold to megabytes, so that it is fed in smaller bites.
_ZSTD_CHUNK = 1 << 12

_Read = Callable[[], bytes]
Readable = str | PathLike[str] | IO[str] | IO[bytes] | Iterable[str]


@contextmanager
def open_text(
    path: str | PathLike[str], encoding: str = "utf-8", *, longest: int | None = None
) -> Iterator[Iterator[str]]:
    """Open a file for its lines, without their ends; `-` is standard input.

    Names ending in .gz, .xz, .bz2 or .zst are decompressed. Lines end with "\\n" or "\\r\\n" and with nothing
    else; a byte order mark is skipped. A line of more than ``longest`` characters is refused before it is read.
    Use it as `with open_text(path) as lines`.
    """
    with line_runs_of(path, encoding, longest=longest) as (_, runs):
        yield (line.removesuffix("\r") for run in runs for line in run)


@contextmanager
def open_bytes(path: str | PathLike[str]) -> Iterator[_Read]:
    """A function that reads the next bytes of a file, decompressed; none at its end."""
    if fspath(path) == "-":
        # From a pipe, take what is there: waiting for a full chunk would hold back complete sentences.
        take: Callable[[int], bytes] = getattr(sys.stdin.buffer, "read1", sys.stdin.buffer.read)
        yield lambda: take(_CHUNK)
        return
    _check_exists(path)
    with Path(path).open("rb") as file:
        yield _reader(file, source_name(path))


def _check_exists(path: str | PathLike[str]) -> None:
    if Path(path).is_dir():
        raise DataError(f"{path} is a directory; give the name of a file.")
    if not Path(path).exists():
        raise FileNotFoundError(f"There is no file {path}; check the name and the directory you are in.")


@contextmanager
def line_runs_of(
    readable: Readable, encoding: str = "utf-8", *, longest: int | None = None
) -> Iterator[tuple[str, Iterator[list[str]]]]:
    """Give a name for messages and the lines of a path, an open file, or an iterable; as many at a time as there are.

    Lines come without "\\n", but with the "\\r" of an end "\\r\\n", so that they can be written as they were.
    """
    name = source_name(readable)
    if isinstance(readable, str | PathLike):
        decoder = _decoder(encoding)
        with open_bytes(readable) as read:
            yield name, _decoded_runs(read, decoder, name, longest)
        return
    # Asking an open file for nothing tells whether it gives bytes or text.
    take: Callable[[int], str | bytes] | None = getattr(readable, "read", None)
    if take is not None and isinstance(take(0), bytes):
        yield name, _decoded_runs(lambda: cast(bytes, take(_CHUNK)), _decoder(encoding), name)
    else:
        yield name, ([line.removesuffix("\n")] for line in cast(Iterable[str], readable))


def is_utf8_file(readable: Readable, encoding: str) -> TypeGuard[str | PathLike[str]]:
    """Whether this is the name of a file of UTF-8, so that its bytes can be cut as they are."""
    return isinstance(readable, str | PathLike) and encoding.lower() in ("utf-8", "utf8")


def source_name(readable: Readable) -> str:
    """Return what messages call a path, an open file, or an iterable of lines."""
    if isinstance(readable, str | PathLike):
        return "standard input" if fspath(readable) == "-" else fspath(readable)
    name = getattr(readable, "name", None)
    return name if isinstance(name, str) else "input"


def _decoded_runs(
    read: _Read, decoder: codecs.IncrementalDecoder, name: str, longest: int | None = None
) -> Iterator[list[str]]:
    """Split what `read` returns, chunk after chunk until it returns nothing, into lines."""
    ended = size = 0
    # The unfinished line is kept in parts: joining it at every chunk would be quadratic in its length.
    parts: list[str] = []
    while True:
        chunk = read()
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            raise undecodable(name, ended, error) from None
        run = text.split("\n")
        parts.append(run[0])
        if len(run) > 1:
            run[0] = "".join(parts)
            parts = [run.pop()]
            ended += len(run)
            yield run
            size = 0
        size += len(parts[-1])
        if longest is not None and size > longest:
            raise DataError(
                f"{name}, line {ended + 1}: the line has more than {longest:,} characters; break it into several lines."
            )
        if not chunk:
            break
    last = "".join(parts)
    if last:
        yield [last]


def undecodable(name: str, n_lines: int, error: UnicodeDecodeError) -> DataError:
    """What to say of bytes that stand behind the first ``n_lines`` lines of a file."""
    line = n_lines + error.object[: error.start].count(b"\n") + 1
    return DataError(
        f"{name}, line {line}: the bytes are not valid {error.encoding} ({error.reason}); "
        f"give the file's encoding with --encoding or encoding=, for example latin-1."
    )


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    try:
        name = codecs.lookup(encoding).name
        return codecs.getincrementaldecoder("utf-8-sig" if name == "utf-8" else name)()
    except LookupError:
        raise ConfigError(f"There is no encoding {encoding!r}; try utf-8 or latin-1.") from None


def _reader(file: BinaryIO, name: str) -> _Read:
    """Return a function that reads the next decompressed chunk, and turns damage into a DataError."""
    suffix = Path(name).suffix.lower()
    if suffix == ".gz":
        import gzip
        import zlib

        return _guarded(gzip.GzipFile(fileobj=file), (EOFError, OSError, zlib.error), name)
    if suffix == ".xz":
        import lzma

        return _guarded(lzma.LZMAFile(file), (EOFError, OSError, lzma.LZMAError), name)
    if suffix == ".bz2":
        import bz2

        return _guarded(bz2.BZ2File(file), (EOFError, OSError), name)
    if suffix == ".zst":
        return _zstd_reader(file, name)
    return lambda: file.read(_CHUNK)


def _guarded(stream: BinaryIO | BufferedIOBase, damage: tuple[type[Exception], ...], name: str) -> _Read:
    def read() -> bytes:
        try:
            return stream.read(_CHUNK)
        except damage as error:
            raise _damaged(name, error) from None

    return read


def _zstd_reader(file: BinaryIO, name: str) -> _Read:
    # zstandard's stream reader takes a truncated file for a complete one; its decompression object can tell.
    import zstandard

    context = zstandard.ZstdDecompressor()
    frame = context.decompressobj()
    compressed = b""
    open_frame = False

    def read() -> bytes:
        nonlocal frame, compressed, open_frame
        while True:
            compressed = compressed or file.read(_ZSTD_CHUNK)
            if not compressed:
                if open_frame:
                    raise _damaged(name, "it ends in the middle")
                return b""
            try:
                text: bytes = frame.decompress(compressed)
            except zstandard.ZstdError as error:
                raise _damaged(name, error) from None
            compressed, open_frame = frame.unused_data, not frame.eof
            if frame.eof:
                frame = context.decompressobj()
            if text:
                return text

    return read


def _damaged(name: str, reason: object) -> DataError:
    return DataError(f"{name}: the compressed file is damaged or cut short ({reason}); make it anew.")
