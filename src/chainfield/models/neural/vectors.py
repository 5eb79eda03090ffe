"""Files of word vectors: one word per line with its numbers, as GloVe and word2vec write them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Single
from chainfield.data.opening import open_text
from chainfield.errors import ConfigError, DataError
from chainfield.settings import Kind

Vectors = tuple[Sequence[str], Single]


@final
@dataclass(frozen=True)
class WordVectors(Kind):
    """Vectors to start from: a file, or words with a matrix."""

    metavar: ClassVar[str] = "FILE"
    noun: ClassVar[str] = "path or (words, array)"
    expected: ClassVar[str] = "give the name of a file, or a pair of words and an array"

    def fits(self, value: Any) -> bool:
        """A path or a pair."""
        return isinstance(value, str | PathLike) or (isinstance(value, tuple | list) and len(value) == 2)

    def parse(self, text: Any) -> str:
        """A path."""
        return str(text)

    def stored(self, value: Any) -> Any:
        """The name of a file; vectors themselves are parameters of the model."""
        return os.fspath(value) if isinstance(value, str | PathLike) else None


def read_vectors(path: str | PathLike[str]) -> Vectors:
    """Words and their vectors (words, dimension); a first line with two whole numbers (word2vec) is skipped.

    The file may be compressed. Where a word stands twice, the first line counts.
    """
    words: dict[str, int] = {}
    rows: list[Single] = []
    width = 0
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            parts = line.rstrip().split(" ")
            if number == 1 and len(parts) == 2 and all(part.isdigit() for part in parts):
                continue
            if len(parts) < 2:
                if line.strip():
                    raise DataError(f"{path}, line {number}: a word and its numbers are expected, separated by spaces.")
                continue
            if not width:
                width = len(parts) - 1
            if len(parts) - 1 != width:
                raise DataError(
                    f"{path}, line {number}: the vector has {len(parts) - 1} numbers, those before it have {width}."
                )
            try:
                vector = np.array(parts[1:], np.float32)
            except ValueError:
                raise DataError(f"{path}, line {number}: {line[:40]!r} holds something that is no number.") from None
            if not np.isfinite(vector).all():
                raise DataError(f"{path}, line {number}: the vector of {parts[0]!r} has NaN or infinite numbers.")
            if parts[0] not in words:
                words[parts[0]] = len(rows)
                rows.append(vector)
    if not rows:
        raise DataError(f"{path} holds no vectors.")
    return list(words), np.array(rows)


def known_vectors(given: Any, dimension: int | None) -> tuple[Sequence[str], Single]:
    """Words and their vectors: from a file, or as they are given; none of either if there are none."""
    if given is None:
        return [], np.empty((0, 0), np.float32)
    if isinstance(given, str | PathLike):
        words, table = read_vectors(given)
        what = str(given)
    else:
        try:
            words, table = given
            words, table, what = list(words), np.asarray(table, np.float32), "vectors"
        except (TypeError, ValueError):
            raise ConfigError(f"vectors is no file and no pair; {WordVectors.expected}.") from None
        if table.ndim != 2 or len(table) != len(words) or not all(isinstance(w, str) for w in words):
            raise DataError(
                f"vectors has {len(words)} words and an array of the shape {table.shape}; give one row per word."
            )
        if not np.isfinite(table).all():
            raise DataError("vectors holds NaN or infinite numbers.")
    if dimension is not None and table.shape[1] != dimension:
        raise DataError(f"{what} has vectors of {table.shape[1]} dimensions, but word_dim is {dimension}.")
    first = {word: i for i, word in reversed(list(enumerate(words)))}
    if len(first) < len(words):
        words, table = list(first), table[list(first.values())]
    return words, table
