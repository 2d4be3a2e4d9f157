"""Whole calls on the GPU: memory that another vector left, loops nobody waits for (decision 25)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.backends.cuda.runtime import turning
from semira.backends.registry import backend_for

pytestmark = pytest.mark.gpu

#: Below, at and above the sizes where words are filled on the device.
SIZES = [34, 3000, 32_768, 32_769, 300_001]


def waits() -> int:
    return backend_for("cuda").statistics().synchronisations


@every("dtype", ["BOOL", "INT8", "INT16", "INT32", "FP32", "FP64", "FC64"])
@every("size", SIZES)
def test_a_vector_in_used_memory_holds_only_its_own(size, dtype):
    draw = np.random.default_rng(size)
    at = np.unique(draw.integers(0, size, 20))
    for _ in range(3):
        full = gb.Vector.from_scalar(1, size, dtype).to("cuda")
        assert full.nvals == size
        assert (full.to_dense() == 1).all()
        assert full.reduce({"BOOL": "lor", "FC64": "plus"}.get(dtype, "max")).value
        # Both planes are used, then the memory is left to the next one.
        full << full.apply("ainv" if dtype != "BOOL" else "lnot")
        del full
        assert gb.Vector(dtype, size).to("cuda").nvals == 0
        few = gb.Vector.from_coo(at, 1, dtype, size=size).to("cuda")
        assert few.to_coo()[0].tolist() == at.tolist()
        # By its list, and by its words.
        twice = few.ewise_add(few, "second").new()
        assert twice.to_coo()[0].tolist() == at.tolist()
        one = gb.Vector.from_coo([size - 1], 1, dtype, size=size).to("cuda")
        assert one.ewise_add(few, "first").new().nvals == len({*at.tolist(), size - 1})
        del few, twice, one


@pytest.mark.parametrize("size", SIZES)
def test_a_loop_that_runs_once_is_over_before_what_follows(size):
    v, w = (gb.Vector("INT64", size).to("cuda") for _ in range(2))
    ring = np.arange(size)
    A = gb.Matrix.from_coo(ring, (ring + 1) % size, 1, nrows=size, ncols=size).to("cuda")

    def begin():
        v << 1
        w << A.mxv(v, "plus_times")

    def step():
        w << w.ewise_add(v, "plus")
        return w.reduce("max", allow_empty=False) < 6

    gb.repeat(begin, max_iterations=1)
    gb.repeat(step)
    found = []
    for _ in range(20):
        before = waits()
        found.append(gb.repeat(begin, max_iterations=1))
        assert waits() == before
        assert gb.repeat(step).iterations == 5
        assert waits() == before + 1
    assert (w.to_dense() == 6).all()
    assert {(one.iterations, one.stopped_by) for one in found} == {(1, "limit")}
    # Traces read late are their own.
    assert {(len(one.trace), one.trace[0].produced) for one in found} == {(1, size)}
    assert gb.repeat(begin, max_iterations=4).iterations == 4


@pytest.mark.parametrize("is_symmetric", [False, True])
@pytest.mark.parametrize("iso", [False, True])
def test_host_and_device_turn_a_matrix_alike(monkeypatch, iso, is_symmetric):
    draw = np.random.default_rng(5)
    dense = draw.integers(1, 9, (70, 70)) * (draw.random((70, 70)) < 0.2)
    dense = dense + dense.T if is_symmetric else dense
    rows, cols = np.nonzero(dense)
    values = 1.5 if iso else dense[rows, cols].astype(float)
    found = []
    for few in (0, 1 << 15):
        monkeypatch.setattr(turning, "FEW", few)
        A = gb.Matrix.from_coo(rows, cols, values, nrows=70, ncols=70).to("cuda")
        handle = A._value.handle_on("cuda")
        handle.need("csc")
        by_columns = A.to_csc()
        found.append([bool(handle.symmetric), *(np.asarray(part).tolist() for part in by_columns)])
        v = gb.Vector.from_dense(np.arange(70.0)).to("cuda")
        expected = (dense != 0) * 1.5 if iso else dense
        product = v.vxm(A, "plus_times").new(direction="pull")
        assert np.allclose(product.to_dense(0), np.arange(70.0) @ expected)
    assert found[0] == found[1]
    assert found[0][0] is is_symmetric


@pytest.mark.parametrize("name", ["bfs", "sssp", "pagerank", "connected_components"])
def test_a_warm_call_allocates_nothing_and_waits_once(name):
    rng = np.random.default_rng(1)
    n = 100_000
    keys = np.unique(rng.integers(0, n * n, 300_000))
    A = gb.Matrix.from_coo(keys // n, keys % n, 1.0, nrows=n, ncols=n).to("cuda")
    more = (0,) if name in ("bfs", "sssp") else ()
    # The loop; what has no iterations makes its result on each call.
    pins = {"algorithm": "bellman_ford"} if name == "sssp" else {}
    for _ in range(3):
        getattr(gb.algorithms, name)(A, *more, **pins)
    before = backend_for("cuda").statistics()
    getattr(gb.algorithms, name)(A, *more, **pins)
    after = backend_for("cuda").statistics()
    assert after.allocations == before.allocations
    assert after.synchronisations == before.synchronisations + 1


@pytest.mark.parametrize("order", ["natural", "degree"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_warm_triangle_count_is_one_launch(symmetric, order):
    rng = np.random.default_rng(7)
    n = 60
    keys = np.unique(rng.integers(0, n * n, 500))
    rows, cols = keys // n, keys % n
    dense = np.zeros((n, n), np.int64)
    dense[rows, cols] = dense[cols, rows] = 1
    np.fill_diagonal(dense, 0)
    A = gb.Matrix.from_coo(*np.nonzero(dense), 1, nrows=n, ncols=n)
    A.symmetric = symmetric or None
    A = A.to("cuda")
    triangles = np.trace(dense @ dense @ dense) // 6
    for _ in range(3):
        before = backend_for("cuda").statistics()
        found = gb.algorithms.triangle_count(A, symmetric=symmetric, order=order)
        after = backend_for("cuda").statistics()
        assert (found.count, found.order) == (triangles, order)
    assert after.launches - before.launches == 1
    assert after.synchronisations - before.synchronisations == 1
    # The kernels find their table from last time; the entries of the product, for the trace, lie
    # where those of a count lie that nobody can ask any more.
    assert after.allocations == before.allocations
    assert after.uploads == before.uploads


def test_betweenness_is_one_loop_over_all_sources():
    """Beside it, the scores are emptied before, and scaled after it, those of sources apart."""
    rows = np.arange(30)
    A = gb.Matrix.from_coo(rows, (rows + 1) % 30, 1, nrows=30, ncols=30).to("cuda")
    launches = {1: [], 2: []}
    for batch, found in launches.items():
        for sources in ([0, 5], [0, 5], [3, 9, 20, 27]):
            before = backend_for("cuda").statistics()
            gb.algorithms.betweenness_centrality(A, sources=sources, batch=batch).centrality.wait()
            found.append(backend_for("cuda").statistics().launches - before.launches)
    assert launches[1][1:] == [4, 4]
    # Two copies of the graph are made, and added up; four sources take two turns in one loop.
    assert launches[2][1] == launches[2][2] <= 30
