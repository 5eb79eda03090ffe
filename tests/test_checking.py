"""Arrays, matrices and numbers from outside: refused in one sentence, whichever door they come through."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from chainfield import LinearCRF, adapters
from chainfield.errors import ConfigError, DataError
from chainfield.features import DenseFeatures, SparseFeatures
from chainfield.inference import (
    add_posteriors,
    best_paths,
    clamped_path,
    log_partition,
    marginals,
    n_best,
    sample,
    score_paths,
    viterbi,
)
from chainfield.inference.viterbi import Paths
from chainfield.potentials import Potentials, clamp_labels, make_potentials
from chainfield.states import one_per_label
from test_bad_input import DENSE, Y, assert_refused, fit

LABELS = [["a", "b", "a"]]


def csr(indices=(0, 1, 2), data=(1.0, 1.0, 1.0), indptr=(0, 1, 2, 3), shape=(3, 10)):
    """A matrix of any parts, past SciPy's checks."""
    matrix = sparse.csr_matrix((3, 10)) if shape == (3, 10) else sparse.csr_matrix(shape)
    matrix.indices, matrix.data, matrix.indptr = np.array(indices), np.asanyarray(data), np.array(indptr)
    return matrix


BROKEN = {
    "too large": csr((0, 12, 2)),
    "negative": csr((0, -5, 2)),
    "huge": csr((0, 2**62, 2)),
    "falling": csr(indptr=(0, 2, 1, 3)),
    "below 0": csr(indptr=(0, -2, 1, 3)),
    "from 1": csr(indptr=(1, 1, 2, 3)),
    "beyond": csr(indptr=(0, 1, 2, 9)),
    "short pointers": csr(indptr=(0, 1, 3)),
    "short data": csr(data=(1.0,)),
    "two-dimensional data": csr(data=np.ones((3, 1))),
    "whole": csr((0.0, 1.0, 2.0)),
    "complex": csr(data=(1j, 1, 1)),
    "dates": csr(data=np.zeros(3, "M8[s]")),
    "strings": csr(data=("a", "b", "c")),
    "objects": csr(data=np.array([1, "a", 1], object)),
    "masked": csr(data=np.ma.masked_array([1.0, 1, 1], [0, 1, 0])),
    "not finite": csr(data=(1.0, np.nan, 1)),
}


def coordinates(name, values):
    matrix = csr().tocoo()
    setattr(matrix, name, np.array(values))
    return matrix


def columns(name, values):
    matrix = csr().tocsc()
    setattr(matrix, name, np.array(values))
    return matrix


def lists(name, values):
    """A matrix by lists, which compiled code of SciPy trusts."""
    matrix, array = csr().tolil(), np.empty(len(values), object)
    array[:] = values
    setattr(matrix, name, array)
    return matrix


def blocks(name, values):
    matrix = csr().tobsr((1, 1))
    setattr(matrix, name, values)
    return matrix


def diagonals(name, values):
    matrix = sparse.dia_matrix((np.ones((1, 10)), [0]), shape=(3, 10))
    setattr(matrix, name, values)
    return matrix


BROKEN |= {
    "coo column": coordinates("col", [0, 12, 2]),
    "coo row": coordinates("row", [0, -1, 2]),
    "coo short": coordinates("data", [1.0]),
    "csc row": columns("indices", [0, 12, 2]),
    "csc pointers": columns("indptr", [0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 90]),
    "one-dimensional": sparse.coo_array(np.ones(3)),
    "bsr places": blocks("indices", np.zeros(3, complex)),
    "lil short": lists("data", [[1.0], [], [1.0]]),
    "lil long": lists("rows", [[0], [1, 2, 3], [2]]),
    "lil place": lists("rows", [[0], [12], [2]]),
    "lil half a place": lists("rows", [[0], [0.5], [2]]),
    "lil no list": lists("rows", [[0], None, [2]]),
    "lil fewer rows": lists("data", [[1.0], [1.0]]),
    "dia offsets": diagonals("offsets", np.zeros(1)),
    "dia data": diagonals("data", np.ones((4, 10))),
}


@pytest.mark.parametrize("name", BROKEN)
def test_sparse_matrices_that_contradict_themselves(name):
    matrix, good = BROKEN[name], LinearCRF(max_iter=1).fit([csr()], LABELS)
    assert_refused(DataError, lambda: LinearCRF(max_iter=1).fit([matrix], LABELS), "Sequence 0")
    assert_refused(DataError, lambda: good.predict([csr(), matrix]), "Sequence 1")
    if matrix.ndim == 2:
        assert_refused(DataError, lambda: good.predict(matrix, lengths=[2, 1]), "")


def test_entries_behind_the_last_row_do_not_count():
    matrix = csr((0, 1, 2, 12), (1.0, 1.0, 1.0, 9.0))
    batch = SparseFeatures().learn([matrix, csr()])
    assert batch.sparse.indices.tolist() == [0, 1, 2, 0, 1, 2]
    assert batch.sparse.values is None


def test_rows_without_columns_are_not_rows_with_some():
    assert_refused(DataError, lambda: fit([np.empty((2, 0)), np.ones((2, 3))], [["a", "b"]] * 2), "expected 0")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_every_kind_of_sparse_matrix_is_read(kind):
    dense = np.arange(12.0).reshape(3, 4)
    for make in (sparse.csr_matrix, sparse.csr_array):
        batch = SparseFeatures().learn([make(dense).asformat(kind)])
        found = sparse.csr_array((batch.sparse.weights(), batch.sparse.indices, batch.sparse.indptr), shape=(3, 4))
        np.testing.assert_array_equal(found.toarray(), dense)


def test_as_many_columns_as_the_limit():
    huge = sparse.csr_array((3, 2_000_000_000))
    assert_refused(DataError, lambda: LinearCRF().fit([huge], LABELS), "2,000,000,000 columns", "CHAINFIELD_MATRIX")


ODD = {
    "masked": np.ma.masked_array(DENSE[0], DENSE[0] > 1),
    "masked rows": [np.ma.masked_array([1.0, 2.0], [0, 1]), np.array([1.0, 2.0])],
    "complex": DENSE[0] + 1j,
    "complex objects": (DENSE[0] + 1j).astype(object),
    "dates": DENSE[0].astype("M8[s]"),
    "time spans": DENSE[0].astype("m8[s]"),
    "bytes": DENSE[0].astype("S3"),
    "strings": DENSE[0].astype("U3"),
    "records": np.zeros((2, 2), [("a", float)]),
    "objects": np.array([[1.0, "2"], [3.0, 4.0]], object),
    "huge": [[10**400, 1], [2, 3]],
    "none": [[None, 1.0], [2.0, 3.0]],
    "no dimensions": np.array(1.0),
    "one dimension": np.ones(2),
    "three dimensions": np.ones((2, 2, 1)),
    "ragged": [[1.0, 2.0], [1.0]],
    "long": np.full((2, 2), np.longdouble("1e4000")),
}


@pytest.mark.parametrize("name", ODD)
def test_arrays_that_are_no_real_numbers(name):
    model = fit(DENSE)
    assert_refused(DataError, lambda: model.predict([ODD[name]]), "equence 0")
    assert_refused(DataError, lambda: DenseFeatures().learn([ODD[name]]), "Sequence 0")
    assert_refused(DataError, lambda: adapters.pad([ODD[name]]), "") if name != "long" else None


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.int8, np.uint64, np.bool_, object])
def test_all_real_numbers_are_read(kind):
    batch = DenseFeatures().learn([np.array([[0, 1], [1, 0]], kind)])
    np.testing.assert_array_equal(batch.dense, [[0, 1], [1, 0]])
    assert batch.dense.dtype == np.float64


WEIGHTS = [["a", "b", "c"], ["1", "2", "3"],
           [1j, 1, 1], [None, 1, 1], [np.nan, 1, 1], [-1, 1, 1], [1, 1], 1.0, [[1]] * 3,
           np.ma.masked_array([1.0, 1, 1], [0, 1, 0]), np.zeros(3, "M8[s]"), "abc", {"a": 1}]  # fmt: skip


@pytest.mark.parametrize("weights", WEIGHTS, ids=lambda weights: str(weights)[:20])
def test_weights(weights):
    model = fit(DENSE)
    assert_refused(DataError, lambda: fit(DENSE, sample_weight=weights), "sample_weight")
    assert_refused(DataError, lambda: model.score(DENSE, Y, weights), "sample_weight")


@pytest.mark.parametrize("n", [2.5, 2.0, True, "3", None, 0, -1, np.float64(2), 10**9, 2**70, [2], np.array([2, 3])])
def test_numbers_of_results(n):
    model = fit(DENSE)
    assert_refused(ConfigError, lambda: model.predict_n_best(DENSE, n), "n is")
    space = one_per_label(2)
    potentials = make_potentials(space, np.zeros((3, 2)), np.zeros(4))
    assert_refused(ConfigError, lambda: n_best(space, potentials, n), "n is")


def test_whole_numbers_of_any_kind_are_numbers():
    assert len(fit(DENSE).predict_n_best(DENSE, np.int8(2))[0]) == 2


@pytest.mark.parametrize(
    "lengths", [[2.7, 1, 3], ["2", "1", "3"], [None, 1, 3], 6, [[2, 1, 3]], [True, 2, 3], [-1, 4, 3], [2, 1, 4], "213"]
)
def test_lengths(lengths):
    model, whole = fit(DENSE), np.concatenate(DENSE)
    assert_refused(DataError, lambda: model.predict(whole, lengths=lengths), "[Ll]engths|lengths")


@pytest.mark.parametrize("x", [np.array(1.0), None, 3, "text", {"a": 1}, np.ma.masked_array([[1.0]], [[1]])])
def test_what_is_no_list_of_sequences(x):
    model = fit(DENSE)
    for call in (
        lambda: model.predict(x),
        lambda: fit(x),
        lambda: fit(DENSE, x),
        lambda: model.score(DENSE, x),
        lambda: model.predict(x, lengths=[1]),
        lambda: fit([x] * 3),
        lambda: fit(DENSE, [x] * 3),
    ):
        with pytest.raises(DataError) as caught:
            call()
        assert len(str(caught.value)) < 250


# ---- below the waist ---------------------------------------------------------------------------------------------

SPACE = one_per_label(3)
GOOD = {"node": np.zeros((4, 3)), "edge": np.zeros((1, 9)), "offsets": np.array([0, 2, 4])}
WRONG = [
    {"node": np.zeros((4, 2))},
    {"node": np.zeros((4, 4))},
    {"edge": np.zeros((1, 8))},
    {"edge": np.zeros((3, 9))},
    {"edge": np.zeros((0, 9))},
    {"offsets": np.array([0, 2, 5])},
    {"offsets": np.array([1, 2, 4])},
    {"offsets": np.array([0, 5, 4])},
    {"offsets": np.array([0, -2, 4])},
    {"offsets": np.empty(0, np.int64)},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_scores_that_do_not_fit_the_space(wrong):
    bad = Potentials(**{**GOOD, **wrong})
    paths = Paths(np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros(2))
    for call in (
        lambda: viterbi(SPACE, bad),
        lambda: best_paths(SPACE, bad),
        lambda: log_partition(SPACE, bad),
        lambda: n_best(SPACE, bad, 2),
        lambda: sample(SPACE, bad, 2, np.random.default_rng(0)),
        lambda: score_paths(SPACE, bad, paths),
    ):
        assert_refused(DataError, call)


def test_paths_and_posteriors_that_do_not_fit_the_scores():
    good = Potentials(**GOOD)
    ints, two = np.zeros(4, np.int32), np.ones(2)
    for paths in (
        Paths(ints + 3, ints, two),
        Paths(ints - 1, ints, two),
        Paths(ints, ints + 9, two),
        Paths(ints, ints - 2, two),
        Paths(ints[:3], ints, two),
    ):
        assert_refused(DataError, lambda paths=paths: score_paths(SPACE, good, paths))
    assert_refused(DataError, lambda: add_posteriors(SPACE, good, np.ones(1), good.zeros()))
    smaller = Potentials(np.zeros((3, 3)), np.zeros((1, 9)), np.array([0, 3]))
    assert_refused(DataError, lambda: add_posteriors(SPACE, good, two, smaller))
    clamp = clamp_labels(SPACE, np.zeros(4, np.int32))
    assert_refused(DataError, lambda: clamped_path(SPACE, clamp, np.array([0, 9])))
    assert marginals(SPACE, good).expected.node.sum() == pytest.approx(4.0, rel=1e-12)


def test_potentials_from_odd_arrays():
    for node in (np.ma.masked_array(np.zeros((4, 3)), True), np.zeros((4, 3), complex), [["a"] * 3] * 4):
        assert_refused(DataError, lambda node=node: make_potentials(SPACE, node, np.zeros(9)), "node")
    assert_refused(DataError, lambda: make_potentials(SPACE, np.zeros((4, 3)), np.zeros(9), [0, 2.5, 4]), "offsets")


# ---- the process around it ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("closed")
    LinearCRF(max_iter=1).fit([[("a",), ("b",)]], [["X", "Y"]]).save(found / "m.cf")
    (found / "t.txt").write_text("a\nb\n\n")
    return found


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("--version >&-", ""),
        ("tag m.cf t.txt >&-", "chainfield: Standard output is closed"),
        ("tag m.cf t.txt --json >&-", "chainfield: Standard output is closed"),
        ("tag m.cf <&-", "chainfield: Standard input is closed"),
        ("show m.cf >&-", ""),
    ],
)
def test_closed_streams(command, says, folder):
    """`chainfield … >&-`: one line at most, no traceback."""
    code = "import sys; from chainfield.commands.main import main; sys.exit(main(sys.argv[1:]))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    script = f"{sys.executable} -c '{code}' {command}"
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, cwd=folder)
    assert done.stderr.startswith(says), done.stderr
    assert done.stderr.count("\n") <= 1, done.stderr
