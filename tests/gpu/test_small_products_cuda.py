"""Products of small matrices: few launches, no waits, and rows that are moved together."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gpu.test_memory_cuda import bound
from tests.gpu.test_products_cuda import of_lengths, of_lists, product, slots_of
from tests.gpu.test_statements_cuda import run
from tests.helpers.every import every
from tests.helpers.gpu_memory import Limited
from tests.helpers.rowwise import go

import semira as gb
from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.runtime import room
from semira.backends.cuda.staged import rowwise
from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FC64, FP32, FP64, INT8, INT16, INT64
from semira.contract import Arg, Program, Statement
from semira.contract.hints import Hints
from semira.formats import MatrixArrays
from semira.ops.registry import semiring
from semira.plan import plan_program

pytestmark = pytest.mark.gpu


def drawn(nrows: int, ncols: int, each: int, dtype, seed: int) -> MatrixArrays:
    """Return a matrix whose rows have 0 to so many entries."""
    rng = np.random.default_rng(seed)
    return of_lengths(rng.integers(0, min(each, ncols) + 1, nrows), ncols, dtype, seed)


def on_gpu(arrays: MatrixArrays) -> gb.Matrix:
    rows, columns, values = arrays.to_coo()
    shape = {"nrows": arrays.nrows, "ncols": arrays.ncols}
    return gb.Matrix.from_coo(rows, columns, values, dtype="FP32", **shape).to("cuda")


def work_of(A: gb.Matrix) -> tuple[int, int, gb.Matrix]:
    """Return launches and waits of a warm product, and the product."""
    backend = backend_for("cuda")
    A.mxm(A, "plus_times").new()
    before = backend.statistics()
    C = A.mxm(A, "plus_times").new()
    after = backend.statistics()
    launches = after.launches - before.launches
    return launches, after.synchronisations - before.synchronisations, C


def dense(A: gb.Matrix) -> np.ndarray:
    rows, columns, values = A.to_coo()
    full = np.zeros(A.shape, np.float64)
    full[rows, columns] = values
    return full


def test_a_small_product_takes_three_launches_and_waits_for_nothing():
    """Products and bins; the one bin of rows that 40 columns leave; then all of them moved."""
    A = on_gpu(drawn(40, 40, 9, FP32, 1))
    launches, waits, C = work_of(A)
    assert (launches, waits) == (3, 0)
    np.testing.assert_array_equal(dense(C), dense(A) @ dense(A))


def test_a_product_whose_bound_says_little_waits_once():
    """Three thousand rows of one entry each could have nine million entries."""
    n = 3_000
    turned = np.random.default_rng(2).permutation(n)
    A = on_gpu(of_lists([[k] for k in turned], n, FP32, 3))
    launches, waits, C = work_of(A)
    assert (launches, waits) == (3, 1)
    rows, columns, _ = C.to_coo()
    np.testing.assert_array_equal(rows, np.arange(n))
    np.testing.assert_array_equal(columns, turned[turned])


def test_rows_beyond_those_of_a_block_are_added_up_by_launches_of_their_own():
    n = rowwise.FEW_GATHERED + 1
    A = on_gpu(of_lists([[k] for k in range(n)], n, FP32, 3))
    launches, waits, C = work_of(A)
    assert (launches, waits) == (5, 1)
    assert C.nvals == n


def test_a_product_that_is_counted_first_waits_twice(monkeypatch):
    monkeypatch.setattr(rowwise, "UNREAD", 0)
    monkeypatch.setattr(rowwise, "AT_ONCE", 0)
    A = on_gpu(drawn(40, 40, 9, FP32, 1))
    launches, waits, C = work_of(A)
    # Products, one bin counted, bins, sums, offsets, one bin made.
    assert (launches, waits) == (6, 2)
    np.testing.assert_array_equal(dense(C), dense(A) @ dense(A))


def test_a_trace_tells_its_own_numbers_however_late_it_is_read():
    first, second = (on_gpu(drawn(30, 30, each, FP32, each)) for each in (4, 20))
    with gb.tracing() as told:
        made = [A.mxm(A, "plus_times").new() for A in (first, second, first)]
    products = []
    for A in (first, second, first):
        lengths = np.bincount(A.to_coo()[0], minlength=30)
        products.append(int(lengths[A.to_coo()[1]].sum()))
    assert [row.touched for row in told.rows] == products
    assert [row.produced for row in told.rows] == [C.nvals for C in made]


@every(
    ("nrows", "inner", "ncols"),
    [(1, 1, 1), (1, 50, 700), (700, 50, 1), (33, 5, 33), (300, 40, 300), (4096, 9, 30),
     (4097, 9, 30)],
)  # fmt: skip
@every("way", ["as it is", "unread", "late", "moved"])
def test_every_shape(monkeypatch, way, nrows, inner, ncols):
    if way != "as it is":
        go(monkeypatch, way)
    typed = semiring["plus_times"].typed(INT64)
    product(typed, drawn(nrows, inner, 12, INT64, 1), drawn(inner, ncols, 30, INT64, 2))


@pytest.mark.parametrize("way", ["unread", "late"])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("lor_land", BOOL), ("plus_times", INT8), ("min_plus", INT16), ("plus_times", FC64)],
)
def test_values_of_every_width_are_moved(monkeypatch, way, name, dtype):
    go(monkeypatch, way)
    typed = semiring[name].typed(dtype)
    product(typed, drawn(60, 50, 20, dtype, 1), drawn(50, 70, 30, dtype, 2))


@pytest.mark.parametrize("way", ["unread", "late", "moved"])
def test_products_without_any_entry(monkeypatch, way):
    go(monkeypatch, way)
    typed = semiring["plus_times"].typed(FP64)
    none = MatrixArrays.empty(20, 20, FP64)
    product(typed, none, none)
    # Rows name rows that are empty.
    product(typed, of_lists([[1], [3], []], 4, FP64, 1), of_lists([[0], [], [2], []], 9, FP64, 2))


def test_where_room_for_all_does_not_fit_rows_are_counted_first(monkeypatch):
    """The same result at every limit that leaves room for it, and else nothing has changed."""
    monkeypatch.setattr(room, "UNCHECKED", 0)
    typed, backend = semiring["plus_times"].typed(INT64), CudaBackend()
    backend.runtime.keeps_apart = True
    slots = slots_of(typed, INT64, INT64)
    body = (Statement("mxm", 0, (Arg(1), Arg(2)), typed, hints=Hints(method="hash")),)
    # Many products meet in few columns.
    a, b = drawn(60, 90, 90, INT64, 1), of_lengths([3] * 90, 900, INT64, 2)
    given = [MatrixArrays.empty(60, 900, INT64), a, b]
    expected = run("reference", slots, body, given)
    executable = backend.prepare(plan_program(Program(slots, body), backend.capabilities()))
    runtime, ways = backend.runtime, set()
    whole = runtime.memory
    for limit in (1 << 28, 900_000, 600_000, 400_000, 200_000, 1_000):
        things = bound(backend, given)
        for thing in things:
            thing.need("csr")
        runtime.memory = Limited(whole, limit)
        before = runtime.statistics.synchronisations
        try:
            backend.execute(executable, things)
            ways.add(runtime.statistics.synchronisations - before)
        except gb.exceptions.OutOfMemory:
            ways.add("refused")
            runtime.memory = whole
            assert things[0].nvals == 0
            continue
        finally:
            runtime.memory = whole
        rows, columns, values = backend.get(things[0]).to_coo()
        assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == expected[0]
        np.testing.assert_array_equal(values, expected[1])
    assert {"refused", 0} < ways
