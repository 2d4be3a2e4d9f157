"""No wait hides in a loop's body: under capture of the stream every wait is an error.

The bodies are those of the algorithms, as statements run one by one; and whole recorded loops
up to the one wait for their end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import semira as gb
from semira import algorithms
from semira.backends.cuda.runtime import launch
from semira.backends.cuda.runtime.errors import check
from semira.backends.registry import backend_for

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.hardware(reason="launches are captured"),
]

N = 500


class EndOfLoop(Exception):  # noqa: N818 - where the host starts to wait
    """The loop was launched and the host would wait for its end."""


@contextmanager
def captured() -> Iterator[None]:
    """Capture the stream in global mode: a wait for the device, anywhere, is an error."""
    runtime = backend_for("cuda").runtime
    driver, stream = runtime.driver, runtime._queue
    waits = runtime.statistics.synchronisations
    runtime.stream.sync()
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    check(driver.cuStreamBeginCapture(stream, mode), "beginning a capture")
    try:
        yield
    finally:
        ended = driver.cuStreamEndCapture(stream)
    graph = check(ended, "ending a capture")
    nodes = driver.cuGraphGetNodes(graph)[-1]
    check(driver.cuGraphDestroy(graph), "dropping a graph")
    assert nodes > 0
    assert runtime.statistics.synchronisations == waits


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(3)
    rows, cols = rng.integers(0, N, 4000), rng.integers(0, N, 4000)
    keys = np.unique(rows * N + cols)
    values = rng.integers(1, 9, len(keys)).astype(np.float64)
    A = gb.Matrix.from_coo(keys // N, keys % N, values, nrows=N, ncols=N).to("cuda")
    # Both orientations beforehand, as an algorithm's first call leaves them.
    algorithms.bfs(A, 0)
    return A


def on_gpu(vector: gb.Vector) -> gb.Vector:
    return vector.to("cuda")


def search(A):
    level, frontier = on_gpu(gb.Vector(int, N)), on_gpu(gb.Vector.from_coo([0], True, size=N))
    with gb.device("cuda"):
        depth = gb.Scalar.from_value(0)

    def body() -> None:
        level(frontier.S) << depth
        depth << depth + 1
        frontier(~level.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)

    return body


def paths(A):
    active = on_gpu(gb.Vector.from_coo([0], 0.0, size=N))
    distance = active.dup()
    reached, worse = on_gpu(gb.Vector(float, N)), on_gpu(gb.Vector(bool, N))

    def body() -> None:
        reached << active.vxm(A, gb.semiring.min_plus)
        worse << reached.ewise_mult(distance, gb.binary.ge)
        active(~worse.V, replace=True) << reached
        distance(active.S) << active

    return body


def ranks(A):
    rank, scale = (on_gpu(gb.Vector.from_scalar(x, N)) for x in (1 / N, 0.5))
    fresh, moved, share = (on_gpu(gb.Vector(float, N)) for _ in range(3))
    with gb.device("cuda"):
        change = gb.Scalar(float)
    share << rank

    def body() -> None:
        fresh << 0.15 / N
        fresh(accum=gb.binary.plus, direction="pull") << A.T.mxv(share, gb.semiring.plus_second)
        moved << fresh.ewise_mult(rank, gb.binary.minus)
        moved << moved.apply(gb.unary.abs)
        change << moved.reduce(gb.monoid.plus)
        rank << fresh
        share << fresh.ewise_mult(scale, gb.binary.times)

    return body


@pytest.mark.parametrize("make", [search, paths, ranks])
def test_statements_of_a_body_wait_for_nothing(graph, make):
    body = make(graph)
    # What is prepared, and made once, is there afterwards.
    for _ in range(3):
        body()
    with captured():
        body()


LOOPS = {
    "bfs": lambda A: algorithms.bfs(A, 0),
    "sssp": lambda A: algorithms.sssp(A, 0),
    "pagerank": lambda A: algorithms.pagerank(A, tol=0, max_iterations=5),
    "connected components": algorithms.connected_components,
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_waits_for_its_end_only(graph, name, monkeypatch):
    with gb.tracing() as traced:
        LOOPS[name](graph)
    # Of one execution: the loop's, run again as it was bound.
    backend, caught = backend_for("cuda"), []
    execute = backend.execute

    def note(executable, bindings):
        caught.append((executable, bindings))
        return execute(executable, bindings)

    monkeypatch.setattr(backend, "execute", note)
    # The algorithm's own objects are gone when it returns; they are bound once more below.
    monkeypatch.setattr(backend, "release", lambda handle: None)
    LOOPS[name](graph)
    loops = [
        pair for pair in caught if getattr(pair[0], "lowered", None) and pair[0].lowered.has_loop
    ]
    assert loops
    assert traced.programs
    # Bound once more they hold something, kept so that it can be undone: memory for it is made.
    for executable, bindings in loops:
        execute(executable, bindings)

    def stop(*given):
        raise EndOfLoop

    monkeypatch.setattr(launch, "wait", stop)
    ends = 0
    for executable, bindings in loops:
        with captured():
            try:
                execute(executable, bindings)
            except EndOfLoop:
                ends += 1
    # What runs once whatever it does is not waited for.
    assert ends == sum(executable.once is None for executable, _ in loops) == 1


def test_a_wait_under_capture_is_seen():
    v = on_gpu(gb.Vector.from_dense([1, 2, 3]))
    with pytest.raises(gb.exceptions.Panic), captured():
        v.to_dense()


@pytest.mark.slow
@pytest.mark.parametrize("side", [1000, 2000, 4000])
def test_work_of_a_level_follows_its_entries(side):
    """A search on a grid looks at four edges a vertex of the frontier, whatever the grid's size."""
    from tests.gpu.test_bfs_cuda import grid

    indptr, indices = grid(side)
    size = side * side
    A = gb.Matrix.from_csr(indptr, indices, True, ncols=size).to("cuda")
    algorithms.bfs(A, 0)
    with gb.tracing() as traced:
        found = algorithms.bfs(A, 0)
        allocated = traced.work.bytes_allocated
    assert found.iterations == 2 * side - 1
    pushed = [row for row in traced.rows if row.method == "push"]
    assert len(pushed) > 0.9 * len(traced.rows)
    assert all(row.touched <= 4 * row.frontier for row in pushed)
    # Objects of the call; nothing a level: two planes of the frontier, the levels, their states.
    assert allocated <= 64 * size
