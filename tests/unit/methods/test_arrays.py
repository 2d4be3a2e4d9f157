"""Storage formats: there and back again, and bytes as their formulas say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.format_arrays import from_dense, from_ell

from semira.base.dtypes import lookup_dtype
from semira.base.errors import InvalidValue, OutOfMemory
from semira.formats import MatrixArrays, coo_to_matrix
from semira.methods.dense.arrays import LEAST_CELLS, MOST_CELLS, DenseArrays, dense_bytes
from semira.methods.ell.arrays import MOST_SLOTS, PADDING, EllArrays, ell_bytes


@st.composite
def matrices(draw):
    """Return a small matrix of any shape, orientation and dtype, with runs of empty rows."""
    nrows, ncols = draw(st.integers(0, 40)), draw(st.integers(0, 40))
    cells = st.integers(0, max(0, nrows * ncols - 1))
    places = np.array(sorted(draw(st.sets(cells, max_size=60 if nrows * ncols else 0))), int)
    dtype = lookup_dtype(draw(st.sampled_from(["FP64", "FP32", "INT8", "BOOL"])))
    orientation, iso = draw(st.sampled_from(["csr", "csc"])), draw(st.booleans())
    lines, minor = (nrows, ncols) if orientation == "csr" else (ncols, nrows)
    major, index = np.divmod(places, max(1, minor))
    indptr = np.searchsorted(major, np.arange(lines + 1)).astype(np.int32)
    values = np.arange(1, 2 if iso else len(places) + 1).astype(dtype.array_dtype)
    return MatrixArrays(
        nrows, ncols, dtype, orientation, indptr, index.astype(np.int32), values, iso
    )


def assert_same(found: MatrixArrays, wanted: MatrixArrays) -> None:
    found.validate()
    assert (found.nrows, found.ncols, found.dtype) == (wanted.nrows, wanted.ncols, wanted.dtype)
    assert found.iso == wanted.iso
    one, other = (
        sorted(zip(*(part.tolist() for part in each.to_coo()), strict=True))
        for each in (found, wanted)
    )
    assert one == other


LAYOUTS = [
    {},
    {"lengths": True},
    {"multiple": 4},
    {"slice_lines": 1},
    {"slice_lines": 8, "lengths": True},
    {"slice_lines": 32, "multiple": 2},
]


@given(matrices(), st.sampled_from(LAYOUTS))
def test_ell_there_and_back(matrix, layout):
    made = EllArrays.from_matrix(matrix, **layout)
    assert_same(from_ell(made, matrix, layout.get("multiple", 1)), matrix)
    assert (made.lengths is not None) == layout.get("lengths", False)


@given(matrices(), st.sampled_from(LAYOUTS))
def test_ell_takes_the_bytes_of_its_formula(matrix, layout):
    made = EllArrays.from_matrix(matrix, **layout)
    degrees = np.diff(matrix.indptr).tolist()
    height, multiple = layout.get("slice_lines"), layout.get("multiple", 1)
    step = height or max(1, len(degrees))
    slices = [degrees[first : first + step] for first in range(0, len(degrees), step)]
    widths = [-(-max(part) // multiple) * multiple for part in slices]
    said = ell_bytes(
        matrix.nmajor, matrix.nminor, widths, matrix.values.dtype.itemsize,
        slice_rows=height, lengths=layout.get("lengths", False), iso=matrix.iso,
    )  # fmt: skip
    assert said == made.nbytes


@given(matrices())
def test_dense_there_and_back(matrix):
    made = DenseArrays.from_matrix(matrix)
    assert_same(from_dense(made, matrix), matrix)
    value_bytes = matrix.values.dtype.itemsize
    full = matrix.nvals == matrix.nrows * matrix.ncols
    said = dense_bytes(matrix.nrows, matrix.ncols, value_bytes, full=full, iso=matrix.iso)
    assert said == made.nbytes


def test_neighbouring_rows_lie_in_neighbouring_words():
    #   row 0: 1 2 3, row 1: none, row 2: 0; a slice of two rows each
    matrix = coo_to_matrix(3, 4, np.array([0, 0, 0, 2]), np.array([1, 2, 3, 0]), np.arange(4.0))
    made = EllArrays.from_matrix(matrix, slice_lines=2)
    assert made.starts.tolist() == [0, 6, 8]
    assert made.indices.tolist() == [1, PADDING, 2, PADDING, 3, PADDING, 0, PADDING]
    assert made.widths.tolist() == [3, 1]
    whole = EllArrays.from_matrix(matrix, lengths=True)
    assert whole.indices.tolist() == [1, PADDING, 0, 2, PADDING, PADDING, 3, PADDING, PADDING]
    assert whole.lengths.tolist() == [3, 0, 1]


def hub(size: int) -> MatrixArrays:
    """Return a matrix of one full row."""
    return coo_to_matrix(size, size, np.zeros(size, int), np.arange(size), np.ones(size))


def test_one_long_row_is_refused_with_bytes_and_remedy():
    matrix = hub(1000)
    taken = ell_bytes(1000, 1000, [1000], 8)
    with pytest.raises(OutOfMemory, match=f"takes {taken} bytes.*one of its rows has 1000.*'sell'"):
        EllArrays.from_matrix(matrix)
    assert len(EllArrays.from_matrix(matrix, slice_lines=4).indices) == 4 * 1000
    with pytest.raises(OutOfMemory, match=r"slices of 100 rows.*matrix_storage='csr'"):
        EllArrays.from_matrix(hub(3000), slice_lines=100)


def test_the_limit_is_met_exactly():
    # All but 1 / MOST_SLOTS of the rows are empty: as many slots as there may be.
    rows = 8 * 2**14
    full = rows // MOST_SLOTS
    matrix = coo_to_matrix(rows, 2, np.arange(full), np.zeros(full, int), np.ones(full))
    assert len(EllArrays.from_matrix(matrix).indices) == MOST_SLOTS * matrix.nvals
    matrix = coo_to_matrix(rows, 2, np.arange(full - 1), np.zeros(full - 1, int), np.ones(full - 1))
    with pytest.raises(OutOfMemory):
        EllArrays.from_matrix(matrix)


def test_what_would_be_nearly_empty_is_refused_with_bytes_and_remedy():
    matrix = coo_to_matrix(2000, 1000, np.arange(9), np.arange(9), np.ones(9))
    taken = dense_bytes(2000, 1000, 8, full=False)
    limit = f"limit: {MOST_CELLS} an entry, or {LEAST_CELLS} in all"
    with pytest.raises(OutOfMemory, match=f"2000 x 1000 .* takes {taken} bytes.*{limit}.*'coo'"):
        DenseArrays.from_matrix(matrix)
    # As many positions as there may be, and one entry less.
    rows, cols = np.divmod(np.arange(2 * LEAST_CELLS // MOST_CELLS), 1024)
    assert DenseArrays.from_matrix(coo_to_matrix(2048, 1024, rows, cols, rows)).present is not None
    with pytest.raises(OutOfMemory):
        DenseArrays.from_matrix(coo_to_matrix(2048, 1024, rows[1:], cols[1:], rows[1:]))


def test_presence_in_bits_fills_words():
    assert dense_bytes(3, 33, 4, full=False, bits=True) == 3 * 33 * 4 + 3 * 2 * 4
    assert dense_bytes(3, 33, 4, bits=True) == 3 * 33 * 4
    assert dense_bytes(3, 33, 4, full=False, iso=True) == 4 + 3 * 33


def test_a_huge_shape_has_no_slot_for_each_row():
    matrix = coo_to_matrix(2**40, 2**40, np.array([5, 2**39]), np.array([1, 2]), np.ones(2))
    with pytest.raises(OutOfMemory, match="offset each"):
        EllArrays.from_matrix(matrix)
    with pytest.raises(OutOfMemory, match="use compressed rows"):
        DenseArrays.from_matrix(matrix)


@pytest.mark.parametrize("layout", [{"slice_lines": 0}, {"multiple": 0}])
def test_ell_refuses_nonsense(layout):
    with pytest.raises(InvalidValue, match="give 1 or more"):
        EllArrays.from_matrix(hub(4), **layout)
