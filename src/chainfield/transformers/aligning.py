"""Labels of words as labels of the pieces that encoders read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chainfield.errors import DataError

from .head import IGNORED


def align_labels(
    encoding: Any, labels: Sequence[Sequence[str]] | None, numbers: Mapping[str, int] | None = None
) -> dict[str, list[list[int]]]:
    """``labels`` and ``word_mask`` for what a fast tokenizer gave for lists of words (``is_split_into_words=True``).

    The first piece of a word has its label, all others -100. ``numbers``: those of labels, as ``config.label2id``.
    Without labels there is only the mask. Words that were cut off are left out.
    """
    n = len(encoding["input_ids"])
    if labels is not None and (len(labels) != n or numbers is None):
        raise DataError(f"There are {n} encoded sequences, but labels for {len(labels)}; give numbers of labels too.")
    found: dict[str, list[list[int]]] = {"word_mask": []}
    if labels is not None:
        found["labels"] = []
    for s in range(n):
        words = encoding.word_ids(s)
        first = [w is not None and (i == 0 or words[i - 1] != w) for i, w in enumerate(words)]
        found["word_mask"].append([int(one) for one in first])
        if labels is None:
            continue
        own = labels[s]
        most = max((w for w in words if w is not None), default=-1)
        if most >= len(own):
            raise DataError(f"Sequence {s} has {most + 1} words, but {len(own)} labels.")
        unknown = next((label for label in own if label not in numbers), None)  # type: ignore[operator]
        if unknown is not None:
            raise DataError(f"Sequence {s} has the label {unknown!r}, which the model does not have.")
        found["labels"].append(
            [numbers[own[w]] if one else IGNORED for w, one in zip(words, first, strict=True)]  # type: ignore[index]
        )
    return found
