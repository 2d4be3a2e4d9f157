"""Operations made of others, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import DimensionMismatch, IndexOutOfBound


@pytest.fixture
def A(device):
    with gb.device(device):
        return gb.Matrix.from_coo([0, 1, 1], [0, 0, 1], [1, 2, 3])


def dense(x):
    return x.new().to_dense(0)


def test_kronecker_is_that_of_numpy(A) -> None:
    B = gb.Matrix.from_coo([0, 0, 1, 1], [1, 2, 0, 2], [2, 3, 8, 4])
    expected = np.kron(A.to_dense(0), B.to_dense(0))
    assert dense(A.kronecker(B)).tolist() == expected.tolist()
    assert A.kronecker(B, "plus").new()[3, 5].new() == 3 + 4


def test_kronecker_of_an_empty_matrix_has_the_full_shape(A) -> None:
    found = A.kronecker(gb.Matrix(int, 3, 4)).new()
    assert (found.shape, found.nvals) == ((6, 8), 0)


def test_outer_multiplies_every_pair(device) -> None:
    with gb.device(device):
        v, w = gb.Vector.from_coo([0, 2], [2, 3]), gb.Vector.from_coo([1], [5], size=2)
    assert v.outer(w).new().to_dicts() == {0: {1: 10}, 2: {1: 15}}
    assert v.outer(w, "minus").new().to_dicts() == {0: {1: -3}, 2: {1: -2}}


POSITIONS = {
    "firsti": lambda i, j, k, m: i, "firstj": lambda i, j, k, m: j,
    "secondi": lambda i, j, k, m: k, "secondj": lambda i, j, k, m: m,
    "firstj1": lambda i, j, k, m: j + 1, "secondj1": lambda i, j, k, m: m + 1,
}  # fmt: skip


@every("op", POSITIONS)
@every("transposed", [False, True])
def test_kronecker_gives_operators_the_positions_of_both_factors(device, op, transposed) -> None:
    left, right = [(0, 1), (1, 2), (2, 0)], [(0, 3), (1, 1)]
    with gb.device(device):
        A = gb.Matrix.from_coo(*zip(*left, strict=True), 1, nrows=3, ncols=4)
        B = gb.Matrix.from_coo(*zip(*right, strict=True), 1, nrows=2, ncols=5)
    found = (A.T if transposed else A).kronecker(B, op).new().to_dicts()
    for i, j in ((j, i) for i, j in left) if transposed else left:
        for k, m in right:
            assert found[i * 2 + k][j * 5 + m] == POSITIONS[op](i, j, k, m)


@every("op", POSITIONS)
def test_outer_gives_operators_the_positions_of_a_column_and_a_row(device, op) -> None:
    with gb.device(device):
        v, w = gb.Vector.from_coo([1, 2], 1, size=4), gb.Vector.from_coo([0, 3], 1, size=5)
    expected = {i: {m: POSITIONS[op](i, 0, 0, m) for m in (0, 3)} for i in (1, 2)}
    assert v.outer(w, op).new().to_dicts() == expected


def test_outer_gives_index_binary_operators_both_positions() -> None:
    def places(x, ix, jx, y, iy, jy, theta):
        return 1000 * ix + 100 * jx + 10 * iy + jy

    v, w = gb.Vector.from_coo([1, 2], 1, size=4), gb.Vector.from_coo([0, 3], 1, size=5)
    found = v.outer(w, gb.indexbinary.register_anonymous(places)(0)).new()
    assert found.to_dicts() == {1: {0: 1000, 3: 1003}, 2: {0: 2000, 3: 2003}}


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_power_is_that_of_numpy(A, n) -> None:
    assert dense(A.power(n)).tolist() == np.linalg.matrix_power(A.to_dense(0), n).tolist()


def test_power_of_one_is_a_copy(A) -> None:
    found = A.power(1).new()
    found[0, 0] = 99
    assert A[0, 0].new() == 1


def test_power_refuses_what_is_not_a_power(A) -> None:
    with pytest.raises(TypeError, match="nonnegative integer"):
        A.power(1.5)
    with pytest.raises(ValueError, match="nonnegative integer"):
        A.power(-1)
    with pytest.raises(DimensionMismatch):
        gb.Matrix(int, 2, 3).power(2)


@every("offset", [-4, -2, 0, 1, 3])
def test_reposition_moves_and_drops(device, offset) -> None:
    with gb.device(device):
        v = gb.Vector.from_coo([0, 2], [7, 8], size=4)
    expected = {i + offset: x for i, x in {0: 7, 2: 8}.items() if 0 <= i + offset < 5}
    assert v.reposition(offset, size=5).new().to_dict() == expected


def test_reposition_takes_a_mask_and_the_values_of_the_moment(A) -> None:
    moved = A.reposition(0, 1, ncols=3)
    A[0, 0] = 10
    assert moved.new().to_dicts() == {0: {1: 10}, 1: {1: 2, 2: 3}}
    mask = gb.Matrix.from_coo([1], [2], True, nrows=2, ncols=3)
    assert moved.new(mask=mask.S).to_dicts() == {1: {2: 3}}


def test_setdiag_replaces_one_diagonal(A) -> None:
    A.setdiag([5], 1)
    assert A.to_dicts() == {0: {0: 1, 1: 5}, 1: {0: 2, 1: 3}}
    A.setdiag(gb.Vector.from_coo([1], [9], size=2))
    assert A.to_dicts() == {0: {1: 5}, 1: {0: 2, 1: 9}}
    A.setdiag(1, accum="plus")
    assert A.to_dicts() == {0: {0: 1, 1: 5}, 1: {0: 2, 1: 10}}


def test_setdiag_checks_diagonal_and_length(A) -> None:
    with pytest.raises(IndexOutOfBound, match="out of range"):
        A.setdiag(1, 2)
    with pytest.raises(DimensionMismatch):
        A.setdiag([1, 2, 3])


@pytest.mark.parametrize("k", [1.5, "1", None])
def test_the_number_of_a_diagonal_is_an_integer(A, k) -> None:
    v = gb.Vector(int, 3)
    for take in (A.diag, A.T.diag, v.diag, lambda k: gb.ss.diag(A, k), lambda k: A.setdiag(v, k)):
        with pytest.raises(TypeError, match=f"k must be an integer, got {k!r}"):
            take(k)
    assert A.diag(np.int64(-1)).to_dict() == {0: 2}


def test_a_vector_is_spread_over_a_matrix(A) -> None:
    v = gb.Vector.from_coo([0, 1], [10, 20])
    assert dense(v + A).tolist() == [[11, 10], [22, 23]]
    assert dense(A + v).tolist() == [[11, 20], [12, 23]]
    assert (A * v).new().to_dicts() == {0: {0: 10}, 1: {0: 20, 1: 60}}
    with pytest.raises(DimensionMismatch):
        A + gb.Vector(int, 3)


def test_a_number_is_accumulated_into_a_scalar(device) -> None:
    with gb.device(device):
        s = gb.Scalar.from_value(5)
    s(accum="plus") << 6
    assert s.value == 11
    with pytest.raises(TypeError, match="Mask not allowed"):
        s(mask=s)


def test_a_row_takes_a_vector_mask_and_a_region_can_be_deleted(A) -> None:
    mask = gb.Vector.from_coo([1], [True], size=2)
    A(mask.S)[0, :] << 7
    assert A.to_dicts() == {0: {0: 1, 1: 7}, 1: {0: 2, 1: 3}}
    del A[:, 0]
    assert A.to_dicts() == {0: {1: 7}, 1: {1: 3}}


def test_a_list_is_assigned_as_a_dense_region(A) -> None:
    A[[0, 1], 0] = [10, 20]
    assert A.to_dicts() == {0: {0: 10}, 1: {0: 20, 1: 3}}
    with pytest.raises(ValueError, match="shape mismatch"):
        A[[0, 1], 0] = [1]


def test_an_input_mask_has_the_shape_of_the_operand(A) -> None:
    found = A[1, [1, 0]].new(input_mask=A.V)
    assert found.to_dict() == {0: 3, 1: 2}
    only = gb.Matrix.from_coo([1], [0], True, nrows=2, ncols=2)
    assert A[1, [1, 0]].new(input_mask=only.S).to_dict() == {1: 2}
