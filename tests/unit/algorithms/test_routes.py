"""Predecessors and paths, against NetworkX and against the lengths themselves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira import algorithms
from semira.algorithms import route_trees
from semira.exceptions import IndexOutOfBound, InvalidIndex, InvalidValue, NegativeCycle

nx = pytest.importorskip("networkx")

#: What weights are drawn from: lengths 0 and ties, numbers without ties, lengths that vanish beside
#: others, cycles of length 0.
WEIGHTS = {
    "zeros": [0.0, 1.0, 2.0],
    "floats": None,
    "absorbed": [1e17, 1.0, 0.0, 1e-3],
    "negative": [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0],
}
METHODS = {
    "bellman_ford": {},
    "delta_stepping": {"algorithm": "delta_stepping"},
    "window": {"algorithm": "window"},
    "asynchronous": {"algorithm": "asynchronous"},
}


def drawn(kind: str, seed: int, size: int = 14) -> tuple[gb.Matrix, dict[tuple[int, int], float]]:
    """Return a random directed graph as a matrix, and its lengths."""
    rng = np.random.default_rng(seed)
    ends = np.unique(rng.integers(0, size, (3 * size, 2)), axis=0)
    choice = WEIGHTS[kind]
    values = rng.random(len(ends)) if choice is None else rng.choice(choice, len(ends))
    matrix = gb.Matrix.from_coo(*ends.T, values, nrows=size, ncols=size)
    return matrix, dict(zip(map(tuple, ends.tolist()), values.tolist(), strict=True))


def length(route: list[int], lengths: Mapping[tuple[int, int], float]) -> float:
    """Return the length of a path, whose edges are there, added up from its beginning."""
    total = 0.0
    for edge in pairwise(route):
        total += lengths[edge]
    return total


def check_routes(found: Any, values: Mapping[int, float], lengths: Any, source: int) -> None:
    """Check that a path leads to every vertex with a value, as long as that says."""
    assert found.predecessor.to_dict().keys() == values.keys()
    for target, value in values.items():
        route = found.path_to(target)
        assert (route[0], route[-1]) == (source, target)
        assert len({*route}) == len(route)
        assert length(route, lengths) == value


@every("method", METHODS)
@every("kind", ["zeros", "floats", "absorbed"])
def test_paths_are_as_long_as_the_distances(kind: str, method: str, device: str) -> None:
    for seed in range(4):
        with gb.device(device):
            matrix, lengths = drawn(kind, seed)
        found = algorithms.sssp(matrix, 3, predecessors=True, **METHODS[method])
        graph = nx.DiGraph()
        graph.add_node(3)
        graph.add_weighted_edges_from((i, j, w) for (i, j), w in lengths.items())
        expected = nx.single_source_dijkstra_path_length(graph, 3)
        distance = found.distance.to_dict()
        assert distance == pytest.approx(expected, rel=1e-15)
        check_routes(found, distance, lengths, 3)


@every("kind", ["zeros", "floats", "absorbed"])
def test_a_loop_finds_the_tree_of_the_products(kind: str, monkeypatch: Any) -> None:
    for seed in range(20):
        with gb.device("cpu"):
            matrix, _ = drawn(kind, seed)
        found = algorithms.sssp(matrix, 3, predecessors=True).predecessor
        with monkeypatch.context() as patched:
            patched.setattr(route_trees, "runs_loops", lambda _A: False)
            expected = algorithms.sssp(matrix, 3, predecessors=True).predecessor
        assert found.isequal(expected, check_dtype=True)
        by_loop = route_trees.by_loop(matrix, algorithms.sssp(matrix, 3).distance, [3])
        assert kind != "floats" or by_loop is not None


def test_negative_lengths_and_cycles_of_length_0(device: str) -> None:
    searched = 0
    for seed in range(30):
        with gb.device(device):
            matrix, lengths = drawn("negative", seed, 8)
        try:
            found = algorithms.sssp(matrix, 0, predecessors=True)
        except NegativeCycle:
            continue
        searched += any(weight < 0 for weight in lengths.values())
        check_routes(found, found.distance.to_dict(), lengths, 0)
    assert searched > 3


def test_a_cycle_that_rounding_makes_shorter_than_0_still_has_a_way_in(device: str) -> None:
    # There and back again a vertex is nearer than over the edge that led to it.
    start = next(x for x in np.random.default_rng(0).random(100) if (x + 1) - 1 < x)
    lengths = {(0, 1): start, (1, 2): 1.0, (2, 1): -1.0, (2, 3): 5.0}
    with gb.device(device):
        matrix = gb.Matrix.from_coo(*zip(*lengths, strict=True), [*lengths.values()])
    matrix.resize(4, 4)
    found = algorithms.sssp(matrix, 0, predecessors=True)
    assert found.distance[1].value < start
    assert found.path_to(3) == [0, 1, 2, 3]


def test_of_equal_paths_that_of_the_smallest_vertex_is_taken(device: str) -> None:
    with gb.device(device):
        matrix = gb.Matrix.from_coo([0, 0, 0, 1, 2, 3], [3, 2, 1, 4, 4, 4], 1, nrows=5, ncols=5)
    assert algorithms.sssp(matrix, 0, predecessors=True).path_to(4) == [0, 1, 4]


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_paths_over_every_kind_of_length(dtype: str, device: str) -> None:
    with gb.device(device):
        matrix = gb.Matrix.from_coo([0, 1, 0, 2], [1, 2, 2, 3], [1, 1, 1, 1], dtype)
    matrix.resize(5, 5)
    for predecessors in (algorithms.sssp, algorithms.widest_path):
        found = predecessors(matrix, 0, predecessors=True)
        assert found.predecessor.dtype == "INT32"
        assert found.path_to(3) == [0, 2, 3]
        with pytest.raises(InvalidValue, match="no path leads to 4"):
            found.path_to(4)


def test_a_search_has_paths_too(device: str) -> None:
    with gb.device(device):
        matrix, lengths = drawn("floats", 5)
    found = algorithms.bfs(matrix, 3, parents=True)
    for target, level in found.level.to_dict().items():
        route = found.path_to(target)
        assert (route[0], route[-1], len(route)) == (3, target, level + 1)
        assert all(edge in lengths for edge in pairwise(route))


@pytest.mark.parametrize("kind", ["zeros", "floats"])
def test_widest_paths_are_as_wide_as_the_widths(kind: str, device: str) -> None:
    for seed in range(4):
        with gb.device(device):
            matrix, lengths = drawn(kind, seed)
        found = algorithms.widest_path(matrix, 3, predecessors=True)
        assert found.predecessor.to_dict().keys() == found.width.to_dict().keys()
        for target, width in found.width.to_dict().items():
            route = found.path_to(target)
            edges = [lengths[edge] for edge in pairwise(route)]
            assert min(edges, default=np.inf) == width
            assert len({*route}) == len(route)


@pytest.mark.parametrize("method", ["floyd_warshall", "sources"])
@pytest.mark.parametrize("kind", ["zeros", "floats", "negative"])
def test_paths_between_all_pairs(kind: str, method: str, device: str) -> None:
    # The first one without a negative cycle; small blocks, so that there are several.
    for seed in range(100):
        with gb.device(device):
            matrix, lengths = drawn(kind, seed, 7)
        try:
            found = algorithms.all_pairs_shortest_paths(
                matrix, algorithm=method, block=3, predecessors=True
            )
        except NegativeCycle:
            continue
        if kind != "negative" or min(lengths.values()) < 0:
            break
    distance = found.distance.to_dicts()
    predecessor = found.predecessor.to_dicts()
    assert {i: [*row] for i, row in predecessor.items()} == {
        i: [*row] for i, row in distance.items()
    }
    for i, row in distance.items():
        for j, value in row.items():
            route = found.path(i, j)
            assert (route[0], route[-1]) == (i, j)
            assert len({*route}) == len(route)
            # Blocks add up in another order.
            assert length(route, lengths) == pytest.approx(value, rel=1e-14, abs=1e-14)


def test_blocks_of_sources_do_not_change_the_predecessors(monkeypatch: Any) -> None:
    import sys

    matrix, _ = drawn("zeros", 1)
    whole = algorithms.all_pairs_shortest_paths(matrix, predecessors=True).predecessor
    module = sys.modules["semira.algorithms.all_pairs_shortest_paths"]
    monkeypatch.setattr(module, "_ENTRIES", 3 * matrix.nvals)
    parts = algorithms.all_pairs_shortest_paths(matrix, block=14, predecessors=True).predecessor
    assert parts.isequal(whole, check_dtype=True)


def test_paths_by_name() -> None:
    cities = gb.io.Graph.from_edges(
        ["Bern", "Bern", "Thun", "Brig"], ["Thun", "Brig", "Brig", "Rom"], [30, 100, 60, 500]
    )
    found = algorithms.sssp(cities, "Bern", predecessors=True)
    assert found.path_to("Rom") == ["Bern", "Thun", "Brig", "Rom"]
    assert found.path_to("Bern") == ["Bern"]
    assert found.to_dict("predecessor")["Rom"] == "Brig"
    assert (found.farthest, found.largest_distance) == ("Rom", 590.0)
    assert algorithms.bfs(cities, "Bern", parents=True).path_to("Rom") == ["Bern", "Brig", "Rom"]
    every = algorithms.all_pairs_shortest_paths(cities, predecessors=True)
    assert every.path("Thun", "Rom") == ["Thun", "Brig", "Rom"]
    with pytest.raises(InvalidValue, match="no path leads from 'Rom' to 'Bern'"):
        every.path("Rom", "Bern")
    with pytest.raises(IndexOutOfBound, match="no vertex is called 'Romm'; nearest: Rom"):
        found.path_to("Romm")


def test_paths_that_were_not_asked_for_are_refused() -> None:
    matrix, _ = drawn("floats", 0)
    for function, option in (
        (algorithms.bfs, "bfs with parents=True"),
        (algorithms.sssp, "sssp with predecessors=True"),
        (algorithms.widest_path, "widest_path with predecessors=True"),
    ):
        with pytest.raises(InvalidValue, match=option):
            function(matrix, 0).path_to(1)
    with pytest.raises(InvalidValue, match="with predecessors=True"):
        algorithms.all_pairs_shortest_paths(matrix).path(0, 1)


def test_targets_that_are_no_vertices_are_refused() -> None:
    matrix, _ = drawn("floats", 0)
    found = algorithms.sssp(matrix, 0, predecessors=True)
    with pytest.raises(IndexOutOfBound, match="target 14"):
        found.path_to(14)
    with pytest.raises(InvalidIndex, match="target must be the number of a vertex, got 'Bern'"):
        found.path_to("Bern")


def test_a_graph_of_one_vertex_and_of_none() -> None:
    assert algorithms.sssp(gb.Matrix(float, 1, 1), 0, predecessors=True).path_to(0) == [0]
    empty = algorithms.all_pairs_shortest_paths(gb.Matrix(float, 0, 0), predecessors=True)
    assert empty.predecessor.shape == (0, 0)
    assert "0 vertices" in str(empty)
