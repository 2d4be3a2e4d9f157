"""Local clustering coefficients against NetworkX and published results."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from tests.helpers.data import load_reference
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import local_clustering_coefficient
from semira.algorithms.oriented_edges import oriented_edges

#: One division of integers.
CLOSE = {"rtol": 1e-15, "atol": 0}


def undirected(graph: cases.Graph) -> nx.Graph:
    G = nx.Graph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from((i, j) for i, j, _ in graph.edges if i != j)
    return G


def assert_right(graph: cases.Graph, A: gb.Matrix, **options: object) -> None:
    G = undirected(graph)
    expected = nx.clustering(G)
    found = local_clustering_coefficient(A, **options)
    coefficient = found.coefficient.to_dense()
    np.testing.assert_allclose(coefficient, [expected[v] for v in range(graph.n)], **CLOSE)
    # Sums of n numbers in different orders.
    assert found.average == pytest.approx(nx.average_clustering(G), rel=1e-12)


@cases.shapes
def test_coefficients(graph, device):
    assert_right(graph, graph.matrix(device))
    assert_right(graph, graph.both_ways().matrix(device), symmetric=True)


@given(cases.graphs())
@cases.examples(max_examples=40)
def test_of_any_graph(device, graph):
    assert_right(graph, graph.matrix(device))
    assert_right(graph, graph.both_ways().matrix(device), symmetric=True)


@pytest.mark.parametrize("method", ["dot", "hash"])
def test_every_method_of_the_product(device, method):
    graph = cases.SHAPES["random dense"]
    found = local_clustering_coefficient(graph.matrix(device), method=method)
    assert [row.method for row in found.trace if row.op == "mxm"] == [method] * 2
    assert_right(graph, graph.matrix(device), method=method)


def test_hubs_come_last(device):
    # Mean degree and greatest degree are those from which edges lead to the higher degree.
    rng = np.random.default_rng(3)
    pairs = {(hub, v) for hub in range(3) for v in rng.choice(60, 50, replace=False).tolist()}
    pairs |= {(i, j) for i, j in rng.integers(0, 60, (220, 2)).tolist()}
    graph = cases.unweighted(60, sorted(pairs))
    A = graph.matrix(device)
    assert oriented_edges(A, symmetric=False, order="auto").by_degree
    assert_right(graph, A)
    assert_right(graph, graph.both_ways().matrix(device), symmetric=True)


def test_by_hand(device):
    # A square with one diagonal, and a tail.
    graph = cases.unweighted(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)])
    found = local_clustering_coefficient(graph.matrix(device))
    assert found.coefficient.to_dense().tolist() == [2 / 3, 1, 2 / 3, 1 / 3, 0]
    assert found.average == pytest.approx((2 / 3 + 1 + 2 / 3 + 1 / 3) / 5, rel=1e-15)


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    found = local_clustering_coefficient(cases.SHAPES["complete"].matrix(device, dtype))
    assert found.coefficient.dtype == "FP64"
    assert found.coefficient.to_dense().tolist() == [1] * 5


def test_explicit_zeros_are_edges(device):
    A = cases.Graph(3, ((0, 1, 0.0), (1, 2, 0.0), (2, 0, 0.0))).matrix(device)
    assert local_clustering_coefficient(A).coefficient.to_dense().tolist() == [1, 1, 1]


@pytest.mark.parametrize("symmetric", [False, True])
def test_graph_is_not_modified(device, symmetric):
    A = cases.SHAPES["grid"].both_ways().matrix(device)
    before = A.dup()
    local_clustering_coefficient(A, symmetric=symmetric)
    assert A.isequal(before, check_dtype=True)


def test_no_vertices(device):
    with gb.device(device):
        found = local_clustering_coefficient(gb.Matrix("BOOL", 0, 0))
    assert (found.coefficient.size, found.average) == (0, 0)


def test_bad_arguments():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(3, 2\)"):
        local_clustering_coefficient(gb.Matrix("BOOL", 3, 2))
    with pytest.raises(exceptions.DomainMismatch, match="Matrix"):
        local_clustering_coefficient(np.eye(3))
    with pytest.raises(exceptions.InvalidValue, match="speed"):
        local_clustering_coefficient(cases.SHAPES["path"].matrix("reference"), speed=11)


@pytest.mark.slow
def test_published_results(device):
    A = cases.real_matrix("p2p-31", device)
    expected = load_reference("p2p-31-ref")["lcc"]
    found = local_clustering_coefficient(A)
    np.testing.assert_allclose(found.coefficient.to_dense(), expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "email-Eu-core"])
def test_real_graphs(device, name):
    A = cases.real_matrix(name, device)
    rows, cols, _ = A.to_coo()
    pairs = zip(rows.tolist(), cols.tolist(), strict=True)
    assert_right(cases.unweighted(A.nrows, pairs), A)
