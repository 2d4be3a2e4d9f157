"""Breadth-first search as one launch: right answers, one wait, limits and Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from tests.helpers.bfs_program import (
    LEVEL,
    bfs_bindings,
    bfs_program,
    iso_graph,
    levels_by_numpy,
)

from semira.base.errors import DimensionMismatch, IterationLimit, Panic
from semira.formats import VectorArrays

pytestmark = pytest.mark.gpu


def undirected(size: int, rows, cols):
    """Return indptr and sorted indices of the symmetric graph with these edges, no loops."""
    key = np.unique(np.concatenate([rows * size + cols, cols * size + rows]))
    rows, cols = key // size, key % size
    rows, cols = rows[rows != cols], cols[rows != cols]
    indptr = np.zeros(size + 1, np.int32)
    np.add.at(indptr, rows + 1, 1)
    return np.cumsum(indptr, dtype=np.int32), cols.astype(np.int32)


def grid(side: int):
    at = np.arange(side * side).reshape(side, side)
    rows = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    return undirected(side * side, rows, np.concatenate([at[:, 1:].ravel(), at[1:].ravel()]))


def skewed(size: int, edges: int, seed: int):
    rng = np.random.default_rng(seed)
    rows = (size * rng.random(edges) ** 4).astype(np.int64)
    return undirected(size, rows, rng.integers(0, size, edges))


def star(size: int):
    return undirected(size, np.zeros(size - 1, np.int64), np.arange(1, size))


GRAPHS = {
    "one vertex": (np.zeros(2, np.int32), np.zeros(0, np.int32)),
    "no edges": (np.zeros(41, np.int32), np.zeros(0, np.int32)),
    "path": undirected(100, np.arange(99), np.arange(1, 100)),
    "grid": grid(37),
    "star": star(5000),
    "skewed": skewed(3000, 40_000, 1),
    "sparse": skewed(4000, 3000, 2),
}


def search(backend, graph, *, source=0, policy=None, limit=10_000, explicit=False):
    program = bfs_program(backend.capabilities(), policy=policy, explicit_limit=explicit)
    size = len(graph[0]) - 1
    bindings = bfs_bindings(backend, backend.put(iso_graph(*graph)), size, source, limit)
    executable = backend.prepare(program)
    before = backend.statistics()
    outcome = backend.execute(executable, bindings)
    after = backend.statistics()
    assert after.synchronisations - before.synchronisations == 1
    assert after.launches - before.launches == 1
    return backend.get(bindings[LEVEL]), outcome


def dense(level) -> np.ndarray:
    found = np.full(level.size, -1, np.int64)
    found[level.entry_indices()] = level.entry_values()
    return found


@pytest.mark.parametrize("blocks", [1, 7, None])
@pytest.mark.parametrize("name", GRAPHS)
def test_levels_are_right_with_one_wait(backend, name, blocks):
    backend.blocks = blocks
    level, outcome = search(backend, GRAPHS[name])
    expected = levels_by_numpy(*GRAPHS[name], 0)
    assert np.array_equal(dense(level), expected)
    assert outcome.loops[0].stopped_by == "condition"
    assert outcome.loops[0].iterations == expected.max() + 1


@pytest.mark.parametrize("policy", ["beamer", "ligra", "gunrock", "pushpull18", "graphblast"])
def test_every_policy_gives_the_same_levels(backend, policy):
    level, _ = search(backend, GRAPHS["skewed"], policy=policy)
    assert np.array_equal(dense(level), levels_by_numpy(*GRAPHS["skewed"], 0))


def test_the_trace_counts_frontiers_and_touched_edges(backend):
    level, outcome = search(backend, GRAPHS["grid"])
    sizes = np.bincount(dense(level))
    assert [row.frontier for row in outcome.trace] == sizes.tolist()
    assert [row.produced for row in outcome.trace] == [*sizes[1:].tolist(), 0]
    degrees = np.diff(GRAPHS["grid"][0])
    for row in outcome.trace:
        edges = degrees[dense(level) == row.iteration].sum()
        assert row.method == "pull" or row.touched == edges


def test_rows_have_the_time_since_the_row_before(backend):
    # Seven blocks run it and, on a path, one block alone: two writers of rows would not agree.
    for name in ("grid", "path", "one vertex"):
        _, outcome = search(backend, GRAPHS[name])
        assert len(outcome.trace) == outcome.loops[0].iterations
        times = [row.elapsed_ns for row in outcome.trace]
        assert min(times) >= 0
        # The clock of a GPU may stand still for a microsecond, but not for a whole search.
        assert sum(times) > 0
        assert outcome.trace.lost == 0


@pytest.mark.parametrize("limit", [7, 8, 9, 21, 100])
def test_a_full_ring_keeps_the_last_rows(backend, limit, caplog):
    executable = backend.prepare(bfs_program(backend.capabilities(), explicit_limit=True))
    # Results of full length are shared with other programs; this one's are short.
    executable.row_capacity, executable.shares_results = 8, False
    graph = GRAPHS["path"]
    bindings = bfs_bindings(backend, backend.put(iso_graph(*graph)), 100, 0, limit)
    trace = backend.execute(executable, bindings).trace
    kept = min(limit, 8)
    assert (len(trace), trace.lost) == (kept, limit - kept)
    assert [row.iteration for row in trace] == list(range(limit - kept, limit))
    # A frontier of one vertex with two neighbours, but at the ends.
    ends = (0, 99)
    assert [row.touched for row in trace] == [1 if row.iteration in ends else 2 for row in trace]
    assert min(row.elapsed_ns for row in trace) >= 0
    said = f"the last 8 of {limit} products"
    assert (said in caplog.text) == (limit > 8)


def test_reaching_the_default_limit_is_an_error_and_an_explicit_one_is_not(backend):
    with pytest.raises(IterationLimit, match="max_iterations"):
        search(backend, GRAPHS["path"], limit=5)
    level, outcome = search(backend, GRAPHS["path"], limit=5, explicit=True)
    assert outcome.loops[0].stopped_by == "limit"
    assert level.nvals == 5


def test_the_same_executable_serves_other_sources_and_graphs(backend):
    executable = backend.prepare(bfs_program(backend.capabilities()))
    compiled = backend.statistics().compiled
    for name in ("grid", "skewed", "star", "grid"):
        graph = GRAPHS[name]
        size = len(graph[0]) - 1
        matrix = backend.put(iso_graph(*graph))
        for source in (0, size // 2, size - 1):
            bindings = bfs_bindings(backend, matrix, size, source, 10_000)
            backend.execute(executable, bindings)
            level = dense(backend.get(bindings[LEVEL]))
            assert np.array_equal(level, levels_by_numpy(*graph, source)), (name, source)
    assert backend.statistics().compiled == compiled


@pytest.mark.hardware(reason="Ctrl-C in the middle of a launch")
def test_ctrl_c_ends_the_loop_at_a_level(backend):
    side = 1500
    graph = grid(side)
    backend.blocks = 1
    program = bfs_program(backend.capabilities())
    executable = backend.prepare(program)
    matrix = backend.put(iso_graph(*graph))
    bindings = bfs_bindings(backend, matrix, side * side, 0, 10_000)
    threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        backend.execute(executable, bindings)
    level = dense(backend.get(bindings[LEVEL]))
    row, col = np.divmod(np.arange(side * side), side)
    reached = level.max()
    assert 0 < reached < 2 * side - 2
    assert np.array_equal(level, np.where(row + col <= reached, row + col, -1))


def test_operands_that_do_not_fit_are_refused_before_anything_runs(backend):
    executable = backend.prepare(bfs_program(backend.capabilities()))
    bindings = bfs_bindings(backend, backend.put(iso_graph(*GRAPHS["path"])), 99, 0, 10)
    with pytest.raises(DimensionMismatch, match="99"):
        backend.execute(executable, bindings)


def test_a_released_object_is_an_error(backend):
    vector = backend.put(VectorArrays.empty(5, bfs_program(backend.capabilities()).slots[0].dtype))
    backend.release(vector)
    with pytest.raises(Panic, match="released"):
        backend.get(vector)


@pytest.mark.parametrize("name", ["grid", "skewed", "sparse"])
def test_the_public_bfs_runs_unchanged(backend, name):
    import semira as gb

    indptr, indices = GRAPHS[name]
    size = len(indptr) - 1
    graph = gb.Matrix.from_csr(indptr, indices, True, ncols=size).to("cuda")
    # The first call makes the second orientation.
    gb.algorithms.bfs(graph, 0, parents=True)
    before = backend.statistics()
    found = gb.algorithms.bfs(graph, 0, parents=True)
    after = backend.statistics()
    expected = levels_by_numpy(indptr, indices, 0)
    _, level = found.level.to_coo()
    reached, parent = found.parent.to_coo()
    assert np.array_equal(reached, np.flatnonzero(expected >= 0))
    assert np.array_equal(level, expected[reached])
    others = reached != 0
    assert np.array_equal(expected[parent[others]], expected[reached[others]] - 1)
    assert after.launches - before.launches == 1
    assert found.iterations == expected.max() + 1


def test_the_public_pagerank_agrees_with_the_cpu():
    import semira as gb

    indptr, indices = GRAPHS["skewed"]
    graph = gb.Matrix.from_csr(indptr, indices, 1.0, ncols=len(indptr) - 1)
    ranks = [gb.algorithms.pagerank(graph.to(device)).rank for device in ("reference", "cuda")]
    expected, found = (rank.to_dense(0.0) for rank in ranks)
    assert np.abs(expected - found).sum() < 1e-6
