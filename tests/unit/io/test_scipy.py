"""SciPy arrays in and out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.helpers.every import every

import semira as gb
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory

A = gb.Matrix.from_coo([0, 0, 2], [1, 3, 0], [1.5, 0.0, -2.0], nrows=3, ncols=4)
FORMATS = ("bsr", "coo", "csc", "csr", "dok", "lil")


@every("format", FORMATS)
@every("matrix", [A, A.T], ids=["A", "A.T"])
def test_there_and_back(format, matrix):
    made = gb.io.to_scipy_sparse(matrix, format)
    assert made.format == format
    assert made.shape == matrix.shape
    np.testing.assert_array_equal(made.toarray(), matrix.to_dense(0))
    if format not in ("bsr", "dok", "lil"):  # which add or leave out zeros
        assert gb.io.from_scipy_sparse(made).isequal(matrix.dup(), check_dtype=True)


def test_iso_values_are_expanded():
    ones = gb.Matrix.from_coo([0, 1], [1, 0], 1.0)
    assert gb.io.to_scipy_sparse(ones).data.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("made", [gb.Vector.from_dense([1, 2]), gb.Vector.from_coo([1], [2])])
def test_vectors_are_rows_and_columns(made):
    row, column = gb.io.to_scipy_sparse(made), gb.io.to_scipy_sparse(made, "csc")
    assert (row.shape, column.shape) == ((1, 2), (2, 1))
    np.testing.assert_array_equal(row.toarray()[0], made.to_dense(0))
    np.testing.assert_array_equal(column.toarray()[:, 0], made.to_dense(0))


@pytest.mark.parametrize("item", [A.dup(), gb.Vector.from_dense([1.5, 2.5])])
@pytest.mark.parametrize("format", ["coo", "csr"])
def test_the_result_is_a_copy(item, format):
    before = item.dup()
    gb.io.to_scipy_sparse(item, format).data[:] = 9
    assert item.isequal(before)


def test_huge_matrices_go_through_coo():
    huge = gb.Matrix.from_coo([3, 2**39], [1, 2], [5, 6], nrows=2**40, ncols=10)
    made = gb.io.to_scipy_sparse(huge, "coo")
    assert made.row.tolist() == [3, 2**39]
    assert gb.io.from_scipy_sparse(made).isequal(huge)
    with pytest.raises(OutOfMemory, match="1099511627776 rows"):
        gb.io.to_scipy_sparse(huge)


def test_unknown_format():
    with pytest.raises(InvalidValue, match="Invalid format: 'ell'"):
        gb.io.to_scipy_sparse(A, "ell")


def test_repeats_need_a_dup_op():
    repeated = sp.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(ValueError, match=r"[Dd]uplicate"):
        gb.io.from_scipy_sparse(repeated)
    assert gb.io.from_scipy_sparse(repeated, dup_op="plus").to_dicts() == {0: {1: 3}}


@pytest.mark.parametrize("made", [sp.coo_array, sp.csr_array])
def test_an_array_of_one_dimension_names_the_way_to_a_vector(made):
    array = made(np.array([0, 1, 2]))
    with pytest.raises(DimensionMismatch, match=r"shape \(3,\); for a Vector") as caught:
        gb.io.from_scipy_sparse(array)
    assert "gb.Vector.from_coo(*a.coords, a.data, size=a.shape[0])" in str(caught.value)
    a = array.tocoo()
    vector = gb.Vector.from_coo(*a.coords, a.data, size=a.shape[0])
    assert vector.to_dict() == {1: 1, 2: 2}


def test_an_array_of_three_dimensions_is_refused():
    with pytest.raises(DimensionMismatch, match=r"shape \(2, 2, 2\)"):
        gb.io.from_scipy_sparse(sp.coo_array(np.ones((2, 2, 2))))


def test_what_is_no_sparse_array_is_refused():
    with pytest.raises(DomainMismatch, match=r"got ndarray; gb\.io\.from_numpy"):
        gb.io.from_scipy_sparse(np.eye(2))


def test_a_broken_array_is_refused():
    broken = sp.csr_array(np.eye(2))
    broken.indices[0] = 7
    with pytest.raises(InvalidValue, match="from_scipy_sparse: the array is broken"):
        gb.io.from_scipy_sparse(broken)


def slack(kind, indices, shape, data=(1.0, 2.0, 9.0)):
    """Return a valid array of two entries whose `indices` and `data` are longer than `indptr`."""
    made = kind(shape)
    made.data, made.indptr = np.array(data), np.array([0, 1, 2], np.int32)
    made.indices = np.array(indices, np.int32)
    return made


@every("last", [0, 1, 2, 77, -5])
@every("writeable", [True, False])
def test_what_lies_beyond_the_last_offset_is_not_read(last, writeable):
    for kind in (sp.csr_array, sp.csr_matrix):
        made = slack(kind, [1, 0, last], (2, 3))
        made.data.flags.writeable = writeable
        assert gb.io.from_scipy_sparse(made).to_dicts() == {0: {1: 1}, 1: {0: 2}}
        assert len(made.data) == 3
    for kind in (sp.csc_array, sp.csc_matrix):
        made = slack(kind, [1, 0, last], (3, 2))
        assert gb.io.from_scipy_sparse(made).to_dicts() == {0: {1: 2}, 1: {0: 1}}


def test_blocks_beyond_the_last_offset_are_not_read():
    made = sp.bsr_array(np.kron(np.eye(2), np.ones((2, 2))), blocksize=(2, 2))
    dense = made.toarray()
    made.data = np.concatenate([made.data, np.full((1, 2, 2), 9.0)])
    made.indices = np.append(made.indices, np.int32(0))
    np.testing.assert_array_equal(gb.io.from_scipy_sparse(made).to_dense(0), dense)


def test_diagonals_longer_and_shorter_than_the_array():
    for data, offsets in (([[1, 2, 3, 4], [5, 6, 7, 8]], [0, -1]), ([[1, 2]], [1]), ([[3]], [-2])):
        made = sp.dia_array((np.array(data), offsets), shape=(3, 3))
        np.testing.assert_array_equal(gb.io.from_scipy_sparse(made).to_dense(0), made.toarray())


@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_unsorted_and_repeated_entries(width):
    unsorted = sp.csr_array((np.array([1, 2, 3]), np.array([2, 0, 1], width), [0, 2, 3]))
    assert gb.io.from_scipy_sparse(unsorted).to_dicts() == {0: {0: 2, 2: 1}, 1: {1: 3}}
    for kind in (sp.csr_array, sp.csc_array):
        repeated = kind((np.array([1, 2, 3]), np.array([2, 2, 1], width), [0, 2, 3]))
        with pytest.raises(InvalidValue, match="1 of 3 entries repeat a position"):
            gb.io.from_scipy_sparse(repeated)
        found = gb.io.from_scipy_sparse(repeated, dup_op="plus")
        np.testing.assert_array_equal(found.to_dense(0), repeated.toarray())
    # Explicit zeros are entries.
    assert gb.io.from_scipy_sparse(sp.coo_array(([0.0], ([0], [1])), shape=(2, 2))).nvals == 1


@pytest.mark.parametrize("indptr", [[0, 4, 3], [1, 2, 3], [0, 2, 5]])
def test_offsets_that_are_none_are_refused(indptr):
    made = sp.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 1]), np.array([0, 2, 3])))
    made.indptr = np.array(indptr, made.indptr.dtype)
    with pytest.raises(InvalidValue, match="the array is broken: "):
        gb.io.from_scipy_sparse(made)
