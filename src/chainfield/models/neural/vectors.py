"""Files of word vectors: a word and its numbers a line, as GloVe and word2vec write them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np

from chainfield.arrays import Single
from chainfield.data.opening import open_text
from chainfield.errors import DataError

Vectors = tuple[Sequence[str], Single]


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
