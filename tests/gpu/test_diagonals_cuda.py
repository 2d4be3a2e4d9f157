"""Rows as bits: results are the same to the last bit as without them; and what is kept."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.docs.studies import diagonals_of
from tests.helpers.emulated.studies import study
from tests.helpers.every import every

import semira as gb
from semira import algorithms
from semira.backends.cuda.runtime import kernel_choice
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.registry import backend_for
from semira.methods.diagonals import bits

pytestmark = pytest.mark.gpu

#: Distances of matrices whose rows one lane sums, and two; with one more than a byte has bits for.
FEW, MORE = (-70, -1, 1, 70), (-71, -70, -1, 0, 1, 70)
MANY = (-90, -71, -70, -33, -1, 1, 32, 70, 500)


@pytest.fixture(autouse=True)
def _large(monkeypatch):
    monkeypatch.setattr(kernel_choice, "gathers_many", lambda *_: True)


def stencil(distances, rows=1000, columns=None, *, keep=1.0, extra=(), values=False, seed=1):
    """Return a matrix with entries at these distances from the diagonal, on the GPU.

    A share of them is kept, and the rows and columns 64 to 99 are empty; `extra` are entries more.
    """
    rng, columns = np.random.default_rng(seed), rows if columns is None else columns
    i = np.repeat(np.arange(rows), len(distances))
    j = i + np.tile(distances, rows)
    gaps = [(each >= 64) & (each < 100) for each in (i, j)]
    there = (j >= 0) & (j < columns) & ~gaps[0] & ~gaps[1] & (rng.random(len(i)) < keep)
    more = np.array(extra, int).reshape(-1, 2)
    i, j = np.append(i[there], more[:, 0]), np.append(j[there], more[:, 1])
    given = rng.integers(1, 9, len(i)) if values else True
    return gb.Matrix.from_coo(
        i.astype(int), j.astype(int), given, nrows=rows, ncols=columns, dup_op=gb.binary.first
    ).to("cuda")


def vector(size, dtype, *, kind="full", seed=2):
    """Return a vector whose sums depend on their order, with every entry or not."""
    rng = np.random.default_rng(seed)
    numbers = rng.random(size) * 2.0 ** rng.integers(-20, 20, size)
    if not dtype.startswith("FP"):
        numbers = rng.integers(-99, 99, size)
    kept = {"full": size, "gap": size, "none": 0}[kind]
    at = np.flatnonzero(rng.random(size) < 0.6) if kind == "gap" else np.arange(kept)
    return gb.Vector.from_coo(at, numbers[at], dtype=dtype, size=size).to("cuda")


def stored(found):
    """Return a vector's entries, to the bit."""
    at, values = found.to_coo()
    return at.tobytes(), values.tobytes()


def with_and_without(run, *, has=True):
    """Return what a function returns without rows as bits; with them it must be the same."""
    found = {}
    for chosen in ("off", "on"):
        with gb.config.set(diagonals=chosen), backend_for("cuda").profiled() as profile:
            found[chosen] = run()
        ran = any(use.name.endswith("-diagonals") for use in profile.kernels())
        assert ran == (has and chosen == "on")
    assert found["on"] == found["off"]
    return found["off"]


def product(A, u, ring, *, mask=None, flip=False, has=True):
    """Compare ``w<mask> = A u``, or u A, to itself without bits; return the result."""

    def run():
        w = gb.Vector(ring.return_type, A.ncols if flip else A.nrows).to("cuda")
        given = {} if mask is None else {"mask": mask, "replace": True}
        w(direction="pull", **given) << (u.vxm(A, ring) if flip else A.mxv(u, ring))
        return stored(w)

    return with_and_without(run, has=has)


def handle_of(A):
    """Return what the backend holds of a matrix."""
    return A._value._handle


RINGS = [
    ("plus_second", "FP32"), ("plus_second", "FP64"), ("min_second", "INT32"),
    ("max_secondi", "INT64"), ("times_second", "INT8"),
]  # fmt: skip


@every("kind", ["full", "gap", "none"])
@every("distances", [FEW, MORE, MANY])
@every(("name", "dtype"), RINGS)
def test_the_same_bits_with_and_without(name, dtype, distances, kind):
    ring = getattr(gb.semiring, name)[dtype]
    # Words that lack rows at the end; rows that lack entries.
    for rows, keep in ((1000, 1.0), (993, 0.7), (1056, 0.4)):
        if distances is MANY and keep == 1.0:
            continue
        A = stencil(distances, rows, keep=keep)
        product(A, vector(rows, dtype, kind=kind), ring)
        assert A.memory_usage()["diagonals"] == bits.copy_bytes(rows, len(distances))


@pytest.mark.parametrize("distances", [FEW, MORE])
@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("sides", [(1000, 1100), (1100, 1000), (130, 71)])
def test_rectangular_matrices_and_both_orientations(sides, flip, distances):
    A = stencil(distances, *sides)
    ring = gb.semiring.plus_first if flip else gb.semiring.plus_second
    for kind in ("full", "gap"):
        product(A, vector(sides[not flip], "FP32", kind=kind), ring["FP32"], flip=flip)


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("kind", ["full", "gap"])
@pytest.mark.parametrize("distances", [FEW, MORE])
def test_masks(distances, kind, complement):
    A, u = stencil(distances, keep=0.8), vector(1000, "FP64", kind=kind)
    given = vector(1000, "BOOL", kind="gap", seed=5)
    mask = ~given.S if complement else given.V
    product(A, u, gb.semiring.plus_second["FP64"], mask=mask)


def test_results_are_those_of_the_definition():
    A = stencil(MORE, 130, keep=0.8)
    at, _ = product(A, vector(130, "INT64", kind="gap"), gb.semiring.plus_second["INT64"])
    u, rows = vector(130, "INT64", kind="gap").to_dict(), {}
    for i, j in zip(*A.to_coo()[:2], strict=True):
        if j in u:
            rows[int(i)] = rows.get(int(i), 0) + u[j]
    w = A.mxv(vector(130, "INT64", kind="gap"), gb.semiring.plus_second).new(diagonals=True)
    assert w.to_dict() == rows
    assert np.frombuffer(at, np.int64).tolist() == sorted(rows)


def test_values_that_all_entries_share():
    u = vector(1000, "INT64")
    for values, has in ((False, True), (True, False)):
        A = stencil(FEW, values=values).dup("INT64")
        product(A, u, gb.semiring.plus_times["INT64"], has=has)
        assert (A.memory_usage()["diagonals"] > 0) == has


@pytest.mark.parametrize("distances", [FEW, MORE])
@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_sums_of_products_are_left_to_the_ordinary_kernel(dtype, distances):
    A = gb.Matrix(dtype, 1000, 1000).to("cuda")
    A(stencil(distances).S) << 0.1
    assert product(A, vector(1000, dtype), gb.semiring.plus_times[dtype], has=False)
    assert A.memory_usage()["diagonals"] == 0


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_blocks_make_no_difference(blocks, monkeypatch):
    A, u, ring = stencil(MORE, 4001), vector(4001, "FP32"), gb.semiring.plus_second["FP32"]
    expected = product(A, u, ring)
    monkeypatch.setattr(backend_for("cuda"), "blocks", blocks)
    assert product(A, u, ring) == expected


def test_wide_offsets():
    for made_before in (False, True):
        A, u, ring = stencil(MORE, 1000), vector(1000, "FP64"), gb.semiring.plus_second["FP64"]
        expected = product(A, u, ring) if made_before else None
        handle_of(A).widen()
        found = product(A, u, ring)
        assert expected in (None, found)


# loops ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("distances", [FEW, (-70, -3, 1, 2), MORE])
def test_pagerank_is_the_same(distances, adaptive, dtype):
    """Its product, whose operand the same phase makes anew, runs there; adaptive it has a mask."""
    A = stencil(distances, 1010)

    def run():
        given = {"tol": 0, "max_iterations": 7, "dtype": dtype, "adaptive": adaptive}
        with gb.config.set(deterministic=True):
            return stored(algorithms.pagerank(A, **given).rank)

    with_and_without(run)


@pytest.mark.parametrize("symmetric", [False, True])
def test_components_are_the_same(symmetric):
    A = stencil(FEW if symmetric else (-70, -3, 1), 1010, keep=1.0 if symmetric else 0.5)

    def run():
        opts = {"symmetric": symmetric, "direction": "pull"}
        return stored(algorithms.connected_components(A, **opts).label)

    with_and_without(run)


def test_a_program_of_several_pulls_has_all_copies_or_none():
    """Two matrices, of which one may lack few diagonals; one matrix in both orientations."""
    rng = np.random.default_rng(4)
    others = rng.integers(0, 1000, (2, 2000))
    scattered = gb.Matrix.from_coo(*others, True, nrows=1000, ncols=1000, dup_op=gb.binary.any)
    A, u, v = stencil(FEW), vector(1000, "FP32"), vector(1000, "FP32", seed=3)
    for B, has in ((stencil((-5, 6)), True), (A, True), (scattered.to("cuda"), False)):

        def run(B=B):
            w, x = (gb.Vector("FP32", 1000).to("cuda") for _ in range(2))

            def step():
                w(direction="pull") << A.mxv(u, gb.semiring.plus_second["FP32"])
                x(direction="pull") << v.vxm(B, gb.semiring.plus_first["FP32"])

            gb.repeat(step, max_iterations=2)
            return stored(w), stored(x)

        with_and_without(run, has=has)


# the copy ------------------------------------------------------------------------------------
def decoded(handle, orientation):
    """Return rows and columns as a copy has them."""
    kept, rows = handle.companion("diagonals", orientation), handle.sides(orientation)[0]
    count, dtype = len(kept.distances), np.uint8 if len(kept.distances) <= 8 else np.uint32
    padded = -(-rows // 32) * 32
    named = handle.runtime.download(kept.made, np.int32, bits.MOST)
    assert named[:count].tolist() == list(kept.distances) == sorted(set(kept.distances))
    marks = handle.runtime.download(kept.made, dtype, padded, 4 * bits.MOST)
    assert not marks[rows:].any()
    i, k = np.nonzero(marks[:, None] >> np.arange(count) & 1)
    return i, i + named[k]


@pytest.mark.parametrize("distances", [(0,), FEW, MORE, MANY, (-999, 5)])
@pytest.mark.parametrize("orientation", ["csr", "csc"])
def test_the_copy_names_the_entries(distances, orientation):
    A = stencil(distances, 1010, 1020, keep=0.6)
    u = vector(1010 if orientation == "csc" else 1020, "FP32")
    ring = gb.semiring.plus_first if orientation == "csc" else gb.semiring.plus_second
    product(A, u, ring["FP32"], flip=orientation == "csc")
    i, j = decoded(handle_of(A), orientation)
    rows, cols, _ = A.to_coo()
    if orientation == "csc":
        order = np.lexsort((rows, cols))
        rows, cols = cols[order], rows[order]
    assert np.array_equal(i, rows)
    assert np.array_equal(j, cols)


def test_a_stray_entry_is_one_distance_more():
    for extra in ((0, 999), (999, 0), (500, 17)):
        A = stencil(FEW, 1000, extra=[extra])
        product(A, vector(1000, "FP32"), gb.semiring.plus_second["FP32"])
        assert len(handle_of(A).companion("diagonals", "csr").distances) == 5


@pytest.mark.parametrize(
    ("distances", "keep"), [(range(-16, 17), 0.2), (range(-8, 9), 0.2), ((), 1.0)]
)
def test_many_diagonals_are_refused_once(distances, keep, monkeypatch):
    """More than there are bits for, more than the few entries of a row pay for, and none."""
    A, u = stencil(tuple(distances), keep=keep), vector(1000, "FP32")
    product(A, u, gb.semiring.plus_second["FP32"], has=False)
    assert handle_of(A).companion("diagonals", "csr").made is None
    # Nobody may keep another answer.
    monkeypatch.setattr(CudaMatrix, "keep_companion", None)
    product(A, u, gb.semiring.plus_second["FP32"], has=False)
    assert A.memory_usage()["diagonals"] == 0


def test_a_changed_matrix_is_looked_at_again():
    A, u, ring = stencil(FEW), vector(1000, "FP32"), gb.semiring.plus_second["FP32"]
    product(A, u, ring)
    A[3, 500] = True
    assert A.memory_usage()["diagonals"] == 0
    product(A, u, ring)
    assert len(handle_of(A).companion("diagonals", "csr").distances) == 5
    B = A.dup()
    A << A.select(gb.select.triu)
    assert A.memory_usage()["diagonals"] == 0
    assert B.memory_usage()["diagonals"] > 0
    product(A, u, ring)
    assert handle_of(A).companion("diagonals", "csr").distances == (1, 70, 497)
    product(B, u, ring)


def test_a_symmetric_matrix_has_one_copy():
    A, u = stencil(FEW), vector(1000, "FP32")
    product(A, u, gb.semiring.plus_second["FP32"])
    once = A.memory_usage()["diagonals"]
    product(A, u, gb.semiring.plus_first["FP32"], flip=True)
    assert handle_of(A).symmetric
    assert A.memory_usage()["diagonals"] == once > 0


def test_the_fourth_product_makes_the_copy():
    A, u = stencil(FEW), vector(1000, "FP32")
    w = gb.Vector("FP32", 1000).to("cuda")
    for number in range(1, 6):
        with backend_for("cuda").profiled() as profile:
            w(direction="pull") << A.mxv(u, gb.semiring.plus_second["FP32"])
        ran = any(use.name.endswith("-diagonals") for use in profile.kernels())
        assert ran == (number >= 4)


def test_short_memory_costs_the_copy_and_not_the_call(monkeypatch, caplog):
    def refuse(*_):
        raise gb.exceptions.OutOfMemory("9 bytes")

    monkeypatch.setattr(bits, "require_spare", refuse)
    A, u = stencil(FEW), vector(1000, "FP32")
    product(A, u, gb.semiring.plus_second["FP32"], has=False)
    assert "rows are not kept as bits: 9 bytes" in caplog.text


@pytest.mark.slow
def test_the_script_that_measures_writes_a_record(tmp_path, monkeypatch):
    script, out = study("diagonals_gpu"), tmp_path / "diagonals.json"
    monkeypatch.setattr(script, "LEAST", "grid:8x8")
    monkeypatch.setattr(script, "REPEATS", 1)
    monkeypatch.setattr(
        "sys.argv", ["diagonals_gpu.py", "--graphs", "grid:30x40", "--out", str(out)]
    )
    assert script.main() == 0
    found = json.loads(out.read_text())
    assert found["environment"]["device"] == "cuda"
    calls = {row["call"]: row for row in found["results"]}
    assert calls.keys() == {
        f"{name} {dtype}" for name in ("pagerank", "mxv") for dtype in ("FP32", "FP64")
    } | {"cc"}
    assert all(row["ran"] and row["same"] for row in calls.values())
    assert "| grid:30x40 | cc |" in diagonals_of(found)
