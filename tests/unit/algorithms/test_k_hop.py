"""Neighbourhoods against a queue."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import k_hop


def within(graph: cases.Graph, sources: list[int], k: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for source in sources:
        for vertex, hops in cases.levels(graph, source).items():
            if hops <= min(k, found.get(vertex, k)):
                found[vertex] = hops
    return found


@cases.shapes
def test_vertices_within_k_hops(graph, device):
    A = graph.matrix(device)
    for k in (0, 1, 2, graph.n):
        found = k_hop(A, 0, k)
        expected = within(graph, [0], k)
        assert found.level.to_dict() == expected
        assert found.count == len(expected)
        assert found.iterations <= k


@given(cases.graphs(), st.data(), st.integers(0, 5))
@cases.examples(max_examples=30)
def test_of_any_graph_and_set(device, graph, data, k):
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=4))
    assert k_hop(graph.matrix(device), sources, k).level.to_dict() == within(graph, sources, k)


def digraph(graph: cases.Graph) -> nx.DiGraph:
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from((i, j) for i, j, _ in graph.edges)
    return G


@cases.shapes
def test_as_networkx(graph, device):
    A, G = graph.matrix(device), digraph(graph)
    for source in (0, graph.n // 2, graph.n - 1):
        for k in (0, 1, 2, 5):
            expected = nx.single_source_shortest_path_length(G, source, cutoff=k)
            assert k_hop(A, source, k).level.to_dict() == dict(expected)


@given(cases.graphs(), st.data(), st.integers(0, 4))
@cases.examples(max_examples=30)
def test_any_graph_as_networkx(device, graph, data, k):
    G = digraph(graph)
    sources = data.draw(st.sets(st.integers(0, graph.n - 1), min_size=1, max_size=4))
    # A vertex before all sources is a hop further away.
    G.add_edges_from(("before", source) for source in sources)
    expected = dict(nx.single_source_shortest_path_length(G, "before", cutoff=k + 1))
    del expected["before"]
    found = k_hop(graph.matrix(device), sorted(sources), k).level.to_dict()
    assert found == {vertex: hops - 1 for vertex, hops in expected.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "wiki-Vote"])
def test_real_graphs(device, name):
    A = cases.real_matrix(name, device)
    G = gb.io.to_networkx(A)
    for source in (0, A.nrows // 2):
        expected = nx.single_source_shortest_path_length(G, source, cutoff=3)
        assert k_hop(A, source, 3).level.to_dict() == dict(expected)


def test_default_is_the_neighbours(device):
    found = k_hop(cases.SHAPES["star"].matrix(device), [0])
    assert found.level.to_dict() == {0: 0, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1}


def test_nothing_beyond_k_is_looked_at(device):
    found = k_hop(cases.SHAPES["path"].matrix(device), 0, 2, direction="push")
    assert [(row.frontier, row.touched) for row in found.trace] == [(1, 1), (1, 1)]


def test_more_hops_than_vertices(device):
    graph = cases.SHAPES["cycle"]
    assert k_hop(graph.matrix(device), 1, 10**12).level.to_dict() == cases.levels(graph, 1)


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random"].matrix(device)
    before = A.dup()
    k_hop(A, [0, 1], 3)
    assert A.isequal(before, check_dtype=True)


def test_bad_arguments():
    A = cases.SHAPES["path"].matrix("reference")
    for k in (-1, 1.5, None, True):
        with pytest.raises(exceptions.InvalidValue, match="k="):
            k_hop(A, 0, k)
    with pytest.raises(exceptions.IndexOutOfBound, match="6"):
        k_hop(A, [0, 6], 1)
    with pytest.raises(exceptions.InvalidIndex, match="'a'"):
        k_hop(A, "a", 1)
    with pytest.raises(exceptions.DimensionMismatch, match="k_hop"):
        k_hop(gb.Matrix("BOOL", 2, 3), 0, 1)
    with pytest.raises(exceptions.DomainMismatch, match="k_hop"):
        k_hop(None, 0, 1)
    with pytest.raises(exceptions.IndexOutOfBound, match=r"\[0, 0\)"):
        k_hop(gb.Matrix("BOOL", 0, 0), 0, 1)
    with pytest.raises(exceptions.InvalidValue, match="speed"):
        k_hop(A, 0, 1, speed=11)


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = k_hop(A, [1, 2], 2)
    assert loops
    assert found.level.to_dict() == within(graph, [1, 2], 2)
