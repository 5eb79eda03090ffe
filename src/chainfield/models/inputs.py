"""Which kind of input a user gives, and the feature map that suits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from chainfield.checking import (
    check_unmasked,
    checked_csr,
    count_positions,
    cut_rows,
    is_list,
    is_sparse,
    lengths_of,
    shown,
)
from chainfield.data.coded_rows import CodedRows
from chainfield.errors import ConfigError, DataError
from chainfield.features.columns_map import TemplateFeatures
from chainfield.features.feature_map import FeatureMap
from chainfield.features.named import NamedFeatures
from chainfield.features.numbers import DenseFeatures, SparseFeatures
from chainfield.features.template import TemplateSet, load_template, parse_template
from chainfield.features.text import text_template
from chainfield.frames.door import column_names, is_frame, is_framed, plain_sequence, plain_values

TemplateLike = TemplateSet | str | PathLike[str] | None


def split_sequences(data: Any, lengths: Sequence[int] | None, what: str = "X") -> Sequence[Any]:
    """Sequences as a list; with ``lengths``, ``data`` holds the positions of all sequences end to end."""
    if lengths is None and (isinstance(data, CodedRows) or (type(data) is list and {*map(type, data)} == {list})):
        return data
    if lengths is not None:
        data = _plain(data, what, what) if is_framed(data) else data
        counts = lengths_of(lengths, count_positions(data, what), what)
        check_unmasked(data, what)
        return cut_rows(checked_csr(data, what) if is_sparse(data) else data, counts)
    if is_framed(data):
        data = _column_of_sequences(data, what)
    if isinstance(data, Mapping) or not is_list(data):
        raise DataError(f"{what} is {shown(data)}; a list of sequences is expected.")
    if isinstance(data, np.ndarray):
        check_unmasked(data, what)
    if is_sparse(data) or (
        isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "fiub" and what.startswith("X")
    ):
        raise DataError(
            f"{what} is one matrix; give a list with a matrix for each sequence, or say how long the sequences are "
            "with lengths=."
        )
    sequences = data if isinstance(data, list | tuple) else list(data)
    if any(map(is_framed, sequences)):
        sequences = [
            _plain(one, what, f"{what}, sequence {s}") if is_framed(one) else one for s, one in enumerate(sequences)
        ]
    for s, sequence in enumerate(sequences):
        if type(sequence) is list:
            continue
        fits = is_list(sequence) and (hasattr(sequence, "__len__") or is_sparse(sequence))
        if not fits or isinstance(sequence, Mapping):
            raise DataError(
                f"{what}: sequence {s} is {shown(sequence)}; a list with one entry per position is expected."
            )
        check_unmasked(sequence, f"{what}: sequence {s}")
    return sequences


def read_columns(
    data: Any, sequences: Sequence[Any], lengths: Sequence[int] | None, known: list[str] | None, what: str = "X"
) -> list[str] | None:
    """The names of the columns of frames, of which ``sequences`` were made; other names than ``known`` are refused.

    Columns of numbers and of text are told apart by their places. Attributes have names, and come in any order.
    """
    if sequences is data or (lengths is None and is_framed(data)):
        return known
    for s, frame in enumerate(data if lengths is None else [data]):
        found, made = column_names(frame), sequences if lengths is not None else [sequences[s]]
        if found is None or any(len_of(one) and isinstance(one[0], Mapping) for one in made):
            continue
        if known is None:
            known = found
        if found != known:
            place = next(i for i, pair in enumerate(zip_longest(found, known)) if pair[0] != pair[1])
            ours, theirs = (repr(names[place]) if place < len(names) else "nothing" for names in (found, known))
            raise DataError(
                f"{what if lengths is not None else f'{what}, sequence {s}'}: column {place} of the frame is {ours}, "
                f"but in training it was {theirs}; give the columns of training, in the same order."
            )
    return known


def _plain(one: Any, what: str, where: str) -> Any:
    """What a frame or a column holds: input, or labels, of which those that are given may be missing."""
    return plain_sequence(one, where) if what.startswith("X") else plain_values(one, where, unknown=what == "given")


def _column_of_sequences(data: Any, what: str) -> list[Any]:
    """A column whose values are sequences; one of words, and a frame, does not say where sequences end."""
    values = [] if is_frame(data) else plain_values(data, what)
    if is_frame(data) or (values and (isinstance(values[0], str) or not hasattr(values[0], "__len__"))):
        raise DataError(
            f"{what} is one frame or column; give a list with one for each sequence, say how long the sequences are "
            "with lengths=, or cut it by a column with chainfield.frames.read_frame."
        )
    return values


def choose_map(sequences: Sequence[Any], template: TemplateLike, scaling: str = "none") -> FeatureMap:
    """The feature map for these sequences: dicts and lists are attributes, tuples and strings are columns of text.

    NumPy arrays, whose columns ``scaling`` is for, and SciPy matrices are numbers.
    """
    first = next((s for s in sequences if len_of(s)), None)
    if first is None:
        raise DataError("There is nothing to learn from: every sequence is empty.")
    found = _map_of(first, template, scaling)
    if template is not None and not isinstance(found, TemplateFeatures):
        raise ConfigError(
            f"A template needs rows of columns (tuples of strings), but the first item is {shown(first[0])}."
        )
    if scaling not in ("auto", "none") and not isinstance(found, DenseFeatures):
        raise ConfigError(f"scaling={scaling!r} is for arrays of numbers, but the first item is {shown(first[0])}.")
    return found


def _map_of(first: Any, template: TemplateLike, scaling: str) -> FeatureMap:
    """By the first sequence that has a position."""
    if not isinstance(first, list):
        if is_sparse(first):
            return SparseFeatures()
        if isinstance(first, np.ndarray) and first.dtype != object and first.dtype.kind not in "US":
            return DenseFeatures(asked=scaling)
        if hasattr(first, "to_dict"):
            return NamedFeatures()
    item = first[0]
    if isinstance(item, str | tuple):
        width = 1 if isinstance(item, str) else len(item)
        templates = text_template(width) if template is None else as_template(template)
        templates.check_columns(width, "X")
        return TemplateFeatures(templates, width)
    if isinstance(item, np.ndarray) or (isinstance(item, list) and item and isinstance(item[0], float | int)):
        return DenseFeatures(asked=scaling)
    return NamedFeatures()


def as_template(template: TemplateLike) -> TemplateSet:
    """A template set, a template's text, or the path of a template file."""
    if isinstance(template, TemplateSet):
        return template
    if isinstance(template, str) and ("\n" in template or "%x[" in template):
        return parse_template(template)
    if not isinstance(template, str | PathLike):
        raise ConfigError(f"template is {shown(template)}; give a template set, a template's text, or a path.")
    return load_template(Path(template))


def len_of(sequence: Any) -> int:
    """Number of positions; a sparse matrix has no len()."""
    return int(sequence.shape[0]) if hasattr(sequence, "shape") else len(sequence)
