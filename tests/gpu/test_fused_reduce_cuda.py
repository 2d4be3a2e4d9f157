"""Masked products that are only summed, on the GPU: against the matrix and its sum."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from tests.helpers.dots import by_rows
from tests.helpers.every import every

import semira as gb
from semira import binary, monoid, semiring
from semira.algorithms import triangle_count
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.staged.bins import table_bins
from semira.methods.sets import cuda as sets

pytestmark = pytest.mark.gpu

SEMIRINGS = [
    ("plus_pair", "INT64"), ("plus_times", "INT32"), ("plus_times", "FP64"), ("min_plus", "FP32"),
    ("any_pair", "BOOL"), ("lor_land", "BOOL"), ("max_second", "INT8"), ("plus_times", "FC64"),
    ("min_secondi", "INT64"),
]  # fmt: skip


@pytest.fixture(params=["by entry", "by rows", "by many rows"])
def way(request, monkeypatch) -> str:
    """All ways to share the dot products out."""
    if request.param != "by entry":
        by_rows(monkeypatch)
    if request.param == "by many rows":
        monkeypatch.setattr(sets, "worthwhile_bins", lambda *_: table_bins(4))
    return request.param


def drawn(nrows: int, ncols: int, count: int, dtype: str, seed: int) -> gb.Matrix:
    """Return a matrix with a few full lines, so that lists of every length meet."""
    rng = np.random.default_rng(seed)
    keys = rng.choice(nrows * ncols, min(count, nrows * ncols), replace=False)
    lines = np.concatenate([np.arange(ncols), nrows // 2 * ncols + np.arange(ncols)])
    columns = np.arange(nrows) * ncols + ncols // 3
    keys = np.unique(np.concatenate([keys, lines, columns])) if count else keys
    values = rng.integers(0, 4, len(keys))
    with gb.device("cuda"):
        made = gb.Matrix.from_coo(keys // ncols, keys % ncols, values, nrows=nrows, ncols=ncols)
        return made.dup(dtype)


def compare(a, b, mask, ring, total, *, by_value=False, flip=False, start=None, **how) -> None:
    """Compare a sum in a recorded body with the cpu's, and the matrix too."""

    def product(a, b, mask):
        made = a.mxm(b.T if flip else b, ring)
        return made.new(mask=mask.V if by_value else mask.S)

    how.setdefault("allow_empty", True)
    here = product(*(matrix.dup().to("cpu") for matrix in (a, b, mask)))
    expected = here.reduce_scalar(total, **how).new()
    found = gb.Scalar(expected.dtype)
    if start is not None:
        found << start
        expected << start + (0 if expected.is_empty else expected.value)

    def step() -> None:
        made = product(a, b, mask)
        if start is None:
            found << made.reduce_scalar(total, **how)
        else:
            found(binary.plus) << made.reduce_scalar(total, **how)

    done = gb.repeat(step, max_iterations=1)
    assert found.is_empty == expected.is_empty
    if not expected.is_empty:
        assert np.isclose(found.value, expected.value, rtol=1e-4)
    assert [row.produced for row in done.trace] == [here.nvals]
    assert product(a, b, mask).to("cpu").isclose(here, rel_tol=1e-4)


@every("total", ["plus", "max", "min"])
@every(("name", "dtype"), SEMIRINGS)
def test_sums(way, name, dtype, total):
    if dtype == "FC64" and total != "plus":
        pytest.skip("complex numbers have no order")
    if dtype == "BOOL":
        total = {"plus": "lor", "max": "land", "min": "lxor"}[total]
    a, b = drawn(300, 200, 3000, dtype, 1), drawn(200, 250, 2500, dtype, 2)
    mask = drawn(300, 250, 4000, "INT8", 3)
    ring = getattr(semiring, name)[dtype]
    for by_value in (False, True):
        compare(a, b, mask, ring, getattr(monoid, total), by_value=by_value)


@pytest.mark.parametrize("transposed", [False, True])
def test_long_lines(way, transposed):
    a = drawn(40, 30_000, 60_000, "FP64", 4)
    b = drawn(40, 30_000, 60_000, "FP64", 5)
    mask = drawn(40, 40, 700, "BOOL", 6)
    if transposed:
        a, b, mask = a.T.new(), b.T.new(), drawn(30_000, 30_000, 90_000, "BOOL", 6)
    compare(a, b, mask, semiring.plus_times, monoid.plus, flip=True)


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize("count", [0, 40])
def test_nothing_to_sum(way, count, allow_empty):
    a = drawn(50, 60, count, "INT64", 7)
    nothing = gb.Matrix("INT64", 60, 50).to("cuda")
    mask = drawn(50, 50, 300, "BOOL", 8)
    compare(a, nothing, mask, semiring.plus_times, monoid.plus, allow_empty=allow_empty)
    empty_mask = gb.Matrix("BOOL", 50, 60).to("cuda")
    full = drawn(60, 60, 500, "INT64", 9)
    compare(a, full, empty_mask, semiring.plus_times, monoid.max, allow_empty=allow_empty)


def test_values_of_a_mask_that_are_all_false(way):
    a = drawn(50, 50, 400, "INT64", 1)
    mask = a.dup("BOOL")
    mask(mask.S) << False
    compare(a, a, mask, semiring.plus_times, monoid.plus, by_value=True)


def test_it_is_accumulated(way):
    a, mask = drawn(80, 80, 900, "INT64", 2), drawn(80, 80, 900, "BOOL", 3)
    compare(a, a, mask, semiring.plus_times, monoid.plus, start=7)
    nothing = gb.Matrix("INT64", 80, 80).to("cuda")
    compare(a, nothing, mask, semiring.plus_times, monoid.plus, start=7)


def test_it_is_summed_again_and_again(way):
    a, mask = drawn(80, 80, 900, "INT64", 2), drawn(80, 80, 900, "BOOL", 3)
    once = a.mxm(a, semiring.plus_times).new(mask=mask.S).reduce_scalar().value
    total = gb.Scalar.from_value(0)

    def step() -> None:
        found = a.mxm(a, semiring.plus_times).new(mask=mask.S).reduce_scalar().new()
        total << total + found

    done = gb.repeat(step, max_iterations=9)
    assert total.value == 9 * once
    assert [row.iteration for row in done.trace] == list(range(9))


def sum_of_square(matrix: gb.Matrix, total: gb.Scalar) -> gb.LoopResult:
    def step() -> None:
        made = matrix.mxm(matrix, semiring.plus_times).new(mask=matrix.S)
        total << made.reduce_scalar(allow_empty=False)

    return gb.repeat(step, max_iterations=1)


def test_what_is_started_again_counts_anew(way):
    """The launch of a sum is kept, its result is not: other scalars, matrices and contents."""
    first, second = (drawn(80, 80, 900, "INT64", seed) for seed in (2, 5))
    scalars = [gb.Scalar("INT64"), gb.Scalar.from_value(7), gb.Scalar("INT64")]

    def expected(matrix: gb.Matrix) -> tuple[int, int]:
        here = matrix.dup().to("cpu")
        made = here.mxm(here, semiring.plus_times).new(mask=here.S)
        return made.reduce_scalar().value, made.nvals

    traces, wanted = [], []
    for number, matrix in enumerate([first, first, second, first, first, second, second]):
        if number == 4:
            first << first.apply(binary.times, right=3)
        total = scalars[number % 3]
        traces.append(sum_of_square(matrix, total).trace)
        wanted.append(expected(matrix))
        assert total.value == wanted[-1][0]
    # Read late: each run has kept its own number.
    assert [row.produced for trace in traces for row in trace] == [made for _, made in wanted]
    first << first.select("valuegt", 10**9)
    assert sum_of_square(first, scalars[0]).iterations == 1
    assert scalars[0].value == 0


def test_the_row_of_a_sum_has_its_time_on_the_gpu(way):
    matrix, total = drawn(200, 200, 9000, "INT64", 3), gb.Scalar("INT64")
    # The first run, and two that are started as it was; read late, each has its own time.
    traces = [sum_of_square(matrix, total).trace for _ in range(3)]
    times = [row.elapsed_ns for trace in traces for row in trace]
    assert len(times) == 3
    # The clock of a GPU may stand still for a microsecond, but not for all of this.
    assert min(times) >= 0
    assert sum(times) > 0


def test_what_may_be_started_again_keeps_no_matrix_in_memory():
    def there() -> int:
        gc.collect()
        return sum(isinstance(each, CudaMatrix) for each in gc.get_objects())

    total, before = gb.Scalar("INT64"), there()
    matrix = drawn(80, 80, 900, "INT64", 3)
    for _ in range(2):
        sum_of_square(matrix, total)
    assert total.value
    assert there() > before
    del matrix
    assert there() == before


def test_an_empty_scalar_is_written_and_read_like_others():
    matrix, empty = drawn(30, 30, 200, "INT64", 2), gb.Scalar("INT64").dup()
    assert empty.value is None
    empty.dup().value  # noqa: B018
    total = gb.Scalar("INT64")
    copy = total.dup()
    sum_of_square(matrix, total)
    assert copy.is_empty
    sum_of_square(matrix, copy)
    assert copy.value == total.value
    copy << None
    assert copy.is_empty


def test_another_dtype_in_between(way):
    a, mask = drawn(80, 80, 900, "INT64", 2), drawn(80, 80, 900, "BOOL", 3)
    product = a.mxm(a, semiring.plus_times)
    expected = product.new("INT8", mask=mask.S).reduce_scalar(monoid.plus["INT64"]).value
    total = gb.Scalar("INT64")

    def step() -> None:
        made = a.mxm(a, semiring.plus_times).new("INT8", mask=mask.S)
        total << made.reduce_scalar(monoid.plus["INT64"])

    gb.repeat(step, max_iterations=1)
    assert total.value == expected


def test_it_waits_once_and_is_one_launch():
    a, mask = drawn(80, 80, 900, "INT64", 2), drawn(80, 80, 900, "BOOL", 3)
    total = gb.Scalar.from_value(0)

    def step() -> None:
        made = a.mxm(a.T, semiring.plus_times).new(mask=mask.S)
        total << made.reduce_scalar(monoid.plus, allow_empty=False)

    gb.repeat(step, max_iterations=1)
    with gb.tracing() as traced:
        gb.repeat(step, max_iterations=1)
        first = traced.work
        assert total.value is not None
        second = traced.work
    assert first.launches == 1
    assert first.synchronisations == 0
    assert second.synchronisations == 1


def test_matrices_of_one_pattern_are_multiplied_place_by_place():
    a = drawn(300, 200, 3000, "INT32", 1)
    rows = a.apply(gb.indexunary.rowindex).new()
    for left, right in ((a, rows), (rows.T, a.T), (a, rows.dup())):
        found = left.ewise_mult(right, binary.minus).new()
        one, other = left.dup().to("cpu"), right.dup().to("cpu")
        assert found.to("cpu").isequal(one.ewise_mult(other, binary.minus).new())


@pytest.mark.parametrize("count", [1, 2047, 2048, 2049, 300_000, 2_000_000])
def test_running_sums_of_every_length(count):
    # A select of one row: as many flags as entries, summed up in one, two or three launches.
    values = np.arange(count) % 3
    with gb.device("cuda"):
        a = gb.Matrix.from_coo(np.zeros(count, int), np.arange(count), values, nrows=1)
    kept = a.select(gb.select.valuegt, 0).new()
    _, columns, found = kept.to_coo()
    assert columns.tolist() == np.flatnonzero(values).tolist()
    assert found.tolist() == values[values > 0].tolist()


@every("graph", ["kron:8", "kron:11"])
@every("order", ["natural", "degree", "auto"])
@every("symmetric", [True, False])
def test_triangles(way, graph, order, symmetric):
    there, here = (gb.io.read(graph, device=device) for device in ("cuda", "cpu"))
    if symmetric:
        there, here = (A.ewise_add(A.T, binary.any).new() for A in (there, here))
    found, expected = (triangle_count(A, order=order, symmetric=symmetric) for A in (there, here))
    assert (found.count, found.order) == (expected.count, expected.order)
