"""Text lines from a file, whichever way it is compressed, with errors that name file and line."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, AnyStr, BinaryIO, TypeGuard, cast

from chainfield.errors import ConfigError, DataError
from chainfield.limits import LINE_BYTES, UNPACKED_BYTES, UNPACKED_RATIO, UNPACKING_MEMORY, Limit

_CHUNK = 1 << 16
# A few bytes of Zstandard may unfold to megabytes, so that it is fed in smaller bites.
_ZSTD_CHUNK = 1 << 12

_Read = Callable[[], bytes]
_Step = Callable[[Any, bytes], tuple[bytes, bytes]]
Readable = str | PathLike[str] | IO[str] | IO[bytes] | Iterable[str]


@contextmanager
def open_text(
    path: str | PathLike[str], encoding: str = "utf-8", *, limit: Limit = LINE_BYTES
) -> Iterator[Iterator[str]]:
    """Open a file for its lines, without their ends; `-` is standard input.

    Names ending in .gz, .xz, .bz2 or .zst are decompressed. Lines end with "\\n" or "\\r\\n" and with nothing
    else; a byte order mark is skipped. A line beyond the ``limit`` is refused before it is read.
    Use it as `with open_text(path) as lines`.
    """
    with line_runs_of(path, encoding, limit=limit) as (_, runs):
        yield (line.removesuffix("\r") for run in runs for line in run)


@contextmanager
def open_bytes(path: str | PathLike[str]) -> Iterator[_Read]:
    """A function that reads the next bytes of a file, decompressed; none at its end."""
    if fspath(path) == "-":
        if sys.stdin is None:
            raise DataError("Standard input is closed; give the name of a file.")
        # From a pipe, take what is there: waiting for a full chunk would hold back complete sentences.
        take: Callable[[int], bytes] = getattr(sys.stdin.buffer, "read1", sys.stdin.buffer.read)
        yield lambda: take(_CHUNK)
        return
    _check_exists(path)
    with Path(path).open("rb") as file:
        yield _reader(file, source_name(path))


def _check_exists(path: str | PathLike[str]) -> None:
    try:
        folder, there = Path(path).is_dir(), Path(path).exists()
    except OSError as error:  # a name that is too long, a loop of links
        name = fspath(path)
        shown = name if len(name) <= 80 else f"{name[:80]}…"
        raise DataError(f"{shown} cannot be opened: {(error.strerror or str(error)).lower()}.") from None
    if folder:
        raise DataError(f"{path} is a directory; give the name of a file.")
    if not there:
        raise FileNotFoundError(f"There is no file {path}; check the name and the directory you are in.")


@contextmanager
def line_runs_of(
    readable: Readable, encoding: str = "utf-8", *, limit: Limit = LINE_BYTES
) -> Iterator[tuple[str, Iterator[list[str]]]]:
    """Give a name for messages and the lines of a path, an open file, or an iterable; as many at a time as there are.

    Lines come without "\\n", but with the "\\r" of an end "\\r\\n", so that they can be written as they were.
    """
    name = source_name(readable)
    if isinstance(readable, str | PathLike):
        decoder = _decoder(encoding)
        with open_bytes(readable) as read:
            yield name, _decoded_runs(read, decoder, name, limit)
        return
    # Asking an open file for nothing tells whether it gives bytes or text.
    take: Callable[[int], str | bytes] | None = getattr(readable, "read", None)
    if take is not None and isinstance(take(0), bytes):
        yield name, _decoded_runs(lambda: cast(bytes, take(_CHUNK)), _decoder(encoding), name)
    else:
        yield name, _given_runs(cast(Iterable[str], readable), name)


def _given_runs(lines: Iterable[str], name: str) -> Iterator[list[str]]:
    most = LINE_BYTES.value()
    for number, line in enumerate(lines):
        if len(line) > most:
            raise too_long(name, number + 1)
        yield [line.removesuffix("\n")]


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
    read: _Read, decoder: codecs.IncrementalDecoder, name: str, limit: Limit = LINE_BYTES
) -> Iterator[list[str]]:
    """Split what `read` returns, chunk after chunk until it returns nothing, into lines."""
    ended, most = 0, limit.value()
    # The unfinished line is kept in parts: joining it at every chunk would be quadratic in its length.
    parts: list[str] = []
    size = 0  # of the unfinished line
    while True:
        chunk = read()
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeError as error:
            raise undecodable(name, ended, error) from None
        run = text.split("\n")
        parts.append(run[0])
        size += len(run[0])
        if size > most:
            raise too_long(name, ended + 1, limit)
        check_lines(text, name, ended, most, limit)
        if len(run) > 1:
            run[0] = "".join(parts)
            parts = [run.pop()]
            size = len(parts[0])
            ended += len(run)
            yield run
        if not chunk:
            break
    last = "".join(parts)
    if last:
        yield [last]


def check_lines(text: AnyStr, name: str, n_lines: int, most: int, limit: Limit = LINE_BYTES) -> None:
    """Refuse a line of more than ``most`` bytes; the text stands behind the first ``n_lines`` lines of a file."""
    end = "\n" if isinstance(text, str) else b"\n"
    at = 0
    while len(text) - at > most:
        last = text.rfind(end, at, at + most + 1)
        if last < 0:
            raise too_long(name, n_lines + text.count(end, 0, at) + 1, limit)
        at = last + 1


def too_long(name: str, line: int, limit: Limit = LINE_BYTES) -> DataError:
    """What to say of a line that has no end in sight."""
    return DataError(f"{name}, line {line}: the line is too long; {limit.remedy}")


def undecodable(name: str, n_lines: int, error: UnicodeError) -> DataError:
    """What to say of bytes that stand behind the first ``n_lines`` lines of a file."""
    advice = "give the file's encoding with --encoding or encoding=, for example latin-1."
    if not isinstance(error, UnicodeDecodeError):  # such as UTF-16 without its mark
        return DataError(f"{name}: the bytes are not of this encoding ({error}); {advice}")
    line = n_lines + error.object[: error.start].count(b"\n") + 1
    return DataError(f"{name}, line {line}: the bytes are not valid {error.encoding} ({error.reason}); {advice}")


def text_encoding(name: str) -> str:
    """Python's name of an encoding; refuses what it does not know, and what is no encoding of text (hex, rot13)."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError, TypeError):
        raise ConfigError(f"There is no encoding {name!r}; try utf-8 or latin-1.") from None
    if not found._is_text_encoding or found.incrementaldecoder is None:
        raise ConfigError(f"{name!r} is no encoding of texts; try utf-8 or latin-1.")
    return found.name


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    name = text_encoding(encoding)
    return codecs.getincrementaldecoder("utf-8-sig" if name == "utf-8" else name)()


def _reader(file: BinaryIO, name: str) -> _Read:
    """Return a function that reads the next decompressed chunk, and turns damage into a DataError."""
    suffix = Path(name).suffix.lower()
    if suffix not in (".gz", ".xz", ".bz2", ".zst"):
        return lambda: file.read(_CHUNK)
    packed = unpacked = 0

    def take() -> bytes:
        nonlocal packed
        some = file.read(_ZSTD_CHUNK if suffix == ".zst" else _CHUNK)
        packed += len(some)
        return some

    inner = _unpacker(suffix, take, name)

    def read() -> bytes:
        nonlocal unpacked
        some = inner()
        unpacked += len(some)
        if not UNPACKED_BYTES.allows(unpacked) and not UNPACKED_RATIO.allows(unpacked // max(packed, 1)):
            raise DataError(
                f"{name} unpacks to {unpacked:,} bytes from {packed:,}, as files do that are made to fill memories; "
                f"{UNPACKED_RATIO.remedy}"
            )
        return some

    return read


def _unpacker(suffix: str, take: _Read, name: str) -> _Read:
    """A function that reads the next chunk of a compressed file, whose bytes ``take`` gives."""
    if suffix == ".gz":
        import zlib

        # 16: with the header and the sum of gzip, which are checked
        begin = lambda: zlib.decompressobj(16 + zlib.MAX_WBITS)  # noqa: E731
        return _streams(take, begin, lambda u, some: (u.decompress(some, _CHUNK), u.unconsumed_tail), zlib.error, name)
    if suffix == ".xz":
        import lzma

        memory = UNPACKING_MEMORY.value()
        return _streams(take, lambda: lzma.LZMADecompressor(memlimit=memory), _kept, lzma.LZMAError, name)
    if suffix == ".bz2":
        import bz2

        return _streams(take, bz2.BZ2Decompressor, _kept, OSError, name)
    import zstandard

    memory = UNPACKING_MEMORY.value()
    context = zstandard.ZstdDecompressor(max_window_size=memory)
    return _streams(take, context.decompressobj, lambda u, some: (u.decompress(some), b""), zstandard.ZstdError, name)


def _kept(unpacker: Any, packed: bytes) -> tuple[bytes, bytes]:
    """The step of unpackers that keep the bytes that are still to be read."""
    return unpacker.decompress(packed, _CHUNK), b""


def _streams(take: _Read, begin: Callable[[], Any], step: _Step, damage: type[Exception], name: str) -> _Read:
    """Streams one behind the other; zeros between them are padding.

    ``begin`` makes the unpacker of a stream; ``step`` feeds it, and gives some text and the bytes that are left over.
    """
    unpacker, packed, is_open, n_ended = begin(), b"", False, 0

    def read() -> bytes:
        nonlocal unpacker, packed, is_open, n_ended
        while True:
            waits = not packed and getattr(unpacker, "needs_input", True)
            if waits:
                packed = take()
            if waits and not packed:
                if is_open:
                    raise _damaged(name, "it ends in the middle")
                return b""
            if n_ended and not is_open:
                packed = packed.lstrip(b"\0")
                if not packed:
                    continue
            try:
                text, rest = step(unpacker, packed)
            except (damage, EOFError) as error:
                raise _damaged(name, error) from None
            packed, is_open = rest, not unpacker.eof
            if unpacker.eof:
                packed, unpacker, n_ended = unpacker.unused_data, begin(), n_ended + 1
            if text:
                return text

    return read


def _damaged(name: str, reason: object) -> DataError:
    return DataError(f"{name}: the compressed file is damaged or cut short ({reason}); make it anew.")
