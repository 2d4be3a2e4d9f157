"""Products that walk entries, padded rows or all positions, and lists asked for in both ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.gpu.test_statements_cuda import compare, mask_of, random_matrix, random_vector
from tests.helpers.bfs_program import bfs_bindings, bfs_program
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
    full_matrix,
    matrix_of,
    result_of,
)

import semira as gb
from semira.algorithms import bfs
from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.runtime.made import need_made
from semira.base.dtypes import BOOL, FC64, FP32, FP64, INT16
from semira.base.errors import OutOfMemory, PlanError
from semira.cli.searches import METHODS
from semira.contract import Arg, Hints, Program, Slot, Statement
from semira.formats import MatrixArrays, coo_to_matrix
from semira.methods.dense.arrays import DenseArrays, dense_bytes
from semira.methods.ell.arrays import KINDS, EllArrays
from semira.ops.registry import semiring
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

#: Six bytes, three words of two.
PAIR = gb.dtypes.lookup_dtype(np.dtype([("x", np.int16), ("y", np.int32)]))


@every("ring", RINGS)
@every(("op", "transposed"), [("vxm", False), ("vxm", True), ("mxv", False)])
@every("storage", STORAGES)
def test_products(storage, op, transposed, ring):
    check_products("cuda", storage, op, ring, transposed=transposed)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("storage", STORAGES)
def test_any_number_of_blocks(storage, blocks, backend):
    backend.blocks = blocks
    check_products("cuda", storage, "mxv", "min_plus", transposed=True)


@pytest.mark.parametrize("blocks", [None, 1])
@pytest.mark.parametrize("shape", DENSE_SHAPES)
def test_dense_shapes(shape, blocks, backend):
    backend.blocks = blocks
    check_dense("cuda", shape)


@every("ring", RINGS)
@every(("left", "right"), [(False, False), (True, True), (False, True)])
@every("storage", MATRIX_STORAGES)
def test_products_with_a_full_matrix(storage, left, right, ring):
    check_matrix_products("cuda", storage, ring, left=left, right=right)


@every("ring", COLUMN_RINGS)
@every(("left", "right"), [(False, False), (True, True), (False, True)])
def test_columns_times_a_full_matrix(left, right, ring):
    check_matrix_products("cuda", "csr" if left else "csc", ring, left=left, right=right)


@pytest.mark.parametrize("storage", MATRIX_STORAGES)
@pytest.mark.parametrize("dtype", [FP32, FC64])
def test_products_with_a_full_matrix_in_other_widths(storage, dtype):
    ring = semiring["plus_times"].typed(dtype)
    slots = (Slot("matrix", dtype, "inout"), Slot("matrix", dtype), Slot("matrix", dtype))
    statement = Statement("mxm", 0, (Arg(1), Arg(2)), ring, hints=Hints(matrix_storage=storage))
    for width in (4, 16, 40):
        given = [
            MatrixArrays.empty(90, width, dtype), matrix_of(dtype, iso=False, orientation="csr"),
            full_matrix((70, width), dtype, 2),
        ]  # fmt: skip
        found = [result_of(device, slots, statement, given) for device in ("reference", "cuda")]
        assert found[0] == found[1]


@every("wide", [False, True])
@every("orientation", ["csr", "csc"])
@every("storage", sorted(KINDS))
@every("dtype", [BOOL, INT16, FP32, FP64, FC64, PAIR], ids=str)
def test_lines_are_padded_as_on_the_host(storage, orientation, dtype, wide, backend):
    rng = np.random.default_rng(5)
    for lines, minor in ((90, 70), (1, 9), (9, 1), (33, 64), (0, 5), (5, 0), (1000, 3)):
        keys = np.flatnonzero(rng.random(lines * minor) < 0.2)
        majors, minors = np.divmod(keys, max(minor, 1))
        # Bytes of 0 and 1 are a number in every dtype.
        held = rng.integers(0, 2, (len(keys), dtype.itemsize), np.uint8)
        values = held.view(dtype.array_dtype)[:, 0]
        for iso in (False, True):
            made = coo_to_matrix(lines, minor, majors, minors, values)
            if iso:
                made = replace(made, values=np.ones(1, dtype.array_dtype), iso=True)
            made = made if orientation == "csr" else made.flipped()
            wanted = EllArrays.from_matrix(made, **KINDS[storage])
            matrix = backend.put(made)
            if wide:
                matrix.widen()
            found = need_made(matrix, Made(0, storage, orientation))
            download = backend.runtime.download
            slots = len(wanted.indices)
            assert (found.height, found.slots, found.nvals) == (wanted.height, slots, made.nvals)
            starts = download(found.starts, np.int64, len(wanted.starts))
            assert starts.tolist() == wanted.starts.tolist()
            assert download(found.indices, np.int32, slots).tolist() == wanted.indices.tolist()
            held = download(found.values, dtype.array_dtype, 1 if iso else slots)
            assert held.tolist() == wanted.values.tolist()
            assert (found.lengths is None) == (wanted.lengths is None)
            if wanted.lengths is not None:
                lengths = download(found.lengths, np.int32, lines)
                assert lengths.tolist() == wanted.lengths.tolist()


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("held", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [BOOL, INT16, FP32, FC64, PAIR], ids=str)
def test_positions_are_those_of_the_host(dtype, held, wide, backend):
    rng = np.random.default_rng(5)
    download = backend.runtime.download
    shapes = (90, 70, 0.2), (33, 64, 1.0), (1, 9, 0.5), (9, 1, 1.0), (0, 5, 1.0)
    for lines, minor, density in shapes:
        keys = np.flatnonzero(rng.random(lines * minor) < density)
        places = np.divmod(keys, max(minor, 1))
        bits = rng.integers(0, 2, (len(keys), dtype.itemsize), np.uint8)
        made = coo_to_matrix(lines, minor, *places, bits.view(dtype.array_dtype)[:, 0])
        for iso, orientation in ((False, "csr"), (False, "csc"), (True, "csr")):
            if iso:
                made = replace(made, values=np.ones(1, dtype.array_dtype), iso=True)
            by_rows = made if orientation == "csr" else transposed(made)
            wanted = DenseArrays.from_matrix(by_rows)
            matrix = backend.put(made if held == "csr" else transposed(made).flipped())
            if wide:
                matrix.widen()
            need_made(matrix, Made(0, "dense", orientation))
            found = matrix.companions.get("dense", orientation)
            assert list(matrix.orientations) == [held]
            assert (found.width, found.slots) == (by_rows.ncols, lines * minor)
            values = download(found.values, dtype.array_dtype, wanted.values.size)
            assert values.tolist() == wanted.values.ravel().tolist()
            is_shared = iso or (wanted.present is None and held == orientation)
            assert found.is_own != is_shared or not lines
            assert (found.present is None) == (wanted.present is None)
            if wanted.present is not None:
                words = -(-by_rows.ncols // 32)
                kept = download(found.present, np.uint8, 4 * words * by_rows.nrows)
                kept = np.unpackbits(kept, bitorder="little").reshape(by_rows.nrows, 32 * words)
                assert np.array_equal(kept[:, : by_rows.ncols], wanted.present)
                assert not kept[:, by_rows.ncols :].any()
            kept = dense_bytes(
                by_rows.nrows, by_rows.ncols, dtype.itemsize, full=wanted.present is None, iso=iso,
                bits=True,
            )  # fmt: skip
            own = 0 if found.is_own else dtype.itemsize * wanted.values.size
            # Buffers are rounded up.
            assert 0 <= matrix.memory_usage()["dense"] - (kept - own) < 64


def transposed(matrix):
    """Return the transpose of a matrix by rows, by rows."""
    rows, cols, values = matrix.to_coo()
    made = coo_to_matrix(matrix.ncols, matrix.nrows, cols, rows, values)
    return replace(made, values=matrix.values, iso=True) if matrix.iso else made


def test_whole_rows_are_spread_as_they_are(backend):
    """A product with a full matrix keeps no indices: none are made where it has all rows."""
    for gaps in (False, True):
        with gb.device("cuda"):
            rows = [0, 2, 3] if gaps else [0, 1, 2, 3]
            A = gb.Matrix.from_coo(rows, [1] * len(rows), 2.0, nrows=4, ncols=4)
            B = gb.Matrix.from_dense(np.arange(20.0).reshape(4, 5))
            C = A.mxm(B, "plus_times").new()
            u, v = gb.Vector.from_dense(np.ones(5)), gb.Vector.from_dense(np.ones(4))
        dense = C.to_dense(0)
        assert A.mxv(v, "plus_times").new(matrix_storage="dense").to_dense(0).sum() == 2 * len(rows)
        found = C.mxv(u, "plus_times").new(matrix_storage="dense")
        assert found.nvals == len(rows)
        assert found.to_dense(0).tolist() == dense.sum(axis=1).tolist()
        found = v.vxm(C, "plus_times").new(matrix_storage="dense")
        assert found.to_dense().tolist() == dense.sum(axis=0).tolist()


@pytest.mark.parametrize("storage", STORAGES)
def test_a_written_matrix_is_laid_out_anew(storage, backend):
    with gb.device("cuda"):
        A = gb.Matrix.from_dense(np.arange(12.0).reshape(3, 4))
        u, w = gb.Vector.from_dense(np.ones(4)), gb.Vector(float, 3)
    w(matrix_storage=storage) << A.mxv(u, "plus_times")
    assert w.to_dense().tolist() == [6, 22, 38]
    A << A.apply("ainv")
    A[1, 2] << 100.0
    w(matrix_storage=storage) << A.mxv(u, "plus_times")
    assert w.to_dense().tolist() == [-6, 84, -38]
    del A[1, 2]
    w(matrix_storage=storage) << A.mxv(u, "plus_times")
    assert w.to_dense().tolist() == [-6, -16, -38]


def test_positions_without_entries_are_refused(backend):
    with gb.device("cuda"):
        A = gb.Matrix.from_coo([0, 1999], [5, 0], [1.0, 2.0], nrows=2000, ncols=1000)
        u, w = gb.Vector.from_dense(np.ones(1000)), gb.Vector.from_dense(np.full(2000, 7.0))
    taken = dense_bytes(2000, 1000, 8, full=False, bits=True)
    with pytest.raises(OutOfMemory, match=f"takes {taken} bytes.*limit: .*'coo'"):
        w(matrix_storage="dense") << A.mxv(u, "plus_times")
    assert w.reduce("plus").new().value == 7.0 * 2000


@pytest.mark.parametrize("storage", ["ell", "sell", "dense"])
def test_a_matrix_that_turns_out_symmetric_keeps_one_copy(storage, backend):
    """Rows are padded first; that columns are the same shows when a statement asks for them."""
    ring, dtype, _ = RINGS["plus_times"]
    slots = (
        Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", dtype, "inout"),
    )  # fmt: skip
    body = (
        Statement("mxv", 0, (Arg(2), Arg(1)), ring, hints=Hints(matrix_storage=storage)),
        Statement("vxm", 3, (Arg(1), Arg(2)), ring, hints=Hints(direction="pull")),
        Statement("vxm", 0, (Arg(1), Arg(2)), ring, hints=Hints(matrix_storage=storage)),
    )
    made = coo_to_matrix(9, 9, np.arange(9), np.arange(9), np.arange(9.0))
    matrix = backend.put(made)
    bound = [backend.put(random_vector(9, dtype, seed, 1.0)) for seed in (1, 2)]
    bound += [matrix, backend.put(random_vector(9, dtype, 3, 0.5))]
    for statements in (body[:2], body[1:]):
        program = plan_program(Program(slots, statements), backend.capabilities())
        backend.execute(backend.prepare(program), bound)
        one, other = (backend.get(bound[k]).entry_values().tolist() for k in (0, 3))
        assert one == other
        assert matrix.symmetric
        assert list(matrix.companions.of(storage)) == ["csr"]


@pytest.mark.parametrize("storage", ["ell", "ellr", "pell", "sell"])
def test_what_would_be_all_padding_is_refused_as_on_the_host(storage, backend):
    lines = 40_000 if storage != "sell" else 100
    width = 40 if storage != "sell" else 100_000
    columns = np.arange(width)
    made = coo_to_matrix(lines, width, np.full(width, 7), columns, np.ones(width))
    with pytest.raises(OutOfMemory) as here:
        EllArrays.from_matrix(made, **KINDS[storage])
    with pytest.raises(OutOfMemory) as there:
        need_made(backend.put(made), Made(0, storage, "csr"))
    assert str(here.value) == str(there.value)


@pytest.mark.parametrize("storage", MATRIX_STORAGES)
def test_what_a_product_with_a_full_matrix_launches(storage, backend):
    """The pinned storage is what is walked, and what is kept with the matrix."""
    with gb.device("cuda"):
        A = gb.Matrix.from_coo([0, 0, 3, 5], [1, 2, 0, 5], [1.0, 2.0, 3.0, 4.0], nrows=9, ncols=6)
        B = gb.Matrix.from_dense(np.arange(48.0).reshape(6, 8))
        C, D = gb.Matrix(float, 9, 8), gb.Matrix(float, 9, 8)
    with backend.profiled() as profile:
        C(matrix_storage=storage) << A.mxm(B, "plus_times")
        C.wait()
    names = " ".join(use.name for use in profile.kernels())
    assert ("t_spmm_edges" if storage == "coo" else "t_spmm_padded") in names
    assert any(storage in name for name in A.memory_usage()) == (storage != "coo")
    D << A.mxm(B, "plus_times")
    assert C.isequal(D)
    assert f"walks {storage}" in str(gb.explain(A.mxm(B, "plus_times"), matrix_storage=storage))


def test_columns_are_walked_where_nothing_else_is_there(backend):
    """No rows are made, of a matrix that keeps its columns either; what is said says so."""
    cells = np.array([0, 0, 3, 5, 5]), np.array([1, 2, 0, 5, 0])
    values = np.arange(1.0, 6)
    wanted = np.zeros((9, 6))
    wanted[cells] = values
    with gb.device("cuda"):
        A = gb.Matrix.from_coo(*cells, values, nrows=9, ncols=6)
        # Its rows are the columns of the transposed.
        lean = gb.Matrix.from_coo(*cells[::-1], values, nrows=6, ncols=9)
        lean.memory = "lean"
        B = gb.Matrix.from_dense(np.arange(48.0).reshape(6, 8))
        C = gb.Matrix(float, 9, 8)
    with backend.profiled() as profile:
        C(matrix_storage="csc") << A.mxm(B, "plus_times")
        C.wait()
    assert "t_spmm_columns" in " ".join(use.name for use in profile.kernels())
    assert np.array_equal(C.to_dense(0), wanted @ B.to_dense())
    with backend.profiled() as profile:
        D = lean.T.mxm(B, "plus_times").new()
        D.wait()
    assert "t_spmm_columns" in " ".join(use.name for use in profile.kernels())
    assert D.isequal(C)
    said = str(gb.explain(A.mxm(B, "plus_times"), matrix_storage="csc"))
    assert "walks columns" in said
    assert "nothing is transposed" in said


def test_columns_that_cannot_be_walked_say_why():
    with gb.device("cuda"):
        A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)
        B, C = gb.Matrix.from_dense(np.ones((2, 3))), gb.Matrix(float, 2, 2)
    with pytest.raises(PlanError, match="has 2 of 2 x 2; its rows have to be there otherwise"):
        C(matrix_storage="csc") << A.mxm(A, "plus_times")
    assert C.nvals == 0
    with pytest.raises(PlanError, match="asks for a fixed order"):
        A.mxm(B, "plus_times").new(matrix_storage="csc", deterministic=True)
    with pytest.raises(PlanError, match="shares its work by 'edges'"):
        A.mxm(B, "plus_times").new(matrix_storage="csc", balance="pieces")


@pytest.mark.parametrize("storage", MATRIX_STORAGES)
def test_a_matrix_with_gaps_is_no_full_operand(storage):
    with gb.device("cuda"):
        A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)
        C = gb.Matrix(float, 2, 2)
    with pytest.raises(PlanError, match="right operand has every entry, and this one has 2 of 2"):
        C(matrix_storage=storage) << A.mxm(A, "plus_times")
    assert C.nvals == 0


@pytest.mark.parametrize("mask", [None, (True, True), (False, False)])
@pytest.mark.parametrize(
    "pins",
    [
        {"balance": "positions"},
        {"balance": "thread", "queue": "global"},
        {"balance": "thread", "queue": "block"},
        {"balance": "positions", "queue": "global"},
        {"queue": "global"},
        {"matrix_storage": "coo", "queue": "global"},
    ],
)
def test_pins_of_push(pins, mask):
    ring, dtype, accum = RINGS["min_plus"]
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", BOOL),
    )  # fmt: skip
    statement = Statement(
        "vxm", 0, (Arg(1), Arg(2)), ring, mask_of(mask, 3), accum, hints=Hints(**pins)
    )
    for size, density in ((33, 1.0), (700, 0.3), (700, 0.0)):
        out, driver = ring.return_type, random_vector(size, dtype, 2, density)
        given = [random_vector(size, out, 1, 0.5), driver, random_matrix(size, dtype, 3)]
        given.append(random_vector(size, BOOL, 4, 0.6))
        compare(slots, (statement,), given)


@pytest.fixture
def graph():
    given = random_matrix(700, BOOL, 5)
    return given.to_coo()


SEARCHES = {
    "coo": {"matrix_storage": "coo"},
    "coo, global": {"matrix_storage": "coo", "queue": "global"},
    "ell": {"matrix_storage": "ell"},
    "sell": {"matrix_storage": "sell"},
    "dense": {"matrix_storage": "dense"},
    "positions": {"direction": "push", "balance": "positions"},
    "global": {"direction": "push", "balance": "thread", "queue": "global"},
    "block": {"direction": "push", "balance": "thread", "queue": "block"},
}


@pytest.mark.parametrize("name", SEARCHES)
def test_inside_a_loop(name, graph):
    rows, cols, values = graph
    found = {}
    for device in ("reference", "cuda"):
        with gb.device(device):
            A = gb.Matrix.from_coo(rows, cols, values, nrows=700, ncols=700)
            pins = SEARCHES[name] if device == "cuda" else {}
            found[device] = bfs(A, 3, **pins)
    assert found["cuda"].level.to_dict() == found["reference"].level.to_dict()
    assert found["cuda"].iterations == found["reference"].iterations


def test_small_levels_are_one_block_s_own(backend):
    """A policy that never pulls counts edges, so one block knows when it may go on alone."""
    cell = np.arange(3600).reshape(60, 60)
    pairs = [(cell[:, 1:], cell[:, :-1]), (cell[1:], cell[:-1])]
    ends = [np.concatenate([each[k].ravel() for each in pairs]) for k in (0, 1)]
    both = np.concatenate(ends), np.concatenate(ends[::-1])
    graph = coo_to_matrix(3600, 3600, *both, np.ones(len(both[0]), bool))
    pins = Hints(**METHODS["one block for small levels"])
    for hints, goes_alone in ((pins, True), (Hints(direction="push"), False)):
        (loop,) = bfs_program(backend.capabilities(), explicit_limit=True).body
        body = [replace(each, hints=hints) if each.op == "vxm" else each for each in loop.bodies[0]]
        program = bfs_program(backend.capabilities(), explicit_limit=True)
        program = replace(program, body=(replace(loop, bodies=(tuple(body),)),))
        program = plan_program(program, backend.capabilities())
        bound = bfs_bindings(backend, backend.put(graph), 3600, 0, 3600)
        outcome = backend.execute(backend.prepare(program), bound)
        assert outcome.loops[0].iterations == 119
        assert bool(outcome.solo) == goes_alone
        assert {row.method for row in outcome.trace} == {"push"}


def test_two_products_of_one_matrix_read_both_ends():
    ring, dtype, _ = RINGS["plus_times"]
    slots = (
        Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", dtype, "inout"),
    )  # fmt: skip
    body = tuple(
        Statement(op, out, args, ring, hints=Hints(matrix_storage="coo"))
        for op, out, args in (("vxm", 0, (Arg(1), Arg(2))), ("mxv", 3, (Arg(2), Arg(1))))
    )
    size = 70
    given = [random_vector(size, dtype, seed, 0.5) for seed in (1, 2)]
    given += [random_matrix(size, dtype, 3), random_vector(size, dtype, 4, 0.5)]
    compare(slots, body, given)


def test_entries_need_no_other_orientation(backend):
    ring, dtype, _ = RINGS["plus_times"]
    slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
    for op, driven, size in (("vxm", 90, 70), ("mxv", 70, 90)):
        args = (Arg(1), Arg(2)) if op == "vxm" else (Arg(2), Arg(1))
        statement = Statement(op, 0, args, ring, hints=Hints(matrix_storage="coo"))
        program = plan_program(Program(slots, (statement,)), backend.capabilities())
        matrix = backend.put(matrix_of(dtype, iso=False, orientation="csc"))
        bound = [backend.put(random_vector(n, dtype, 1, 1.0)) for n in (size, driven)]
        backend.execute(backend.prepare(program), [*bound, matrix])
        assert list(matrix.orientations) == ["csc"]
        assert list(matrix.companions.of("entry_rows")) == ["csc"]


def test_padded_rows_are_counted_kept_and_forgotten(backend):
    ring, dtype, _ = RINGS["plus_times"]
    slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
    given = matrix_of(dtype, iso=False, orientation="csr")
    matrix = backend.put(given)
    statement = Statement("mxv", 0, (Arg(2), Arg(1)), ring, hints=Hints(matrix_storage="ellr"))
    executable = backend.prepare(plan_program(Program(slots, (statement,)), backend.capabilities()))
    bound = [backend.put(random_vector(n, dtype, 1, 1.0)) for n in (90, 70)]
    backend.execute(executable, [*bound, matrix])
    kept = matrix.companions.get("ellr", "csr")
    assert matrix.memory_usage()["ellr"] == kept.nbytes >= 57 * 90 * 12 + 4 * 90 + 16
    backend.execute(executable, [*bound, matrix])
    assert matrix.companions.get("ellr", "csr") is kept
    copy = backend.convert(matrix, "copy")
    assert copy.companions.of("ellr") == matrix.companions.of("ellr")
    backend.release(matrix)
    assert not matrix.companions.of("ellr")


def test_wide_offsets(backend):
    ring, dtype, _ = RINGS["min_plus"]
    slots = (
        Slot("vector", ring.return_type, "inout"),
        Slot("vector", dtype),
        Slot("matrix", dtype),
    )
    vectors = [random_vector(n, dtype, 1, 0.7) for n in (90, 70)]
    held = matrix_of(dtype, iso=False, orientation="csr")
    for storage in STORAGES:
        found = []
        for wide in (False, True):
            statement = Statement(
                "mxv", 0, (Arg(2), Arg(1)), ring, hints=Hints(matrix_storage=storage)
            )
            program = plan_program(Program(slots, (statement,)), backend.capabilities())
            matrix = backend.put(held)
            if wide:
                matrix.widen()
            bound = [*map(backend.put, vectors), matrix]
            backend.execute(backend.prepare(program), bound)
            found.append(backend.get(bound[0]).entry_values().tolist())
        assert found[0] == found[1]


def test_one_long_row_is_refused_and_nothing_changes():
    n = 1000
    with gb.device("cuda"):
        A = gb.Matrix.from_coo(np.zeros(n, int), np.arange(n), 1.0, nrows=n, ncols=n)
        u, w = gb.Vector.from_dense(np.ones(n)), gb.Vector.from_dense(np.full(n, 7.0))
    with pytest.raises(OutOfMemory, match="matrix_storage='sell'"):
        w(matrix_storage="ell") << A.mxv(u, "plus_times")
    assert w.reduce("plus").new().value == 7.0 * n
    w(matrix_storage="sell") << A.mxv(u, "plus_times")
    assert w.to_dict() == {0: float(n)}
