"""Whole sequences of numbers with their labels, from a .npz file or a folder of .npy files."""

from __future__ import annotations

import lzma
import math
import os
import re
import struct
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from chainfield.checking import count_positions, cut_rows, lengths_of
from chainfield.errors import DataError
from chainfield.limits import UNPACKED_BYTES, UNPACKED_RATIO

# Whatever NumPy and zipfile say of files that are not what they seem.
_UNREADABLE = (
    ValueError, OSError, EOFError, KeyError, TypeError, SyntaxError, OverflowError, MemoryError, RecursionError,
    NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    tokenize.TokenError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Arrays:
    """Sequences, their labels (None: unknown) and their names."""

    sequences: list[Any]
    labels: list[Any]
    names: list[str]
    source: str

    @property
    def labelled(self) -> bool:
        """Whether any label is known."""
        return any(label is not None for label in self.labels)

    def named(self, error: DataError) -> DataError:
        """An error about one of these sequences, which tells its file beside its number."""
        numbered = re.match(r"Sequence (\d+)\b", str(error))
        if numbered is None or not Path(self.source).is_dir():
            return error
        return type(error)(f"{Path(self.source) / self.names[int(numbered[1])]}: {error}")


def load_arrays(path: str | os.PathLike[str]) -> Arrays:
    """Read sequences.

    A ``.npz`` file holds ``X`` (the positions of all sequences), ``lengths``, and ``y`` (one label per sequence;
    may be missing). A folder holds a ``.npy`` file a sequence, in a folder for each label; files that lie in the folder
    itself have no label. Files with Python objects in them are refused: they could run code.
    """
    place = Path(path)
    if place.is_dir():
        return _folder(place)
    if not place.exists():
        raise DataError(f"{place} does not exist; give a .npz file, or a folder with a folder of .npy files a label.")
    if not zipfile.is_zipfile(place):
        with place.open("rb") as file:
            single = file.read(6) == b"\x93NUMPY"
        what = "a single array" if single else "no archive of arrays"
        raise DataError(f"{place} is {what}; a .npz file with X, lengths and y is expected.")
    try:
        _check_archive(place)
        with np.load(place, allow_pickle=False) as found:
            missing = [name for name in ("X", "lengths") if name not in found.files]
            if missing:
                raise DataError(f"{place} has no array {missing[0]!r}; it needs X, lengths and, for training, y.")
            data, lengths = found["X"], found["lengths"]
            labels = found["y"].tolist() if "y" in found.files else None
    except _UNREADABLE as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{place} cannot be read as .npz: {error}.") from None
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise DataError(f"{place}: lengths must be whole numbers, one per sequence.")
    try:
        counts = lengths_of(lengths, count_positions(data, "X"), "X")
    except DataError as error:
        raise DataError(f"{place}: {error}") from None
    if labels is not None and not isinstance(labels, list):
        raise DataError(f"{place}: y is a single value; one label for each sequence is expected.")
    if labels is not None and len(labels) != len(lengths):
        raise DataError(f"{place}: there are {len(lengths)} sequences, but y has {len(labels)} labels.")
    sequences = cut_rows(data, counts)
    names = [str(i) for i in range(len(lengths))]
    return Arrays(sequences, labels if labels is not None else [None] * len(lengths), names, str(place))


def _check_archive(place: Path) -> None:
    """Refuse an archive that unpacks to far more than it is, and arrays that say that they are larger than they are."""
    packed = max(place.stat().st_size, 1)
    with zipfile.ZipFile(place) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if not UNPACKED_BYTES.allows(unpacked) and not UNPACKED_RATIO.allows(unpacked // packed):
            raise DataError(f"{place} unpacks to {unpacked:,} bytes from {packed:,}; {UNPACKED_RATIO.remedy}")
        for member in archive.infolist():
            if member.filename in ("X.npy", "lengths.npy", "y.npy"):
                with archive.open(member) as opened:
                    _check_header(opened, member.file_size, f"{place}, {member.filename}")


def _check_header(opened: IO[bytes], size: int, what: object) -> None:
    """NumPy makes room for what an array's header says before it reads: there must be as much."""
    form: Any = np.lib.format  # some versions of NumPy have no types there
    read = form.read_array_header_1_0 if form.read_magic(opened) == (1, 0) else form.read_array_header_2_0
    shape, _, dtype = read(opened)
    if dtype.hasobject:
        raise DataError(
            f"{what} holds Python objects, which are never read; save y as an array of strings or numbers, and X as "
            "one array with all sequences end to end, beside their lengths."
        )
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > size:
        raise DataError(f"{what} is cut short: its header tells of an array of the shape {shape}.")


def _folder(place: Path) -> Arrays:
    files = sorted(file for file in place.glob("*/*.npy") if file.is_file()) + sorted(place.glob("*.npy"))
    if not files:
        raise DataError(f"{place} has no .npy files; a folder of them is expected for each label.")
    sequences = []
    for file in files:
        try:
            with file.open("rb") as opened:
                _check_header(opened, file.stat().st_size, file)
            sequences.append(np.load(file, allow_pickle=False))
        except _UNREADABLE as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{file} cannot be read as an array: {error}.") from None
    labels = [None if file.parent == place else file.parent.name for file in files]
    return Arrays(sequences, labels, [file.relative_to(place).as_posix() for file in files], str(place))
