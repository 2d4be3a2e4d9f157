"""The arrays of a matrix by rows, and what formats make of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.format_arrays import from_dense, from_ell

import semira as gb
from semira.base.errors import DomainMismatch
from semira.methods.dense.arrays import DenseArrays
from semira.methods.ell.arrays import EllArrays

FORMATS = {
    "ell": EllArrays.from_matrix,
    "ellr": lambda arrays: EllArrays.from_matrix(arrays, lengths=True),
    "pell": lambda arrays: EllArrays.from_matrix(arrays, multiple=4),
    "sell": lambda arrays: EllArrays.from_matrix(arrays, slice_lines=2),
    "dense": DenseArrays.from_matrix,
}


@every("name", FORMATS)
@every("is_turned", [False, True])
def test_a_matrix_goes_to_every_format_and_back(device, name, is_turned):
    A = gb.Matrix.from_coo([0, 0, 0, 2], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], nrows=3, ncols=4)
    A = A.to(device)
    given = gb.io.arrays_of(A.T if is_turned else A)
    made = FORMATS[name](given)
    if name == "dense":
        back = from_dense(made, given)
    else:
        back = from_ell(made, given, 4 if name == "pell" else 1)
    found = gb.Matrix.from_csr(back.indptr, back.indices, back.entry_values(), ncols=back.ncols)
    expected = A.to_dense(0)
    np.testing.assert_array_equal(found.to_dense(0), expected.T if is_turned else expected)


def test_one_value_for_all_entries_stays_one():
    arrays = gb.io.arrays_of(gb.io.read("grid:3x3", device="cpu"))
    assert (arrays.orientation, arrays.iso) == ("csr", True)
    assert EllArrays.from_matrix(arrays).values.shape == (1,)


@pytest.mark.parametrize("given", [3, None, gb.Vector.from_coo([0], [1.0])])
def test_what_is_no_matrix_is_refused(given):
    with pytest.raises(DomainMismatch, match="arrays_of"):
        gb.io.arrays_of(given)
