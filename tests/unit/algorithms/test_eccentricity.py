"""Eccentricities and diameters against searches from every vertex."""

from __future__ import annotations

import importlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import chains, diameter, eccentricity


def eccentricities(graph: cases.Graph) -> list[int]:
    """Return the largest distance from each vertex within its weak component."""
    both = graph.both_ways()
    return [max(cases.levels(both, vertex).values()) for vertex in range(graph.n)]


def assert_bounds(found, graph: cases.Graph) -> None:
    expected = np.array(eccentricities(graph))
    lower, upper = found.lower.to_dense(), found.upper.to_dense()
    assert (lower <= expected).all()
    assert (expected <= upper).all()
    assert found.diameter == (lower.max(), upper.max())
    assert found.radius == (lower.min(), upper.min())
    assert found.is_exact == (lower == upper).all()


@cases.shapes
def test_exact(graph, device):
    expected = eccentricities(graph)
    for A, symmetric in (
        (graph.matrix(device), False),
        (graph.both_ways().matrix(device), True),
    ):
        found = eccentricity(A, symmetric=symmetric)
        assert found.is_exact
        assert found.lower.to_dense().tolist() == found.upper.to_dense().tolist() == expected
        assert found.diameter == (max(expected), max(expected))
        assert found.radius == (min(expected), min(expected))
        assert 1 <= found.searches <= graph.n


@given(cases.graphs(), st.integers(1, 4))
@cases.examples(max_examples=30)
def test_bounds_of_any_graph(device, graph, searches):
    A = graph.matrix(device)
    for function in (eccentricity, diameter):
        found = function(A, searches=searches)
        assert found.searches <= searches
        assert_bounds(found, graph)
    longest = max(eccentricities(graph))
    assert diameter(A).diameter == (longest, longest)
    assert eccentricity(A).lower.to_dense().tolist() == eccentricities(graph)


@given(cases.graphs(), st.integers(1, 4))
@cases.examples(max_examples=20)
def test_loops_of_hosts_search_as_products_do(graph, searches):
    A = graph.matrix("cpu")
    for function in (eccentricity, diameter):
        found, pinned = (
            function(A, searches=searches),
            function(A, searches=searches, policy="auto"),
        )
        assert (found.searches, found.iterations) == (pinned.searches, pinned.iterations)
        assert found.lower.isequal(pinned.lower, check_dtype=True)
        assert found.upper.isequal(pinned.upper, check_dtype=True)


def test_double_sweep_of_a_tree_finds_the_diameter(device):
    # Of a tree, the vertex farthest from any one is an end of a longest path.
    rng = np.random.default_rng(5)
    graph = cases.unweighted(40, [(i, int(rng.integers(0, i))) for i in range(1, 40)])
    found = diameter(graph.matrix(device), searches=2)
    assert found.diameter[0] == max(eccentricities(graph))
    assert found.searches == 2


def test_the_first_search_starts_at_the_highest_degree(device):
    # 5 - 0 - 1 - 2 - 3 - 4 with three more leaves at 2.
    graph = cases.unweighted(9, [(5, 0), (0, 1), (1, 2), (2, 3), (3, 4), (2, 6), (2, 7), (2, 8)])
    found = eccentricity(graph.matrix(device), searches=1)
    assert found.lower.to_dense().tolist()[2] == found.upper.to_dense().tolist()[2] == 3
    assert_bounds(found, graph)
    assert not found.is_exact


def test_the_diameter_needs_fewer_searches(device):
    graph = cases.SHAPES["random"]
    A = graph.matrix(device)
    assert diameter(A).searches < eccentricity(A).searches


def test_a_cycle_needs_a_search_from_every_vertex(device):
    graph = cases.unweighted(8, [(i, (i + 1) % 8) for i in range(8)])
    assert eccentricity(graph.matrix(device)).searches == 8


@pytest.mark.parametrize("symmetric", [False, True])
def test_trees_take_three_searches_more(device, symmetric):
    # Leaves all along two paths, in other orders of the vertices; bounds alone would not meet.
    rng = np.random.default_rng(7)
    order = rng.permutation(80)
    pairs = [(i, i + 1) for i in range(19)] + [(20 + i, 21 + i) for i in range(18)]
    pairs += [(int(rng.integers(0, 39)), i) for i in range(39, 79)]
    graph = cases.unweighted(80, [(order[i], order[j]) for i, j in pairs])
    if symmetric:
        graph = graph.both_ways()
    A = graph.matrix(device)
    found = eccentricity(A, symmetric=symmetric)
    assert found.searches == 7
    # An option asks for products, where hosts have loops.
    pinned = eccentricity(A, symmetric=symmetric, policy="auto")
    assert found.iterations == pinned.iterations == len(pinned.trace) // (1 if symmetric else 2)
    assert pinned.searches == 7
    assert found.lower.to_dense().tolist() == eccentricities(graph)
    assert found.is_exact
    # Not if fewer are allowed.
    few = eccentricity(A, symmetric=symmetric, searches=6)
    assert (few.searches, few.is_exact) == (6, False)
    assert_bounds(few, graph)


def test_a_tree_with_one_cycle_is_no_tree(device):
    pairs = [(i, (i + 1) % 12) for i in range(12)] + [(i, 12 + i) for i in range(12)]
    graph = cases.unweighted(24, pairs)
    found = eccentricity(graph.matrix(device))
    assert found.searches > 7
    assert found.lower.to_dense().tolist() == eccentricities(graph)
    assert eccentricity(graph.matrix(device), searches=9).searches == 9


def subdivided(seed: int) -> cases.Graph:
    """Return chains of random lengths between a few vertices, and paths and cycles beside."""
    rng = np.random.default_rng(seed)
    branches = n = int(rng.integers(1, 7))
    edges: list[tuple[int, int]] = []
    for _ in range(int(rng.integers(0, 9))):
        tail, head = rng.integers(0, branches, 2)
        inside = list(range(n, n + int(rng.integers(2 if tail == head else 0, 8))))
        n += len(inside)
        edges += pairwise([tail, *inside, head])
    for _ in range(int(rng.integers(0, 3))):
        alone = list(range(n, n + int(rng.integers(1, 9))))
        n += len(alone)
        is_cycle = len(alone) > 2 and rng.random() < 0.5
        edges += pairwise([*alone, alone[0]] if is_cycle else alone)
    order = rng.permutation(n)
    return cases.unweighted(n, {(order[i], order[j]) for i, j in edges})


@pytest.mark.parametrize("seed", range(25))
def test_chains_tell_all_eccentricities(device, seed, monkeypatch):
    monkeypatch.setattr(chains, "LEAST", 0)
    monkeypatch.setattr(chains, "_SHARE", 1)
    graph = subdivided(seed)
    for function, each, symmetric in (
        (eccentricity, graph, False),
        (diameter, graph.both_ways(), True),
    ):
        found = function(each.matrix(device), symmetric=symmetric)
        assert (found.searches, found.iterations, found.is_exact) == (0, 0, True)
        assert found.lower.to_dense().tolist() == eccentricities(graph)
        assert found.lower.dtype == found.upper.dtype == "INT32"


@pytest.mark.parametrize("limit", ["_ENDS", "_CHAINS", "_DISTANCES"])
def test_many_branches_are_searched_paths_and_cycles_told(device, limit, monkeypatch):
    monkeypatch.setattr(chains, "LEAST", 0)
    # Paths of 3 and 1, a cycle of 5, and two triangles with a path between them and one besides.
    pairs = [(0, 1), (1, 2), *((4 + i, 4 + (i + 1) % 5) for i in range(5))]
    pairs += [
        (9, 10),
        (10, 11),
        (11, 9),
        (11, 12),
        (12, 13),
        (13, 14),
        (14, 15),
        (15, 13),
        (12, 16),
    ]
    graph = cases.unweighted(17, pairs)
    A = graph.matrix(device)
    assert eccentricity(A).searches == 0
    monkeypatch.setattr(chains, limit, 3 if limit == "_ENDS" else 1)
    told = chains.eccentricities_of_chains(A, False)
    found = eccentricity(A)
    assert found.searches > 0
    assert found.lower.to_dense().tolist() == eccentricities(graph)
    assert told.to_dict() == dict(enumerate(eccentricities(graph)[:9]))
    monkeypatch.setattr(chains, "_ENDS", 1)
    assert chains.eccentricities_of_chains(A, False) is None


@pytest.mark.parametrize("function", [eccentricity, diameter])
def test_a_long_cycle_and_a_long_path_need_no_search(device, function):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    n = 20_000
    cycle = cases.unweighted(n, [(i, (i + 1) % n) for i in range(n)])
    found = function(cycle.matrix(device))
    assert (found.diameter, found.radius, found.searches) == ((n // 2,) * 2, (n // 2,) * 2, 0)
    path = cases.unweighted(n, [(i, i + 1) for i in range(n - 1)])
    found = function(path.both_ways().matrix(device), symmetric=True)
    assert (found.diameter, found.radius) == ((n - 1,) * 2, (n // 2,) * 2)
    number = np.arange(n)
    np.testing.assert_array_equal(found.upper.to_dense(), np.maximum(number, n - 1 - number))


def test_components_are_searched_side_by_side(device):
    # Two paths: in each, the two ends and what lies between.
    apart = cases.unweighted(
        10, [*((i, i + 1) for i in range(4)), *((i, i + 1) for i in range(5, 9))]
    )
    alone = cases.unweighted(5, [(i, i + 1) for i in range(4)])
    together, single = (eccentricity(graph.matrix(device)) for graph in (apart, alone))
    assert together.searches == single.searches
    assert together.lower.to_dense().tolist() == [4, 3, 2, 3, 4] * 2


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_direction_can_be_pinned(device, direction):
    graph = cases.SHAPES["random"]
    found = eccentricity(graph.matrix(device), direction=direction)
    assert {row.method for row in found.trace} == {direction}
    assert found.lower.to_dense().tolist() == eccentricities(graph)


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    graph = cases.SHAPES["grid"]
    found = eccentricity(graph.matrix(device, dtype))
    assert found.lower.dtype == found.upper.dtype == "INT32"
    assert found.lower.to_dense().tolist() == eccentricities(graph)


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random"].matrix(device)
    before = A.dup()
    eccentricity(A)
    assert A.isequal(before, check_dtype=True)


@pytest.mark.parametrize("function", [eccentricity, diameter])
def test_no_vertices(device, function):
    with gb.device(device):
        found = function(gb.Matrix("BOOL", 0, 0))
    assert (found.diameter, found.radius, found.is_exact) == ((0, 0), (0, 0), True)


@pytest.mark.parametrize("function", [eccentricity, diameter])
def test_bad_arguments(function):
    A = cases.SHAPES["path"].matrix("reference")
    for searches in (0, -1, 1.5, True):
        with pytest.raises(exceptions.InvalidValue, match="searches"):
            function(A, searches=searches)
    with pytest.raises(exceptions.DimensionMismatch, match=function.__name__):
        function(gb.Matrix("BOOL", 2, 3))
    with pytest.raises(exceptions.DomainMismatch, match="Matrix"):
        function(None)
    with pytest.raises(exceptions.InvalidValue, match="speed"):
        function(A, speed=11)


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = eccentricity(A)
    assert loops
    assert found.lower.to_dense().tolist() == eccentricities(graph)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["netscience", "minnesota", "1138_bus"])
def test_real_graphs(device, name):
    A = cases.real_matrix(name, device)
    S = gb.io.to_scipy_sparse(A)
    S.data[:] = 1
    hops = csgraph.shortest_path(S, directed=False, unweighted=True)
    expected = np.where(np.isfinite(hops), hops, 0).max(axis=1)
    longest = expected.max()
    assert diameter(A, symmetric=True).diameter == (longest, longest)
    some = eccentricity(A, symmetric=True, searches=5)
    assert (some.lower.to_dense() <= expected).all()
    assert (some.upper.to_dense() >= expected).all()
    if name == "1138_bus":
        np.testing.assert_array_equal(eccentricity(A, symmetric=True).lower.to_dense(), expected)


@pytest.mark.parametrize("symmetric", [False, True])
def test_vertices_that_are_left_are_searched_from_at_once(device, symmetric, monkeypatch):
    """A cycle with a leaf at every vertex: bounds would take nearly as many searches."""
    n = 20
    edges = [(i, (i + 1) % n) for i in range(n)] + [(i, n + i) for i in range(n)]
    graph = cases.unweighted(2 * n, edges)
    A = (graph.both_ways() if symmetric else graph).matrix(device)
    expected = [max(cases.levels(graph.both_ways(), vertex).values()) for vertex in range(2 * n)]
    searched = []
    module = importlib.import_module("semira.algorithms.eccentricity")
    real = module.search

    def counted(edges, vertices, kept):
        searched.append(len(vertices))
        return real(edges, vertices, kept)

    monkeypatch.setattr(module, "search", counted)
    found = eccentricity(A, symmetric=symmetric)
    assert found.lower.to_dense().tolist() == found.upper.to_dense().tolist() == expected
    assert found.searches == 4 + sum(searched)
    assert len(searched) == 1
    pinned = eccentricity(A, symmetric=symmetric, policy="auto")
    assert pinned.lower.isequal(found.lower)
    assert len(searched) == 1
    assert not eccentricity(A, symmetric=symmetric, searches=9).is_exact
    assert len(searched) == 1
    assert diameter(A, symmetric=symmetric).diameter == (max(expected), max(expected))
