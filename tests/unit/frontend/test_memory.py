"""Matrices that keep one orientation, shared arrays, and what objects say of their memory."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

import semira as gb
from semira.base.dtypes import FP64
from semira.engine.values import Value
from semira.exceptions import InvalidObject, InvalidValue, PlanError
from semira.formats import MatrixArrays, VectorArrays
from semira.frontend.ss.importing import adopt
from semira.generators import generate_kronecker


def small_matrix() -> gb.Matrix:
    return gb.Matrix.from_coo([0, 0, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=4)


def test_a_lean_matrix_never_holds_a_second_orientation():
    A = small_matrix()
    A.memory = "lean"
    u = gb.Vector.from_coo([0, 2], [1.0, 1.0], size=3)
    v = gb.Vector.from_coo([1], [2.0], size=4)
    fast = small_matrix()
    assert u.vxm(A).new().isequal(u.vxm(fast).new())
    assert A.mxv(v).new().isequal(fast.mxv(v).new())
    assert A.T.new().isequal(fast.T.new())
    assert A[:, 1].new().isequal(fast[:, 1].new())
    assert A.reduce_columnwise().new().isequal(fast.reduce_columnwise().new())
    assert not [name for name in A.memory_usage() if name.startswith("csc")]
    assert [name for name in fast.memory_usage() if name.startswith("csc")]


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_products_of_a_lean_matrix_follow_what_exists(direction):
    A = small_matrix()
    A.memory = "lean"
    v = gb.Vector.from_coo([1], [2.0], size=4)
    w = gb.Vector(float, 3)
    if direction == "pull":
        w(direction=direction) << A.mxv(v)
        assert w.to_dict() == {0: 2.0}
        return
    with pytest.raises(PlanError, match="memory='lean'"):
        w(direction=direction) << A.mxv(v)
    assert w.nvals == 0
    w(direction=direction, matrix_storage="both") << A.mxv(v)
    assert w.to_dict() == {0: 2.0}
    assert "csc.indptr" not in A.memory_usage()


def test_product_without_a_method_names_the_remedy():
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
    A.memory = "lean"
    with pytest.raises(PlanError, match="matrix_storage='both'"):
        A.T.mxm(A).new()
    C = gb.Matrix(float, 2, 2)
    C(matrix_storage="both") << A.T.mxm(A)
    assert C.to_dicts() == {0: {0: 4.0}, 1: {1: 1.0}}


def test_explain_shows_the_pinned_orientation():
    A = small_matrix()
    A.memory = "lean"
    v = gb.Vector.from_coo([1], [2.0], size=4)
    assert "matrix_storage='csr' is pinned" in str(gb.explain(A.mxv(v)))


def test_outputs_dups_and_pickles_stay_lean():
    import pickle

    C = gb.Matrix(float, 4, 3, memory="lean")
    C << small_matrix().T
    assert C.memory == C.dup().memory == "lean"
    assert {name.split(".")[0] for name in C.memory_usage()} == {"csr"}
    C.memory = "fast"
    assert pickle.loads(pickle.dumps(C)).memory == "fast"


def test_config_makes_new_matrices_lean():
    with gb.config.set(memory="lean"):
        assert gb.Matrix(float, 2, 2).memory == small_matrix().memory == "lean"
    assert small_matrix().memory == "fast"
    with pytest.raises(InvalidValue, match="memory='tiny'"):
        small_matrix().memory = "tiny"


def test_memory_usage_names_every_array():
    A = small_matrix()
    assert A.memory_usage() == {"csr.indptr": 16, "csr.indices": 12, "csr.values": 24}
    v = gb.Vector.from_coo([1], [2.0], size=4)
    assert v.memory_usage() == {"indices": 4, "values": 8}
    assert gb.Vector(float, 4).memory_usage() == {}


def test_symmetry_is_decided_remembered_and_forgotten_on_writing():
    A = gb.Matrix.from_coo([0, 1], [1, 0], [2.0, 2.0])
    assert A.symmetric
    A[0, 1] << 5.0
    assert not A.symmetric
    assert not small_matrix().symmetric
    with pytest.raises(InvalidValue, match="not symmetric"):
        small_matrix().symmetric = True


def test_a_word_for_symmetry_can_be_taken_back():
    A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [2.0, 3.0, 4.0])
    v = gb.Vector.from_coo([0], [1.0], size=2)
    for word in (True, False):
        expected = A.mxv(v).new(direction="push"), A.mxv(v).new(direction="pull")
        A.symmetric = word
        assert A.symmetric is word
    for direction, before in zip(("push", "pull"), expected, strict=True):
        assert before.nvals == 1
        assert A.mxv(v).new(direction=direction).to_dict() == {1: 3.0}


def test_a_symmetric_matrix_keeps_one_orientation():
    A = gb.Matrix.from_coo([0, 1], [1, 0], [2.0, 2.0])
    A.symmetric = True
    v = gb.Vector.from_coo([0], [1.0], size=2)
    for direction in ("push", "pull"):
        w = gb.Vector(float, 2)
        w(direction=direction) << A.mxv(v)
        assert w.to_dict() == {1: 2.0}
    assert not [name for name in A.memory_usage() if name.startswith("csc")]


def test_constructors_copy_what_the_caller_may_change():
    indptr, indices, values = np.array([0, 1, 2]), np.array([1, 0]), np.array([3.0, 4.0])
    rows = np.array([0, 1])
    made = [
        gb.Matrix.from_csr(indptr, indices, values, ncols=2),
        gb.Matrix.from_csc(indptr, indices, values, nrows=2),
        gb.Matrix.from_coo(rows, indices, values, nrows=2, ncols=2),
        gb.Matrix.from_dcsr(rows, indptr, indices, values, nrows=2, ncols=2),
        gb.Vector.from_coo(rows, values, size=2),
        gb.Vector.from_dense(values),
    ]
    before = [item.dup() for item in made]
    for array in (indptr, indices, values, rows):
        array[:] = 0
    assert all(item.isequal(other) for item, other in zip(made, before, strict=True))


def test_exported_arrays_are_the_callers():
    A = small_matrix()
    A.apply("ainv").new()
    for array in (*A.to_csr(), *A.to_csc(), *A.to_coo(), *A.to_dcsr()):
        array[:] = 0
    assert A.isequal(small_matrix())


def adopted(indptr, indices, values):
    return adopt(MatrixArrays(2, 3, FP64, "csr", indptr, indices, values))


def test_adopted_arrays_are_neither_copied_nor_writable():
    indptr, indices = np.array([0, 1, 2], np.int32), np.array([2, 0], np.int32)
    values = np.array([1.5, 2.5])
    A = gb.Matrix._of(adopted(indptr, indices, values))
    assert A.mxv(gb.Vector.from_dense([1.0, 1, 1])).new().to_dict() == {0: 1.5, 1: 2.5}
    given = A._value.surrender()
    for name, array in (("indptr", indptr), ("indices", indices), ("values", values)):
        assert np.shares_memory(getattr(given, name), array)
        assert not array.flags.writeable
        assert not getattr(given, name).flags.writeable
    assert A.nvals == 0
    assert A.shape == (2, 3)


def test_refused_arrays_stay_the_callers():
    indptr = np.array([0, 2, 1], np.uint64)
    indices, values = np.array([2, 0], np.uint64), np.array([1.5, 2.5])
    with pytest.raises(InvalidObject, match="indptr"):
        adopted(indptr, indices, values)
    assert indptr.flags.writeable
    assert values.flags.writeable


def test_a_sparse_vector_crosses_without_a_copy():
    indices, values = np.array([1, 3], np.int32), np.array([1.0, 2.0])
    value = Value.of(adopt(VectorArrays.sparse(5, FP64, indices, values)))
    value.place("cpu")
    assert np.shares_memory(value.read().values, values)


def test_building_a_graph_needs_little_beside_it():
    edges = generate_kronecker(16, 16, seed=1)
    rows, cols = edges.rows, edges.cols
    gb.Matrix.from_coo([0], [0], 1.0)
    tracemalloc.start()
    try:
        A = gb.Matrix.from_coo(rows, cols, 1.0, nrows=edges.nrows, ncols=edges.ncols)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Columns and the low half of rows, besides the blocks that are being sorted.
    assert peak < 6 * len(rows) + 6 * 2**20, peak / len(rows)
    assert sum(A.memory_usage().values()) < 4 * (A.nvals + A.nrows + 64)


def test_getsizeof_counts_the_arrays():
    A = small_matrix()
    held = sum(A.memory_usage().values())
    assert sys.getsizeof(A) == sys.getsizeof(gb.Matrix(int)) + held
    v = gb.Vector.from_dense(np.zeros(1000))
    assert sys.getsizeof(v) >= 8000
    scalars = gb.Scalar(dtype="FP64"), gb.Scalar(dtype="INT8")
    assert sys.getsizeof(scalars[0]) - sys.getsizeof(scalars[1]) == 7


def test_a_number_for_every_entry_is_stored_once():
    A, v = small_matrix(), gb.Vector.from_coo([0, 3], [4, 5], size=6)
    A(A.S) << 2.5
    v(v.S) << 7
    assert A.ss.is_iso
    assert v.ss.is_iso
    assert A.isequal(gb.Matrix.from_coo([0, 0, 2], [1, 2, 0], 2.5, nrows=3, ncols=4))
    assert v.to_dict() == {0: 7, 3: 7}


def test_a_number_under_another_mask_leaves_the_other_entries():
    v = gb.Vector.from_coo([0, 3, 4], [4, 0, 5], size=6)
    v(v.V) << 7
    assert v.to_dict() == {0: 7, 3: 0, 4: 7}
    v(~v.S) << 1
    assert v.to_dict() == {0: 7, 1: 1, 2: 1, 3: 0, 4: 7, 5: 1}
    w = gb.Vector.from_coo([0, 3], [1, 2], size=6)
    w(w.S, accum="plus") << 5
    assert w.to_dict() == {0: 6, 3: 7}
    w(w.S) << 2.7
    assert w.to_dict() == {0: 2, 3: 2}


def huge_matrix():
    return gb.Matrix.from_coo(
        [5, 5, 2**40], [7, 2**35, 7], [1.0, 2.0, 3.0], nrows=2**41, ncols=2**41
    )


@pytest.mark.parametrize("transposed", [False, True])
def test_a_lean_huge_matrix_never_holds_a_second_orientation(transposed):
    lean, fast = huge_matrix(), huge_matrix()
    lean.memory = "lean"
    A, B = (lean.T, fast.T) if transposed else (lean, fast)
    v = gb.Vector.from_coo([5, 7, 2**40], [1.0, 2.0, 4.0], size=2**41)
    assert v.vxm(A).new().isequal(v.vxm(B).new())
    assert A.reduce_columnwise().new().isequal(B.reduce_columnwise().new())
    assert A[:, 7].new().isequal(B[:, 7].new())
    assert A.mxv(v).new().isequal(B.mxv(v).new())
    assert {name.split(".")[0] for name in lean.memory_usage()} == {"row_ids", "col_ids", "csr"}
    if not transposed:
        assert any(name.startswith("csc") for name in fast.memory_usage())


def test_a_transpose_for_one_call_is_logged(caplog):
    A, B = small_matrix(), huge_matrix()
    A.memory = B.memory = "lean"
    A[1, :].new()
    with caplog.at_level("DEBUG", logger="semira"):
        A.reduce_rowwise().new()
        B.reduce_rowwise().new()
        assert caplog.messages == []
        A[:, 1].new()
        B[:, 7].new()
    assert [("csc is made for one call" in text) for text in caplog.messages] == [True, True]


def test_huge_results_stay_lean():
    C = gb.Matrix(float, 2**41, 2**41, memory="lean")
    C << huge_matrix().T
    C(accum="plus") << huge_matrix()
    assert C.memory == C.dup().memory == "lean"
    C.reduce_columnwise().new()
    assert {name.split(".")[0] for name in C.memory_usage()} == {"row_ids", "col_ids", "csr"}
    D = huge_matrix()
    D << D.ewise_add(huge_matrix().T)
    assert C.isequal(D)
