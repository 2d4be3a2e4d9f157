"""VectorArrays: three storages of the same entries, and which broken arrays are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.every import every

from semira.base.dtypes import FP64, INT64
from semira.base.errors import InvalidObject
from semira.formats import ScalarArrays, VectorArrays


def as_sparse(present, values):
    indices = np.flatnonzero(present).astype(np.int32)
    return VectorArrays.sparse(len(present), INT64, indices, values[indices])


def as_bitmap(present, values):
    count = int(present.sum())
    return VectorArrays(len(present), INT64, "bitmap", values, None, present, count)


@given(st.lists(st.booleans(), max_size=40))
def test_storages_hold_the_same_entries(bits):
    present = np.array(bits, bool)
    values = np.arange(len(bits)) * 10
    for make in (as_sparse, as_bitmap):
        vector = make(present, values)
        vector.validate()
        assert vector.nvals == sum(bits)
        np.testing.assert_array_equal(vector.entry_indices(), np.flatnonzero(present))
        np.testing.assert_array_equal(vector.entry_values(), values[present])
        assert vector.entry_indices().dtype == np.int32


def test_full_and_empty():
    full = VectorArrays.full(INT64, np.array([5, 6]))
    full.validate()
    assert full.entry_indices().tolist() == [0, 1]
    assert full.entry_values().tolist() == [5, 6]
    assert full.nbytes == 16
    empty = VectorArrays.empty(2**40, FP64)
    empty.validate()
    assert empty.indices.dtype == np.int64
    assert empty.nvals == 0


def test_iso_values_are_expanded():
    vector = VectorArrays.sparse(9, INT64, np.array([2, 4], np.int32), np.array([7]), iso=True)
    vector.validate()
    assert vector.entry_values().tolist() == [7, 7]


SPARSE = VectorArrays.sparse(5, INT64, np.array([1, 3], np.int32), np.array([10, 30]))
BITMAP = as_bitmap(np.array([True, False, True]), np.array([1, 2, 3]))
FULL = VectorArrays.full(INT64, np.array([1, 2]))


@every(
    ("vector", "changes", "reason"),
    [
        (SPARSE, {"storage": "list"}, "storage 'list'"),
        (SPARSE, {"values": np.array([1])}, "holds 1 values"),
        (SPARSE, {"iso": True}, "iso=True"),
        (SPARSE, {"values": np.array([1.0, 2.0])}, "float64, the dtype is INT64"),
        (SPARSE, {"indices": None}, "without their indices"),
        (SPARSE, {"indices": np.array([1], np.int32)}, "without their indices"),
        (SPARSE, {"indices": np.array([1, 5], np.int32)}, r"\[0, 5\)"),
        (SPARSE, {"indices": np.array([-1, 3], np.int32)}, r"\[0, 5\)"),
        (SPARSE, {"indices": np.array([3, 3], np.int32)}, "strictly increasing"),
        (SPARSE, {"indices": np.array([3, 1], np.int32)}, "strictly increasing"),
        (BITMAP, {"present": None}, "does not hold 2"),
        (BITMAP, {"nvals": 1}, "does not hold 1"),
        (BITMAP, {"present": np.array([1, 0, 1])}, "does not hold"),
        (BITMAP, {"present": np.array([True, True])}, "does not hold"),
        (FULL, {"nvals": 1}, "claims 1 entries"),
    ],
)
def test_validate_finds_broken_arrays(vector, changes, reason):
    vector.validate()
    with pytest.raises(InvalidObject, match=reason):
        replace(vector, **changes).validate()


def test_scalar_counts_its_value():
    assert ScalarArrays(INT64, None).nvals == 0
    assert ScalarArrays(INT64, np.int64(0)).nvals == 1
