"""Hot columns: the same bits as without them, whatever is multiplied; and what is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.gpu.test_statements_cuda import compare, mask_of, random_vector
from tests.helpers.every import every

import semira as gb
from semira import algorithms
from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.lower import LaunchShape
from semira.backends.registry import backend_for
from semira.base.dtypes import (
    BOOL,
    FC32,
    FP32,
    FP64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT64,
)
from semira.contract import Arg, Hints, Program, Slot, Statement
from semira.formats import MatrixArrays, coo_to_matrix
from semira.methods.hot_columns import table
from semira.methods.hot_columns.plan import Figures
from semira.methods.hot_columns.table import slots_that_fit
from semira.ops.registry import semiring
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

ALWAYS = Hints(direction="pull", balance="edges", hot_columns=True)
NEVER = replace(ALWAYS, hot_columns=False)

#: More columns than a table of 4-byte values has room for.
COLUMNS = 60_000

#: Shared memory of a multiprocessor that leaves room for 1,024 values of 4 bytes, 512 of 8.
LITTLE = (41 << 10) + 4500


@pytest.fixture(params=["frequent", "all"])
def ranked(request, monkeypatch) -> str:
    """Which columns are named by rank; all of them as if the vector were large."""
    if request.param == "all":
        rule = {"ORDERED_BYTES": 0, "CACHED_SHARE": 0.0, "NEAR_SHARE": 1.0}
        for name, value in rule.items():
            monkeypatch.setattr(table, name, value)
    return request.param


def _lengths() -> list[int]:
    """Return lengths of rows: gaps, hubs side by side and apart, many short ones."""
    rng = np.random.default_rng(7)
    mixed = rng.integers(0, 130, 400)
    mixed[rng.random(400) < 0.3] = 0
    return [
        *[0] * 70, 9000, 1, 0, 4097, 127, 128, 129, *[0] * 333, *mixed, *[3] * 200, 2500, 2500,
        *[0] * 95, 33, *[1] * 64, *[0] * 40,
    ]  # fmt: skip


def skewed(lengths, dtype, *, columns=COLUMNS, iso=False, seed=3) -> MatrixArrays:
    """Return a matrix whose columns occur more or less often, in no order of their numbers."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(columns)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    keys = rows * columns + names[(columns * rng.random(len(rows)) ** 4).astype(np.int64)]
    keys = np.unique(keys)
    values = (
        rng.random(len(keys)).astype(dtype.np_type)
        if dtype.is_float
        else rng.integers(0, 3, len(keys)).astype(dtype.np_type)
    )
    rows, indices = keys // columns, keys % columns
    return coo_to_matrix(
        len(lengths), columns, rows, indices, None if iso else values, dtype=dtype, iso_value=2
    )


def run(statement: Statement, slots, given, blocks=None, shared=LITTLE) -> tuple[bytes, bytes, str]:
    """Run a statement; return its result's bytes, and the name of the kernel that ran."""
    backend = CudaBackend()
    backend.blocks, backend.runtime.shared = blocks, shared
    if not statement.hints.hot_columns:
        # As a matrix runs that is large enough for hot columns: others are summed in tiles.
        backend.shape = LaunchShape.for_many_gathers()
    program = plan_program(Program(slots, (statement,)), backend.capabilities())
    bound = [backend.put(each) for each in given]
    executable = backend.prepare(program)
    with backend.profiled() as profile:
        backend.execute(executable, bound)
    found = backend.get(bound[0])
    (name,) = {use.name for use in profile.kernels() if use.name.startswith("program")}
    return found.entry_indices().tobytes(), found.entry_values().tobytes(), name


def product(ring, dtype, *, transposed=False, mask=None) -> tuple[Statement, tuple[Slot, ...]]:
    """Return w<mask> = A u, or u A of the transpose, and its slots."""
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", BOOL),
    )  # fmt: skip
    op, args = ("vxm", (Arg(1), Arg(2))) if transposed else ("mxv", (Arg(2), Arg(1)))
    return Statement(op, 0, args, ring, mask_of(mask, 3), hints=ALWAYS), slots


def bound_to(given: MatrixArrays, rows, ring, dtype, density, columns=COLUMNS) -> list:
    u = random_vector(columns, dtype, 2, density)
    if dtype.is_float:
        u.values[:] = np.random.default_rng(9).random(len(u.values))
    return [
        random_vector(rows, ring.return_type, 1, 0.5),
        u,
        given,
        random_vector(rows, BOOL, 4, 0.5),
    ]


def check(name, dtype, *, density=1.0, mask=None, iso=False, transposed=False):
    """Compare a product with hot columns to the one without, bit by bit."""
    ring, lengths = semiring[name].typed(dtype), _lengths()
    given = skewed(lengths, dtype, iso=iso)
    statement, slots = product(ring, dtype, transposed=transposed, mask=mask)
    bound = bound_to(given.flipped() if transposed else given, len(lengths), ring, dtype, density)
    plain = run(replace(statement, hints=NEVER), slots, bound)
    hot = run(statement, slots, bound)
    assert hot[2].endswith("-hot_columns")
    assert not plain[2].endswith("-hot_columns")
    assert hot[:2] == plain[:2]
    if not dtype.is_float and not dtype.is_complex:
        compare(slots, (statement,), bound)


@every("density", [1.0, 0.4, 0.0])
@every("mask", [None, (True, False), (False, True)])
@every("transposed", [False, True])
@every(("name", "dtype"), [("plus_times", FP32), ("plus_times", FP64),
                                             ("min_plus", INT64)])  # fmt: skip
def test_the_same_bits_with_and_without(name, dtype, density, mask, transposed, ranked):
    check(name, dtype, density=density, mask=mask, transposed=transposed)


@every(
    ("name", "dtype"),
    [
        ("plus_second", FP32), ("plus_second", FP64), ("min_plus", FP32), ("min_second", INT32),
        ("max_times", INT16), ("plus_times", UINT64), ("plus_times", FC32), ("plus_minus", FP64),
        ("plus_times", INT8), ("lor_land", BOOL), ("max_second", UINT8),
    ],
)  # fmt: skip
@every("iso", [False, True])
def test_every_type(name, dtype, iso, ranked):
    for density in (1.0, 0.4):
        check(name, dtype, density=density, iso=iso)


def test_a_whole_table(ranked):
    for name, dtype in (("plus_times", FP32), ("plus_second", FP64)):
        ring = semiring[name].typed(dtype)
        given = skewed([200_000, 0, *[3000] * 20, 150_000], dtype)
        statement, slots = product(ring, dtype)
        for density in (1.0, 0.7):
            bound = bound_to(given, 23, ring, dtype, density)
            plain = run(replace(statement, hints=NEVER), slots, bound)
            shared = CudaBackend().runtime.shared
            assert np.unique(given.indices).size > slots_that_fit(dtype.itemsize, shared)
            assert run(statement, slots, bound, shared=shared)[:2] == plain[:2]


@pytest.mark.parametrize("name", ["plus_pair", "min_firsti", "max_secondi", "any_secondi"])
def test_what_has_no_use_for_them_runs_as_before(name):
    ring, lengths = semiring[name].typed(INT64), _lengths()
    given = skewed(lengths, INT64)
    statement, slots = product(ring, INT64)
    bound = bound_to(given, len(lengths), ring, INT64, 0.4)
    assert not run(statement, slots, bound)[2].endswith("-hot_columns")
    if name != "any_secondi":
        compare(slots, (statement,), bound)


@pytest.mark.parametrize("columns", [1, 31, 33, 1000])
def test_all_columns_may_be_hot(columns):
    ring = semiring["plus_times"].typed(INT32)
    given = skewed([*[columns] * 70, 0, 1], INT32, columns=columns)
    statement, slots = product(ring, INT32)
    for density in (1.0, 0.5):
        bound = bound_to(given, 72, ring, INT32, density, columns)
        compare(slots, (statement,), bound)


@pytest.mark.parametrize("density", [1.0, 0.4])
def test_blocks_make_no_difference(density, ranked):
    ring, lengths = semiring["plus_times"].typed(FP32), _lengths()
    statement, slots = product(ring, FP32)
    bound = bound_to(skewed(lengths, FP32), len(lengths), ring, FP32, density)
    found = {run(statement, slots, bound, blocks)[:2] for blocks in (1, 2, 7, None)}
    found.add(run(replace(statement, hints=NEVER), slots, bound)[:2])
    assert len(found) == 1


def test_wide_offsets(ranked):
    ring, lengths = semiring["plus_times"].typed(FP64), _lengths()
    statement, slots = product(ring, FP64)
    bound = bound_to(skewed(lengths, FP64), len(lengths), ring, FP64, 0.4)
    expected = run(replace(statement, hints=NEVER), slots, bound)[:2]
    backend = CudaBackend()
    program = plan_program(Program(slots, (statement,)), backend.capabilities())
    handles = [backend.put(each) for each in bound]
    handles[2].widen()
    executable = backend.prepare(program)
    backend.execute(executable, handles)
    assert executable.frame.kernel.name.endswith("-hot_columns")
    found = backend.get(handles[0])
    assert (found.entry_indices().tobytes(), found.entry_values().tobytes()) == expected


# the copy ------------------------------------------------------------------------------------
def graph(seed=1, *, symmetric=False):
    """Return a skewed square matrix of values, on the GPU."""
    rng = np.random.default_rng(seed)
    n, count = COLUMNS, 400_000
    names = rng.permutation(n)
    rows = rng.integers(0, n, count)
    cols = names[(n * rng.random(count) ** 4).astype(np.int64)]
    # Without a longer row there would be no use for the table.
    rows, cols = np.append(rows, [7] * 100), np.append(cols, np.arange(100))
    if symmetric:
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    keys = np.unique(rows * n + cols)
    values = (keys // n + keys % n) % 7 + 1.0
    return gb.Matrix.from_coo(keys // n, keys % n, values, nrows=n, ncols=n).to("cuda")


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("orientation", ["csr", "csc"])
def test_the_copy_names_columns_by_rank(both, symmetric, orientation, ranked):
    backend = CudaBackend()
    rows, cols, _ = graph(symmetric=symmetric).to_coo()
    handle = backend.put(coo_to_matrix(COLUMNS, COLUMNS, rows, cols, None, dtype=BOOL, iso_value=1))
    if both:
        handle.need("csc")
        assert handle.symmetric == symmetric
    handle.need(orientation)
    ring = semiring["plus_second"].typed(FP32)
    # mxv walks rows, and columns of the transpose.
    slots = (Slot("vector", FP32, "inout"), Slot("vector", FP32), Slot("matrix", BOOL))
    args = (Arg(2, orientation == "csc"), Arg(1))
    program = plan_program(
        Program(slots, (Statement("mxv", 0, args, ring, hints=ALWAYS),)), backend.capabilities()
    )
    vectors = [backend.put(random_vector(COLUMNS, FP32, 1, 1.0)) for _ in range(2)]
    backend.execute(backend.prepare(program), [*vectors, handle])
    found, runtime = handle.companion("hot_columns", orientation), handle.runtime
    count = min(COLUMNS, slots_that_fit(4, runtime.shared))
    assert found.count == count
    lines = cols if orientation == "csr" else rows
    counts = np.bincount(lines, minlength=COLUMNS)
    assert found.listed == (np.count_nonzero(counts) if ranked == "all" else count)
    listed = runtime.download(found.columns, np.int32, found.listed)
    assert counts[listed].tolist() == sorted(counts.tolist(), reverse=True)[: found.listed]
    assert len(set(listed.tolist())) == found.listed
    assert found.share == counts[listed[:count]].sum() / len(lines)
    indices = runtime.download(handle.orientations[orientation][1], np.int32, handle.nvals)
    coded = runtime.download(found.coded, np.int32, handle.nvals)
    cold = listed[np.clip(coded, 0, found.listed - 1)] if ranked == "all" else coded
    decoded = np.where(coded < 0, listed[np.clip(~coded, 0, count - 1)], cold)
    assert np.array_equal(decoded, indices)
    assert np.array_equal(coded < 0, np.isin(indices, listed[:count]))
    assert handle.memory_usage()["hot_columns"] >= 4 * handle.nvals


def test_the_option_switches_them_on_and_off(monkeypatch):
    A, backend = graph(), backend_for("cuda")
    # Shares, as with the table: tiles add up long rows in another order.
    monkeypatch.setattr(backend, "shape", LaunchShape.for_many_gathers())
    u = gb.Vector.from_dense(np.random.default_rng(2).random(COLUMNS)).to("cuda")
    results = {}
    for chosen in ("off", "auto", "on"):
        with gb.config.set(hot_columns=chosen), backend.profiled() as profile:
            results[chosen] = A.mxv(u, "plus_times").new().to_dense(0).tobytes()
        ran = any(use.name.endswith("-hot_columns") for use in profile.kernels())
        # The matrix is far too small for the rule.
        assert ran == (chosen == "on")
        assert (A.memory_usage()["hot_columns"] > 0) == (chosen == "on")
    assert len(set(results.values())) == 1


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("adaptive", [False, True])
def test_pagerank_is_the_same(dtype, symmetric, adaptive, monkeypatch, ranked):
    # The shape of a matrix that is large enough for hot columns.
    monkeypatch.setattr(backend_for("cuda"), "shape", LaunchShape.for_many_gathers())
    A, ranks = graph(symmetric=symmetric), []
    for chosen in ("off", "on"):
        with gb.config.set(hot_columns=chosen, deterministic=True):
            found = algorithms.pagerank(
                A, tol=0, max_iterations=12, dtype=dtype, adaptive=adaptive, weighted=True
            )
        ranks.append(found.rank.to_dense().tobytes())
    # To the last bit: sums in a fixed order do not depend on the shape of a launch.
    assert ranks[0] == ranks[1]


def test_other_algorithms_are_the_same(ranked):
    A, found = graph(symmetric=True), []
    for chosen in ("off", "on"):
        with gb.config.set(hot_columns=chosen):
            distances = algorithms.sssp(A, 0).distance.to_dense(fill_value=-1)
            labels = algorithms.connected_components(A, symmetric=True).label.to_dense()
            levels = algorithms.bfs(A, 0).level.to_dense(fill_value=-1)
        found.append([each.tolist() for each in (distances, labels, levels)])
    assert found[0] == found[1]


def test_a_changed_matrix_forgets_its_hot_columns():
    A = graph()
    u = gb.Vector.from_scalar(1.0, COLUMNS).to("cuda")
    with gb.config.set(hot_columns="on"):
        before = A.mxv(u, "plus_times").new()
        A << A.apply("ainv")
        assert A.memory_usage()["hot_columns"] == 0
        after = A.mxv(u, "plus_times").new()
    assert np.array_equal(before.to_dense(0), -after.to_dense(0))


def test_columns_that_lie_near_each_other_keep_their_places(monkeypatch):
    monkeypatch.setattr(table, "ORDERED_BYTES", 0)
    backend, kept = CudaBackend(), []
    backend.runtime.shared = LITTLE
    rng = np.random.default_rng(5)
    near = (np.arange(400_000) % 200 + 150 * rng.integers(0, 300, 2000).repeat(200)) % COLUMNS
    rows = np.arange(400_000) // 200
    for names in (np.arange(COLUMNS), rng.permutation(COLUMNS)):
        given = coo_to_matrix(2000, COLUMNS, rows, names[near], None, dtype=BOOL, iso_value=1)
        slots = (Slot("vector", FP32, "inout"), Slot("vector", FP32), Slot("matrix", BOOL))
        statement = Statement(
            "mxv", 0, (Arg(2), Arg(1)), semiring["plus_second"].typed(FP32), hints=ALWAYS
        )
        program = plan_program(Program(slots, (statement,)), backend.capabilities())
        handle = backend.put(given)
        vectors = [backend.put(random_vector(n, FP32, 1, 1.0)) for n in (2000, COLUMNS)]
        backend.execute(backend.prepare(program), [*vectors, handle])
        kept.append(handle.companion("hot_columns", "csr"))
    assert kept[0].listed == kept[0].count == 1024
    assert kept[1].listed > 1024


def two_pulls(first, second, dtypes, *, column_wise=False, has_table=True) -> None:
    """Compare two pulls between the same barriers with hot columns and without."""
    rng, found = np.random.default_rng(1), []
    u, v = (gb.Vector.from_dense(rng.integers(0, 9, COLUMNS)).dup(dtype) for dtype in dtypes)
    u, v = u.to("cuda"), v.to("cuda")
    for chosen in ("off", "on"):
        w, x = (gb.Vector(dtype, COLUMNS).to("cuda") for dtype in dtypes)

        def step(w=w, x=x) -> None:
            w << first.mxv(u, "plus_times")
            x << (v.vxm(second, "plus_times") if column_wise else second.mxv(v, "plus_times"))

        with gb.config.set(hot_columns=chosen), backend_for("cuda").profiled() as profile:
            gb.repeat(step, max_iterations=1)
        ran = any(use.name.endswith("-hot_columns") for use in profile.kernels())
        assert ran == (has_table and chosen == "on")
        found.append([each.to_dense(0).tolist() for each in (w, x)])
    assert found[0] == found[1]


@pytest.mark.parametrize("dtypes", [("INT32", "INT32"), ("INT64", "INT32"), ("INT32", "INT64")])
@pytest.mark.parametrize("symmetric", [False, True])
def test_two_pulls_over_a_matrix_have_one_table(dtypes, symmetric, ranked, monkeypatch):
    monkeypatch.setattr(backend_for("cuda").runtime, "shared", LITTLE)
    A = graph(symmetric=symmetric).dup("INT8")
    two_pulls(A, A, dtypes, column_wise=symmetric)


def test_no_table_where_a_copy_is_for_smaller_values(ranked, monkeypatch):
    """What a rule grants to 4 bytes it may refuse to 8, while another pull could have a table."""
    monkeypatch.setattr(backend_for("cuda").runtime, "shared", LITTLE)
    A, B = graph().dup("INT8"), graph(2).dup("INT8")
    counts = np.sort(np.bincount(A.to_coo()[1], minlength=COLUMNS))[::-1]
    covered = counts.cumsum() / counts.sum()
    share = (covered[511] + covered[1023]) / 2
    monkeypatch.setattr(table, "Figures", lambda *_: Figures(0, 0.0, 0, share))
    if ranked == "all":
        # Values of 4 bytes fit what is called the cache, those of 8 do not.
        monkeypatch.setattr(table, "CACHED_BYTES", 4 * COLUMNS)
        monkeypatch.setattr(table, "CACHED_SHARE", 0.999)
    u = gb.Vector.from_scalar(1, COLUMNS, dtype="INT32").to("cuda")
    with gb.config.set(hot_columns="on"):
        A.mxv(u, "plus_times").new().wait()
    assert A.memory_usage()["hot_columns"] > 0
    two_pulls(B, A, ("INT32", "INT64"), has_table=False)
