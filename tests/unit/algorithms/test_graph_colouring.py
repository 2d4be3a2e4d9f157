"""Graph colouring against the greedy colouring of NetworkX in the same order."""

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
from semira.algorithms import graph_colouring
from semira.algorithms.neighbours import undirected
from semira.algorithms.turns import colours_in_turn


def greedy(graph: cases.Graph, seed: int) -> list[int]:
    """Return the least colour left over for each vertex, in falling order of their numbers."""
    G = nx.Graph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from((i, j) for i, j, _ in graph.edges if i != j)
    order = cases.scan_order(graph.n, seed)
    colours = nx.greedy_color(G, strategy=lambda G, colors: order)
    return [colours[vertex] for vertex in range(graph.n)]


@cases.shapes
def test_colours(graph, device):
    found = graph_colouring(graph.matrix(device))
    expected = greedy(graph, 0)
    assert found.colour.to_dense().tolist() == expected
    assert found.count == max(expected) + 1
    both = graph.both_ways().matrix(device)
    assert graph_colouring(both, symmetric=True).colour.isequal(found.colour)


@given(graph=cases.graphs(), seed=st.integers(0, 2**70))
@cases.examples(max_examples=40)
def test_colours_of_any_graph(device, graph, seed):
    found = graph_colouring(graph.matrix(device), seed=seed)
    assert found.colour.to_dense().tolist() == greedy(graph, seed)


def test_more_colours_than_a_word_has_bits(device):
    # A clique of 70 vertices, and a path that hangs on it and needs no third colour.
    clique = [(i, j) for i in range(70) for j in range(i)]
    graph = cases.unweighted(80, [*clique, *[(i, i + 1) for i in range(69, 79)]])
    assert graph_colouring(graph.matrix(device), seed=3).count == 70
    # An option asks for products, where hosts have a loop.
    found = graph_colouring(graph.matrix(device), seed=3, deterministic=True)
    colours = found.colour.to_dense().tolist()
    assert sorted(colours[:70]) == list(range(70))
    assert colours == greedy(graph, 3)
    assert found.count == 70
    # All 70 try the first word; six or more are left over for the second one.
    assert found.iterations >= 63 + 5


def test_exactly_one_word_of_colours(device):
    graph = cases.unweighted(64, [(i, j) for i in range(64) for j in range(i)])
    found = graph_colouring(graph.matrix(device), deterministic=True)
    assert found.colour.to_dense().tolist() == greedy(graph, 0)
    # All begin with the first colour, and one more is right after each iteration.
    assert (found.count, found.iterations) == (64, 63)


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph_and_zeros_are_edges(device, dtype):
    found = graph_colouring(cases.Graph(3, ((2, 1, 0.0),)).matrix(device, dtype))
    assert found.colour.dtype == "INT32"
    assert found.count == 2


def test_no_vertices(device):
    with gb.device(device):
        found = graph_colouring(gb.Matrix("BOOL", 0, 0))
    assert (found.colour.size, found.count) == (0, 0)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "two"])
def test_bad_seed(seed):
    with pytest.raises(exceptions.InvalidValue, match="seed"):
        graph_colouring(cases.SHAPES["path"].matrix("reference"), seed=seed)


def test_not_square():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        graph_colouring(gb.Matrix("BOOL", 2, 3))


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = graph_colouring(A)
    assert len(loops) >= 2
    assert found.colour.to_dense().tolist() == greedy(graph, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "delaunay_n12", "wiki-Vote"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph(name)
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
    colour = graph_colouring(A, seed=1).colour.to_dense()
    pairs = zip(edges.rows.tolist(), edges.cols.tolist(), strict=True)
    graph = cases.unweighted(edges.nrows, pairs)
    np.testing.assert_array_equal(colour, greedy(graph, 1))


def hubs() -> cases.Graph:
    """Return a graph with rows of every class, and more colours than two words have bits."""
    # A clique of 140; hubs on it, whose neighbours a path joins; rows of 10 to 30; self-loops.
    clique = [(i, j) for i in range(140) for j in range(i)]
    stars = [(hub, v) for hub in (0, 1, 141) for v in range(142, 142 + 520)]
    path = [(v, v + 1) for v in range(142, 661)]
    bands = [(v, v + step) for v in range(142, 200) for step in range(2, 12)]
    return cases.unweighted(700, [*clique, *stars, *path, *bands, (0, 0), (5, 5), (690, 690)])


@pytest.fixture
def gpu(device):
    if not gb.device_traits(device).own_memory:
        pytest.skip("its kernels are for GPUs alone")
    return device


def test_turns_make_the_colours_of_the_scan(gpu):
    graph = hubs()
    edges = undirected(graph.matrix(gpu), symmetric=False)
    for seed in (0, 2, 9, 10, 11):
        expected = greedy(graph, seed)
        assert max(expected) >= 139
        assert colours_in_turn(edges, seed).to_dense().tolist() == expected


def test_another_seed_is_another_order(gpu):
    graph = cases.SHAPES["random"]
    edges = undirected(graph.matrix(gpu), symmetric=False)
    for seed in (0, 1, 0):
        assert colours_in_turn(edges, seed).to_dense().tolist() == greedy(graph, seed)


@pytest.mark.slow
def test_rows_that_are_read_again_and_again(gpu):
    """A hub waits for more neighbours than its threads remember, and a clique for one another."""
    pairs = [(0, v) for v in range(1, 20_001)] + [(v, v + 1) for v in range(1, 20_000)]
    pairs += [(v, v + 1000) for v in range(1, 19_000)]
    pairs += [(i, j) for i in range(20_001, 20_601) for j in range(20_001, i)]
    pairs += [(0, v) for v in range(20_001, 20_601)]
    graph = cases.unweighted(20_601, pairs)
    edges = undirected(graph.matrix(gpu), symmetric=False)
    for seed in (0, 7):
        assert colours_in_turn(edges, seed).to_dense().tolist() == greedy(graph, seed)
