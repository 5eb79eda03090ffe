"""BLAS keeps to one thread while kernels use all of them, also a library that is loaded meanwhile."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = "2"
import numpy
from threadpoolctl import threadpool_info
from chainfield.parallel import load_products, one_blas_thread

def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

before = threads()
with one_blas_thread():
    with one_blas_thread():
        {inner}
        assert threads() and set(threads()) == {{1}}, threads()
    assert set(threads()) == {{1}}, threads()
after = threads()
assert after[: len(before)] == before, (before, after)
print(len(before), len(after), set(after) == set(before))
with one_blas_thread():
    assert set(threads()) == {{1}}, threads()
assert threads() == after
"""


@pytest.mark.parametrize("inner", ["load_products()", "import scipy.linalg; load_products()", "pass"])
def test_one_thread_and_back(inner):
    done = subprocess.run([sys.executable, "-c", CODE.format(inner=inner)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after, same = done.stdout.split()
    if before == "0":
        pytest.skip("the BLAS of NumPy is not one that threads can be told of")
    assert int(after) >= int(before)
    assert same == "True"


STARTS = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = "2"
import numpy as np
from threadpoolctl import threadpool_info
from chainfield import HiddenUnitCRF
from chainfield.models.hidden_units import pretraining

inside, seen = pretraining._divergence, set()

def watched(*given):
    seen.update(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
    return inside(*given)

pretraining._divergence = watched
X = [np.sign(np.random.default_rng(i).normal(size=(5, 3))) for i in range(4)]
HiddenUnitCRF(hidden_units=2, pretraining="contrastive", max_iter=1, n_jobs=1).fit(X, [["a", "b", "a", "b", "a"]] * 4)
print(seen)
"""


def test_starts_keep_to_one_thread_too():
    """On busy processors, pre-training by two threads of BLAS took ten times as long as by one."""
    done = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("{1}", "set()")
