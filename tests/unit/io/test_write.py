"""``io.write``: what the writers of files do not see."""

from __future__ import annotations

import io

import numpy as np
import pytest

import semira as gb
from semira.base.errors import DimensionMismatch, DomainMismatch

A = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3], nrows=2, ncols=2)
NAMES = np.array(["ann", "bob"], object)


def test_labels_of_a_matrix_name_its_rows_and_columns():
    out = io.BytesIO()
    gb.io.write(out, A, format="csv", labels=NAMES)
    assert out.getvalue().decode().split() == [
        "source,target,weight", '"ann","bob",2', '"bob","ann",3',
    ]  # fmt: skip
    with pytest.raises(DimensionMismatch, match="2 labels for a matrix of shape 1 x 2"):
        gb.io.write(out, A[:1, :].new(), format="mtx", labels=NAMES)


def test_vectors_by_name_have_a_column_each():
    out = io.BytesIO()
    low, high = gb.Vector.from_dense([1, 2]), gb.Vector.from_dense([3, 4])
    gb.io.write(out, {"low": low, "high": high}, format="csv", labels=NAMES)
    assert out.getvalue().decode().split() == [
        "index,low,high,label", '0,1,3,"ann"', '1,2,4,"bob"',
    ]  # fmt: skip


def test_what_is_neither_is_refused():
    with pytest.raises(DomainMismatch, match="got int"):
        gb.io.write(io.BytesIO(), 3, format="csv")


def test_a_dict_of_what_is_no_vector_is_refused(tmp_path):
    with pytest.raises(DomainMismatch, match="got list as 'rank'"):
        gb.io.write(tmp_path / "x.csv", {"rank": [1, 2]})


@pytest.mark.parametrize("place", [None, 3, ["x.mtx"]])
def test_what_is_no_place_is_refused(place):
    with pytest.raises(
        DomainMismatch, match=f"a path or a binary stream, got {type(place).__name__}"
    ):
        gb.io.write(place, gb.Matrix(int, 2, 2))


def test_paths_may_be_bytes(tmp_path):
    matrix = gb.Matrix.from_coo([0], [1], [5], nrows=2, ncols=2)
    path = bytes(tmp_path / "x.mtx")
    gb.io.write(path, matrix)
    assert gb.io.read(path).isequal(matrix)
