"""k-trusses against NetworkX, and their values by brute force."""

from __future__ import annotations

import importlib

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.data import load_graph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import k_truss

module = importlib.import_module(k_truss.__module__)


def expected_truss(graph: cases.Graph, k: int) -> dict[tuple[int, int], int]:
    """Return the triangles of each edge of the truss, in both directions."""
    G = nx.Graph((i, j) for i, j, _ in graph.edges if i != j)
    T = nx.k_truss(G, k)
    one_way = {(i, j): len(set(T[i]) & set(T[j])) for i, j in T.edges}
    return one_way | {(j, i): count for (i, j), count in one_way.items()}


def entries(truss: gb.Matrix) -> dict[tuple[int, int], int]:
    rows, cols, values = (part.tolist() for part in truss.to_coo())
    return dict(zip(zip(rows, cols, strict=True), values, strict=True))


@every("k", [3, 4, 5, 2**70])
@cases.shapes
def test_trusses(graph, device, k):
    expected = expected_truss(graph, k)
    found = k_truss(graph.matrix(device), k)
    assert entries(found.truss) == expected
    assert found.count == len(expected) / 2
    both = graph.both_ways().matrix(device)
    assert k_truss(both, k, symmetric=True).truss.isequal(found.truss)


@pytest.fixture(params=[0, 1 << 30], ids=["taken off", "counted again"])
def _both_ways(request, monkeypatch):
    """Let small graphs go either way."""
    monkeypatch.setattr(module, "_MANY", request.param)


@pytest.mark.usefixtures("_both_ways")
@every("k", [3, 4, 5])
@cases.shapes
def test_triangles_are_taken_off_or_counted_again(graph, device, k):
    found = k_truss(graph.matrix(device), k, deterministic=True)
    assert entries(found.truss) == expected_truss(graph, k)


@given(graph=cases.graphs(), k=st.integers(3, 6))
@cases.examples(max_examples=40)
def test_trusses_of_any_graph(device, graph, k):
    assert entries(k_truss(graph.matrix(device), k).truss) == expected_truss(graph, k)


@pytest.mark.usefixtures("_both_ways")
@every("options", [{}, {"deterministic": True}])
def test_dropping_goes_on_until_nothing_more_falls(device, options):
    # A clique of four, at a corner of a grid of triangles that loses layer after layer.
    side = 9
    steps = ((0, 1), (1, 0), (1, 1))
    cells = [(r, c) for r in range(side) for c in range(side)]
    mesh = [
        (r * side + c, (r + down) * side + c + right)
        for r, c in cells
        for down, right in steps
        if max(r + down, c + right) < side
    ]
    n = side * side
    clique = [(0, n), (0, n + 1), (0, n + 2), (n, n + 1), (n, n + 2), (n + 1, n + 2)]
    found = k_truss(cases.unweighted(n + 3, [*clique, *mesh]).matrix(device), 4, **options)
    assert found.truss.reduce_rowwise("any").new().to_coo()[0].tolist() == [0, n, n + 1, n + 2]
    assert found.count == 6
    assert found.iterations > 4


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph_and_zeros_are_edges(device, dtype):
    graph = cases.Graph(4, ((2, 1, 0.0), (1, 0, 0.0), (0, 2, 0.0), (2, 3, 0.0)))
    found = k_truss(graph.matrix(device, dtype))
    assert found.truss.dtype == "INT64"
    assert found.count == 3


def test_no_vertices(device):
    with gb.device(device):
        assert k_truss(gb.Matrix("BOOL", 0, 0)).count == 0


@pytest.mark.parametrize("k", [-1, 2, 3.5, True, "two"])
def test_bad_k(k):
    with pytest.raises(exceptions.InvalidValue, match="k="):
        k_truss(cases.SHAPES["path"].matrix("reference"), k)


def test_not_square():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        k_truss(gb.Matrix("BOOL", 2, 3))


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random dense"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = k_truss(A, 4)
    # The squares of the degrees, and the loop.
    assert len(loops) == 2
    assert entries(found.truss) == expected_truss(graph, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "polblogs", "jazz"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph(name)
    pairs = zip(edges.rows.tolist(), edges.cols.tolist(), strict=True)
    graph = cases.unweighted(edges.nrows, pairs)
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
    assert entries(k_truss(A, 5).truss) == expected_truss(graph, 5)
