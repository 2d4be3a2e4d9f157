"""Index widths and the check of indices from outside."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base.errors import IndexOutOfBound, InvalidIndex
from semira.formats.index import check_indices, index_dtype, offset_dtype


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), np.int32),
        ((0,), np.int32),
        ((2**31 - 1, 5), np.int32),
        ((2**31,), np.int64),
        ((5, 2**60), np.int64),
    ],
)
def test_index_dtype_is_the_narrowest_that_fits(sizes, expected):
    assert index_dtype(*sizes) == expected


def test_offset_dtype_depends_on_the_number_of_entries():
    assert offset_dtype(2**31 - 1) == np.int32
    assert offset_dtype(2**31) == np.int64


@pytest.mark.parametrize(
    "given", [[4, 0, 4], np.array([4, 0, 4], np.uint8), np.array([4, 0, 4], np.uint64), (4, 0, 4)]
)
def test_check_indices_returns_signed_indices(given):
    checked = check_indices(given, 5, "rows")
    assert checked.dtype == np.int32
    assert checked.tolist() == [4, 0, 4]
    assert check_indices(given, 2**31, "rows").dtype == np.int64


def test_check_indices_accepts_nothing_of_any_dtype():
    assert check_indices([], 0, "rows").dtype == np.int32
    assert check_indices(np.empty(0), 2**40, "rows").dtype == np.int64


@every(
    ("given", "size", "error", "reason"),
    [
        ([0, 5], 5, IndexOutOfBound, "rows holds 5"),
        ([-1, 9], 5, IndexOutOfBound, "rows holds -1"),
        (np.array([2**63], np.uint64), 2**60, IndexOutOfBound, str(2**63)),
        ([0], 0, IndexOutOfBound, r"\[0, 0\)"),
        ([[0]], 5, InvalidIndex, "one-dimensional"),
        (0, 5, InvalidIndex, "one-dimensional"),
        ([0.5], 5, InvalidIndex, "float64"),
        ([True], 5, InvalidIndex, "bool"),
    ],
)
def test_check_indices_names_what_is_wrong(given, size, error, reason):
    with pytest.raises(error, match=reason):
        check_indices(given, size, "rows")
