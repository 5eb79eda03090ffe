"""Which kind of input a user gives, and the feature map that suits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from chainfield.errors import ConfigError, DataError
from chainfield.features.columns_map import TemplateFeatures
from chainfield.features.map import FeatureMap, offsets_of
from chainfield.features.named import NamedFeatures
from chainfield.features.numbers import DenseFeatures, SparseFeatures
from chainfield.features.template import TemplateSet, load_template, parse_template
from chainfield.features.text import text_template

TemplateLike = TemplateSet | str | PathLike[str] | None


def split_sequences(data: Any, lengths: Sequence[int] | None, what: str = "X") -> Sequence[Any]:
    """Sequences as a list; with ``lengths``, ``data`` holds the positions of all sequences end to end."""
    if lengths is None:
        if isinstance(data, str | bytes | Mapping) or not (hasattr(data, "__len__") or hasattr(data, "__iter__")):
            raise DataError(f"{what} is {type(data).__name__}; a list of sequences is expected.")
        if is_sparse(data) or (isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype != object):
            raise DataError(
                f"{what} is one matrix; give a list with a matrix for each sequence, or say how long the sequences are "
                "with lengths=."
            )
        return data if isinstance(data, list | tuple) else list(data)
    offsets = offsets_of(lengths).tolist()
    n = data.shape[0] if hasattr(data, "shape") else len(data)
    if n != offsets[-1] or min(lengths, default=0) < 0:
        raise DataError(f"lengths add up to {offsets[-1]}, but {what} has {n} positions.")
    whole = data.tocsr() if is_sparse(data) else data
    return [whole[a:b] for a, b in pairwise(offsets)]


def is_sparse(data: Any) -> bool:
    """Whether this is a SciPy sparse matrix, without importing SciPy."""
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def choose_map(sequences: Sequence[Any], template: TemplateLike) -> FeatureMap:
    """The feature map for these sequences: dicts and lists are attributes, tuples and strings are columns of text.

    NumPy arrays and SciPy matrices are numbers.
    """
    first = next((s for s in sequences if len_of(s)), None)
    if first is None:
        raise DataError("There is nothing to learn from: every sequence is empty.")
    if is_sparse(first):
        return SparseFeatures()
    if isinstance(first, np.ndarray) and first.dtype != object and first.dtype.kind not in "US":
        return DenseFeatures()
    if hasattr(first, "to_dict"):
        return NamedFeatures()
    item = first[0]
    if isinstance(item, str | tuple):
        width = 1 if isinstance(item, str) else len(item)
        return TemplateFeatures(text_template(width) if template is None else as_template(template), width)
    if template is not None:
        raise ConfigError(
            f"A template needs rows of columns (tuples of strings), but the first item is {type(item).__name__}."
        )
    if isinstance(item, np.ndarray | float | int):
        return DenseFeatures()
    return NamedFeatures()


def as_template(template: TemplateLike) -> TemplateSet:
    """A template set, a template's text, or the path of a template file."""
    if isinstance(template, TemplateSet):
        return template
    if isinstance(template, str) and ("\n" in template or "%x[" in template):
        return parse_template(template)
    return load_template(Path(template))  # type: ignore[arg-type]


def len_of(sequence: Any) -> int:
    """Number of positions; a sparse matrix has no len()."""
    if hasattr(sequence, "shape"):
        return int(sequence.shape[0])
    try:
        return len(sequence)
    except TypeError:
        raise DataError(f"A sequence is {sequence!r:.60}; a list of positions is expected.") from None
