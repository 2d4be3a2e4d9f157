"""Closeness centrality against NetworkX, and sums over distances from some sources."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import closeness_centrality

improved = pytest.mark.parametrize("wf_improved", [False, True])

#: Counts and sums are integers; then come at most three rounded operations.
CLOSE = {"rtol": 1e-14, "atol": 0}


def by_definition(graph: cases.Graph, sources: Any, *, wf_improved: bool = True) -> list[float]:
    """Return what distances from `sources` give."""
    levels = {source: cases.levels(graph, source) for source in set(sources)}
    found = []
    for v in range(graph.n):
        distances = [row[v] for source, row in levels.items() if v in row and source != v]
        share = len(distances) / max(len(levels) - (v in levels), 1)
        closeness = len(distances) / sum(distances) if distances else 0.0
        found.append(closeness * share if wf_improved else closeness)
    return found


def scores(graph: cases.Graph, device: str, **options: object) -> np.ndarray:
    return closeness_centrality(graph.matrix(device), **options).centrality.to_dense()


@improved
@cases.shapes
def test_centrality(graph, device, wf_improved):
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    G.add_weighted_edges_from(graph.edges)
    expected = nx.closeness_centrality(G, wf_improved=wf_improved)
    found = scores(graph, device, wf_improved=wf_improved)
    np.testing.assert_allclose(found, [expected[v] for v in range(graph.n)], **CLOSE)


@given(cases.graphs(), st.booleans(), st.data())
@cases.examples(max_examples=25)
def test_any_graph_and_sources(device, graph, wf_improved, data):
    vertex = st.integers(0, graph.n - 1)
    sources = data.draw(st.lists(vertex, min_size=1, max_size=5))
    found = scores(graph, device, sources=sources, wf_improved=wf_improved)
    expected = by_definition(graph, sources, wf_improved=wf_improved)
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("n", [63, 64, 65, 129])
def test_groups_of_64(device, n):
    graph = cases.random_graph(n, 3 * n, seed=n)
    np.testing.assert_allclose(scores(graph, device), by_definition(graph, range(n)), **CLOSE)


def test_a_full_word_arrives_at_once(device):
    # 64 sources, all of them next to vertex 64: every bit of a word is counted.
    graph = cases.unweighted(66, [*((i, 64) for i in range(64)), (64, 65)])
    found = scores(graph, device, wf_improved=False)
    assert found[64] == 1
    assert found[65] == 65 / (64 * 2 + 1)


def test_drawn_sources_depend_on_the_seed_alone(device):
    graph = cases.SHAPES["random"]
    A = graph.matrix(device)
    drawn = [closeness_centrality(A, sources=7, seed=seed) for seed in (0, 0, 5)]
    chosen = [np.random.default_rng(seed).choice(graph.n, 7, replace=False) for seed in (0, 5)]
    assert {each.sources for each in drawn} == {7}
    assert drawn[0].centrality.isequal(drawn[1].centrality)
    for each, sources in zip(drawn[1:], chosen, strict=True):
        expected = by_definition(graph, sources.tolist())
        np.testing.assert_allclose(each.centrality.to_dense(), expected, **CLOSE)


def test_distances_away_from_a_vertex(device):
    graph = cases.SHAPES["star"]
    away = closeness_centrality(graph.matrix(device).T.new()).centrality
    assert away.to_dense().tolist() == [1, 0, 0, 0, 0, 0]


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    graph = cases.SHAPES["grid"]
    found = closeness_centrality(graph.matrix(device, dtype)).centrality
    assert found.dtype == "FP64"
    assert found.to_dense().tolist() == scores(graph, device).tolist()


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_direction_can_be_pinned(device, direction):
    graph = cases.SHAPES["random"]
    found = closeness_centrality(graph.matrix(device), direction=direction)
    assert {row.method for row in found.trace} == {direction}
    expected = by_definition(graph, range(graph.n))
    np.testing.assert_allclose(found.centrality.to_dense(), expected, **CLOSE)


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random"].matrix(device)
    before = A.dup()
    closeness_centrality(A)
    assert A.isequal(before, check_dtype=True)


def test_one_search_for_64_sources(device):
    # The longest path has five edges; a sixth level has nothing more.
    assert closeness_centrality(cases.SHAPES["path"].matrix(device)).iterations == 6
    pinned = closeness_centrality(cases.SHAPES["path"].matrix(device), direction="push")
    assert pinned.iterations == len(pinned.trace) == 6


def test_no_vertices(device):
    with gb.device(device):
        found = closeness_centrality(gb.Matrix("BOOL", 0, 0))
    assert (found.centrality.size, found.sources, found.iterations) == (0, 0, 0)


def test_bad_arguments():
    A = cases.SHAPES["path"].matrix("reference")
    for sources in (0, 7):
        with pytest.raises(exceptions.InvalidValue, match=rf"sources={sources} .*\[1, 6\]"):
            closeness_centrality(A, sources=sources)
    with pytest.raises(exceptions.IndexOutOfBound, match="6"):
        closeness_centrality(A, sources=[6])
    with pytest.raises(exceptions.InvalidValue, match="seed"):
        closeness_centrality(A, sources=2, seed=0.5)
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        closeness_centrality(gb.Matrix("BOOL", 2, 3))
    with pytest.raises(exceptions.InvalidValue, match="speed"):
        closeness_centrality(A, speed=11)


def test_no_host_reads(monkeypatch):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = closeness_centrality(A, policy="graphblast")
    assert loops
    expected = by_definition(graph, range(graph.n))
    np.testing.assert_allclose(found.centrality.to_dense(), expected, **CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-GrQc", "minnesota", "wiki-Vote"])
def test_real_graphs(device, name):
    A = cases.real_matrix(name, device)
    sources = np.random.default_rng(3).choice(A.nrows, 200, replace=False)
    hops = csgraph.dijkstra(gb.io.to_scipy_sparse(A), indices=sources, unweighted=True)
    hops[np.arange(200), sources] = np.inf
    heard = np.isfinite(hops)
    count, total = heard.sum(axis=0), np.where(heard, hops, 0).sum(axis=0)
    others = 200 - np.isin(np.arange(A.nrows), sources)
    expected = np.where(count > 0, count / np.maximum(total, 1) * count / others, 0)
    found = closeness_centrality(A, sources=sources).centrality.to_dense()
    np.testing.assert_allclose(found, expected, **CLOSE)
