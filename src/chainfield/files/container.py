"""A safetensors file with a JSON description: written atomically, read by memory mapping, never pickle.

safetensors itself checks the header and the bounds of every tensor; this module adds one metadata entry,
``chainfield``, with the file's kind and version, a description, and a digest of everything, by which damage is noticed.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from chainfield.arrays import Arrays
from chainfield.errors import ModelFileError

KEY = "chainfield"
_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}
# Values within values. What follows the description recurses; real ones are less than ten deep.
_DEPTH = 64


def _digest(description: dict[str, Any], arrays: Arrays) -> str:
    """Over everything that the file says: description, names, types, shapes and contents."""
    digest = hashlib.sha256(_canonical(description))
    for name, array in sorted(arrays.items()):
        digest.update(_canonical([name, array.dtype.str, list(array.shape)]))
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def _canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    target = Path(path)
    folder = target.parent
    if not folder.is_dir():
        raise ModelFileError(f"{target}: the folder {folder} does not exist; create it first.")
    if target.is_dir():
        raise ModelFileError(f"{target} is a folder; give the name of a file.")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{target.name}."):
            pass
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError
    except OSError as error:
        reason = error.strerror or "permission denied"
        raise ModelFileError(f"{target} cannot be written ({reason}); choose another place.") from None


def is_container(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like one of ours: a safetensors header that mentions chainfield."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return size < 1 << 27 and f'"{KEY}"'.encode() in file.read(size)


def write_container(
    path: str | os.PathLike[str], kind: str, version: int, config: dict[str, Any], arrays: Arrays
) -> None:
    """Write a file as a whole or not at all: an old file stays as it was if anything fails.

    The same content gives the same bytes.
    """
    from safetensors.numpy import save

    contents = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    description: dict[str, Any] = {"kind": kind, "version": version, "config": config}
    description["sha256"] = _digest(description, contents)
    # One entry: safetensors does not keep several in a definite order.
    metadata = {KEY: _canonical(description).decode()}
    data = save(contents, metadata)
    target = Path(path)
    check_writable(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666
    try:
        with os.fdopen(
            os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode), "wb"
        ) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ModelFileError(f"{target} could not be written: {error.strerror}.") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_container(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Description and arrays; the arrays are views into the memory-mapped file (copied only if written to)."""
    target = Path(path)
    if not target.exists():
        raise FileNotFoundError(f"There is no file {target}.")
    if target.is_dir():
        raise ModelFileError(f"{target} is a folder, not a model file.")
    header = _header(target)
    description = _description(target, header, kind, version)
    arrays = _views(target, header)
    stated = description.pop("sha256", None)
    if _digest(description, arrays) != stated:
        raise ModelFileError(f"{target} is damaged: its contents do not match its checksum. Make or fetch it again.")
    return dict(description["config"]), arrays


def _header(target: Path) -> dict[str, Any]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(target, "np"):
            pass  # checks header, names, types and bounds
        with open(target, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
    except PermissionError:
        raise ModelFileError(f"{target} cannot be read: permission denied.") from None
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFileError(
            f"{target} is not a chainfield file, or is cut off; check the name, or make or fetch it again."
        ) from error
    return {"start": 8 + size, "entries": header}


def _description(target: Path, header: dict[str, Any], kind: str, version: int) -> dict[str, Any]:
    try:
        description = json.loads(header["entries"]["__metadata__"][KEY])
        found_kind, found_version = description["kind"], int(description["version"])
        if not isinstance(description["config"], dict) or not _shallow(description):
            raise TypeError
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ModelFileError(f"{target} is a safetensors file, but chainfield did not write it.") from None
    if found_kind != kind:
        raise ModelFileError(f"{target} is a {found_kind} file; a {kind} file is expected here.")
    if found_version > version:
        raise ModelFileError(
            f"{target} was written by a newer chainfield (format {found_version}, this one reads up to {version}); "
            "upgrade with: pip install -U chainfield."
        )
    return dict(description)


def _shallow(value: Any) -> bool:
    level = [value]
    for _ in range(_DEPTH):
        inside = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [child for parts in inside for child in parts]
    return not level


def _views(target: Path, header: dict[str, Any]) -> Arrays:
    arrays: Arrays = {}
    with open(target, "rb") as file:
        # Copy-on-write, because kernels are compiled for writable arrays; nothing ever writes to them. Windows does not
        # let a mapped file be replaced, so that a model could not be saved again to where it came from.
        windows = os.name == "nt"
        whole = bytearray(file.read()) if windows else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    for name, entry in header["entries"].items():
        if name == "__metadata__":
            continue
        dtype = _DTYPES.get(entry["dtype"])
        if dtype is None:
            raise ModelFileError(
                f"{target}: the tensor {name!r} has the type {entry['dtype']}, which is not used here."
            )
        begin = header["start"] + entry["data_offsets"][0]
        shape = tuple(entry["shape"])
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(whole, dtype, count, begin).reshape(shape) if count else np.empty(shape, dtype)
    return arrays
