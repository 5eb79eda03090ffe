"""Doors for arrays, sparse matrices, dicts and lists, archives of arrays, and scores below the waist."""

from __future__ import annotations

import functools
import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from choices import NUMBERS, Choices
from scipy import sparse
from scratch import folder

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from chainfield import LinearCRF, inference
from chainfield.data.array_corpus import load_arrays
from chainfield.errors import ChainfieldError
from chainfield.features import DenseFeatures, SparseFeatures, flat
from chainfield.potentials import Potentials
from chainfield.states import StateSpace, one_per_label, partitioned, second_order
from support import items

KINDS = ("f8", "f4", "f2", "g", "i8", "i4", "u8", "u1", "?", "c16", "M8[s]", "m8[s]", "U3", "S3", "O", ">f8", "V8")


def _array(choices: Choices) -> Any:
    """An array of any kind and rank, a list of some, or something else."""
    shape = tuple(choices.below(4) for _ in range(choices.among((2, 2, 2, 2, 0, 1, 3))))
    values = [choices.real() for _ in range(int(np.prod(shape, dtype=int)))]
    kind = choices.among(("f8", "f8", choices.among(KINDS)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            array = np.array(values, object).reshape(shape).astype(kind)
        except (TypeError, ValueError, OverflowError):
            array = np.zeros(shape, kind)
    what = choices.below(10)
    if what == 0:
        return np.ma.masked_array(array, choices.chance(2))
    if what == 1:
        return array.tolist()
    if what == 2 and array.ndim:
        return array[::-1]
    if what == 3 and array.ndim > 1:
        return np.asfortranarray(array)
    return choices.among((None, "text", 3, {"a": 1}, [[1, [2]]], [[10**400]])) if what == 4 else array


@functools.cache
def _model(n_columns: int, is_sparse: bool) -> LinearCRF:
    x = np.eye(4, n_columns)
    return LinearCRF(max_iter=2, n_jobs=1).fit([sparse.csr_array(x) if is_sparse else x], [["a", "b", "a", "b"]])


def dense(data: bytes) -> None:
    """Arrays: numbers that are finite and fit, or a refusal; then a prediction."""
    choices = Choices(data)
    sequences = choices.many(lambda: _array(choices), 3)
    try:
        batch = DenseFeatures().learn(sequences)
    except ChainfieldError:
        return
    assert batch.dense is not None
    assert batch.dense.dtype == np.float64
    assert np.isfinite(batch.dense).all()
    assert batch.dense.shape[0] == batch.n_positions == sum(map(len, sequences))
    _predict(sequences, batch.dense.shape[1], is_sparse=False)


def matrices(data: bytes) -> None:
    """Sparse matrices whose parts were changed: every index leads somewhere, or a refusal; then a prediction."""
    choices = Choices(data)
    n, f = choices.below(4), 1 + choices.below(5)
    matrix: Any = sparse.csr_matrix(
        np.array([[choices.below(3) for _ in range(f)] for _ in range(n)], float).reshape(n, f)
    )
    matrix = matrix.asformat(choices.among(("csr", "csr", "csc", "coo", "bsr", "lil", "dok", "dia")))
    if choices.chance(4):
        matrix = sparse.csr_array(matrix) if choices.chance(2) else sparse.coo_array(matrix)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(choices.below(3)):
            _damage(matrix, choices)
    try:
        batch = SparseFeatures().learn([matrix])
    except ChainfieldError:
        return
    found = batch.sparse
    assert found is not None
    assert found.indptr[0] == 0
    assert found.indptr[-1] == len(found.indices)
    assert (np.diff(found.indptr) >= 0).all()
    assert not len(found.indices) or (found.indices.min() >= 0 and found.indices.max() < found.n_features)
    _predict([matrix], f, is_sparse=True)


def _damage(matrix: Any, choices: Choices) -> None:
    name = choices.among(("indices", "indptr", "data", "row", "col", "rows", "offsets"))
    part = getattr(matrix, name, None)
    if not isinstance(part, np.ndarray) or part.ndim != 1:
        return
    what, part = choices.below(6), part.copy()
    number = part.dtype != object  # values of a matrix by lists are lists
    if not number and what in (0, 5) and len(part):
        at = choices.below(len(part))
        own = part[at] if isinstance(part[at], list) else []
        part[at] = choices.among((own[1:], [*own, choices.number()], [choices.real()], None, (1, 2), ["x"]))
    elif what == 0 and len(part):
        part[choices.below(len(part))] = np.array(choices.number()).astype(part.dtype, casting="unsafe")
    elif what == 1:
        part = part[: choices.below(len(part) + 1)]
    elif what == 2:
        part = np.append(part, part[:1])
    elif what == 3 and number:
        part = part.astype(choices.among(("f8", "i8", "i4", "u1", "c16", "O")))
    elif what == 4:
        part = part[::-1].copy()
    elif name == "data" and len(part) and number:
        part = part.astype(float)
        part[choices.below(len(part))] = choices.real()
    try:
        setattr(matrix, name, part)
    except (AttributeError, ValueError):
        return


def _predict(sequences: Any, n_columns: int, *, is_sparse: bool) -> None:
    if 0 < n_columns < 8:
        try:
            _model(n_columns, is_sparse).predict(sequences)
        except ChainfieldError:
            return


def attributes(data: bytes) -> None:
    """Dicts and lists of anything: the encoder in C reads what its definition in Python reads."""
    number = int.from_bytes(data[:8], "little")
    found, expected = items.both(number, (0.0, 0.02, 0.2)[number % 3])
    assert found == expected, (found, expected)


@functools.cache
def _compiled() -> None:
    from support.native import flatten

    flat.compiled = flatten()
    assert flat.compiled is not None, "there is no compiled encoder to compare"


def encoder(data: bytes) -> None:
    """The same, with an encoder that is compiled where it is not built."""
    _compiled()
    attributes(data)


def archive(data: bytes) -> None:
    """A .npz file: any bytes, or one that is damaged."""
    choices = Choices(data)
    if choices.chance(2):
        whole = bytearray(_archive(choices.chance(2)))
        for _ in range(choices.below(4)):
            whole[choices.below(1 << 16) % len(whole)] = choices.byte()
    else:
        whole = bytearray(choices.rest())
    path = Path(folder()) / "a.npz"
    path.write_bytes(bytes(whole))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = load_arrays(path)
        except ChainfieldError:
            return
    assert len(found.sequences) == len(found.labels)


@functools.cache
def _archive(packed: bool) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, X=np.ones((3, 2)), lengths=[2, 1], y=["a", "b"])
    return file.getvalue()


SPACES: tuple[StateSpace, ...] = (one_per_label(2), partitioned([2, 1]), second_order(one_per_label(2)))


def potentials(data: bytes) -> None:
    """Scores of any size and shape: posteriors that add up to 1, a path that the space has, or a refusal."""
    choices = Choices(data)
    space, n = choices.among(SPACES), choices.below(5)
    rows, edges = (m + (choices.below(3) - 1 if choices.chance(8) else 0) for m in (space.n_rows, space.n_edges))
    node = np.array([choices.real() for _ in range(n * rows)]).reshape(n, rows)
    edge = np.array([choices.real() for _ in range(edges)]).reshape(1, edges)
    offsets = np.array([0, *sorted(choices.below(n + 1) for _ in range(choices.below(3))), n])
    if choices.chance(8):
        offsets[choices.below(len(offsets))] = choices.among(NUMBERS[:-1])
    given = Potentials(node, edge, offsets)
    with np.errstate(all="ignore"):
        for ask in (_marginals, _paths):
            try:
                ask(space, given)
            except ChainfieldError:
                continue


def _marginals(space: StateSpace, given: Potentials) -> None:
    found = inference.label_marginals(space, given)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-6)


def _paths(space: StateSpace, given: Potentials) -> None:
    found = inference.viterbi(space, given)
    assert ((found.states >= 0) & (found.states < space.n_states)).all()
    best = [paths.score[0] for paths in inference.n_best(space, given, 2)]
    np.testing.assert_allclose(best, found.score, rtol=1e-9)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "dense": dense,
    "matrices": matrices,
    "attributes": attributes,
    "encoder": encoder,
    "archive": archive,
    "potentials": potentials,
}
