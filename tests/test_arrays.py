"""Numbers once, as NumPy's slower functions find them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chainfield.arrays import distinct, union

TYPES = (np.int8, np.int32, np.int64, np.float32)


@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_distinct_and_union_are_numpys(dtype, data):
    numbers = arrays(dtype, st.integers(0, 30), elements=st.integers(-5, 5))
    ours, theirs = data.draw(numbers), data.draw(numbers)
    before = ours.copy()
    assert np.array_equal(distinct(ours), np.unique(ours))
    assert np.array_equal(union(ours, theirs), np.union1d(ours, theirs))
    assert distinct(ours).dtype == dtype
    assert np.array_equal(ours, before)


def test_distinct_flattens_tables():
    assert distinct(np.array([[3, 1], [1, 2]])).tolist() == [1, 2, 3]
