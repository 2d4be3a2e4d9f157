"""Strongly connected components against reachability both ways, and against SciPy."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csgraph, csr_array
from tests.helpers.data import load_graph
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import strongly_connected_components


def labels(graph: cases.Graph) -> list[int]:
    """Return the smallest vertex that each vertex reaches and is reached from."""
    reached = [set(cases.levels(graph, vertex)) for vertex in range(graph.n)]
    return [
        min(other for other in reached[vertex] if vertex in reached[other])
        for vertex in range(graph.n)
    ]


def chain(count: int, order: np.ndarray) -> cases.Graph:
    """Return pairs that lead to each other, each to the next; `order` numbers the vertices."""
    inside = [pair for i in range(0, 2 * count, 2) for pair in ((i, i + 1), (i + 1, i))]
    onwards = [(i + 1, i + 2) for i in range(0, 2 * count - 2, 2)]
    return cases.unweighted(2 * count, [(order[i], order[j]) for i, j in inside + onwards])


def coloured(A):
    """Return the result of rounds, on hosts too."""
    return strongly_connected_components(A, algorithm="colours")


def rounds(found) -> int:
    """Return how often the search for colours began: where the product changes to vxm."""
    ops = [row.op for row in found.trace]
    return sum(b == "vxm" and a != b for a, b in zip(["", *ops], ops, strict=False))


@cases.shapes
def test_labels(graph, device):
    found = coloured(graph.matrix(device))
    assert found.label.to_dense().tolist() == labels(graph)
    assert found.count == len(set(labels(graph)))
    assert found.iterations == len(found.trace)


@given(graph=cases.graphs())
@cases.examples(max_examples=80)
def test_labels_of_any_graph(device, graph):
    found = coloured(graph.matrix(device))
    assert found.label.to_dense().tolist() == labels(graph)


def contract(monkeypatch) -> None:
    """Let every path of two edges be too long."""
    module = importlib.import_module("semira.algorithms.strongly_connected_components")
    monkeypatch.setattr(module, "_PATIENCE", 1)


@given(graph=cases.graphs())
@cases.examples(max_examples=150)
def test_contracted_graphs_have_the_same_components(device, graph):
    with pytest.MonkeyPatch.context() as patch:
        contract(patch)
        found = coloured(graph.matrix(device))
    assert found.label.to_dense().tolist() == labels(graph)


def sparse(seed: int) -> cases.Graph:
    """Return a graph with about one edge out of each vertex: trees, chains and cycles."""
    rng = np.random.default_rng(seed)
    n = 40
    pairs = {(i, int(rng.integers(0, n))) for i in range(n)}
    pairs |= {(int(i), int(j)) for i, j in rng.integers(0, n, (12, 2))}
    return cases.unweighted(n, sorted(pairs)[:: -1 if seed % 2 else 1])


@pytest.mark.parametrize("seed", range(12))
def test_contracted_trees_and_chains(device, seed, monkeypatch):
    graph = sparse(seed)
    contract(monkeypatch)
    against = cases.Graph(graph.n, tuple((j, i, w) for i, j, w in graph.edges))
    for each in (graph, against):
        found = coloured(each.matrix(device))
        assert found.label.to_dense().tolist() == labels(graph)


LONG = {
    "path": lambda n: [(i, i + 1) for i in range(n - 1)],
    "path both ways": lambda n: [p for i in range(n - 1) for p in ((i, i + 1), (i + 1, i))],
    "cycle": lambda n: [(i, (i + 1) % n) for i in range(n)],
    "two cycles": lambda n: [
        *((i, (i + 1) % (n // 2)) for i in range(n // 2)),
        (0, n // 2),
        *((i, i + 1) for i in range(n // 2, n - 1)),
        (n - 1, n // 2),
    ],
    "tree": lambda n: [(i, max(i - 1 - i % 3, 0)) for i in range(1, n)],
}


@pytest.mark.parametrize("name", LONG)
def test_long_graphs_take_few_iterations(device, name):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    n = 20_000
    order = np.random.default_rng(1).permutation(n)
    rows, cols = order[np.array(LONG[name](n))].T
    with gb.device(device):
        A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
    found = coloured(A)
    S = csr_array((np.ones(len(rows)), (rows.astype(np.int32), cols.astype(np.int32))), (n, n))
    count, component = csgraph.connected_components(S, directed=True, connection="strong")
    least = np.full(count, n)
    np.minimum.at(least, component, np.arange(n))
    np.testing.assert_array_equal(found.label.to_dense(), least[component])
    assert found.iterations == gb.lost_rows(found.trace) + len(found.trace) < 1200


def test_two_cycles_and_a_bridge(device):
    # 4 -> 1 -> 4 leads over 2 into 5 -> 0 -> 3 -> 5; 6 stands alone with a loop.
    pairs = [(4, 1), (1, 4), (1, 2), (2, 5), (5, 0), (0, 3), (3, 5), (6, 6)]
    found = coloured(cases.unweighted(7, pairs).matrix(device))
    assert found.label.to_dense().tolist() == [0, 1, 2, 0, 1, 0, 6]
    assert found.count == 4


def test_symmetric_graphs_have_weak_components(device):
    graph = cases.SHAPES["random"].both_ways()
    found = coloured(graph.matrix(device))
    assert found.label.to_dense().tolist() == cases.components(graph)


@pytest.mark.parametrize("order", ["rising", "falling", "shuffled"])
def test_a_chain_takes_few_rounds_in_any_order(device, order):
    # Colours in the order of the numbers would find one pair a round in one of these.
    n = 120
    numbers = {
        "rising": np.arange(n),
        "falling": np.arange(n)[::-1],
        "shuffled": np.random.default_rng(2).permutation(n),
    }[order]
    found = coloured(chain(n // 2, numbers).matrix(device))
    expected = np.empty(n, int)
    expected[numbers] = np.minimum(numbers, numbers[np.arange(n) ^ 1])
    assert found.label.to_dense().tolist() == expected.tolist()
    assert 1 < rounds(found) <= 15


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FC64"])
def test_every_dtype_is_a_graph(device, dtype):
    found = strongly_connected_components(cases.SHAPES["two triangles"].matrix(device, dtype))
    assert found.label.dtype == "INT32"
    assert found.label.to_dense().tolist() == [0, 1, 0, 1, 0, 1, 6]


def test_explicit_zeros_are_edges(device):
    graph = cases.Graph(3, ((2, 1, 0.0), (1, 2, 0.0)))
    found = strongly_connected_components(graph.matrix(device))
    assert found.label.to_dense().tolist() == [0, 1, 1]


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random dense"].matrix(device)
    before = A.dup()
    strongly_connected_components(A)
    assert A.isequal(before, check_dtype=True)


def test_no_vertices(device):
    with gb.device(device):
        found = strongly_connected_components(gb.Matrix("BOOL", 0, 0))
    assert (found.label.size, found.count) == (0, 0)


def test_bad_arguments():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        strongly_connected_components(gb.Matrix("BOOL", 2, 3))
    with pytest.raises(exceptions.DomainMismatch, match="Vector"):
        strongly_connected_components(gb.Vector("BOOL", 2))


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = strongly_connected_components(A)
    # The marks, the rounds with what is inside of them, and the labels.
    assert len(loops) >= 3
    assert found.label.to_dense().tolist() == labels(graph)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["wiki-Vote", "EVA", "cit-HepPh", "p2p-31", "rome99", "web-NotreDame", "cnr-2000"]
)
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference device is too slow for real graphs")
    A = gb.io.from_edges(load_graph(name))
    rows, cols, _ = A.to_coo()
    positions = rows.astype(np.int32), cols.astype(np.int32)
    S = csr_array((np.ones(len(rows)), positions), A.shape)
    count, component = csgraph.connected_components(S, directed=True, connection="strong")
    least = np.full(count, A.nrows)
    np.minimum.at(least, component, np.arange(A.nrows))
    found = strongly_connected_components(A.to(device))
    np.testing.assert_array_equal(found.label.to_dense(), least[component])
    assert found.count == count
