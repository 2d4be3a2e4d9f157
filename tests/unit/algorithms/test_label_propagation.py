"""Label propagation against the same turns one vertex at a time, and by its fixed point."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.data import load_graph
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import label_propagation


def greedy_colours(graph: cases.Graph, seed: int) -> dict[int, int]:
    G = nx.Graph()
    G.add_nodes_from(range(graph.n))
    G.add_edges_from((i, j) for i, j, _ in graph.edges if i != j)
    order = cases.scan_order(graph.n, seed)
    return nx.greedy_color(G, strategy=lambda G, colors: order)


def frequent(near: set[int], label: list[int]) -> list[int]:
    """Return the labels that most of some vertices have, in rising order."""
    votes = Counter(label[each] for each in near)
    return sorted(found for found in votes if votes[found] == max(votes.values()))


def propagated(graph: cases.Graph, seed: int, iterations: int = 1000) -> tuple[list[int], int]:
    """Return labels and iterations of turns that are taken one vertex at a time."""
    near, colour = cases.neighbours(graph), greedy_colours(graph, seed)
    label = list(range(graph.n))
    for done in range(1, iterations + 1):
        before = list(label)
        for vertex in sorted(range(graph.n), key=lambda vertex: colour[vertex]):
            best = frequent(near[vertex], label)
            if best and label[vertex] not in best:
                label[vertex] = best[0]
        if label == before:
            return label, done
    return label, iterations


def is_settled(graph: cases.Graph, label: list[int]) -> bool:
    near = cases.neighbours(graph)
    return all(not near[v] or label[v] in frequent(near[v], label) for v in range(graph.n))


@cases.shapes
def test_labels(graph, device):
    found = label_propagation(graph.matrix(device))
    label, iterations = propagated(graph, 0)
    assert found.label.to_dense().tolist() == label
    assert (found.iterations, found.converged) == (iterations, True)
    assert found.count == len(set(label))
    assert is_settled(graph, label)
    both = graph.both_ways().matrix(device)
    assert label_propagation(both, symmetric=True).label.isequal(found.label)


@given(graph=cases.graphs(), seed=st.integers(0, 2**70))
@cases.examples(max_examples=25)
def test_labels_of_any_graph(device, graph, seed):
    found = label_propagation(graph.matrix(device), seed=seed)
    label, iterations = propagated(graph, seed)
    assert found.label.to_dense().tolist() == label
    assert (found.iterations, found.converged) == (iterations, True)


@pytest.mark.parametrize("iterations", [1, 2])
def test_iterations_can_be_limited(device, iterations):
    graph = cases.random_graph(60, 140, seed=2)
    assert propagated(graph, 0)[1] > 3
    found = label_propagation(graph.matrix(device), iterations)
    assert found.label.to_dense().tolist() == propagated(graph, 0, iterations)[0]
    assert (found.iterations, found.converged) == (iterations, False)


def test_dense_groups_are_found(device):
    # Four cliques of six in a ring, one edge between neighbours.
    cliques = [(6 * c + i, 6 * c + j) for c in range(4) for i in range(6) for j in range(i)]
    ring = [(6 * c + 5, 6 * c + 6) for c in range(3)]
    found = label_propagation(cases.unweighted(24, [*cliques, *ring]).matrix(device))
    groups = found.label.to_dense().reshape(4, 6)
    assert (groups == groups[:, :1]).all()
    assert found.count == 4


def test_a_bipartite_graph_does_not_swing(device):
    # Where all vertices move at once, both sides of such a graph swap labels for ever.
    pairs = [(i, j) for i in range(4) for j in range(4, 8)]
    found = label_propagation(cases.unweighted(8, pairs).matrix(device))
    assert found.converged
    assert found.count == 1


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph_and_zeros_are_edges(device, dtype):
    found = label_propagation(cases.Graph(3, ((2, 1, 0.0),)).matrix(device, dtype))
    assert found.label.dtype == "INT32"
    assert found.count == 2


def test_no_vertices(device):
    with gb.device(device):
        found = label_propagation(gb.Matrix("BOOL", 0, 0))
    assert (found.label.size, found.count, found.converged) == (0, 0, True)


@pytest.mark.parametrize(
    "options", [{"max_iterations": 0}, {"max_iterations": 1.5}, {"seed": -1}, {"seed": "two"}]
)
def test_bad_options(options):
    with pytest.raises(exceptions.InvalidValue, match=next(iter(options))):
        label_propagation(cases.SHAPES["path"].matrix("reference"), **options)


def test_not_square():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        label_propagation(gb.Matrix("BOOL", 2, 3))


def test_trace_has_the_products_of_every_turn(device):
    graph = cases.SHAPES["random"]
    found = label_propagation(graph.matrix(device))
    colours = 1 + max(greedy_colours(graph, 0).values())
    products = [row for row in found.trace if row.op == "mxm"]
    assert len(products) == 2 * colours * found.iterations


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "email-Eu-core"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph(name)
    graph = cases.unweighted(
        edges.nrows, zip(edges.rows.tolist(), edges.cols.tolist(), strict=True)
    )
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=edges.nrows, ncols=edges.ncols)
    found = label_propagation(A, seed=4)
    label, iterations = propagated(graph, 4)
    np.testing.assert_array_equal(found.label.to_dense(), label)
    assert (found.iterations, found.converged) == (iterations, True)
    assert is_settled(graph, label)
