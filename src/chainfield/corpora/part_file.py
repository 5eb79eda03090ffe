"""Encoded pieces as files: one container each, checked before any kernel sees it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from chainfield.arrays import Array, Arrays
from chainfield.errors import ModelFileError
from chainfield.features.batch import Batch, Sparse
from chainfield.files.container import read_container, write_container
from chainfield.files.values import from_json, to_json

from .part import Part

KIND = "part"
VERSION = 1


def write_part(path: str | os.PathLike[str], part: Part) -> str:
    """Write a piece as a whole or not at all; returns its checksum."""
    batch = part.batch
    arrays: Arrays = {"offsets": batch.offsets, "codes": part.codes}
    config: dict[str, Any] = {"kinds": [to_json(kind, "label") for kind in part.kinds], "first": part.first}
    for name, sparse in (("sparse", batch.sparse), ("edges", batch.edges)):
        if sparse is not None:
            config[name] = sparse.n_features
            arrays |= {f"{name}.indptr": sparse.indptr, f"{name}.indices": sparse.indices}
            arrays |= {} if sparse.values is None else {f"{name}.values": sparse.values}
    if batch.dense is not None:
        arrays["dense"] = batch.dense
    return write_container(path, KIND, VERSION, config, arrays)


def read_part(path: str | os.PathLike[str], checksum: str, *, verified: bool = False) -> Part:
    """A piece. ``verified``: this process has compared the file with its checksum before; numbers are checked again."""
    config, arrays, _ = read_container(path, KIND, VERSION, expected=checksum, verified=verified)
    try:
        kinds = tuple(_kind(from_json(kind)) for kind in config["kinds"])
        sparse, edges = (_sparse(name, config, arrays) for name in ("sparse", "edges"))
        batch = Batch(_typed(arrays["offsets"], np.int64, 1), sparse, arrays.get("dense"), edges)
        part = Part(batch, kinds, _typed(arrays["codes"], np.int32, 1), int(config["first"]))
        check_part(part)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelFileError(
            f"{path} does not describe a piece of a corpus: {reason}. Encode the corpus again."
        ) from None
    return part


def _kind(value: Any) -> Any:
    return frozenset(value) if isinstance(value, set) else value


def _typed(array: Array, dtype: Any, rank: int) -> Array:
    if array.dtype != dtype or array.ndim != rank:
        raise ValueError("an array has numbers of another kind")
    return array


def _sparse(name: str, config: dict[str, Any], arrays: Arrays) -> Sparse | None:
    if name not in config:
        return None
    values = arrays.get(f"{name}.values")
    return Sparse(
        _typed(arrays[f"{name}.indptr"], np.int64, 1),
        _typed(arrays[f"{name}.indices"], np.int32, 1),
        None if values is None else _typed(values, np.float64, 1),
        int(config[name]),
    )


def check_part(part: Part) -> None:
    """Refuse numbers that lead nowhere: kernels do not check them."""
    batch = part.batch
    n = _check_offsets(batch.offsets, "sequences")
    if part.codes.shape != (n,) or _outside(part.codes, 0, len(part.kinds)):
        raise ValueError("the labels do not fit the positions")
    for sparse in (batch.sparse, batch.edges):
        if sparse is not None:
            entries = _check_offsets(sparse.indptr, "features")
            if len(sparse.indptr) != n + 1 or sparse.indices.shape != (entries,):
                raise ValueError("the features do not fit the positions")
            if _outside(sparse.indices, -1, sparse.n_features):
                raise ValueError("there is a feature that is not known")
            if sparse.values is not None and not (len(sparse.values) == entries and np.isfinite(sparse.values).all()):
                raise ValueError("the values do not fit the features")
    dense = batch.dense
    if dense is not None and not (
        dense.dtype == np.float64 and dense.ndim == 2 and len(dense) == n and np.isfinite(dense).all()
    ):
        raise ValueError("the columns of numbers do not fit the positions")


def _check_offsets(offsets: Array, what: str) -> int:
    if not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise ValueError(f"the {what} overlap")
    return int(offsets[-1])


def _outside(numbers: Array, lowest: int, end: int) -> bool:
    return bool(len(numbers)) and not (int(numbers.min()) >= lowest and int(numbers.max()) < end)
