"""Breadth-first search by the loops of hosts: what products find, pushing and pulling."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import bfs, k_hop, levels, multi_source_bfs
from semira.algorithms.levels import search_levels
from semira.base.settings import override, restore


def dense(n: int, *, directed: bool, device: str = "cpu", seed: int = 1) -> gb.Matrix:
    """Return a graph whose second level has most of its edges, a chain at its end."""
    rng = np.random.default_rng(seed)
    body = n - 5
    i, j = rng.integers(0, body, (2, 9 * n))
    chain = np.arange(body - 1, n - 2)
    rows, columns = np.r_[i, chain], np.r_[j, chain + 1]
    if not directed:
        rows, columns = np.r_[rows, columns], np.r_[columns, rows]
    return gb.Matrix.from_coo(
        rows, columns, True, nrows=n, ncols=n, dup_op="any"
    ).to(device)  # fmt: skip


def assert_tree(A: gb.Matrix, found: object, source: int) -> None:
    level, (vertices, before) = found.level.to_dense(-1), found.parent.to_coo()
    assert vertices.tolist() == found.level.to_coo()[0].tolist()
    rest = vertices != source
    assert before[~rest].tolist() == [source]
    assert (level[before[rest]] == level[vertices[rest]] - 1).all()
    there = set(zip(*(part.tolist() for part in A.to_coo()[:2]), strict=True))
    assert set(zip(before[rest].tolist(), vertices[rest].tolist(), strict=True)) <= there


@pytest.fixture
def eager(monkeypatch) -> None:
    """Let small graphs pull."""
    monkeypatch.setattr(levels, "_MANY", 1)


def test_loops_find_what_products_find(eager):
    graphs = [cases.SHAPES[name].matrix("cpu") for name in ("random", "path", "star", "grid")]
    graphs += [dense(n, directed=directed) for n in (70, 129) for directed in (False, True)]
    methods = set()
    for A in graphs:
        for source in (0, A.nrows - 1):
            expected = bfs(A, source, deterministic=True)
            plain, tree = bfs(A, source), bfs(A, source, parents=True)
            for found in (plain, tree):
                assert found.level.isequal(expected.level, check_dtype=True)
                assert found.iterations == expected.iterations
                assert [row.frontier for row in found.trace] == [
                    row.frontier for row in expected.trace
                ]
                assert [row.produced for row in found.trace] == [
                    row.produced for row in expected.trace
                ]
                methods |= {row.method for row in found.trace}
            assert_tree(A, tree, source)
            assert tree.parent.dtype == expected.level.dtype
    assert methods == {"push", "pull"}


def test_python_says_what_the_loops_mean(eager):
    """The functions that are compiled on hosts, run by Python."""
    for directed in (False, True):
        on_cpu = dense(70, directed=directed)
        by_python = on_cpu.to("reference")
        for limit in (0, 2, 70):
            (level, parent, *one), (its_level, its_parent, *other) = (
                search_levels(A, [], np.array([0, 9]), limit, parents=True)
                for A in (on_cpu, by_python)
            )
            assert level.to_dict() == its_level.to_dict()
            assert parent.to_dict() == its_parent.to_dict()
            (iterations, trace), (its_iterations, its_trace) = one, other
            assert iterations == its_iterations
            assert [row[:-1] for row in trace] == [row[:-1] for row in its_trace]
        assert "pull" in {row.method for row in trace}


def test_neither_threads_nor_pauses_decide_about_parents(eager, monkeypatch):
    A = dense(400, directed=True)
    expected = bfs(A, 0, parents=True)
    assert "pull" in {row.method for row in expected.trace}
    before = override(threads=3)
    monkeypatch.setattr(levels, "_ALONE", 1e-9)
    monkeypatch.setattr(levels, "_BUDGET", 1)
    try:
        found = bfs(A, 0, parents=True)
    finally:
        restore(before)
    assert found.parent.isequal(expected.parent)
    assert [row[:-1] for row in found.trace] == [row[:-1] for row in expected.trace]


@pytest.mark.parametrize("small", [0, 1 << 14])
def test_results_of_any_form_are_the_same(monkeypatch, small):
    monkeypatch.setattr(levels, "_SMALL", small)
    path = cases.SHAPES["path"].matrix("cpu")
    for start in range(path.nrows):
        found = bfs(path, start, parents=True)
        assert found.level.to_dict() == {v: v - start for v in range(start, path.nrows)}
        assert found.parent.to_dict() == {v: max(v - 1, start) for v in range(start, path.nrows)}
    n = 40
    A = gb.Matrix.from_coo([7, 3], [3, 30], True, nrows=n, ncols=n).to("cpu")
    assert bfs(A, 7).level.to_dict() == {3: 1, 7: 0, 30: 2}


def test_a_lean_matrix_is_not_transposed(eager):
    A = dense(70, directed=True)
    A.memory = "lean"
    before = A.memory_usage()
    found = bfs(A, 0)
    assert {row.method for row in found.trace} == {"push"}
    assert A.memory_usage() == before
    A.memory = "fast"
    assert found.level.isequal(bfs(A, 0).level)


def test_searches_together_pull_too(eager):
    A = dense(129, directed=False)
    for sources in ([0], [3, 70, 128], range(129)):
        expected = multi_source_bfs(A, sources, together=True, deterministic=True)
        found = multi_source_bfs(A, sources, together=True)
        assert found.level.isequal(expected.level, check_dtype=True)
        assert found.iterations == expected.iterations
        for k in range(4):
            near = k_hop(A, sources, k)
            assert near.level.isequal(expected.level.select("<=", k).new())
            assert near.iterations == min(k, expected.iterations)


@pytest.mark.parametrize("directed", [False, True])
def test_few_levels_from_one_vertex_pull_too(eager, directed):
    A, pulled = dense(129, directed=directed), 0
    for source in (0, 70, 0):
        level = bfs(A, source, deterministic=True).level
        for k in range(5):
            near = k_hop(A, source, k)
            assert near.level.isequal(level.select("<=", k).new())
            pulled += [row.method for row in near.trace].count("pull")
    assert pulled


def test_a_trace_keeps_the_last_levels(monkeypatch, caplog):
    monkeypatch.setattr(levels, "_ROWS", 4)
    n = 11
    A = gb.Matrix.from_coo(range(n - 1), range(1, n), True, nrows=n, ncols=n).to("cpu")
    found = bfs(A, 0)
    assert (found.iterations, found.lost, len(found.trace)) == (n, n - 4, 4)
    assert [row.iteration for row in found.trace] == [7, 8, 9, 10]
    assert [row.touched for row in found.trace] == [1, 1, 1, 0]
    assert [row.produced for row in found.trace] == [1, 1, 1, 0]
    assert all(row.elapsed_ns >= 0 for row in found.trace)
    assert "the last 4 of 11 products" in caplog.text
    assert "vxm" in str(found.trace)
    kept = pickle.loads(pickle.dumps(found.trace))
    assert (tuple(kept), kept.lost) == (tuple(found.trace), n - 4)


def test_matrices_of_suitesparse_are_searched_too(eager):
    pytest.importorskip("graphblas")
    A = dense(70, directed=True)
    expected = bfs(A, 0, parents=True)
    found = bfs(A.to("suitesparse"), 0, parents=True)
    assert found.level.device == found.parent.device == "suitesparse"
    assert found.level.to_dict() == expected.level.to_dict()
    assert found.parent.to_dict() == expected.parent.to_dict()


def test_a_graph_without_vertices():
    found = multi_source_bfs(gb.Matrix("BOOL", 0, 0).to("cpu"), [], together=True)
    assert (found.level.size, found.iterations, len(found.trace)) == (0, 0, 0)


def test_a_search_inside_a_recorded_loop_is_refused():
    A = cases.SHAPES["path"].matrix("cpu")
    with pytest.raises(exceptions.RecordError):
        gb.repeat(lambda: bfs(A, 0), max_iterations=2)


@pytest.mark.parametrize("n", [300, 40_000])
def test_small_searches_of_a_graph_work_in_the_same_arrays(n):
    steps = np.arange(n - 1)
    A = gb.Matrix.from_coo(steps, steps + 1, True, nrows=n, ncols=n).to("cpu")
    (rooms,) = [levels.search_rooms(A)]
    for source, hops in [(0, 3), (7, 0), (5, 9), (2, 3), (n - 2, 3), (0, 17), (60, 70)]:
        found = k_hop(A, source, hops)
        ends = range(source, min(source + hops + 1, n))
        assert found.level.to_dict() == {v: v - source for v in ends}
        assert len(found.trace) == found.iterations
        (room,) = rooms
        assert (room.level == -1).all()
    assert bfs(A, n - 20).level.nvals == 20
    assert k_hop(A, [3, 9], 1).level.to_dict() == {3: 0, 4: 1, 9: 0, 10: 1}
    # One that finds all others gives its levels away.
    assert bfs(A, 0).level.isequal(bfs(A, 0, deterministic=True).level)
    assert k_hop(A, 5, 1).level.to_dict() == {5: 0, 6: 1}


def test_results_keep_their_rows_when_the_next_search_begins():
    A = cases.SHAPES["path"].matrix("cpu")
    one = k_hop(A, 0, 3)
    other = k_hop(A, 2, 1)
    assert [row.frontier for row in one.trace] == [1, 1, 1]
    assert len(other.trace) == 1
    assert one.level.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3}


def test_threads_search_one_graph_in_rooms_of_their_own():
    n, wrong = 3_000, []
    steps = np.arange(n - 1)
    A = gb.Matrix.from_coo(steps, steps + 1, True, nrows=n, ncols=n).to("cpu")
    k_hop(A, 0, 1)

    def search(first: int) -> None:
        for source in range(first, n - 40, 17):
            hops = source % 37
            found = k_hop(A, source, hops)
            vertices, level = found.level.to_coo()
            if vertices.tolist() != list(range(source, source + hops + 1)):
                wrong.append((source, hops, vertices))
            if level.tolist() != list(range(hops + 1)) or len(found.trace) != hops:
                wrong.append((source, hops, level))
            if any(row.frontier != 1 for row in found.trace):
                wrong.append((source, hops, found.trace))

    threads = [threading.Thread(target=search, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
