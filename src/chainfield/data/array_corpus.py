"""Whole sequences of numbers with their labels, from a .npz file or a folder of .npy files."""

from __future__ import annotations

import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainfield.errors import DataError


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
        with np.load(place, allow_pickle=False) as found:
            missing = [name for name in ("X", "lengths") if name not in found.files]
            if missing:
                raise DataError(f"{place} has no array {missing[0]!r}; it needs X, lengths and, for training, y.")
            data, lengths = found["X"], found["lengths"]
            labels = found["y"].tolist() if "y" in found.files else None
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{place} cannot be read as .npz: {error}.") from None
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or (lengths.size and lengths.min() < 0):
        raise DataError(f"{place}: lengths must be whole numbers, one per sequence.")
    if int(lengths.sum()) != len(data):
        raise DataError(f"{place}: lengths add up to {int(lengths.sum())}, but X has {len(data)} positions.")
    if labels is not None and len(labels) != len(lengths):
        raise DataError(f"{place}: there are {len(lengths)} sequences, but y has {len(labels)} labels.")
    sequences = np.split(data, np.cumsum(lengths)[:-1]) if len(lengths) else []
    names = [str(i) for i in range(len(lengths))]
    return Arrays(sequences, labels if labels is not None else [None] * len(lengths), names, str(place))


def _folder(place: Path) -> Arrays:
    files = sorted(file for file in place.glob("*/*.npy") if file.is_file()) + sorted(place.glob("*.npy"))
    if not files:
        raise DataError(f"{place} has no .npy files; a folder of them is expected for each label.")
    sequences = []
    for file in files:
        try:
            sequences.append(np.load(file, allow_pickle=False))
        except (ValueError, OSError, EOFError) as error:
            raise DataError(f"{file} cannot be read as an array: {error}.") from None
    labels = [None if file.parent == place else file.parent.name for file in files]
    return Arrays(sequences, labels, [file.relative_to(place).as_posix() for file in files], str(place))
