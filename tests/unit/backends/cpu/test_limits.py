"""Long vectors, wrong positions, empty scalars, storages and layouts, values of `any`."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.programs import Bench, method_plan, statement, typed
from tests.helpers.random_objects import random_matrix

import semira as gb
from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FP64, INT64
from semira.base.errors import EmptyObject, IndexOutOfBound, InvalidValue, OutOfMemory, Panic
from semira.contract import Capabilities, IndexSpec, Mask, Plan
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays, coo_to_matrix

LONG = 2**40


@pytest.fixture
def bench():
    return Bench(backend_for("cpu"))


def put(bench, arrays, role="inout"):
    return bench.object(bench.backend.put(arrays), arrays.dtype, role)


def get(bench, slot):
    return bench.backend.get(bench.bindings[slot])


def long_vector(indices, values, dtype=INT64):
    return VectorArrays.sparse(
        LONG, dtype, np.array(indices, np.int64), np.array(values, dtype.np_type)
    )


def pairs(arrays):
    return list(zip(arrays.entry_indices().tolist(), arrays.entry_values().tolist(), strict=True))


def long_matrix(rows, cols, values):
    indptr = np.zeros(4, np.int32)
    np.cumsum(np.bincount(rows, minlength=3), out=indptr[1:])
    cols, values = np.array(cols, np.int64), np.array(values, np.int64)
    return MatrixArrays(3, LONG, INT64, "csr", indptr, cols, values)


def test_push_into_a_long_vector_with_mask_and_accumulator(bench):
    matrix = put(bench, long_matrix([0, 0, 1, 2], [5, LONG - 1, 5, 7], [1, 2, 3, 4]))
    u = put(bench, VectorArrays.sparse(3, INT64, np.array([0, 1], np.int32), np.array([10, 100])))
    w = put(bench, long_vector([5, 9], [1000, 2000]))
    mask = put(bench, long_vector([5, LONG - 1], [1, 1]))
    plus = typed("BinaryOp", "plus", INT64)
    bench.run(
        statement(
            "vxm", w, [u, matrix], typed("Semiring", "plus_times", INT64), accum=plus,
            mask=Mask(mask, True, False), plan=method_plan("vxm", "push"),
        )
    )  # fmt: skip
    assert pairs(get(bench, w)) == [(5, 1310), (9, 2000), (LONG - 1, 20)]


def test_pull_from_a_long_operand(bench):
    matrix = put(bench, long_matrix([0, 0, 1, 2], [5, LONG - 1, 5, 7], [1, 2, 3, 4]))
    u = put(bench, long_vector([5, LONG - 1], [10, 100]))
    w = put(bench, VectorArrays.empty(3, INT64))
    semiring = typed("Semiring", "plus_times", INT64)
    bench.run(statement("mxv", w, [matrix, u], semiring, plan=method_plan("mxv", "pull")))
    assert pairs(get(bench, w)) == [(0, 210), (1, 30)]


def test_long_vectors_assign_select_and_combine(bench):
    w = put(bench, long_vector([1, LONG - 2], [4, 5]))
    other = put(bench, long_vector([1, 3], [6, 7]))
    mask = put(bench, long_vector([3, LONG - 2], [1, 0]))
    nine = put(bench, ScalarArrays(INT64, np.int64(9)))
    everywhere = (IndexSpec("all"),)
    bench.run(statement("assign", w, [nine], mask=Mask(mask, False, False), indices=everywhere))
    assert pairs(get(bench, w)) == [(1, 4), (3, 9), (LONG - 2, 5)]
    bench.run(statement("ewise_add", w, [w, other], typed("BinaryOp", "plus", INT64)))
    assert pairs(get(bench, w)) == [(1, 10), (3, 16), (LONG - 2, 5)]
    bench.run(statement("select", w, [w, nine], typed("SelectOp", "valuegt", INT64)))
    assert pairs(get(bench, w)) == [(1, 10), (3, 16)]
    region = bench.slot("index", INT64, np.array([LONG - 1, 1]))
    bench.run(statement("assign", w, [nine], indices=(IndexSpec("list", region),)))
    assert pairs(get(bench, w)) == [(1, 9), (3, 16), (LONG - 1, 9)]


HUGE = 2**31 - 2


def part_of_a_huge_matrix():
    A = gb.Matrix(int, LONG, LONG).to("cpu")
    A[: HUGE // 2, 5:HUGE] = 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: gb.Matrix.from_scalar(1, HUGE, HUGE),
        lambda: gb.Matrix.from_scalar(1, LONG, 2**20),
        lambda: gb.Matrix.from_scalar(1, 2**20, 2**30),
        part_of_a_huge_matrix,
    ],
)
def test_a_scalar_for_too_many_positions_is_refused_before_they_are_listed(make):
    tracemalloc.start()
    try:
        with pytest.raises(OutOfMemory, match=r"a value (at|for) [0-9x ]+ positions"):
            make()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**26


@pytest.mark.parametrize("bad", [-1, 4])
@pytest.mark.parametrize("op", ["assign", "extract", "gather", "scatter"])
def test_position_outside_is_refused_before_anything_is_written(bench, op, bad):
    u = put(bench, VectorArrays.full(INT64, np.arange(4)))
    w = put(bench, VectorArrays.full(INT64, np.arange(4) + 10))
    positions = np.array([0, bad, 1, 2])
    if op in {"gather", "scatter"}:
        args = [u, put(bench, VectorArrays.full(INT64, positions))]
        made = statement(op, w, args, dup=typed("Monoid", "plus", INT64))
    else:
        region = bench.slot("index", INT64, positions)
        made = statement(op, w, [u], indices=(IndexSpec("list", region),))
    with pytest.raises(IndexOutOfBound, match=str(bad)):
        bench.run(made)
    assert get(bench, w).entry_values().tolist() == [10, 11, 12, 13]


def test_empty_scalar_where_a_value_is_needed_is_refused(bench):
    u = put(bench, VectorArrays.full(INT64, np.arange(4)))
    empty = put(bench, ScalarArrays(INT64, None))
    with pytest.raises(EmptyObject):
        bench.run(statement("apply", u, [u, empty], typed("BinaryOp", "plus", INT64)))


@every("method", ["push", "pull"])
@every("semiring", ["any_secondi", "any_firstj", "any_times", "any_second"])
@every("seed", range(4))
def test_any_takes_the_first_admissible_value(bench, method, semiring, seed):
    rng = np.random.default_rng(seed)
    arrays = random_matrix(rng, 30, 20, INT64)
    rows, cols, values = arrays.to_coo()
    a = np.zeros((30, 20), np.int64)
    a[rows, cols] = values
    stored = np.zeros((30, 20), bool)
    stored[rows, cols] = True
    x = rng.integers(1, 100, 20)
    matrix, u = put(bench, arrays), put(bench, VectorArrays.full(INT64, x))
    w = put(bench, VectorArrays.empty(30, INT64))
    operator = typed("Semiring", semiring, INT64)
    bench.run(statement("mxv", w, [matrix, u], operator, plan=method_plan("mxv", method)))
    for i, found in pairs(get(bench, w)):
        k = int(np.flatnonzero(stored[i])[0])
        assert (
            found
            == {"secondi": k, "firstj": k, "times": a[i, k] * x[k], "second": x[k]}[
                semiring.removeprefix("any_")
            ]
        )


def test_operand_reuse_reads_the_mask(bench):
    # 5 is in the mask but not in the frontier; its neighbour 7 is outside of the mask.
    matrix = put(bench, coo_to_matrix(8, 8, np.array([5]), np.array([7]), None, dtype=BOOL))
    frontier = put(bench, VectorArrays.sparse(8, BOOL, np.array([0], np.int32), np.ones(1, bool)))
    seen = VectorArrays.sparse(8, BOOL, np.array([0, 5], np.int32), np.ones(2, bool))
    visited = put(bench, seen)
    found = []
    for reuse in (False, True):
        w = put(bench, VectorArrays.empty(8, BOOL))
        plan = method_plan("vxm", "pull", operand_reuse=reuse)
        bench.run(
            statement(
                "vxm", w, [frontier, matrix], typed("Semiring", "any_pair", BOOL),
                mask=Mask(visited, True, True), replace=True, plan=plan,
            )
        )  # fmt: skip
        found.append(get(bench, w).entry_indices().tolist())
    assert found == [[], [7]]


@pytest.mark.parametrize("storage", ["sparse", "bitmap", "full"])
def test_plan_decides_the_storage_of_the_output(bench, storage):
    u = put(bench, VectorArrays.full(FP64, np.arange(10.0)))
    w = put(bench, VectorArrays.empty(10, FP64))
    plan = Plan("apply", out_storage=storage)
    bench.run(statement("apply", w, [u], typed("UnaryOp", "sqrt", FP64), plan=plan))
    found = get(bench, w)
    assert found.storage == storage
    found.validate()
    np.testing.assert_array_equal(found.entry_values(), np.sqrt(np.arange(10.0)))


def test_convert_makes_layouts_and_copies(bench):
    backend = bench.backend
    vector = backend.put(VectorArrays.sparse(4, INT64, np.array([1], np.int32), np.array([7])))
    assert backend.convert(vector, "bitmap") is vector
    copied = backend.convert(vector, "copy")
    backend.release(vector)
    assert pairs(backend.get(copied)) == [(1, 7)]
    with pytest.raises(InvalidValue, match="not full"):
        backend.convert(copied, "full")
    with pytest.raises(InvalidValue, match="layout"):
        backend.convert(copied, "csr")
    with pytest.raises(Panic, match="released"):
        backend.get(vector)
    matrix = backend.put(coo_to_matrix(2, 3, np.array([0]), np.array([2]), np.array([5])))
    assert backend.convert(matrix, "csc") is matrix
    assert [part.tolist() for part in backend.get(matrix).to_coo()] == [[0], [2], [5]]


def test_arrays_are_copied_in_and_out(bench):
    values = np.arange(4)
    handle = bench.backend.put(VectorArrays.full(INT64, values))
    values[:] = -1
    assert bench.backend.get(handle).values.tolist() == [0, 1, 2, 3]


def test_dense_arrays_that_leave_do_not_follow_the_object(bench):
    w = put(bench, VectorArrays.full(INT64, np.arange(4)))
    taken = get(bench, w)
    one = put(bench, VectorArrays.sparse(4, INT64, np.array([2], np.int32), np.array([9])))
    bench.run(statement("copy", w, [one], accum=typed("BinaryOp", "second", INT64)))
    assert get(bench, w).values.tolist() == [0, 1, 9, 3]
    assert taken.values.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        taken.values[:] = -2


def test_arrays_of_lists_and_matrices_are_shared(bench):
    indices, values = np.array([1, 3], np.int32), np.array([7, 8])
    vector = bench.backend.put(VectorArrays.sparse(4, INT64, indices, values))
    matrix = bench.backend.put(coo_to_matrix(2, 3, np.array([0]), np.array([2]), np.array([5])))
    found = bench.backend.get(vector)
    assert np.shares_memory(found.indices, indices)
    assert np.shares_memory(found.values, values)
    first, second = bench.backend.get(matrix), bench.backend.get(matrix)
    for name in ("indptr", "indices", "values"):
        assert np.shares_memory(getattr(first, name), getattr(second, name))
        assert not getattr(first, name).flags.writeable


def test_copies_do_not_share_what_is_written_in_place(bench):
    u = put(bench, VectorArrays.full(INT64, np.arange(4)))
    w = put(bench, VectorArrays.empty(4, INT64))
    one = put(bench, ScalarArrays(INT64, np.int64(100)))
    first = bench.slot("index", INT64, np.array([0]))
    bench.run(
        statement("copy", w, [u]),
        statement("assign", w, [one], indices=(IndexSpec("list", first),)),
    )
    assert get(bench, u).values.tolist() == [0, 1, 2, 3]
    assert get(bench, w).values.tolist() == [100, 1, 2, 3]


def test_capabilities_name_every_method(bench):
    able = bench.backend.capabilities()
    assert isinstance(able, Capabilities)
    assert ("mxm", "hash") in able.methods
    assert able.masked_push
