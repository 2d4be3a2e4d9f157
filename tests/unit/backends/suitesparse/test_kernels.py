"""What SuiteSparse 9.4.5 gets wrong if it is asked directly, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import semira as gb
from semira.algorithms import graph_colouring, label_propagation

pytest.importorskip("graphblas")

DEVICE = "suitesparse"


@pytest.fixture(autouse=True)
def on_suitesparse() -> Iterator[None]:
    with gb.device(DEVICE):
        yield


def diagonal(dtype: str) -> gb.Matrix:
    return gb.Matrix.from_coo(range(4), range(4), [1, 2, 3, 4], dtype, nrows=4, ncols=4)


def full(values: list[float], dtype: str = "FP64") -> gb.Vector:
    return gb.Vector.from_dense(np.array(values), dtype=dtype)


QUARTERS = [0.25, 0.25, 0.25, 0.25]
NARROWER = ("BOOL", "INT8", "UINT32", "INT64", "FP32")
narrower = pytest.mark.parametrize("dtype", NARROWER)


def expected(dtype: str, start: list[float]) -> list[float]:
    weights = np.ones(4) if dtype == "BOOL" else np.arange(1, 5)
    return (np.array(start) + weights / 4).tolist()


@narrower
@pytest.mark.parametrize("start", [[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 5.0]])
@pytest.mark.parametrize("masked", [False, True])
def test_an_operand_is_cast_where_the_output_is_full(dtype, start, masked):
    A, v, all_of_them = diagonal(dtype), full(QUARTERS), full([1, 1, 1, 1], "INT8").S
    product = gb.semiring.plus_times["FP64"]
    for expression in (A.mxv(v, product), A.T.mxv(v, product), v.vxm(A, product)):
        w = full(start)
        # A mask that allows everything is no mask to SuiteSparse.
        (w(all_of_them, accum="plus") if masked else w(accum="plus")) << expression
        assert w.to_dense().tolist() == expected(dtype, start)


@narrower
def test_the_right_operand_is_cast(dtype):
    A, v = diagonal("FP64"), full([1, 1, 1, 1], dtype)
    w = full([0.0, 1.0, 0.0, 0.0])
    w(accum="plus") << A.mxv(v, gb.semiring.plus_times["FP64"])
    assert w.to_dense().tolist() == [1, 3, 3, 4]


@pytest.mark.parametrize(
    ("name", "found"),
    [("min_plus", [0.5, 1.0, 0.5, 5.25]), ("max_times", [0.5, 2.0, 0.75, 9.0])],
)
def test_other_monoids(name, found):
    w = full([0.5, 1.0, 0.5, 9.0])
    product = getattr(gb.semiring, name)["FP64"]
    w(accum=name[:3]) << diagonal("INT64").mxv(full([0.25, 1.0, 0.25, 1.25]), product)
    assert w.to_dense().tolist() == found


def test_a_semiring_of_another_dtype_than_it_was_asked_for():
    # lor_land is of BOOL whatever is asked for; 256 has a low byte of 0.
    A = gb.Matrix.from_coo([0, 1], [0, 1], [256, 0], "INT64")
    w = full([0, 0], "BOOL")
    w(accum="lor") << A.mxv(full([1, 1], "INT64"), gb.semiring.lor_land["INT64"])
    assert w.to_dense().tolist() == [True, False]


@narrower
def test_matrices(dtype):
    ones = gb.Matrix.from_dense(np.ones((4, 4)))
    C = gb.Matrix.from_dense(np.arange(16.0).reshape(4, 4))
    C(accum="plus") << diagonal(dtype).mxm(ones.T, gb.semiring.plus_times["FP64"])
    weights = np.ones(4) if dtype == "BOOL" else np.arange(1, 5)
    assert np.array_equal(C.to_dense(), np.arange(16.0).reshape(4, 4) + weights[:, None])


@narrower
def test_sums_of_rows(dtype):
    w = full([0.0, 1.0, 0.0, 0.0])
    w(accum="plus") << diagonal(dtype).reduce_rowwise(gb.monoid.plus["FP64"])
    assert w.to_dense().tolist() == ([1, 2, 1, 1] if dtype == "BOOL" else [1, 3, 3, 4])


def test_nothing_to_multiply():
    A, mask = gb.Matrix("INT64", 3, 0), gb.Vector.from_coo([0], True, size=3)
    for expression in (
        A.mxv(gb.Vector("INT64", 0), gb.semiring.plus_times),
        gb.Vector("INT64", 0).vxm(A.T, gb.semiring.plus_times),
        A.reduce_rowwise(gb.monoid.plus),
    ):
        w = full([1, 2, 3], "INT64")
        w(accum="plus") << expression
        w(mask.S, accum="plus") << expression
        assert w.to_dense().tolist() == [1, 2, 3]


def test_algorithms_without_vertices():
    A = gb.Matrix("INT64", 0, 0)
    assert graph_colouring(A).colour.size == 0
    assert label_propagation(A).label.size == 0


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("method", ["ewise_add", "ewise_mult"])
def test_an_output_of_one_value_makes_room_for_all(method, recorded):
    u, v = full([2, 3, 0, 1], "INT64"), full([1, 5, 0, 0], "INT64")
    w = gb.Vector.from_scalar(7, 4, "INT64")

    def step() -> None:
        w << getattr(u, method)(v, gb.binary.max)

    gb.repeat(step, max_iterations=1) if recorded else step()
    assert w.to_dense().tolist() == [2, 5, 0, 1]


def test_matrices_of_one_value_make_room_for_all():
    A = gb.Matrix.from_dense(np.arange(6).reshape(2, 3))
    C = gb.Matrix.from_scalar(7, 2, 3, dtype=A.dtype)
    C << A.ewise_add(A, gb.binary.plus)
    assert np.array_equal(C.to_dense(), 2 * np.arange(6).reshape(2, 3))


def test_a_value_goes_to_a_row_or_column_under_a_mask_of_its_shape():
    A = gb.Matrix.from_coo([0], [1], [1], nrows=3, ncols=4)
    A[0, :](gb.Vector.from_coo([0, 2], [1, 2], size=4).S) << 5
    assert A.to_dicts() == {0: {0: 5, 1: 1, 2: 5}}
    A[:, 0](~gb.Vector.from_coo([0], [1], size=3).S, accum="plus") << 6
    assert A.to_dicts() == {0: {0: 5, 1: 1, 2: 5}, 1: {0: 6}, 2: {0: 6}}
    A[[0, 2], 3](gb.Vector.from_coo([1], [1], size=2).S) << 7
    assert A.to_dicts()[2] == {0: 6, 3: 7}
    A[1:3, 1:3](gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2).S) << 8
    assert A.to_dicts()[1] == {0: 6, 2: 8}


def test_the_reverse_of_nothing():
    assert gb.Vector("INT64", 0)[::-1].new().size == 0
