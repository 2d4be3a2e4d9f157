"""Betweenness centrality against NetworkX, and Brandes' sums with exact path counts."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import betweenness_centrality

module = importlib.import_module(betweenness_centrality.__module__)

#: Sums of at most n^2 fractions, each rounded a few times, in an order that a device is free in.
CLOSE = {"rtol": 1e-11, "atol": 1e-13}


def digraph(graph: cases.Graph) -> nx.DiGraph:
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    G.add_weighted_edges_from(graph.edges)
    return G


def dependencies(graph: cases.Graph, source: int) -> list[Fraction]:
    """Return what pairs (source, t) add to each vertex, counting paths one by one."""
    level = cases.levels(graph, source)
    order = sorted(level, key=level.__getitem__)
    after = {
        v: [j for i, j, _ in graph.edges if i == v and level[j] == level[v] + 1] for v in order
    }
    paths = dict.fromkeys(order, 0) | {source: 1}
    for v in order:
        for w in after[v]:
            paths[w] += paths[v]
    found = [Fraction(0)] * graph.n
    for v in reversed(order):
        found[v] = sum(
            (Fraction(paths[v], paths[w]) * (1 + found[w]) for w in after[v]), Fraction()
        )
    found[source] = Fraction(0)
    return found


def summed(graph: cases.Graph, sources: Iterable[int]) -> list[float]:
    return [
        float(sum(column))
        for column in zip(*(dependencies(graph, s) for s in sources), strict=True)
    ]


def whole(graph: cases.Graph, sources: list[int]) -> np.ndarray:
    """Return the sums over some sources scaled to all: by those that are another vertex."""
    others = len(sources) - np.bincount(sources, minlength=graph.n)
    return np.array(summed(graph, sources)) * (graph.n - 1) / np.maximum(others, 1) * (others > 0)


def scores(graph: cases.Graph, device: str, **options: object) -> np.ndarray:
    return betweenness_centrality(graph.matrix(device), **options).centrality.to_dense()


@every("normalized", [False, True])
@cases.shapes
def test_centrality(graph, device, normalized):
    expected = nx.betweenness_centrality(digraph(graph), normalized=normalized)
    found = scores(graph, device, normalized=normalized)
    np.testing.assert_allclose(found, [expected[v] for v in range(graph.n)], **CLOSE)


@given(cases.graphs(), st.integers(1, 5))
@cases.examples(max_examples=25)
def test_any_graph_and_batch(device, graph, batch):
    expected = summed(graph, range(graph.n))
    # With an option hosts multiply, too.
    for options in ({}, {"deterministic": True}):
        found = scores(graph, device, normalized=False, batch=batch, **options)
        np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("normalized", [False, True])
def test_undirected(device, normalized):
    graph = cases.SHAPES["random"].both_ways()
    expected = nx.betweenness_centrality(digraph(graph).to_undirected(), normalized=normalized)
    found = scores(graph, device, normalized=normalized, directed=False)
    np.testing.assert_allclose(found, [expected[v] for v in range(graph.n)], **CLOSE)


def test_given_sources(device):
    graph = cases.SHAPES["random"]
    found = scores(graph, device, sources=[4, 9, 4], normalized=False)
    np.testing.assert_allclose(found, whole(graph, [4, 9, 4]), **CLOSE)


class Drawn:
    """Stands for the generator of NetworkX: draws what it was told."""

    def __init__(self, nodes):
        self.nodes = nodes

    def sample(self, population, k):
        assert set(self.nodes) <= set(population)
        assert len(self.nodes) == k
        return self.nodes


def of_networkx(graph, sources, *, directed, normalized):
    G = digraph(graph) if directed else digraph(graph).to_undirected()
    # Past the decorator, which would make a generator of the seed.
    inner = nx.betweenness_centrality.orig_func
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    found = inner(G, k=len(sources), normalized=normalized, seed=Drawn(sources))
    return np.nan_to_num([found[v] for v in range(graph.n)])


@every("normalized", [True, False])
@every("directed", [True, False])
@every("sources", [[5], [0, 3], [1, 4, 7, 2], list(range(9))])
def test_few_sources_as_networkx(device, sources, directed, normalized):
    graph = cases.SHAPES["random"]
    graph = graph if directed else graph.both_ways()
    for batch in (1, 3):
        found = scores(
            graph, device, sources=sources, directed=directed, normalized=normalized, batch=batch
        )
        expected = of_networkx(graph, sources, directed=directed, normalized=normalized)
        np.testing.assert_allclose(found, expected, **CLOSE)


def test_no_vertex_is_between_more_than_all_pairs(device):
    star = cases.unweighted(5, [(0, 1), (0, 2), (0, 3), (0, 4)]).both_ways()
    for source in range(1, 5):
        assert scores(star, device, sources=[source]).tolist() == [1, 0, 0, 0, 0]
    assert scores(star, device, sources=[0]).tolist() == [0, 0, 0, 0, 0]
    pairs = [(5, 0), (0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (4, 5), (4, 2)]
    found = scores(cases.unweighted(6, pairs), device, sources=[5])
    np.testing.assert_allclose(found, [1, 0.25, 0.25, 0, 0.25, 0], **CLOSE)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_graphs_without_other_vertices(device, n):
    graph = cases.unweighted(n, [(i, i + 1) for i in range(n - 1)])
    for options in ({}, {"sources": [0]}, {"normalized": False}, {"sources": 1, "batch": 1}):
        found = scores(graph, device, **options)
        assert np.isfinite(found).all()
        assert found[0] == found[-1] == 0


def test_drawn_sources_depend_on_the_seed_alone(device):
    graph = cases.SHAPES["random"]
    A = graph.matrix(device)
    drawn = {
        seed: betweenness_centrality(A, sources=5, seed=seed, batch=2, normalized=False)
        for seed in (0, 1)
    }
    assert {each.sources for each in drawn.values()} == {5}
    for seed, each in drawn.items():
        chosen = np.random.default_rng(seed).choice(graph.n, 5, replace=False)
        expected = whole(graph, chosen)
        np.testing.assert_allclose(each.centrality.to_dense(), expected, **CLOSE)
    assert not drawn[0].centrality.isclose(drawn[1].centrality)


def test_all_drawn_is_exact(device):
    graph = cases.SHAPES["random dense"]
    np.testing.assert_allclose(
        scores(graph, device, sources=graph.n), scores(graph, device), **CLOSE
    )


def test_the_mean_over_single_sources_is_exact(device):
    graph = cases.SHAPES["grid"]
    A = graph.matrix(device)
    single = [betweenness_centrality(A, sources=[s]).centrality.to_dense() for s in range(graph.n)]
    # Of the others: in its own search a vertex is in the middle of nothing.
    mean = np.sum(single, axis=0) / (graph.n - 1)
    np.testing.assert_allclose(mean, scores(graph, device), **CLOSE)


def test_many_paths(device):
    # A chain of 40 squares: 2^40 shortest paths from end to end.
    pairs = [(3 * i + a, 3 * i + b) for i in range(40) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]
    graph = cases.unweighted(121, pairs)
    for batch in (1, 2):
        found = scores(graph, device, sources=[0], normalized=False, batch=batch)
        np.testing.assert_allclose(found, whole(graph, [0]), **CLOSE)


@every("batch", [None, 2, 3, 64])
def test_copies_side_by_side(device, batch, monkeypatch):
    # What a GPU does, on every device.
    monkeypatch.setattr(module, "device_traits", lambda _: SimpleNamespace(own_memory=True))
    graph = cases.SHAPES["random"]
    sources = [0, 1, 2, 3, 3, 5, 5, 5, 9]
    found = scores(graph, device, sources=sources, normalized=False, batch=batch)
    np.testing.assert_allclose(found, whole(graph, sources), **CLOSE)


def test_sums_in_a_fixed_order(device):
    graph = cases.SHAPES["random"]
    A = graph.matrix(device)
    with gb.config.set(deterministic=True):
        first, again = (betweenness_centrality(A, batch=1).centrality for _ in range(2))
    assert first.isequal(again)
    np.testing.assert_allclose(first.to_dense(), scores(graph, device), **CLOSE)


@pytest.mark.hardware(reason="1,030 levels take minutes")
def test_more_paths_than_numbers(device):
    if device == "reference":
        pytest.skip("1,030 levels take long there")
    pairs = [
        (3 * i + a, 3 * i + b) for i in range(1030) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))
    ]
    A = cases.unweighted(3091, pairs).matrix(device)
    with pytest.raises(exceptions.InvalidValue, match="shortest paths"):
        betweenness_centrality(A, sources=[0])


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    graph = cases.SHAPES["grid"]
    found = betweenness_centrality(graph.matrix(device, dtype)).centrality
    assert found.dtype == "FP64"
    np.testing.assert_allclose(found.to_dense(), scores(graph, device), **CLOSE)


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random"].matrix(device)
    before = A.dup()
    betweenness_centrality(A)
    assert A.isequal(before, check_dtype=True)


def test_levels_and_products_of_single_searches(device):
    A = cases.SHAPES["path"].matrix(device)
    found = betweenness_centrality(A, sources=[0, 1], batch=1, deterministic=True)
    # From 0 six levels, from 1 five; a product for each, and one back over all but the last.
    assert (found.iterations, found.sources) == (11, 2)
    expected = ["vxm"] * 6 + ["mxv"] * 5 + ["vxm"] * 5 + ["mxv"] * 4
    assert [row.op for row in found.trace] == expected


def test_levels_and_products_of_batches(device):
    A = cases.SHAPES["path"].matrix(device)
    found = betweenness_centrality(A, sources=[0, 1], batch=2, deterministic=True)
    # The longest search has six levels; inner ones are passed on the way back.
    assert (found.iterations, found.sources) == (6, 2)
    products = Counter(row.op for row in found.trace)
    if gb.device_traits(device).own_memory:
        # Copies of the graph: a product for each level there and back, and the sum of the copies.
        assert products == {"vxm": 6, "mxv": 5 + 1}
    else:
        assert products == {"mxm": 6 + 4}


def test_sources_that_are_given_several_times(device):
    A = cases.SHAPES["random"].matrix(device)
    sources = [4, 9, 4, 4, 0]
    found = [betweenness_centrality(A, sources=sources, batch=batch) for batch in (1, 3)]
    np.testing.assert_allclose(*(each.centrality.to_dense() for each in found), **CLOSE)
    assert [each.sources for each in found] == [5, 5]


def test_no_vertices(device):
    with gb.device(device):
        found = betweenness_centrality(gb.Matrix("BOOL", 0, 0))
    assert (found.centrality.size, found.sources, found.iterations) == (0, 0, 0)


def test_bad_arguments():
    A = cases.SHAPES["path"].matrix("reference")
    for sources in (0, 7, -1):
        with pytest.raises(exceptions.InvalidValue, match=rf"sources={sources} .*\[1, 6\]"):
            betweenness_centrality(A, sources=sources)
    for sources in ("12", 1.5, True):
        with pytest.raises(exceptions.InvalidValue, match="sources"):
            betweenness_centrality(A, sources=sources)
    with pytest.raises(exceptions.InvalidValue, match="empty"):
        betweenness_centrality(A, sources=[])
    with pytest.raises(exceptions.IndexOutOfBound, match="6"):
        betweenness_centrality(A, sources=[0, 6])
    with pytest.raises(exceptions.InvalidIndex, match=r"1\.5"):
        betweenness_centrality(A, sources=[1.5])
    for batch in (0, -3, 2.0):
        with pytest.raises(exceptions.InvalidValue, match="batch"):
            betweenness_centrality(A, batch=batch)
    with pytest.raises(exceptions.InvalidValue, match="seed"):
        betweenness_centrality(A, sources=2, seed=-1)
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        betweenness_centrality(gb.Matrix("BOOL", 2, 3))
    with pytest.raises(exceptions.InvalidValue, match="speed"):
        betweenness_centrality(A, speed=11)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["netscience", "harvard500"])
def test_real_graphs(device, name):
    A = cases.real_matrix(name, device)
    G = gb.io.to_networkx(A)
    for vertex in range(A.nrows):
        G.add_node(vertex)
    expected = nx.betweenness_centrality(G)
    found = betweenness_centrality(A).centrality.to_dense()
    np.testing.assert_allclose(found, [expected[v] for v in range(A.nrows)], rtol=1e-9, atol=1e-13)
