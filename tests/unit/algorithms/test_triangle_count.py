"""Triangle counts against all triples, and NetworkX."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import triangle_count

ORDERS = ("auto", "natural", "degree")
orders = pytest.mark.parametrize("order", ORDERS)


@orders
@cases.shapes
def test_counts(graph, device, order):
    expected = cases.triangles(graph)
    assert triangle_count(graph.matrix(device), order=order).count == expected
    both = graph.both_ways().matrix(device)
    assert triangle_count(both, order=order, symmetric=True).count == expected


@given(cases.graphs())
@cases.examples(max_examples=40)
def test_counts_of_any_graph(device, graph):
    A = graph.matrix(device)
    counts = {order: triangle_count(A, order=order).count for order in ORDERS}
    assert counts == dict.fromkeys(ORDERS, cases.triangles(graph))


@orders
@pytest.mark.parametrize("method", ["dot", "hash", "dense"])
def test_every_method_of_the_product(device, order, method):
    graph = cases.SHAPES["random dense"]
    if (device, method) == ("cuda", "dense"):
        with pytest.raises(exceptions.PlanError, match="possible here"):
            triangle_count(graph.matrix(device), order=order, method=method)
        return
    found = triangle_count(graph.matrix(device), order=order, method=method)
    assert found.count == cases.triangles(graph)
    assert [row.method for row in found.trace] == [method]


@orders
def test_many_triangles(device, order):
    G = nx.barabasi_albert_graph(80, 6, seed=2)
    A = cases.unweighted(80, G.edges).matrix(device)
    found = triangle_count(A, order=order)
    assert found.count == sum(nx.triangles(G).values()) // 3


def test_hubs_are_sorted_and_regular_graphs_are_not(device):
    skewed = cases.unweighted(200, nx.barabasi_albert_graph(200, 8, seed=1).edges)
    regular = cases.unweighted(40, nx.random_regular_graph(12, 40, seed=1).edges)
    assert triangle_count(skewed.matrix(device)).order == "degree"
    assert triangle_count(regular.matrix(device)).order == "natural"


def test_sorting_by_degree_saves_work():
    # Hubs in the middle have long rows below the diagonal, which all vertices after them look
    # at. (The reference counts every meeting, masked or not.)
    hubs = {10, 15}
    pairs = {(i, j) for j in hubs for i in range(30) if i != j} - {(15, 10)}
    pairs |= {(i, i + 1) for i in range(29) if hubs.isdisjoint((i, i + 1))}
    A = cases.unweighted(30, sorted(pairs)).matrix("cpu")
    orders = ("natural", "degree")
    natural, degree = (triangle_count(A, order=order, direction="pull") for order in orders)
    assert natural.count == degree.count == 78
    assert degree.trace[0].touched < natural.trace[0].touched


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    A = cases.SHAPES["complete"].matrix(device, dtype)
    assert triangle_count(A).count == 10


def test_explicit_zeros_are_edges(device):
    A = cases.Graph(3, ((0, 1, 0.0), (1, 2, 0.0), (2, 0, 0.0))).matrix(device)
    assert triangle_count(A).count == 1


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random dense"].matrix(device)
    before = A.dup()
    triangle_count(A, order="degree")
    assert A.isequal(before, check_dtype=True)


@orders
def test_no_vertices(device, order):
    with gb.device(device):
        assert triangle_count(gb.Matrix("BOOL", 0, 0), order=order).count == 0


def test_bad_arguments():
    with pytest.raises(exceptions.InvalidValue, match="random"):
        triangle_count(cases.SHAPES["path"].matrix("reference"), order="random")
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(3, 2\)"):
        triangle_count(gb.Matrix("BOOL", 3, 2))


def test_an_outer_trace_sees_the_product():
    A = cases.SHAPES["complete"].matrix("reference")
    with gb.tracing() as run:
        found = triangle_count(A)
    assert [row for row in run.rows if row.op == "mxm"] == list(found.trace)


@orders
def test_a_device_that_chooses_directions_by_itself(order):
    pytest.importorskip("graphblas")
    edges = nx.barabasi_albert_graph(200, 8, seed=1).edges
    found = triangle_count(cases.unweighted(200, edges).matrix("suitesparse"), order=order)
    assert found.count == sum(nx.triangles(nx.Graph(edges)).values()) // 3
    assert found.order == ("natural" if order == "natural" else "degree")
