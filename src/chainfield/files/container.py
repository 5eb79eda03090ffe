"""A safetensors file with a JSON description: replaced as a whole, read into memory of its own, never pickle.

One metadata entry, ``chainfield``, holds the file's kind and version, a description, and a digest of everything, by
which damage is noticed. A file is opened once, and every tensor is read once: the bytes that are checked are the bytes
that are used. Nothing is mapped, because a mapped file that is overwritten or cut off changes numbers that were checked
before, or stops the process. Processes that fork share the memory of a model that was loaded before.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from chainfield.arrays import Array, Arrays, aligned_empty
from chainfield.errors import ConfigError, ModelFileError
from chainfield.memory import demand_memory

from .digest import canonical, digest, digest_at_once
from .header import DTYPES, LONGEST_HEADER, Entry, HeaderError, StrangeType, read_header
from .replacing import replace_file

KEY = "chainfield"
# The names under which the description holds its digest: over checksums of tensors, or (old files) over tensors.
DIGEST, OLD_DIGEST = "digest", "sha256"
# Values within values. What follows the description recurses; real ones are less than ten deep.
_DEPTH = 64
LONGEST = 1000  # bits of a whole number: doubles have up to 1,024


def is_container(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like one of ours: a safetensors header that mentions chainfield."""
    with _opened(Path(path)) as file:
        size = int.from_bytes(file.read(8), "little")
        return size < LONGEST_HEADER and f'"{KEY}"'.encode() in file.read(size)


def write_container(
    path: str | os.PathLike[str], kind: str, version: int, config: dict[str, Any], arrays: Arrays, n_jobs: int = 1
) -> str:
    """Write a file as a whole or not at all: an old file stays as it was if anything fails. Returns its digest.

    The same content gives the same bytes.
    """
    from safetensors.numpy import save

    contents = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    description: dict[str, Any] = {"kind": kind, "version": version, "config": config}
    try:
        description[DIGEST] = digest(description, contents, n_jobs)
    except UnicodeEncodeError:
        raise ModelFileError(f"{path} cannot be written: a text has half a character (a lone surrogate).") from None
    # One entry: safetensors does not keep several in a definite order.
    metadata = {KEY: canonical(description).decode()}
    data = save(contents, metadata)
    if int.from_bytes(data[:8], "little") + 8 > LONGEST_HEADER:
        raise ModelFileError(
            f"{path} cannot be written: labels, settings and notes take more than {LONGEST_HEADER >> 20} MB as text."
        )
    replace_file(path, data)
    return str(description[DIGEST])


def read_container(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    n_jobs: int = 1,
    *,
    expected: str | None = None,
    verified: bool = False,
) -> tuple[dict[str, Any], Arrays, int]:
    """Description, arrays and version of the format.

    ``expected``: the digest that another file states; ``verified``: this process has computed it before, and whoever
    calls checks the numbers again.
    """
    target = Path(path)
    with _opened(target) as file:
        size = os.fstat(file.fileno()).st_size
        entries, description = _head(target, file, size, kind, version)
        try:
            demand_memory(size, f"{target}", "use a machine with more")
        except ConfigError as error:
            raise ModelFileError(str(error)) from None
        arrays = {entry.name: _read(target, file, entry) for entry in entries}
    stated, old = description.pop(DIGEST, None), description.pop(OLD_DIGEST, None)
    if expected is not None and stated != expected:
        raise ModelFileError(f"{target} is not the file that was written here. Make or fetch it again.")
    if verified:
        return description["config"], arrays, description["version"]
    found = digest_at_once(description, arrays) if stated is None else digest(description, arrays, n_jobs)
    if found != (old if stated is None else stated):
        raise ModelFileError(f"{target} is damaged: its contents do not match its checksum. Make or fetch it again.")
    return description["config"], arrays, description["version"]


def stated_digest(path: str | os.PathLike[str], kind: str, version: int) -> str:
    """The digest that a file states, by which its content can be named; nothing but the description is read."""
    target = Path(path)
    with _opened(target) as file:
        _, description = _head(target, file, os.fstat(file.fileno()).st_size, kind, version)
    return str(description.get(DIGEST, description.get(OLD_DIGEST)))


def _head(target: Path, file: BinaryIO, size: int, kind: str, version: int) -> tuple[list[Entry], dict[str, Any]]:
    """Where the tensors lie, and the description."""
    try:
        entries, metadata = read_header(file, size)
    except StrangeType as error:
        raise ModelFileError(f"{target}: {error}.") from None
    except (HeaderError, ValueError) as error:
        raise ModelFileError(
            f"{target} is not a chainfield file, or is cut off; check the name, or make or fetch it again."
        ) from error
    return entries, _description(target, metadata, kind, version)


def _opened(target: Path) -> BinaryIO:
    """An ordinary file, open; a pipe or a device would keep us waiting."""
    try:
        file = os.open(target, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {target}.") from None
    except IsADirectoryError:
        raise ModelFileError(f"{target} is a folder, not a model file.") from None
    except (OSError, ValueError) as error:
        if target.is_dir():  # Windows calls this a matter of permissions
            raise ModelFileError(f"{target} is a folder, not a model file.") from None
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise ModelFileError(f"{target} cannot be read: {reason}.") from None
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode):
        os.close(file)
        what = "a folder, not a model file" if stat.S_ISDIR(mode) else "a device or a pipe, not a file"
        raise ModelFileError(f"{target} is {what}.")
    return os.fdopen(file, "rb")


def _description(target: Path, metadata: dict[str, str], kind: str, version: int) -> dict[str, Any]:
    try:
        description = json.loads(metadata[KEY], parse_int=_whole)
        found_kind, found_version = description["kind"], description["version"]
        types = type(found_kind), type(found_version), type(description["config"])
        if types != (str, int, dict) or not 0 < found_version < 1 << 31 or not _shallow(description):
            raise TypeError
        canonical(description)  # refuses halves of characters, which could not be written
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ModelFileError(f"{target} is a safetensors file, but chainfield did not write it.") from None
    if found_kind != kind:
        raise ModelFileError(f"{target} is a {found_kind:.40} file; a {kind} file is expected here.")
    if found_version > version:
        raise ModelFileError(
            f"{target} was written by a newer chainfield (format {found_version}, this one reads up to {version}); "
            "upgrade with: pip install -U chainfield."
        )
    return dict(description)


def _whole(digits: str) -> int:
    """A whole number that is also a double, wherever one is expected; others are refused here, once."""
    found = int(digits)
    if found.bit_length() > LONGEST:
        raise ValueError("a number is too long")
    return found


def _shallow(value: Any) -> bool:
    level = [value]
    for _ in range(_DEPTH):
        inside = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [child for parts in inside for child in parts]
    return not level


def _read(target: Path, file: BinaryIO, entry: Entry) -> Array:
    """A tensor in memory of its own."""
    dtype = np.dtype(entry.dtype)
    array = aligned_empty((entry.end - entry.begin) // dtype.itemsize, dtype)
    rest = array.view(np.uint8).data
    while rest:
        n = file.readinto(rest)  # type: ignore[attr-defined]
        if not n:
            raise ModelFileError(f"{target} became shorter while it was read; load it again.")
        rest = rest[n:]
    if entry.dtype == DTYPES["BOOL"] and array.view(np.uint8).max(initial=0) > 1:
        raise ModelFileError(f"{target}: the tensor {entry.name!r:.80} holds truth values that are none.")
    return array.reshape(entry.shape)
