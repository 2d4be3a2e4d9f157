"""Widest paths against Prim's search from the source, and against SciPy's spanning trees."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csgraph, csr_array
from tests.helpers.data import load_graph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import widest_path


def widths(graph: cases.Graph, source: int) -> dict[int, float]:
    """Return the width of every vertex, settling the widest one first."""
    found: dict[int, float] = {}
    queue = [(-np.inf, source)]
    while queue:
        width, at = heapq.heappop(queue)
        if at not in found:
            found[at] = -width
            for i, j, w in graph.edges:
                if i == at:
                    heapq.heappush(queue, (-min(-width, w), j))
    return found


@cases.shapes
def test_widths(graph, device):
    A = graph.matrix(device)
    for source in {0, graph.n - 1}:
        found = widest_path(A, source)
        assert found.width.to_dict() == widths(graph, source)
        assert found.reached == len(widths(graph, source))


@given(graph=cases.graphs(lightest=-4))
@cases.examples(max_examples=60)
def test_widths_of_any_graph(device, graph):
    assert widest_path(graph.matrix(device), 0).width.to_dict() == widths(graph, 0)


def test_the_detour_is_wider(device):
    # 0 to 3 directly is 1 wide; by 1 and 2 it is 4, the narrowest of 9, 4 and 5.
    graph = cases.Graph(4, ((0, 1, 9.0), (0, 3, 1.0), (1, 2, 4.0), (2, 3, 5.0)))
    found = widest_path(graph.matrix(device), 0)
    assert found.width.to_dict() == {0: np.inf, 1: 9, 2: 4, 3: 4}
    assert found.iterations == 4


@every("dtype", ["INT8", "UINT16", "INT64", "FP32"])
def test_widths_have_the_dtype_of_the_matrix(device, dtype):
    graph = cases.SHAPES["random"]
    found = widest_path(graph.matrix(device, dtype), 0).width
    assert found.dtype == dtype
    others = found.to_dict()
    top = others.pop(0)
    assert top == (np.inf if dtype == "FP32" else np.iinfo(dtype.lower()).max)
    assert others == {v: w for v, w in widths(graph, 0).items() if v}


def test_a_pattern_has_widths_of_true(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=4, ncols=4)
    assert widest_path(A, 0).width.to_dict() == {0: True, 1: True, 2: True}


def test_infinite_widths_are_widths(device):
    graph = cases.Graph(4, ((0, 1, np.inf), (1, 2, -np.inf), (2, 3, 1.0)))
    expected = {0: np.inf, 1: np.inf, 2: -np.inf, 3: -np.inf}
    assert widest_path(graph.matrix(device), 0).width.to_dict() == expected


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random dense"].matrix(device)
    before = A.dup()
    widest_path(A, 0, direction="pull")
    assert A.isequal(before, check_dtype=True)


def test_bad_arguments():
    A = cases.SHAPES["path"].matrix("reference")
    with pytest.raises(exceptions.IndexOutOfBound, match="source 6"):
        widest_path(A, 6)
    with pytest.raises(exceptions.InvalidIndex, match="'a'"):
        widest_path(A, "a")
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        widest_path(gb.Matrix("FP64", 2, 3), 0)
    with pytest.raises(exceptions.DomainMismatch, match="FC64"):
        widest_path(A.dup("FC64"), 0)
    with pytest.raises(exceptions.DomainMismatch, match="Matrix"):
        widest_path(A.S, 0)
    with pytest.raises(exceptions.InvalidValue, match="nan"):
        widest_path(cases.Graph(2, ((0, 1, np.nan),)).matrix("reference"), 0)


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = widest_path(A, 0)
    assert len(loops) == 1
    assert found.width.to_dict() == widths(graph, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rome99", "p2p-31", "USA-road-d.NY"])
def test_real_graphs_and_their_spanning_trees(device, name):
    if device == "reference":
        pytest.skip("the reference device is too slow for real graphs")
    # Of roads, more entries than one thread walks: the south of New York.
    A = gb.io.from_edges(load_graph(name))
    some = slice(min(A.nrows, 60_000))
    A = A[some, some].new()
    # Between two vertices of an undirected graph, the path in a maximum spanning tree is a widest.
    B = A.ewise_add(A.T, gb.binary.max).new().dup("FP64")
    rows, cols, values = B.to_coo()
    top = values.max() + 1
    positions = rows.astype(np.int32), cols.astype(np.int32)
    tree = csgraph.minimum_spanning_tree(csr_array((top - values, positions), B.shape))
    order, parent = csgraph.breadth_first_order(tree, 0, directed=False)
    both = (tree + tree.T).tocsr()
    expected = np.full(B.nrows, -1.0)
    expected[0] = np.inf
    steps = top - np.asarray(both[order[1:], parent[order[1:]]]).ravel()
    for at, step in zip(order[1:], steps, strict=True):
        expected[at] = min(expected[parent[at]], step)
    found = widest_path(B.to(device), 0).width
    np.testing.assert_array_equal(found.to_dense(-1), expected)
