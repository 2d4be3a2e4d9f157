"""Searches from many sources against a queue, and SciPy on real graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import bfs, multi_source_bfs


def nearest(graph: cases.Graph, sources: list[int]) -> dict[int, int]:
    """Return the hops from the nearest source."""
    found: dict[int, int] = {}
    for source in sources:
        for vertex, hops in cases.levels(graph, source).items():
            found[vertex] = min(hops, found.get(vertex, hops))
    return found


@cases.shapes
def test_a_row_for_each_source(graph, device):
    found = multi_source_bfs(graph.matrix(device), range(graph.n))
    expected = [cases.levels(graph, source) for source in range(graph.n)]
    assert found.level.to_dicts() == dict(enumerate(expected))
    assert found.level.shape == (graph.n, graph.n)
    assert found.reached == sum(map(len, expected))
    assert found.depth == max(max(levels.values()) for levels in expected)


@cases.shapes
def test_all_together(graph, device):
    sources = sorted({0, graph.n // 2, graph.n - 1})
    found = multi_source_bfs(graph.matrix(device), sources, together=True)
    expected = nearest(graph, sources)
    assert found.level.to_dict() == expected
    assert (found.reached, found.depth) == (len(expected), max(expected.values()))


@given(cases.graphs(), st.data())
@cases.examples(max_examples=30)
def test_any_graph_and_sources(device, graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=4))
    A = graph.matrix(device)
    rows = multi_source_bfs(A, sources).level.to_dicts()
    assert rows == {at: cases.levels(graph, source) for at, source in enumerate(sources)}
    assert multi_source_bfs(A, sources, together=True).level.to_dict() == nearest(graph, sources)


@every("together", [False, True])
@every("limit", range(5))
def test_depth_can_be_limited(device, limit, together):
    graph = cases.SHAPES["random"]
    found = multi_source_bfs(graph.matrix(device), [3, 8], together=together, max_depth=limit)
    whole = [cases.levels(graph, source) for source in (3, 8)]
    rows = {0: nearest(graph, [3, 8])} if together else dict(enumerate(whole))
    near = {at: {v: d for v, d in row.items() if d <= limit} for at, row in rows.items()}
    assert (found.level.to_dict() if together else found.level.to_dicts()) == (
        near[0] if together else near
    )
    assert found.iterations <= limit


def test_rows_are_in_the_order_of_the_sources(device):
    A = cases.SHAPES["path"].matrix(device)
    level = multi_source_bfs(A, [4, 0, 4]).level
    assert level.to_dicts() == {
        0: {4: 0, 5: 1},
        1: {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5},
        2: {4: 0, 5: 1},
    }
    assert multi_source_bfs(A, [4, 0, 4], together=True).level.to_dict()[4] == 0


def test_one_source_without_a_list(device):
    A = cases.SHAPES["random"].matrix(device)
    expected = bfs(A, 7).level
    assert multi_source_bfs(A, 7, together=True).level.isequal(expected, check_dtype=True)
    row = multi_source_bfs(A, np.int64(7)).level[0, :].new()
    assert row.isequal(expected, check_dtype=True)


def test_no_sources(device):
    A = cases.SHAPES["path"].matrix(device)
    rows = multi_source_bfs(A, [])
    assert (rows.level.shape, rows.reached, rows.depth) == ((0, 6), 0, 0)
    together = multi_source_bfs(A, [], together=True)
    assert (together.reached, together.depth) == (0, 0)
    with gb.device(device):
        assert multi_source_bfs(gb.Matrix("BOOL", 0, 0), []).level.shape == (0, 0)


@every("together", [False, True])
@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph(device, dtype, together):
    graph = cases.SHAPES["grid"]
    level = multi_source_bfs(graph.matrix(device, dtype), [0], together=together).level
    assert level.dtype == "INT32"
    found = level.to_dict() if together else level.to_dicts()[0]
    assert found == cases.levels(graph, 0)


def test_explicit_zeros_are_edges(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 2], [0.0, 0.0], nrows=3, ncols=3)
    assert multi_source_bfs(A, [0]).level.to_dicts() == {0: {0: 0, 1: 1, 2: 2}}


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random"].matrix(device)
    before = A.dup()
    multi_source_bfs(A, [0, 1])
    multi_source_bfs(A, [0, 1], together=True)
    assert A.isequal(before, check_dtype=True)


def test_trace_has_one_row_for_each_level(device):
    A = cases.SHAPES["path"].matrix(device)
    found = multi_source_bfs(A, [0, 2], direction="push")
    assert [(row.op, row.produced) for row in found.trace] == [
        ("mxm", 2), ("mxm", 2), ("mxm", 2), ("mxm", 1), ("mxm", 1), ("mxm", 0),
    ]  # fmt: skip
    assert found.iterations == len(found.trace)
    together = multi_source_bfs(A, [0, 2], together=True, direction="push")
    assert [row.op for row in together.trace] == ["vxm"] * together.iterations


def test_bad_sources():
    A = cases.SHAPES["path"].matrix("reference")
    for source in (-1, 6, 2**40):
        with pytest.raises(exceptions.IndexOutOfBound, match=str(source)):
            multi_source_bfs(A, [0, source])
    for sources in ([0, 1.0], "12", None, True, [[0]]):
        with pytest.raises(exceptions.InvalidIndex, match="source"):
            multi_source_bfs(A, sources)


def test_bad_arguments():
    A = cases.SHAPES["path"].matrix("reference")
    for limit in (-1, 0.5, True):
        with pytest.raises(exceptions.InvalidValue, match="max_depth"):
            multi_source_bfs(A, 0, max_depth=limit)
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        multi_source_bfs(gb.Matrix("BOOL", 2, 3), 0)
    with pytest.raises(exceptions.DomainMismatch, match="Matrix"):
        multi_source_bfs(np.eye(2), 0)
    for together in (False, True):
        with pytest.raises(exceptions.InvalidValue, match="speed"):
            multi_source_bfs(A, 0, together=together, speed=11)


def test_no_host_reads_together(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = multi_source_bfs(A, [1, 2], together=True)
    assert loops
    assert found.level.to_dict() == nearest(graph, [1, 2])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "minnesota", "wiki-Vote"])
def test_real_graphs(device, name):
    A = cases.real_matrix(name, device)
    sources = np.linspace(0, A.nrows - 1, 17).astype(int)
    hops = csgraph.dijkstra(gb.io.to_scipy_sparse(A), indices=sources, unweighted=True)
    levels = multi_source_bfs(A, sources).level.to_dense(-1)
    np.testing.assert_array_equal(levels, np.where(np.isfinite(hops), hops, -1))
    near = multi_source_bfs(A, sources, together=True).level.to_dense(-1)
    least = hops.min(axis=0)
    np.testing.assert_array_equal(near, np.where(np.isfinite(least), least, -1))
