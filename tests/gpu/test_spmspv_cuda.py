"""Pushes that list their products: the sorts alone, and every strategy beside the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from benchmarks.studies.spmspv import MERGES, SpmspvOptions, series_of, way_of
from benchmarks.studies.spmspv_study import STUDY
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.gpu.test_balance_cuda import skewed_matrix, star_matrix
from tests.gpu.test_statements_cuda import (
    MASKS,
    compare,
    mask_of,
    random_matrix,
    random_vector,
    run,
)
from tests.helpers.every import every

import semira as gb
from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FC64, FP32, FP64, INT8, INT32, INT64, UINT8
from semira.base.errors import NotImplementedException, OutOfMemory, PlanError
from semira.contract import Arg, Hints, Program, Slot, Statement
from semira.formats import MatrixArrays, VectorArrays
from semira.methods.sorted_push import sorts
from semira.ops.registry import binary, semiring
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

#: Counts about the borders of a warp, of a thread's items, of a tile, and of runs of tiles.
COUNTS = [
    0, 1, 2, 8, 9, 31, 32, 33, 255, 257,
    *(tiles * sorts.TILE + more for tiles in (1, 2, 3, 4) for more in (-1, 0, 1)),
]  # fmt: skip


# sorts -------------------------------------------------------------------------------------------
def keys_of(shape: str, count: int, bits: int, seed: int):
    """Return keys of so many bits: drawn from few or many values, equal, in order, or reversed."""
    rng = np.random.default_rng(seed)
    below = min(2**bits, 2**31 - 1)
    if shape == "few":
        return rng.integers(max(0, below - 3), below, count).astype(np.int32)
    drawn = rng.integers(0, below, count).astype(np.int32)
    if shape == "equal":
        return np.full(count, drawn[0] if count else 0, np.int32)
    if shape == "sorted":
        return np.sort(drawn)
    return np.sort(drawn)[::-1].copy() if shape == "reversed" else drawn


def check_sort(how: str, keys, width: int, bits: int) -> None:
    """Compare one sort with NumPy's stable one."""
    runtime = backend_for("cuda").runtime
    ours = sorts.Sorts(runtime)
    count = len(keys)
    words = np.random.default_rng(1).integers(0, 256, (count, width)).astype(np.uint8)
    held = runtime.upload(keys), runtime.upload(words) if width else None
    if how == "radix":
        found = ours.by_digits(*held, count, width, bits)
    else:
        found = ours.by_merging(*held, count, width)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(runtime.download(found[0], np.int32, count), keys[order])
    if width:
        moved = runtime.download(found[1], np.uint8, count * width).reshape(count, width)
        np.testing.assert_array_equal(moved, words[order])


@every("how", ["radix", "sort"])
@every("width", sorts.WIDTHS)
@every("shape", ["few", "many", "equal", "sorted", "reversed"])
def test_sorts_about_the_borders_of_tiles(how, width, shape):
    for count in COUNTS:
        check_sort(how, keys_of(shape, count, 12, count), width, 12)


@every("bits", range(1, 32))
def test_keys_of_every_number_of_bits(bits):
    for how in ("radix", "sort"):
        check_sort(how, keys_of("many", 2 * sorts.TILE + 5, bits, bits), 4, bits)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    keys=st.lists(st.integers(0, 2**31 - 2), max_size=300),
    repeats=st.integers(1, 12),
    width=st.sampled_from(sorts.WIDTHS),
    how=st.sampled_from(["radix", "sort"]),
)
def test_drawn_keys(keys, repeats, width, how):
    check_sort(how, np.tile(np.array(keys, np.int32), repeats), width, 31)


@pytest.mark.parametrize("width", [0, 8])
def test_counts_of_64_bits(monkeypatch, width):
    monkeypatch.setattr(sorts, "offset_type_of", lambda _count: "long long")
    check_sort("radix", keys_of("many", 3 * sorts.TILE + 1, 21, 1), width, 21)


# products ----------------------------------------------------------------------------------------
#: Semiring and dtype: sums of 1 to 16 bytes, monoids that stop, positions, equal products.
RINGS = {
    f"{name}-{dtype.name}": (semiring[name].typed(dtype), dtype)
    for name, dtype in [
        ("plus_times", INT8), ("plus_times", FP32), ("plus_times", FP64), ("plus_times", FC64),
        ("min_plus", INT32), ("max_second", INT64), ("times_first", INT8), ("lor_land", BOOL),
        ("lxor_pair", BOOL), ("plus_pair", INT64), ("min_pair", FP32), ("any_pair", BOOL),
        ("bor_band", UINT8), ("max_secondi", INT64), ("min_firsti", INT64),
    ]
}  # fmt: skip

#: Semirings that a scatter does too, any product alike whichever stays.
SCATTERED = ["any_pair-BOOL", "min_pair-FP32"]

STRATEGIES = [
    *itertools.product(["radix", "sort"], RINGS), *(("scatter", name) for name in SCATTERED),
]  # fmt: skip


SIDES = [*itertools.product(("vxm", "mxv"), (False, True))]


def slots_of(ring, dtype, mask=BOOL):
    return (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", mask),
    )  # fmt: skip


def pushed(ring, merge: str, mask=None, *, op="vxm", transposed=False, **fields) -> Statement:
    matrix = Arg(2, transposed)
    args = (Arg(1), matrix) if op == "vxm" else (matrix, Arg(1))
    hints = Hints(merge=merge, deterministic=fields.pop("deterministic", None))
    return Statement(op, 0, args, ring, mask_of(mask, 3), hints=hints, **fields)


@every(("merge", "name"), STRATEGIES)
@every("density", [0.0, 0.02, 0.4, 1.0])
def test_every_semiring(merge, name, density):
    ring, dtype = RINGS[name]
    matrix = skewed_matrix(dtype, 3)
    given = [random_vector(3100, ring.return_type, 1, 0.5), random_vector(3000, dtype, 2, density),
             matrix, random_vector(3100, BOOL, 4, 0.6)]  # fmt: skip
    compare(slots_of(ring, dtype), (pushed(ring, merge),), given)


@every(("merge", "name"), [
    ("radix", "plus_times-FP64"), ("sort", "min_plus-INT32"), ("scatter", "any_pair-BOOL"),
])  # fmt: skip
@every("mask", MASKS)
@every("accum", [None, "plus", "min"])
def test_masks_and_accumulators(merge, name, mask, accum):
    ring, dtype = RINGS[name]
    out = ring.return_type
    typed = None if accum is None else binary["lor" if out is BOOL else accum].typed(out)
    for size, replace in itertools.product((33, 700), (False, True) if mask else (False,)):
        given = [random_vector(size, out, 1, 0.4), random_vector(size, dtype, 2, 0.3),
                 random_matrix(size, dtype, 3), random_vector(size, INT8, 4, 0.5)]  # fmt: skip
        statement = pushed(ring, merge, mask, accum=typed, replace=replace)
        compare(slots_of(ring, dtype, INT8), (statement,), given)


@pytest.mark.parametrize("merge", ["radix", "sort", "scatter", "atomics"])
@pytest.mark.parametrize(("op", "transposed"), SIDES)
def test_either_side_and_either_orientation(merge, op, transposed):
    ring, dtype = RINGS["any_pair-BOOL" if merge == "scatter" else "plus_times-INT8"]
    long, short = 3000, 3100
    reads_rows = (op == "vxm") != transposed
    given = [random_vector(short if reads_rows else long, ring.return_type, 1, 0.2),
             random_vector(long if reads_rows else short, dtype, 2, 0.1),
             skewed_matrix(dtype, 5), random_vector(1, BOOL, 4, 0.6)]  # fmt: skip
    statement = pushed(ring, merge, op=op, transposed=transposed)
    compare(slots_of(ring, dtype)[:3], (statement,), given[:3])


@pytest.mark.parametrize("merge", ["radix", "sort", "scatter"])
def test_what_any_keeps_is_one_of_the_products(merge):
    ring, size = semiring["any_second"].typed(INT64), 700
    matrix = random_matrix(size, INT64, 1)
    matrix.values[:] = np.arange(matrix.nvals)
    vector = random_vector(size, INT64, 2, 0.5)
    nothing = VectorArrays.empty(size, INT64)
    positions, values = run("cuda", slots_of(ring, INT64)[:3], (pushed(ring, merge),),
                            [nothing, vector, matrix])  # fmt: skip
    rows = np.repeat(np.arange(size), np.diff(matrix.indptr))
    kept = np.isin(rows, vector.entry_indices())
    assert positions == sorted(set(matrix.indices[kept].tolist()))
    assert kept[values].all()
    np.testing.assert_array_equal(matrix.indices[values], positions)


@pytest.mark.parametrize("merge", ["radix", "sort"])
def test_deterministic_sums_are_the_same_in_every_run(merge):
    """Of a frontier that an atomic push has made, in whatever order its threads came."""
    size, ring = 3000, semiring["plus_times"].typed(FP32)
    rng = np.random.default_rng(1)
    n = np.arange(size)
    square = gb.Matrix.from_coo(
        rng.integers(0, size, 20 * size), rng.integers(0, size, 20 * size),
        rng.normal(size=20 * size).astype(np.float32), nrows=size, ncols=size, dup_op="first",
    )  # fmt: skip
    with gb.device("cuda"):
        matrix = square.to("cuda")
        first = gb.Vector.from_coo(n[::3], rng.normal(size=len(n[::3])), "FP32", size=size)
        found = []
        for _ in range(3):
            frontier = gb.Vector("FP32", size)
            frontier(direction="push") << first.vxm(matrix, "max_second")
            w = gb.Vector("FP32", size)
            w(merge=merge, deterministic=True) << frontier.vxm(matrix, ring.name)
            found.append(w.to_dense(0))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    with pytest.raises(PlanError, match="deterministic=True"), gb.device("cuda"):
        w(merge="atomics", deterministic=True) << frontier.vxm(matrix, ring.name)


def test_one_row_of_many_tiles():
    """All products but one come from one entry; the other lies behind an empty row."""
    size, ring = 20_000, semiring["plus_second"].typed(INT64)
    given = [VectorArrays.empty(size, INT64), random_vector(2, INT64, 1, 1.1),
             star_matrix(INT64, size)]  # fmt: skip
    for merge in ("radix", "sort"):
        compare(slots_of(ring, INT64)[:3], (pushed(ring, merge),), given)


def test_all_products_at_one_place():
    size, ring = 9000, semiring["plus_times"].typed(INT64)
    column = MatrixArrays(
        size, 1, INT64, "csr", np.arange(size + 1, dtype=np.int32), np.zeros(size, np.int32),
        np.arange(size),
    )  # fmt: skip
    given = [VectorArrays.empty(1, INT64), random_vector(size, INT64, 1, 0.9), column]
    for merge in ("radix", "sort"):
        compare(slots_of(ring, INT64)[:3], (pushed(ring, merge),), given)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    columns=st.lists(st.integers(0, 400), min_size=1, max_size=300),
    repeats=st.integers(1, 15),
    name=st.sampled_from(["plus_first", "min_first", "times_first", "max_first"]),
    dtype=st.sampled_from([INT8, INT64, FP64]),
    merge=st.sampled_from(["radix", "sort"]),
)
def test_folds_of_drawn_columns(columns, repeats, name, dtype, merge):
    """A row for each product: runs of every length, across the borders of tiles."""
    listed = np.tile(np.array(columns, np.int32), repeats)
    size = len(listed)
    matrix = MatrixArrays(
        size, 401, BOOL, "csr", np.arange(size + 1, dtype=np.int32), listed, np.array([True]),
        iso=True,
    )  # fmt: skip
    # Small odd numbers: products of them wrap as integers, and stay finite as floats.
    values = (2 * (np.arange(size) % 2) - 1).astype(dtype.np_type)
    given = [VectorArrays.empty(401, dtype), VectorArrays.full(dtype, values), matrix]
    ring = semiring[name].typed(dtype)
    slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", BOOL))
    compare(slots, (pushed(ring, merge),), given)


def test_without_entries_and_without_positions():
    ring = semiring["plus_times"].typed(INT64)
    for merge in ("radix", "sort"):
        for rows, columns in ((0, 5), (5, 0), (5, 1), (1, 5)):
            given = [VectorArrays.empty(columns, INT64), random_vector(rows, INT64, 1, 1.1),
                     MatrixArrays.empty(rows, columns, INT64)]  # fmt: skip
            compare(slots_of(ring, INT64)[:3], (pushed(ring, merge, accum=None),), given)


def test_huge_sides():
    """Positions are renumbered, and then sorted by as many bits as are left."""
    far = 2**40
    with gb.device("cuda"):
        matrix = gb.Matrix.from_coo(
            [0, 0, far, far], [5, far + 1, 5, 7], [1, 2, 3, 4], nrows=far + 1, ncols=far + 2
        )
        u = gb.Vector.from_coo([0, far], [1, 10], size=far + 1)
        for merge in ("radix", "sort"):
            w = gb.Vector("INT64", far + 2)
            w(merge=merge) << u.vxm(matrix, "plus_times")
            assert w.to_dict() == {5: 31, 7: 40, far + 1: 2}


def test_a_matrix_of_one_value_and_wide_offsets(backend):
    ring = semiring["plus_times"].typed(INT64)
    iso = random_matrix(700, INT64, 1)
    iso = MatrixArrays(700, 700, INT64, "csr", iso.indptr, iso.indices, np.array([3]), iso=True)
    given = [VectorArrays.empty(700, INT64), random_vector(700, INT64, 2, 0.4), iso]
    for merge in ("radix", "sort"):
        statement = pushed(ring, merge)
        compare(slots_of(ring, INT64)[:3], (statement,), given)
        expected = run("reference", slots_of(ring, INT64)[:3], (statement,), given)
        program = plan_program(
            Program(slots_of(ring, INT64)[:3], (statement,)), backend.capabilities()
        )
        bound = [backend.put(arrays) for arrays in given]
        bound[2].widen()
        backend.execute(backend.prepare(program), bound)
        found = backend.get(bound[0])
        assert found.entry_indices().tolist() == expected[0]
        np.testing.assert_array_equal(found.entry_values(), expected[1])


# through the API ---------------------------------------------------------------------------------
def test_output_may_be_operand_and_mask():
    with gb.device("cuda"):
        matrix = gb.Matrix.from_coo([0, 1, 1, 3], [1, 2, 3, 0], [1, 2, 3, 4], nrows=4, ncols=4)
        for merge in ("radix", "sort"):
            w = gb.Vector.from_coo([0, 1, 3], [1, 1, 1], size=4)
            w(~w.S, replace=True, merge=merge) << w.vxm(matrix, "plus_times")
            assert w.isequal(gb.Vector.from_coo([2], [2], size=4))
            w = gb.Vector.from_coo([0, 1, 3], [1, 1, 1], size=4)
            w(binary_plus(), merge=merge) << w.vxm(matrix, "plus_times")
            assert w.isequal(gb.Vector.from_coo([0, 1, 2, 3], [5, 2, 2, 4], size=4))


def binary_plus():
    return gb.binary.plus


def test_loops_run_by_the_host():
    """A search whose pushes are sorted finds what one launch finds."""
    rng = np.random.default_rng(3)
    size = 300
    edges = rng.integers(0, size, (2, 3 * size))
    with gb.device("cuda"):
        matrix = gb.Matrix.from_coo(*edges, True, nrows=size, ncols=size, dup_op="any")
        found = {}
        for merge in (None, "atomics", "scatter", "radix", "sort"):
            level = gb.Vector("INT64", size)
            frontier = gb.Vector.from_coo([0], True, size=size)
            depth = gb.Scalar.from_value(0)

            def step(level=level, frontier=frontier, depth=depth, merge=merge):
                level(frontier.S) << depth
                depth << depth + 1
                frontier(~level.S, replace=True, merge=merge) << frontier.vxm(matrix, "any_pair")
                return frontier.nvals > 0

            gb.repeat(step, max_iterations=size)
            found[merge] = level
    assert found[None].nvals > 100
    assert all(found[None].isequal(other) for other in found.values())


def test_the_trace_says_what_was_pushed():
    with gb.device("cuda"):
        matrix = gb.Matrix.from_coo([0, 0, 2], [1, 2, 2], [1.0, 2.0, 3.0], nrows=3, ncols=3)
        u = gb.Vector.from_coo([0, 2], [1.0, 1.0], size=3)
        w = gb.Vector("FP64", 3)
        for merge in ("radix", "sort"):
            with gb.tracing() as trace:
                w(merge=merge) << u.vxm(matrix, "plus_times")
            (row,) = trace.rows
            # The last field is a time.
            assert tuple(row)[:6] == (0, "vxm", "push", 2, 3, 2)


def test_the_benchmark_runs_every_strategy(monkeypatch):
    # Events are timed in test_bench_cuda.py; an emulation has none, nor all of CuPy.
    monkeypatch.setattr("benchmarks.harness.array_module", lambda _device: np)
    monkeypatch.setattr("benchmarks.studies.spmspv.profile_calls", lambda *_, **__: {})
    request = SpmspvOptions(
        ("kron:5",), trials=1, seconds=0.0, step=16, searches=False, device="cuda"
    )
    records = STUDY.run(request)
    assert all(each.verified for each in records)
    strategies = {each.semiring: each.strategies for each in series_of(records)}
    assert strategies["any_pair"] == strategies["any_first"] == [*MERGES]
    assert strategies["min_plus"] == ["atomics", "radix", "sort"]
    assert {way_of(each) for each in records} == {*MERGES, "pull", "dense", "auto"}


def test_searches_take_the_pin():
    """What the benchmark measures whole: no direction is left to choose."""
    rng = np.random.default_rng(5)
    edges = rng.integers(0, 200, (2, 900))
    with gb.device("cuda"):
        matrix = gb.Matrix.from_coo(*edges, True, nrows=200, ncols=200, dup_op="any")
        expected = gb.algorithms.bfs(matrix, 0).level
        for merge in MERGES:
            found = gb.algorithms.bfs(matrix, 0, merge=merge)
            assert found.level.isequal(expected)
            assert {row.method for row in found.trace} == {"push"}
            assert [row.iteration for row in found.trace] == [*range(found.iterations)]


def test_what_does_not_fit_is_refused_before_anything_is_written(monkeypatch):
    from semira.methods.sorted_push import cuda as room

    with gb.device("cuda"):
        matrix = gb.Matrix.from_coo([0, 0], [0, 1], [1.0, 2.0], nrows=2, ncols=2)
        u, w = (gb.Vector.from_coo([0], [5.0], size=2) for _ in range(2))
        w.wait()

        def refuse(_runtime, needed, what):
            raise OutOfMemory(f"{what} needs {needed} bytes")

        monkeypatch.setattr(room, "require", refuse)
        with pytest.raises(OutOfMemory, match="2 products merged by merge='radix'"):
            w(merge="radix") << u.vxm(matrix, "plus_times")
        assert w.isequal(gb.Vector.from_coo([0], [5.0], size=2))


def test_values_that_the_sorts_do_not_move_are_refused():
    wide = gb.dtypes.lookup_dtype(np.dtype([("x", np.float64), ("y", np.float64, (2,))]))
    with gb.device("cuda"):
        matrix = gb.Matrix(wide, 3, 3)
        u, w = gb.Vector(wide, 3), gb.Vector(wide, 3)
        with pytest.raises(NotImplementedException, match=r"merge='sort' sorts values of 1, 2, 4"):
            w(merge="sort") << u.vxm(matrix, gb.semiring.any_second)
        w(merge="scatter") << u.vxm(matrix, gb.semiring.any_second)
        assert w.nvals == 0
