"""Jaccard similarities against sets of neighbours."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import jaccard_similarity


def by_sets(graph: cases.Graph, pairs) -> dict[tuple[int, int], float]:
    heads = [{j for i, j, _ in graph.edges if i == v} for v in range(graph.n)]
    found = {}
    for i, j in pairs:
        union = heads[i] | heads[j]
        found[i, j] = len(heads[i] & heads[j]) / len(union) if union else 0.0
    return found


def entries(similarity: gb.Matrix) -> dict[tuple[int, int], float]:
    rows, cols, values = similarity.to_coo()
    return dict(zip(zip(rows.tolist(), cols.tolist(), strict=True), values.tolist(), strict=True))


@cases.shapes
def test_adjacent_pairs(graph, device):
    found = jaccard_similarity(graph.matrix(device)).similarity
    # One division of the same integers: equal to the last bit.
    assert entries(found) == by_sets(graph, [(i, j) for i, j, _ in graph.edges])


@cases.shapes
def test_all_pairs(graph, device):
    pairs = list(product(range(graph.n), repeat=2))
    expected = by_sets(graph, pairs)
    assert entries(jaccard_similarity(graph.matrix(device), pairs).similarity) == expected
    # As a matrix, whose values are not read.
    asked = cases.Graph(graph.n, tuple((i, j, 0.0) for i, j in pairs)).matrix(device)
    assert entries(jaccard_similarity(graph.matrix(device), asked).similarity) == expected


@given(cases.graphs(), st.data())
@cases.examples(max_examples=30)
def test_any_graph_and_pairs(device, graph, data):
    vertex = st.integers(0, graph.n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=6))
    found = jaccard_similarity(graph.matrix(device), pairs).similarity
    assert entries(found) == by_sets(graph, pairs)
    assert found.shape == (graph.n, graph.n)


def test_as_networkx(device):
    G = nx.barabasi_albert_graph(40, 3, seed=1)
    A = cases.unweighted(40, G.edges).both_ways().matrix(device)
    expected = {(i, j): value for i, j, value in nx.jaccard_coefficient(G, G.edges)}
    assert entries(jaccard_similarity(A, G.edges).similarity) == expected


@pytest.mark.parametrize("method", ["dot", "hash"])
def test_every_method_of_the_product(device, method):
    graph = cases.SHAPES["random dense"]
    found = jaccard_similarity(graph.matrix(device), method=method)
    assert next(row.method for row in found.trace if row.op == "mxm") == method
    assert entries(found.similarity) == by_sets(graph, [(i, j) for i, j, _ in graph.edges])


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    graph = cases.SHAPES["complete"]
    found = jaccard_similarity(graph.matrix(device, dtype)).similarity
    assert found.dtype == "FP64"
    assert entries(found) == by_sets(graph, [(i, j) for i, j, _ in graph.edges])


def test_arrays_of_pairs(device):
    graph = cases.SHAPES["random"]
    pairs = np.array([[0, 1], [5, 2], [0, 1]], np.uint32)
    found = jaccard_similarity(graph.matrix(device), pairs).similarity
    assert entries(found) == by_sets(graph, [(0, 1), (5, 2)])


def test_graph_and_pairs_are_not_modified(device):
    A, P = (cases.SHAPES[name].matrix(device) for name in ("random", "random"))
    before = A.dup()
    jaccard_similarity(A, P)
    assert A.isequal(before, check_dtype=True)
    assert P.isequal(before, check_dtype=True)


def test_no_pairs(device):
    A = cases.SHAPES["grid"].matrix(device)
    assert jaccard_similarity(A, []).similarity.nvals == 0
    with gb.device(device):
        assert jaccard_similarity(gb.Matrix("BOOL", 0, 0)).similarity.shape == (0, 0)


def test_bad_arguments():
    A = cases.SHAPES["path"].matrix("reference")
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(5, 6\).*\(6, 6\)"):
        jaccard_similarity(A, gb.Matrix("BOOL", 5, 6))
    for pairs in ([(0, 1, 2)], [(0,)], [3]):
        with pytest.raises(exceptions.InvalidValue, match="pair"):
            jaccard_similarity(A, pairs)
    with pytest.raises(exceptions.InvalidValue, match="pairs=7"):
        jaccard_similarity(A, 7)
    with pytest.raises(exceptions.IndexOutOfBound, match="6"):
        jaccard_similarity(A, [(0, 6)])
    with pytest.raises(exceptions.InvalidIndex, match=r"0\.5"):
        jaccard_similarity(A, [(0, 0.5)])
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(3, 2\)"):
        jaccard_similarity(gb.Matrix("BOOL", 3, 2))
    with pytest.raises(exceptions.InvalidValue, match="speed"):
        jaccard_similarity(A, speed=11)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "wiki-Vote"])
def test_real_graphs(device, name):
    A = cases.real_matrix(name, device)
    S = gb.io.to_scipy_sparse(A.dup("INT64"))
    S.data[:] = 1
    rows, cols = S.nonzero()
    common = np.asarray((S @ S.T)[rows, cols]).ravel()
    degree = np.diff(S.indptr)
    expected = common / (degree[rows] + degree[cols] - common)
    found = gb.io.to_scipy_sparse(jaccard_similarity(A).similarity)
    np.testing.assert_allclose(np.asarray(found[rows, cols]).ravel(), expected, rtol=1e-15)
    assert found.nnz == S.nnz
