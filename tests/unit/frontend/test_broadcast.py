"""A Vector beside a Matrix, up to huge shapes."""

from __future__ import annotations

import pytest

import semira as gb
from semira.exceptions import DimensionMismatch, OutOfMemory

LONG = 2**33


def huge(device, entries):
    """Return an INT8 vector with these entries and a matrix with three, both of 2**33 a side."""
    with gb.device(device):
        v = gb.Vector("INT8", LONG)
        A = gb.Matrix.from_coo(
            [1, 7, LONG - 1], [5, 6, LONG - 1], [1, 2, 3], "INT8", nrows=LONG, ncols=LONG
        )
        for index, value in entries.items():
            v[index] = value
    return v, A


def test_a_vector_stands_in_every_column_or_row(device) -> None:
    with gb.device(device):
        v = gb.Vector.from_coo([1], [10], size=2)
        A = gb.Matrix.from_coo([0, 1], [0, 1], [1, 2], nrows=2, ncols=2)
    assert v.ewise_add(A, "plus").new().to_dicts() == {0: {0: 1}, 1: {0: 10, 1: 12}}
    assert A.ewise_add(v, "plus").new().to_dicts() == {0: {0: 1, 1: 10}, 1: {1: 12}}
    assert A.ewise_mult(v, "plus").new().to_dicts() == {1: {1: 12}}
    assert v.ewise_union(A, "minus", 5, 7).new().to_dicts() == {0: {0: 4}, 1: {0: 3, 1: 8}}
    with pytest.raises(DimensionMismatch, match="ncols = 2"):
        A.ewise_add(gb.Vector(int, 3))


def test_an_empty_vector_adds_nothing_to_a_huge_matrix(device) -> None:
    v, A = huge(device, {})
    for found in (
        v.ewise_add(A, "plus").new(),
        A.ewise_add(v, "plus").new(),
        A.ewise_union(v, "plus", 0, 0).new(),
    ):
        assert found.isequal(A)
    assert v.ewise_mult(A, "plus").new().nvals == 0
    empty = gb.Matrix("INT8", LONG, LONG)
    assert v.ewise_add(empty).new().isequal(empty)
    assert v.apply("ainv").ewise_add(A, "plus").new().isequal(A)


def test_a_vector_meets_the_entries_of_a_huge_matrix(device) -> None:
    v, A = huge(device, {7: 10, LONG - 1: 20})
    found = v.ewise_mult(A, "plus").new()
    assert found.to_dicts() == {7: {6: 12}, LONG - 1: {LONG - 1: 23}}
    assert A.ewise_mult(v, "plus").new().to_dicts() == {LONG - 1: {LONG - 1: 23}}


def test_a_vector_in_each_of_a_few_columns_of_long_ones(device) -> None:
    v, _ = huge(device, {7: 10})
    with gb.device(device):
        A = gb.Matrix.from_coo([7, LONG - 1], [0, 1], [1, 2], "INT8", nrows=LONG, ncols=2)
    found = v.ewise_add(A, "plus").new()
    assert found.to_dicts() == {7: {0: 11, 1: 10}, LONG - 1: {1: 2}}


@pytest.mark.parametrize(("turned", "places"), [(False, "columns"), (True, "rows")])
def test_a_vector_everywhere_in_a_huge_matrix_names_the_way_out(device, turned, places) -> None:
    v, A = huge(device, {7: 10})
    left, right = (A, v) if turned else (v, A)
    with pytest.raises(OutOfMemory, match=f"each of {LONG} {places}.*use ewise_mult"):
        left.ewise_add(right).new()
    with pytest.raises(OutOfMemory, match=f"each of {LONG} {places}.*use ewise_mult"):
        left.ewise_union(right, "plus", 0, 0).new()
