"""Products that walk entries or padded lines: right, kept with the matrix, and counted."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.storages import (
    COLUMN_RINGS,
    DENSE_SHAPES,
    MATRIX_STORAGES,
    RINGS,
    STORAGES,
    check_dense,
    check_matrix_products,
    check_products,
    matrix_of,
)

import semira as gb
from semira.backends.cpu import threads
from semira.base.dtypes import FP64
from semira.base.errors import OutOfMemory, PlanError
from semira.base.settings import override, restore
from semira.methods.dense.arrays import dense_bytes

#: Every ring one way, every way with one ring: a kernel each is compiled.
WAYS = [("vxm", False), ("vxm", True), ("mxv", False), ("mxv", True)]
FIRST_RING = next(iter(RINGS))
RINGS_AND_WAYS = [
    *((ring, *WAYS[k % 4]) for k, ring in enumerate(RINGS)),
    *((FIRST_RING, *way) for way in WAYS[1:]),
]


@every(("ring", "op", "transposed"), RINGS_AND_WAYS)
@every("storage", STORAGES)
def test_products(storage, op, transposed, ring):
    check_products("cpu", storage, op, ring, transposed=transposed)


@every(
    ("ring", "left", "right"),
    [
        *((ring, False, False) for ring in RINGS),
        (FIRST_RING, True, True),
        (FIRST_RING, False, True),
    ],
)
@every("storage", MATRIX_STORAGES)
def test_products_with_a_full_matrix(storage, left, right, ring):
    check_matrix_products("cpu", storage, ring, left=left, right=right)


@pytest.mark.parametrize(
    ("ring", "left", "right"),
    [
        *((ring, False, False) for ring in COLUMN_RINGS),
        (FIRST_RING, True, True),
        (FIRST_RING, False, True),
    ],
)
def test_columns_times_a_full_matrix(left, right, ring):
    check_matrix_products("cpu", "csr" if left else "csc", ring, left=left, right=right)


def test_columns_are_walked_where_nothing_else_is_there():
    rng = np.random.default_rng(1)
    wanted = np.where(rng.random((9, 6)) < 0.4, 0.1 + rng.random((9, 6)), 0)
    dense = rng.random((6, 8))
    rows, columns = np.nonzero(wanted)
    given = gb.Matrix.from_coo(rows, columns, wanted[rows, columns], nrows=9, ncols=6)
    # Its rows are the columns of the transposed.
    lean = gb.Matrix.from_coo(columns, rows, wanted[rows, columns], nrows=6, ncols=9)
    lean.memory = "lean"
    B = gb.Matrix.from_dense(dense)
    made = lean.T.mxm(B, "plus_times").new()
    np.testing.assert_allclose(made.to_dense(0), wanted @ dense)
    assert not any(name.startswith("csc") for name in lean.memory_usage())
    # Sums are in the order of k, as by rows.
    assert made.isequal(given.mxm(B, "plus_times").new(matrix_storage="coo"))
    with pytest.raises(PlanError, match="matrix_storage='both' transposes"):
        given.T.new().mxm(lean.T, "plus_times").new(matrix_storage="csc")


@pytest.mark.parametrize("storage", [*MATRIX_STORAGES, "csc"])
def test_products_with_a_full_matrix_of_several_threads(storage, monkeypatch):
    monkeypatch.setattr(threads, "PARALLEL_ENTRIES", 16)
    before = override(threads=3)
    try:
        check_matrix_products("cpu", storage, "min_plus", left=False, right=False)
    finally:
        restore(before)


@pytest.mark.parametrize("storage", MATRIX_STORAGES)
def test_a_matrix_with_gaps_is_no_full_operand(storage):
    A, B = on_cpu(), on_cpu()
    with gb.device("cpu"):
        C = gb.Matrix(FP64, 90, 90)
    with pytest.raises(PlanError, match="right operand has every entry"):
        C(matrix_storage=storage) << A.mxm(B.T, "plus_times")
    assert C.nvals == 0


@pytest.mark.parametrize("storage", STORAGES)
def test_products_of_several_threads(storage, monkeypatch):
    monkeypatch.setattr(threads, "PARALLEL_ENTRIES", 16)
    before = override(threads=3)
    try:
        check_products("cpu", storage, "vxm", "plus_times", transposed=False)
        check_products("cpu", storage, "mxv", "min_plus", transposed=True)
    finally:
        restore(before)


def on_cpu():
    given = matrix_of(FP64, iso=False, orientation="csr")
    with gb.device("cpu"):
        return gb.Matrix.from_coo(*given.to_coo(), nrows=90, ncols=70)


def test_what_is_kept_is_counted():
    A = on_cpu()
    with gb.device("cpu"):
        u = gb.Vector.from_dense(np.ones(70))
        w = gb.Vector(FP64, 90)
    before = A.memory_usage()
    for storage in STORAGES:
        w(matrix_storage=storage) << A.mxv(u, "plus_times")
        w(matrix_storage=storage) << A.mxv(u, "plus_times")
    kept = {name: size for name, size in A.memory_usage().items() if name not in before}
    slots, rows, padded = 57 * 90, 90, 60 * 90
    assert kept == {
        "csr.degrees": 4 * rows, "csr.entry_rows": 4 * A.nvals,
        "csr.ell": 8 + 12 * slots, "csr.ellr": 8 + 12 * slots + 4 * rows,
        "csr.pell": 8 + 12 * padded, "csr.sell": kept["csr.sell"],
        "csr.dense": dense_bytes(90, 70, 8) + 90 * 70,
    }  # fmt: skip
    assert 16 < kept["csr.sell"] < 12 * slots
    assert (kept["csr.sell"] - 16) % 12 == 0


def test_a_lean_matrix_keeps_no_companion_of_the_other_orientation():
    with gb.config.set(memory="lean"):
        A = on_cpu()
    with gb.device("cpu"):
        u = gb.Vector.from_dense(np.ones(90))
        w = gb.Vector(FP64, 70)
    before = A.memory_usage()
    w(matrix_storage="ell") << u.vxm(A, "plus_times")
    assert A.memory_usage() == before
    # Entries have no orientation.
    w(matrix_storage="coo") << u.vxm(A, "plus_times")
    assert set(A.memory_usage()) - set(before) == {"csr.degrees", "csr.entry_rows"}


def test_a_change_makes_the_matrix_anew():
    A = on_cpu()
    with gb.device("cpu"):
        u = gb.Vector.from_dense(np.ones(70))
        w, wanted = gb.Vector(FP64, 90), gb.Vector(FP64, 90)
    for storage in STORAGES:
        w(matrix_storage=storage) << A.mxv(u, "plus_times")
    A << A.apply("ainv")
    wanted << A.mxv(u, "plus_times")
    for storage in STORAGES:
        w(matrix_storage=storage) << A.mxv(u, "plus_times")
        assert w.isequal(wanted)


@pytest.mark.parametrize("shape", DENSE_SHAPES)
def test_dense_shapes(shape):
    check_dense("cpu", shape)


def test_a_full_matrix_is_dense_already():
    with gb.device("cpu"):
        A = gb.Matrix.from_dense(np.arange(12.0).reshape(3, 4))
        u, v = gb.Vector.from_dense(np.ones(4)), gb.Vector.from_dense(np.ones(3))
        w, x = gb.Vector(FP64, 3), gb.Vector(FP64, 4)
    before = A.memory_usage()
    w(matrix_storage="dense") << A.mxv(u, "plus_times")
    assert A.memory_usage() == before
    # Columns are not made: positions are turned as they are.
    x(matrix_storage="dense") << v.vxm(A, "plus_times")
    kept = {name: size for name, size in A.memory_usage().items() if name not in before}
    assert kept == {"csr.dense": dense_bytes(3, 4, 8)}
    assert w.to_dense().tolist() == [6, 22, 38]
    assert x.to_dense().tolist() == [12, 15, 18, 21]
    assert "walks dense" in str(gb.explain(A.mxv(u, "plus_times"), matrix_storage="dense"))


def test_what_would_be_nearly_empty_is_refused():
    with gb.device("cpu"):
        A = gb.Matrix.from_coo([0, 1999], [5, 0], 1.0, nrows=2000, ncols=1000)
        u, w = gb.Vector.from_dense(np.ones(2000)), gb.Vector(FP64, 1000)
    taken = dense_bytes(2000, 1000, 8, full=False, iso=True)
    with pytest.raises(OutOfMemory, match=f"dense 2000 x 1000 matrix takes {taken} bytes"):
        w(matrix_storage="dense") << u.vxm(A, "plus_times")
    assert w.nvals == 0


def test_one_long_row_is_refused():
    with gb.device("cpu"):
        n = 5000
        A = gb.Matrix.from_coo(np.zeros(n, int), np.arange(n), 1.0, nrows=n, ncols=n)
        u, w = gb.Vector.from_dense(np.ones(n)), gb.Vector(FP64, n)
    with pytest.raises(OutOfMemory, match="matrix_storage='sell'"):
        w(matrix_storage="ell") << A.mxv(u, "plus_times")
    assert w.nvals == 0


def test_suitesparse_refuses():
    pytest.importorskip("suitesparse_graphblas")
    with gb.device("suitesparse"):
        A = gb.Matrix.from_coo([0], [1], 1.0, nrows=2, ncols=2)
        u, w = gb.Vector.from_dense(np.ones(2)), gb.Vector(FP64, 2)
    with pytest.raises(PlanError, match="suitesparse cannot run matrix_storage='coo'"):
        w(matrix_storage="coo") << A.mxv(u, "plus_times")
