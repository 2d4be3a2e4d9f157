"""MatrixArrays: what it derives from its arrays, and which broken arrays it finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base.dtypes import FP64, INT64
from semira.base.errors import InvalidObject
from semira.formats import MatrixArrays


def sample(orientation="csr"):
    # Row (column) 0: 1 and 3; row 1: none; row 2: 0.
    return MatrixArrays(
        *((3, 4) if orientation == "csr" else (4, 3)),
        INT64,
        orientation,
        np.array([0, 2, 2, 3], np.int32),
        np.array([1, 3, 0], np.int32),
        np.array([10, 30, 20]),
    )


def test_empty_matrix_is_valid():
    for shape in ((0, 0), (3, 0), (0, 3), (5, 2)):
        matrix = MatrixArrays.empty(*shape, FP64)
        matrix.validate()
        assert matrix.nvals == 0
        assert matrix.values.dtype == np.float64


def test_to_coo_follows_the_orientation():
    assert [part.tolist() for part in sample().to_coo()] == [[0, 0, 2], [1, 3, 0], [10, 30, 20]]
    by_columns = sample("csc")
    by_columns.validate()
    assert [part.tolist() for part in by_columns.to_coo()] == [[1, 3, 0], [0, 0, 2], [10, 30, 20]]


def test_flipped_is_the_transpose_without_a_copy():
    matrix = replace(sample(), symmetric=False)
    flipped = matrix.flipped()
    flipped.validate()
    assert (flipped.nrows, flipped.ncols, flipped.orientation) == (4, 3, "csc")
    assert flipped.indices is matrix.indices
    assert flipped.symmetric is False
    back = flipped.flipped()
    assert (back.nrows, back.ncols, back.orientation) == (3, 4, "csr")
    rows, cols, _ = matrix.to_coo()
    other_rows, other_cols, _ = flipped.to_coo()
    np.testing.assert_array_equal(rows, other_cols)
    np.testing.assert_array_equal(cols, other_rows)


def test_iso_values_are_expanded():
    matrix = replace(sample(), values=np.array([7]), iso=True)
    matrix.validate()
    assert matrix.entry_values().tolist() == [7, 7, 7]
    assert matrix.nbytes == 4 * 4 + 3 * 4 + 8


@every(
    ("changes", "reason"),
    [
        ({"orientation": "coo"}, "orientation 'coo'"),
        ({"indptr": np.array([0, 2, 3], np.int32)}, "4 offsets"),
        ({"indptr": np.array([1, 2, 2, 3], np.int32)}, "start at 0"),
        ({"indptr": np.array([0, 3, 2, 3], np.int32)}, "rise"),
        ({"indptr": np.array([0, 2, 2, 2], np.int32)}, "number of entries, 3"),
        ({"values": np.array([1, 2])}, "2 values for 3 entries"),
        ({"iso": True}, "iso=True"),
        ({"values": np.array([1.0, 2.0, 3.0])}, "float64, the dtype is INT64"),
        ({"indices": np.array([1, 4, 0], np.int32)}, r"\[0, 4\)"),
        ({"indices": np.array([-1, 3, 0], np.int32)}, r"\[0, 4\)"),
        ({"indices": np.array([3, 1, 0], np.int32)}, "strictly increasing"),
        ({"indices": np.array([1, 1, 0], np.int32)}, "strictly increasing"),
    ],
)
def test_validate_finds_broken_arrays(changes, reason):
    sample().validate()
    with pytest.raises(InvalidObject, match=reason):
        replace(sample(), **changes).validate()


@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_offsets_whose_differences_wrap_are_refused(width):
    limits = np.iinfo(width)
    offsets = np.array([0, limits.max, limits.min, -1, 3], width)
    with pytest.raises(InvalidObject, match="indptr must rise"):
        MatrixArrays(4, 5, FP64, "csr", offsets, np.int32([0, 1, 2]), np.ones(3)).validate()
