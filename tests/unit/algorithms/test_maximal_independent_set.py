"""Maximal independent sets against a greedy scan, and by their two properties."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.data import load_graph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import maximal_independent_set
from semira.algorithms.neighbours import priorities


def greedy(graph: cases.Graph, seed: int) -> set[int]:
    """Return what a scan of the vertices in falling order of their numbers collects."""
    near = cases.neighbours(graph)
    found: set[int] = set()
    for vertex in cases.scan_order(graph.n, seed):
        if not near[vertex] & found:
            found.add(vertex)
    return found


@cases.shapes
def test_sets(graph, device):
    found = maximal_independent_set(graph.matrix(device))
    assert set(found.member.to_dict()) == greedy(graph, 0)
    assert found.count == len(greedy(graph, 0))
    both = graph.both_ways().matrix(device)
    assert maximal_independent_set(both, symmetric=True).member.isequal(found.member)


@given(graph=cases.graphs(), seed=st.integers(0, 2**70))
@cases.examples(max_examples=40)
def test_sets_of_any_graph(device, graph, seed):
    found = maximal_independent_set(graph.matrix(device), seed=seed)
    members = set(found.member.to_dict())
    assert members == greedy(graph, seed)
    near = cases.neighbours(graph)
    assert all(bool(near[v] & members) != (v in members) for v in range(graph.n))


def undirected(graph: cases.Graph) -> nx.Graph:
    G = nx.Graph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from((i, j) for i, j, _ in graph.edges if i != j)
    return G


def assert_maximal_independent(G: nx.Graph, members: set[int]) -> None:
    """Check by NetworkX: no edge inside, every other vertex beside, and nothing to add."""
    assert G.subgraph(members).number_of_edges() == 0
    assert members | set(nx.node_boundary(G, members)) == set(G)
    # NetworkX refuses members that are connected, and adds to a set what it can.
    if members:
        assert set(nx.maximal_independent_set(G, members, seed=0)) == members


@cases.shapes
def test_networkx_adds_nothing(graph, device):
    found = maximal_independent_set(graph.matrix(device), seed=3)
    assert_maximal_independent(undirected(graph), set(found.member.to_dict()))


@given(graph=cases.graphs(), seed=st.integers(0, 2**40))
@cases.examples(max_examples=40)
def test_networkx_adds_nothing_to_any_set(device, graph, seed):
    found = maximal_independent_set(graph.matrix(device), seed=seed)
    members = set(found.member.to_dict())
    assert_maximal_independent(undirected(graph), members)
    # The first colour of its greedy colouring in the same order is that set.
    order = cases.scan_order(graph.n, seed)
    colours = nx.greedy_color(undirected(graph), strategy=lambda G, colors: order)
    assert members == {vertex for vertex, colour in colours.items() if colour == 0}


def test_seeds_give_different_sets(device):
    A = cases.SHAPES["random"].matrix(device)
    sets = {frozenset(maximal_independent_set(A, seed=seed).member.to_dict()) for seed in range(8)}
    assert len(sets) > 1


def test_numbers_differ_and_are_the_same_on_every_device(device):
    n = 3000
    with gb.device(device):
        found = priorities(gb.Matrix("BOOL", n, n), 5)
    assert (found.device, found.dtype) == (device, "UINT32")
    assert found.to_dense().tolist() == cases.hashes(n, 5)
    assert len(set(cases.hashes(n, 5))) == n


def test_few_iterations_on_a_path(device):
    # A scan by vertex number would take as many as there are vertices.
    n = 400
    graph = cases.unweighted(n, [(i, i + 1) for i in range(n - 1)])
    found = maximal_independent_set(graph.matrix(device))
    assert n / 3 <= found.count <= n / 2 + 1
    assert found.iterations < 20
    # An option asks for products, where hosts have a scan.
    pinned = maximal_independent_set(graph.matrix(device), policy="auto")
    assert pinned.member.isequal(found.member, check_dtype=True)
    assert 2 <= pinned.iterations < 20


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph_and_zeros_are_edges(device, dtype):
    graph = cases.Graph(3, ((2, 1, 0.0),))
    assert maximal_independent_set(graph.matrix(device, dtype)).count == 2


def test_no_vertices(device):
    with gb.device(device):
        assert maximal_independent_set(gb.Matrix("BOOL", 0, 0)).count == 0


@pytest.mark.parametrize("seed", [-1, 1.5, True, "two"])
def test_bad_seed(seed):
    with pytest.raises(exceptions.InvalidValue, match="seed"):
        maximal_independent_set(cases.SHAPES["path"].matrix("reference"), seed=seed)


def test_not_square():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        maximal_independent_set(gb.Matrix("BOOL", 2, 3))


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = maximal_independent_set(A)
    # One of them draws the numbers.
    assert len(loops) == 2
    assert set(found.member.to_dict()) == greedy(graph, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "email-Enron", "wiki-Vote"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph(name)
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
    found = maximal_independent_set(A, seed=1)
    member = found.member.to_dense(False)
    rows, cols = edges.rows, edges.cols
    proper = rows != cols
    assert not (member[rows] & member[cols] & proper).any()
    beside = np.zeros(edges.nrows, bool)
    beside[cols[member[rows] & proper]] = True
    beside[rows[member[cols] & proper]] = True
    assert (beside ^ member).all()
