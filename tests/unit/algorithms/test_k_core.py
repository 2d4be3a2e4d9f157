"""Core numbers and k-cores against NetworkX."""

from __future__ import annotations

import importlib

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.data import load_graph, load_reference
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import core_number, k_core


def undirected(graph: cases.Graph) -> nx.Graph:
    G = nx.Graph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from((i, j) for i, j, _ in graph.edges if i != j)
    return G


def expected_cores(graph: cases.Graph) -> list[int]:
    found = nx.core_number(undirected(graph))
    return [found[vertex] for vertex in range(graph.n)]


@cases.shapes
def test_core_numbers(graph, device):
    expected = expected_cores(graph)
    found = core_number(graph.matrix(device))
    assert found.core.to_dense().tolist() == expected
    assert found.degeneracy == max(expected)
    both = graph.both_ways().matrix(device)
    assert core_number(both, symmetric=True).core.isequal(found.core)


@given(graph=cases.graphs())
@cases.examples(max_examples=40)
def test_core_numbers_of_any_graph(device, graph):
    found = core_number(graph.matrix(device))
    assert found.core.to_dense().tolist() == expected_cores(graph)


@every("k", [0, 1, 2, 3, 5, 2**40])
@every("name", ["random", "random dense", "grid", "star", "one loop"])
def test_cores(device, name, k):
    graph = cases.SHAPES[name]
    expected = dict(nx.k_core(undirected(graph), k).degree())
    assert k_core(graph.matrix(device), k, algorithm="peel").degree.to_dict() == expected
    found = k_core(graph.matrix(device), k)
    assert found.degree.to_dict() == expected
    assert found.count == len(expected)
    both = graph.both_ways().matrix(device)
    assert k_core(both, k, symmetric=True).degree.to_dict() == expected


def test_a_path_is_peeled_from_its_ends(device):
    path = cases.unweighted(9, [(i, i + 1) for i in range(8)])
    found = core_number(path.matrix(device), algorithm="peel")
    assert found.core.to_dense().tolist() == [1] * 9
    assert found.iterations == 5


def hurry(monkeypatch) -> None:
    """Let components fall together after each iteration."""
    module = importlib.import_module("semira.algorithms.k_core")
    monkeypatch.setattr(module, "_PATIENCE", 1)
    monkeypatch.setattr(module, "_MANY", 0)


@given(graph=cases.graphs(), k=st.integers(0, 5))
@cases.examples(max_examples=40)
def test_what_falls_together_has_the_same_core_number(device, graph, k):
    with pytest.MonkeyPatch.context() as patch:
        hurry(patch)
        found = core_number(graph.matrix(device), algorithm="peel")
        assert found.core.to_dense().tolist() == expected_cores(graph)
        expected = dict(nx.k_core(undirected(graph), k).degree())
        assert k_core(graph.matrix(device), k, algorithm="peel").degree.to_dict() == expected


#: Long graphs that lose a few vertices an iteration: degrees k + 1 all along.
LONG = {
    "path": nx.path_graph(60),
    "ladder": nx.ladder_graph(30),
    "grid": nx.grid_2d_graph(5, 12),
    "tree": nx.full_rary_tree(2, 60),
    "lollipop": nx.lollipop_graph(6, 50),
    "paths and cycles": nx.disjoint_union_all(
        [nx.path_graph(20), nx.cycle_graph(20), nx.path_graph(1), nx.barbell_graph(4, 20)]
    ),
}


@every("name", list(LONG))
def test_long_graphs_fall_in_few_iterations(device, name, monkeypatch):
    G = nx.convert_node_labels_to_integers(LONG[name])
    order = np.random.default_rng(3).permutation(len(G))
    graph = cases.unweighted(len(G), [(order[i], order[j]) for i, j in G.edges])
    A = graph.matrix(device)
    slowly = core_number(A, algorithm="peel")
    hurry(monkeypatch)
    found = core_number(A, algorithm="peel")
    assert found.core.to_dense().tolist() == expected_cores(graph)
    assert slowly.core.isequal(found.core)
    assert found.iterations <= min(slowly.iterations, 12)
    assert len(found.trace) == found.iterations
    expected = dict(nx.k_core(undirected(graph), 2).degree())
    assert k_core(A, 2, algorithm="peel").degree.to_dict() == expected


def test_a_long_path_does_not_take_an_iteration_for_each_vertex(device):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    n = 20_000
    path = cases.unweighted(n, [(i, i + 1) for i in range(n - 1)])
    found = core_number(path.matrix(device), algorithm="peel")
    assert found.core.to_dense().tolist() == [1] * n
    assert found.iterations < 300


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph_and_zeros_are_edges(device, dtype):
    found = core_number(cases.Graph(3, ((2, 1, 0.0),)).matrix(device, dtype))
    assert found.core.dtype == "INT32"
    assert found.core.to_dense().tolist() == [0, 1, 1]


def test_no_vertices(device):
    with gb.device(device):
        A = gb.Matrix("BOOL", 0, 0)
    assert core_number(A).degeneracy == 0
    assert k_core(A, 1).count == 0


@pytest.mark.parametrize("k", [-1, 1.5, True, "two"])
def test_bad_k(k):
    with pytest.raises(exceptions.InvalidValue, match="k="):
        k_core(cases.SHAPES["path"].matrix("reference"), k)


def test_not_square():
    for call in (core_number, lambda A: k_core(A, 2)):
        with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
            call(gb.Matrix("BOOL", 2, 3))


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = core_number(A)
        k_core(A, 2)
    assert len(loops) == 4
    assert found.core.to_dense().tolist() == expected_cores(graph)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "wiki-Vote"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph(name)
    graph = cases.unweighted(edges.nrows, zip(edges.rows, edges.cols, strict=True))
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
    np.testing.assert_array_equal(core_number(A).core.to_dense(), expected_cores(graph))


@pytest.mark.slow
def test_recorded_core(device):
    # The 3-core of a graph with 62,586 vertices, as GraphScope's tests have it.
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph("p2p-31")
    recorded = load_reference("p2p-31-ref")
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
    core = core_number(A).core.to_dense()
    expected = np.sort(recorded["gs_kcore_ids"])
    np.testing.assert_array_equal(np.flatnonzero(core >= 3), expected)
    np.testing.assert_array_equal(k_core(A, 3).degree.to_coo()[0], expected)
