"""Hashed weights: symmetric, uniform, seeded, within their range."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semira.base.errors import InvalidValue
from semira.formats import hash_weights

vertices = st.integers(0, 2**62)


@given(vertices, vertices, st.integers(0, 2**64 - 1), st.integers(-5, 5), st.integers(0, 99))
def test_weights_are_symmetric_and_in_range(one, two, seed, low, span):
    ends, others = np.array([one, two]), np.array([two, one])
    weights = hash_weights(ends, others, seed, low=low, high=low + span)
    assert weights.dtype == np.int32
    assert weights[0] == weights[1]
    assert low <= weights[0] <= low + span


def test_weights_are_uniform_for_neighbouring_vertices():
    ends = np.arange(64_000)
    counts = np.bincount(hash_weights(ends, ends + 1, 0), minlength=65)[1:]
    # Chi-squared with 63 degrees of freedom: mean 63, standard deviation 11.2.
    assert ((counts - 1000) ** 2 / 1000).sum() < 63 + 6 * 11.2


def test_weights_change_with_the_seed_and_do_not_depend_on_index_width():
    ends, others = np.arange(1000), np.arange(1000)[::-1]
    weights = hash_weights(ends, others, 1)
    assert np.mean(weights == hash_weights(ends, others, 2)) < 0.1
    narrow = hash_weights(ends.astype(np.int32), others.astype(np.uint16), 1, dtype=np.int64)
    np.testing.assert_array_equal(weights, narrow)
    assert narrow.dtype == np.int64


@pytest.mark.parametrize(
    ("limits", "dtype"),
    [((5, 4), np.int32), ((0, 2**32), np.int64), ((1, 128), np.int8), ((-1, 1), np.uint8)],
)
def test_weights_refuse_bad_ranges(limits, dtype):
    with pytest.raises(InvalidValue, match=f"weights {limits[0]}..{limits[1]}"):
        hash_weights(np.array([0]), np.array([1]), 0, low=limits[0], high=limits[1], dtype=dtype)
