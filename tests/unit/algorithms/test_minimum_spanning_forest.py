"""Minimum spanning forests against Kruskal's algorithm, and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csgraph, csr_array
from tests.helpers.data import load_graph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import minimum_spanning_forest


def kruskal(graph: cases.Graph) -> dict[tuple[int, int], float]:
    """Return the edges (greater end, smaller end) with weights, ties broken by these."""
    lightest: dict[tuple[int, int], float] = {}
    for i, j, w in graph.edges:
        key = (max(i, j), min(i, j))
        lightest[key] = min(w, lightest.get(key, np.inf))
    tree = list(range(graph.n))
    found = {}
    for w, (i, j) in sorted((w, key) for key, w in lightest.items()):
        if tree[i] != tree[j]:
            found[i, j] = w
            tree = [tree[i] if each == tree[j] else each for each in tree]
    return found


def edges(forest: gb.Matrix) -> dict[tuple[int, int], float]:
    return {(int(i), int(j)): w for i, j, w in zip(*forest.to_coo(), strict=True)}


@cases.shapes
def test_forest(graph, device):
    expected = kruskal(graph)
    found = minimum_spanning_forest(graph.matrix(device))
    assert edges(found.forest) == expected
    assert found.weight == sum(expected.values())
    assert found.trees == graph.n - len(expected)
    assert found.trees == len(set(cases.components(graph)))
    assert edges(minimum_spanning_forest(graph.both_ways().matrix(device)).forest) == kruskal(
        graph.both_ways()
    )


@given(graph=cases.graphs(lightest=-3))
@cases.examples(max_examples=100)
def test_forest_of_any_graph(device, graph):
    found = minimum_spanning_forest(graph.matrix(device))
    assert edges(found.forest) == kruskal(graph)
    assert found.weight == sum(kruskal(graph).values())


@given(graph=cases.graphs().map(lambda g: cases.unweighted(g.n, [e[:2] for e in g.edges])))
@cases.examples(max_examples=60)
def test_ties_are_broken_by_position(device, graph):
    assert edges(minimum_spanning_forest(graph.matrix(device)).forest) == kruskal(graph)


def test_the_lighter_direction_counts(device):
    graph = cases.Graph(3, ((0, 1, 4.0), (1, 0, 2.0), (1, 2, 3.0), (2, 2, -5.0)))
    found = minimum_spanning_forest(graph.matrix(device))
    assert found.forest.to_dicts() == {1: {0: 2}, 2: {1: 3}}
    assert (found.weight, found.trees) == (5, 1)


def test_rounds_are_logarithmic(device):
    # Weights that rise along a path join all of it at once; a shuffled path takes a few rounds.
    n = 64
    weights = np.random.default_rng(5).permutation(n)
    graph = cases.Graph(n, tuple((i, i + 1, float(weights[i])) for i in range(n - 1)))
    found = minimum_spanning_forest(graph.matrix(device), algorithm="boruvka")
    assert (found.forest.nvals, found.trees) == (n - 1, 1)
    assert found.iterations <= 7


@every("dtype", ["BOOL", "INT8", "UINT64", "INT32", "FP32"])
def test_weights_keep_their_dtype(device, dtype):
    graph = cases.Graph(3, ((0, 1, 100.0), (1, 2, 90.0), (2, 0, 110.0)))
    found = minimum_spanning_forest(graph.matrix(device, dtype))
    assert found.forest.dtype == dtype
    # The sum of two INT8 would not fit into one.
    assert found.weight == (2 if dtype == "BOOL" else 190)
    assert isinstance(found.weight, float if dtype == "FP32" else int)


def test_infinite_weights_are_weights(device):
    graph = cases.Graph(4, ((0, 1, np.inf), (1, 2, -np.inf), (2, 0, 1.0), (3, 0, np.inf)))
    found = minimum_spanning_forest(graph.matrix(device))
    assert found.forest.to_dicts() == {2: {0: 1, 1: -np.inf}, 3: {0: np.inf}}


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random dense"].matrix(device)
    before = A.dup()
    found = minimum_spanning_forest(A)
    assert A.isequal(before, check_dtype=True)
    assert found.forest.device == device


def test_no_vertices(device):
    with gb.device(device):
        found = minimum_spanning_forest(gb.Matrix("INT32", 0, 0))
    assert (found.forest.shape, found.weight, found.trees) == ((0, 0), 0, 0)


def test_bad_arguments():
    A = cases.SHAPES["path"].matrix("reference")
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        minimum_spanning_forest(gb.Matrix("FP64", 2, 3))
    with pytest.raises(exceptions.DomainMismatch, match="FC64"):
        minimum_spanning_forest(A.dup("FC64"))
    with pytest.raises(exceptions.InvalidValue, match="nan"):
        minimum_spanning_forest(cases.Graph(2, ((0, 1, np.nan),)).matrix("reference"))


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = minimum_spanning_forest(A)
    assert len(loops) >= 3
    assert edges(found.forest) == kruskal(graph)


def test_more_vertices_than_positions_can_be_numbered():
    A = gb.Matrix.from_coo([0], [1], [1.0], nrows=2**33, ncols=2**33)
    with pytest.raises(exceptions.InvalidValue, match=r"at most 1073741824 = 2\*\*30 vertices"):
        minimum_spanning_forest(A)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minnesota", "rome99", "p2p-31", "loc-gowalla", "USA-road-d.NY"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference device is too slow for real graphs")
    A = gb.io.from_edges(load_graph(name)).dup("FP64")
    rows, cols, values = A.to_coo()
    # SciPy takes weight zero for no edge; all weights here are integers, so sums are exact.
    shift = values.min() - 1
    positions = rows.astype(np.int32), cols.astype(np.int32)
    tree = csgraph.minimum_spanning_tree(csr_array((values - shift, positions), A.shape))
    found = minimum_spanning_forest(A.to(device))
    assert found.forest.nvals == tree.nnz
    assert found.weight == tree.sum() + shift * tree.nnz
    lower = found.forest.to("cpu")
    assert gb.algorithms.connected_components(lower).count == found.trees
    assert lower.ewise_mult(A.ewise_add(A.T, "min"), "eq").new().reduce_scalar("land").value
